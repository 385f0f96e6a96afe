//! Fat-trees in SimGrid's notation: four lists of numbers describe any tree with identical switches on each level.
//!
//! **Structure.** Level 0 are the hosts; above level *l* is a stage of cables, and then the switches of level *l* + 1. The
//! stage says how many parents (`up`) each device of level *l* has, how many children (`down`) each of level *l* + 1, and
//! how many parallel cables (`count`) join a child and a parent. A device is labelled with a digit for each stage: of a
//! stage below the device, one of `up` values, and of one above, one of `down`. A child and a parent of stage *l* are two
//! devices whose labels agree in all digits but digit *l*. A device's position in its level is its label read as a
//! number, digit 0 the lowest.
//!
//! These are the generalized fat-trees of Zahavi ("D-Mod-K routing providing non-blocking traffic for shift permutations
//! on real life fat trees", CCIT 776, 2010), and with one cable each the XGFTs of Öhring et al. (IPPS 1995).
//!
//! **Routing** is his D-mod-K, or another [`Ascent`](super::Ascent): up from the source, at each level by the port that the
//! destination's number determines, until the destination is below; then down the only path, over the parallel cable that
//! the source's number determines. (SimGrid 3.32, in `FatTreeZone::get_local_route`, searches for that path among a switch's ports from the
//! port where the search at the switch above ended, and only if there is none after that from the port of the source's
//! number.)

mod paths;
mod stages;

use titr_common::format::counted;

use stages::Laid;
pub use stages::{Stage, Stages};

use super::cable::Direction;
use super::limiter::Limiters;
use super::{
    Ascent, Cable, Duplex, FlowRouting, HostId, HostPort, Link, LinkId, NoRouters, Port, PortChoice, RoutePeriod,
    RouteVariant, RouterGraph, RouterId, Topology, written_routes,
};

/// Hosts under levels of switches.
#[derive(Clone, Debug)]
pub struct FatTree {
    /// From the hosts upwards.
    stages: Vec<Laid>,
    variant: RouteVariant,
    choice: PortChoice,
    hosts: u32,
    /// Hosts and switches.
    devices: u32,
    cable: Cable,
    links: Vec<Link>,
    limiters: Limiters,
}

impl FatTree {
    /// The tree of these stages, from the hosts upwards: at least one, and no number 0. The caller ensures that they do
    /// not describe more cables than a `u32` can count ([`FatTree::cables`]).
    #[must_use]
    pub fn new(stages: &[Stage], cable: Cable) -> Self {
        let mut laid = Vec::with_capacity(stages.len());
        let hosts = stages.iter().map(|stage| stage.down).product();
        let (mut stride, mut below, mut first_cable, mut first_upper) = (1, 1, 0, 0);
        for &stage in stages {
            first_upper += stride * (hosts / below);
            let this = Laid { stage, stride, hosts: below, first_cable, first_upper };
            laid.push(this);
            first_cable += stride * (hosts / below) * this.ports();
            stride *= stage.up;
            below *= stage.down;
        }
        let devices = first_upper + stride;
        Self {
            stages: laid,
            variant: RouteVariant::default(),
            choice: PortChoice::default(),
            hosts,
            devices,
            cable,
            links: cable.lay(first_cable),
            limiters: Limiters::default(),
        }
    }

    /// The tree in which messages take this variant of routes.
    #[must_use]
    pub fn routed(mut self, variant: RouteVariant) -> Self {
        self.variant = variant;
        self
    }

    /// The tree in which messages choose their ports so.
    #[must_use]
    pub fn choosing(mut self, choice: PortChoice) -> Self {
        self.choice = choice;
        self
    }

    /// The tree in which no host or switch passes on more than `bandwidth` in all.
    #[must_use]
    pub fn limited(mut self, bandwidth: f64) -> Self {
        self.limiters = Limiters::lay(self.devices, bandwidth, &mut self.links);
        self
    }

    /// The name of a device.
    fn device_name(&self, device: u32) -> String {
        match self.stages.iter().rposition(|stage| stage.first_upper <= device) {
            None => format!("node-{device}"),
            Some(below) => format!("switch-{}.{}", below + 1, device - self.stages[below].first_upper),
        }
    }

    /// The number of cables of a tree of these stages, `u64::MAX` if that many or more.
    #[must_use]
    pub fn cables(stages: &[Stage]) -> u64 {
        let hosts = stages.iter().fold(1_u64, |hosts, stage| hosts.saturating_mul(stage.down.into()));
        let mut devices = hosts;
        let mut cables = 0_u64;
        for stage in stages {
            let upper = devices / u64::from(stage.down.max(1));
            devices = devices.saturating_mul(stage.up.into());
            cables = cables.saturating_add(devices.saturating_mul(stage.count.into()));
            devices = upper.saturating_mul(stage.up.into());
        }
        cables
    }
}

impl Topology for FatTree {
    /// `fat-tree, 2 levels, 8×8, 1:2`: the children of a switch of each level, from the lowest on, and the bandwidth to the
    /// highest level as a part of the bandwidth of the hosts; then the ascent, unless it is d-mod-k.
    fn name(&self) -> String {
        let down: Vec<_> = self.stages.iter().map(|laid| laid.stage.down.to_string()).collect();
        let levels = counted(self.stages.len(), "level", "levels");
        // Of one cable of a host, the part that there is at the narrowest level.
        let mut width = 1.0;
        let mut narrowest = 1.0_f64;
        for (below, above) in self.stages.iter().zip(self.stages.iter().skip(1)) {
            width *= f64::from(above.ports()) / f64::from(below.stage.down * below.stage.count);
            narrowest = narrowest.min(width);
        }
        let slimmed =
            if self.stages.len() > 1 { format!(", 1:{}", (100.0 / narrowest).round() / 100.0) } else { String::new() };
        let ascent = match self.choice.ascent {
            Ascent::DModK => String::new(),
            other => format!(", {}", other.name()),
        };
        format!("fat-tree, {levels}, {}{slimmed}{ascent}", down.join("×"))
    }

    fn hosts(&self) -> u32 {
        self.hosts
    }

    fn links(&self) -> &[Link] {
        &self.links
    }

    fn link_name(&self, link: LinkId) -> String {
        if let Some(device) = self.limiters.device(link) {
            return format!("{} limiter", self.device_name(device));
        }
        let (cable, direction) = self.cable.of_link(link);
        let level = self.stages.iter().rposition(|stage| stage.first_cable <= cable).unwrap_or_default();
        let Some(stage) = self.stages.get(level) else {
            return format!("link {}", link.0);
        };
        let (child, port) = ((cable - stage.first_cable) / stage.ports(), (cable - stage.first_cable) % stage.ports());
        let first_lower = level.checked_sub(1).map_or(0, |below| self.stages[below].first_upper);
        let lower = self.device_name(first_lower + child);
        let upper = self.device_name(stage.first_upper + stage.parent(child, port));
        let which = match stage.stage.count {
            1 => String::new(),
            _ => format!(" cable {}", port / stage.stage.up),
        };
        let (from, to) = Direction::in_order(direction, lower, upper);
        format!("{from} to {to}{which}")
    }

    fn link_class(&self, link: LinkId) -> String {
        if self.limiters.device(link).is_some() {
            return "limiters".to_owned();
        }
        let (cable, _) = self.cable.of_link(link);
        let below = self.stages.iter().filter(|stage| stage.first_cable <= cable).count();
        format!("level {below}")
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        self.single_path((from, to), route);
    }

    fn spread(&self, _: RoutePeriod, from: HostId, to: HostId, parts: &mut Vec<(LinkId, f64)>) {
        if self.choice.ascent.is_of_packets() {
            self.all_paths((from, to), parts);
        }
    }

    fn route_flows(&mut self, routing: FlowRouting) -> bool {
        match routing {
            FlowRouting::Minimal | FlowRouting::UpDown => true,
            FlowRouting::Adaptive => {
                self.choice.ascent = Ascent::Adaptive;
                true
            }
            FlowRouting::Valiant => false,
        }
    }

    fn router_graph(&self) -> Result<RouterGraph, NoRouters> {
        let hosts_have_one_cable = self.stages.first().is_some_and(|first| first.ports() == 1);
        if self.cable.duplex != Duplex::Full || !self.limiters.is_empty() || !hosts_have_one_cable {
            return written_routes::router_graph(self);
        }
        let first_host_cable = |host| (self.cable.link(host, Direction::Up), self.cable.link(host, Direction::Down));
        let hosts = (0..self.hosts).map(|host| HostPort {
            router: RouterId(self.stages[0].parent(host, 0)),
            cable: Some(first_host_cable(host)),
        });
        let switches = self.stages.iter().enumerate().flat_map(|(level, below)| {
            let end = self.stages.get(level + 1).map_or(self.devices, |above| above.first_upper);
            (0..end - below.first_upper).map(move |position| self.ports(level, position))
        });
        let stages = self.stages.iter().map(|laid| laid.stage).collect();
        Ok(RouterGraph::new(switches, hosts, Stages { stages, choice: self.choice }))
    }
}

impl FatTree {
    /// The ports of a switch above stage `level`. The lowest have none down: their hosts hang by cables of their own.
    fn ports(&self, level: usize, position: u32) -> Vec<Port> {
        let switch = |device| Some(RouterId(device - self.hosts));
        let mut ports = Vec::new();
        if let Some(lower) = level.checked_sub(1).map(|lower| self.stages[lower]) {
            let below = self.stages[level];
            for digit in 0..below.stage.down {
                let child = below.redigit(position, below.stage.up, below.stage.down, digit);
                ports.extend((0..below.stage.count).map(|parallel| {
                    let port = below.port_to(position) + parallel * below.stage.up;
                    let link = self.cable.link(below.cable(child, port), Direction::Down);
                    Port { to: switch(lower.first_upper + child), link }
                }));
            }
        }
        if let Some(&above) = self.stages.get(level + 1) {
            for parent in 0..above.stage.up {
                ports.extend((0..above.stage.count).map(|parallel| {
                    let port = parent + parallel * above.stage.up;
                    let link = self.cable.link(above.cable(position, port), Direction::Up);
                    Port { to: switch(above.first_upper + above.parent(position, port)), link }
                }));
            }
        }
        ports
    }
}
