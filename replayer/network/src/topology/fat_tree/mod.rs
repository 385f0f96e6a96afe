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

use serde::Deserialize;
use titr_common::format::counted;

use super::cable::Limiters;
use super::routing::{
    BuildRouting, Header, OutputVc, PacketAt, Routing, RoutingName, RoutingOptions, Unroutable, roomiest,
};
use super::{
    Cable, ChannelIndex, Direction, Duplex, FlowRouting, Geometry, HostId, HostPort, Link, LinkId, NoRouters, Port,
    PortIndex, RoutePeriod, RouteVariant, RouterGraph, RouterId, Topology, written_routes,
};
use crate::chance::chance;

/// Hosts under levels of switches.
#[derive(Clone, Debug)]
pub struct FatTree {
    /// From the hosts upwards.
    stages: Vec<StageLayout>,
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
            let this = StageLayout { stage, stride, hosts: below, first_cable, first_upper };
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
    /// `fat-tree, 2 levels, 8×8, 2:1`: the children of a switch of each level, from the lowest on, and the bandwidth of the
    /// hosts in relation to that of the narrowest level; then the ascent, unless it is d-mod-k.
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
            if self.stages.len() > 1 { format!(", {}:1", (100.0 / narrowest).round() / 100.0) } else { String::new() };
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
        let ends = (from, to);
        let (from, to) = (from.0, to.0);
        let mut here = from;
        let mut first_device = 0;
        let mut level = 0;
        for stage in &self.stages {
            // A message to the own host turns round at the first switch, like one to a neighbour.
            if level > 0 && stage.is_above(here, to) {
                break;
            }
            let port = self.choice.upwards(ends, level, stage.stride) % stage.ports();
            route.extend(self.limiters.of(first_device + here));
            route.push(self.cable.link(stage.cable(here, port), Direction::Up));
            here = stage.parent(here, port);
            first_device = stage.first_upper;
            level += 1;
        }
        let mut last_port = None;
        for (level, stage) in self.stages[..level].iter().enumerate().rev() {
            let child = stage.child_towards(here, to);
            let parallel = match self.variant {
                RouteVariant::Minimal => self.choice.downwards(ends, level) % stage.stage.count,
                RouteVariant::SimGrid => stage.parallel_after(&mut last_port, from, to),
            };
            let port = stage.port_to(here) + parallel * stage.stage.up;
            route.extend(self.limiters.of(stage.first_upper + here));
            route.push(self.cable.link(stage.cable(child, port), Direction::Down));
            here = child;
        }
        route.extend(self.limiters.of(to));
    }

    fn spread(&self, _: RoutePeriod, from: HostId, to: HostId, parts: &mut Vec<(LinkId, f64)>) {
        if !self.choice.ascent.is_of_packets() {
            return;
        }
        // A message takes all shortest paths in equal parts.
        let (from, to) = (from.0, to.0);
        // The devices of a level that the message passes: an equal part of it passes each.
        let mut here = vec![from];
        let mut first_device = 0;
        let mut level = 0;
        for stage in &self.stages {
            if level > 0 && here.iter().all(|&device| stage.is_above(device, to)) {
                break;
            }
            let part = 1.0 / here.len() as f64;
            for &device in &here {
                parts.extend(self.limiters.of(first_device + device).map(|link| (link, part)));
                let cables = (0..stage.ports()).map(|port| stage.cable(device, port));
                let links = cables.map(|cable| self.cable.link(cable, Direction::Up));
                parts.extend(links.map(|link| (link, part / f64::from(stage.ports()))));
            }
            let parents = |device| (0..stage.stage.up).map(move |port| stage.parent(device, port));
            here = here.into_iter().flat_map(parents).collect();
            first_device = stage.first_upper;
            level += 1;
        }
        for stage in self.stages[..level].iter().rev() {
            let part = 1.0 / here.len() as f64;
            for device in &mut here {
                let (parent, count) = (*device, stage.stage.count);
                *device = stage.child_towards(parent, to);
                parts.extend(self.limiters.of(stage.first_upper + parent).map(|link| (link, part)));
                let ports = (0..count).map(|parallel| stage.port_to(parent) + parallel * stage.stage.up);
                let links = ports.map(|port| self.cable.link(stage.cable(*device, port), Direction::Down));
                parts.extend(links.map(|link| (link, part / f64::from(count))));
            }
            // Parents of one child follow each other: their positions differ in the stage's digit only.
            here.dedup();
        }
        parts.extend(self.limiters.of(to).map(|link| (link, 1.0)));
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
        let router = |host| RouterId(self.stages[0].parent(host, 0));
        let hosts =
            (0..self.hosts).map(|host| HostPort { router: router(host), cable: Some(self.cable.both_ways(host)) });
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

/// The stages of a tree, from the hosts upwards. Routers are switches, numbered level by level from the lowest. Ports
/// lead first down, child by child, with those to one child in sequence; then up, parent by parent, with those to one
/// parent in sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stages {
    /// The cables between each two levels.
    pub stages: Vec<Stage>,
    /// The choice of ports of messages.
    pub choice: PortChoice,
}

impl Geometry for Stages {
    fn family(&self) -> &'static str {
        "tree"
    }

    fn router_name(&self, router: RouterId) -> String {
        let (mut level, mut position) = (1, router.0);
        while level < self.stages.len() && position >= self.switches(level) {
            position -= self.switches(level);
            level += 1;
        }
        format!("switch-{level}.{position}")
    }
}

impl Stages {
    /// The number of switches of a level, from 1.
    #[must_use]
    pub(crate) fn switches(&self, level: usize) -> u32 {
        let (below, above) = self.stages.split_at(level.min(self.stages.len()));
        below.iter().map(|stage| stage.up).product::<u32>() * above.iter().map(|stage| stage.down).product::<u32>()
    }
}

/// The cables between two levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Children of each device of the upper level.
    pub down: u32,
    /// Parents of each device of the lower level.
    pub up: u32,
    /// Parallel cables between a child and a parent.
    pub count: u32,
}

/// A stage and its position in the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct StageLayout {
    pub stage: Stage,
    /// The distance between positions whose digits of this stage differ by one: the product of `up` of the stages below.
    pub stride: u32,
    /// Hosts below each device of the lower level: the product of `down` of the stages below.
    pub hosts: u32,
    /// The cables of this stage are numbered from here, by lower device and port.
    pub first_cable: u32,
    /// The first device of the upper level, where hosts and switches are numbered level by level.
    pub first_upper: u32,
}

impl StageLayout {
    /// The position of the device that has the label of the device at `position` except for `digit` in this stage. The
    /// stage's digit has `from` values in the old level and `to` in the new one.
    pub(super) fn redigit(self, position: u32, from: u32, to: u32, digit: u32) -> u32 {
        position % self.stride + self.stride * (digit + to * (position / self.stride / from))
    }

    /// The position of the parent that `port` of the device at `position` leads to.
    pub(super) fn parent(self, position: u32, port: u32) -> u32 {
        self.redigit(position, self.stage.down, self.stage.up, port % self.stage.up)
    }

    /// The position of the child of the switch at `position` that is above `host`.
    pub(super) fn child_towards(self, position: u32, host: u32) -> u32 {
        self.redigit(position, self.stage.up, self.stage.down, host / self.hosts % self.stage.down)
    }

    /// The upward port of a child that leads to the switch at `position`, by the first of its parallel cables.
    pub(super) fn port_to(self, position: u32) -> u32 {
        position / self.stride % self.stage.up
    }

    /// The parallel cable downwards that SimGrid takes; updates the port where SimGrid found it. Ports downwards are
    /// numbered by parallel cable and then by child.
    pub(super) fn parallel_after(self, last_port: &mut Option<u32>, from: u32, to: u32) -> u32 {
        let Stage { down, count, .. } = self.stage;
        let child = to / self.hosts % down;
        let at_or_after = |port: u32| port + (child + down - port % down) % down;
        let next = last_port.map(|port| at_or_after(port + 1)).filter(|port| *port < down * count);
        let port = next.unwrap_or(at_or_after(from % count * down));
        *last_port = Some(port);
        port / down
    }

    /// Ports upwards of each device of the lower level.
    pub(super) fn ports(self) -> u32 {
        self.stage.up * self.stage.count
    }

    pub(super) fn cable(self, child: u32, port: u32) -> u32 {
        self.first_cable + child * self.ports() + port
    }

    /// Whether `host` is below the device at `position` of the lower level.
    pub(super) fn is_above(self, position: u32, host: u32) -> bool {
        position / self.stride == host / self.hosts
    }
}

// The choice among equally short ports of the switches of a tree.
//
// At level l — hosts are level 0 — **d-mod-k** takes the port ⌊d / Π_{j≤l} w_j⌋ mod w_{l+1} of the destination d,
// where each device of level j − 1 has w_j ports upwards (Zahavi, CCIT 776, 2010). **s-mod-k** uses the source's
// number instead. **hashed** takes a hash of both hosts and the level, as switches with equal-cost multi-path routing
// (ECMP, RFC 2992) hash the addresses of a packet: all messages between two hosts take one path. A real switch also
// hashes the transport ports, so that each connection has a path.

/// The choice among the ports of a switch that lead upwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ascent {
    /// Determined by the destination.
    #[default]
    DModK,
    /// Determined by the source.
    SModK,
    /// Determined by a hash of source and destination.
    Hashed,
    /// A random port for each packet.
    Random,
    /// The port with most room for each packet.
    Adaptive,
}

/// A choice of ports, with the seed of its hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortChoice {
    /// The choice of ports upwards.
    pub ascent: Ascent,
    /// The seed of the hash.
    pub seed: u64,
}

impl Ascent {
    /// Whether each packet of a message has its own choice.
    pub(crate) fn is_of_packets(self) -> bool {
        match self {
            Self::DModK | Self::SModK | Self::Hashed => false,
            Self::Random | Self::Adaptive => true,
        }
    }

    /// Its name in platform files.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::DModK => "d-mod-k",
            Self::SModK => "s-mod-k",
            Self::Hashed => "hashed",
            Self::Random => "random",
            Self::Adaptive => "adaptive",
        }
    }
}

impl PortChoice {
    /// The number from which the port upwards of a device follows, for a message between two hosts. `stage` counts the
    /// levels below the cable, and `stride` is Π w_j of these levels. Where packets choose, the number is that of d-mod-k.
    pub(super) fn upwards(self, (from, to): (HostId, HostId), stage: usize, stride: u32) -> u32 {
        match self.ascent {
            Ascent::DModK | Ascent::Random | Ascent::Adaptive => to.0 / stride,
            Ascent::SModK => from.0 / stride,
            Ascent::Hashed => self.hash((from, to), stage, Direction::Up),
        }
    }

    /// The number from which the parallel cable to a child follows. It is of the host that does not determine the switch.
    pub(super) fn downwards(self, (from, to): (HostId, HostId), stage: usize) -> u32 {
        match self.ascent {
            Ascent::DModK | Ascent::Random | Ascent::Adaptive => from.0,
            Ascent::SModK => to.0,
            Ascent::Hashed => self.hash((from, to), stage, Direction::Down),
        }
    }

    fn hash(self, (from, to): (HostId, HostId), stage: usize, direction: Direction) -> u32 {
        let flow = chance(self.seed, from.0.into(), to.0.into());
        (chance(flow, stage as u64, direction as u64) >> 33) as u32
    }
}

// Routing in trees of switches: up to a switch above the destination, and down (`up-down`).
//
// The path down is unique, except for parallel cables; on the way up, every port is equally short. A packet never goes
// up after going down, so packets wait for one another in one direction only, and no bubble is needed.
//
// The ports upwards follow from an [`Ascent`]. The **adaptive** ascent takes the port with most room; among equals, the
// first from d-mod-k's on. The name `adaptive` selects the adaptive ascent unless another is given; without a name and an
// ascent, packets choose as the tree says.

/// Up*/down* routing. Packets carry no state.
#[derive(Clone, Debug)]
pub(crate) struct TreeRouting {
    choice: PortChoice,
    channels: u32,
    /// From the lowest switches up.
    levels: Vec<SwitchLevel>,
}

#[derive(Clone, Copy, Debug)]
struct SwitchLevel {
    first: u32,
    /// The number of switches with the same hosts below: Π_{j≤l} w_j.
    alike: u32,
    /// Hosts below each.
    hosts: u32,
    /// Hosts below each child.
    hosts_of_child: u32,
    /// Cables to each child that is a switch.
    to_child: u32,
    /// Ports downwards.
    down: u32,
    parents: u32,
    /// Cables to each parent.
    to_parent: u32,
}

const ADAPTIVE: &str = "adaptive";

impl BuildRouting for TreeRouting {
    type Structure = Stages;

    const NAMES: &'static [&'static str] = &[RoutingName::UP_DOWN.0, ADAPTIVE];

    fn new(Stages { stages, choice }: &Stages, options: &RoutingOptions) -> Result<Self, Unroutable> {
        let by_default = if options.is_named(ADAPTIVE) { Ascent::Adaptive } else { choice.ascent };
        let choice = PortChoice { ascent: options.ascent.unwrap_or(by_default), ..*choice };
        Ok(Self { choice, channels: options.virtual_channels.unwrap_or(1), levels: levels(stages) })
    }
}

fn levels(stages: &[Stage]) -> Vec<SwitchLevel> {
    let all_hosts: u32 = stages.iter().map(|stage| stage.down).product();
    let (mut first, mut alike, mut hosts) = (0, 1, 1);
    let mut levels = Vec::with_capacity(stages.len());
    for (place, stage) in stages.iter().enumerate() {
        let hosts_of_child = hosts;
        hosts *= stage.down;
        alike *= stage.up;
        let above = stages.get(place + 1);
        levels.push(SwitchLevel {
            first,
            alike,
            hosts,
            hosts_of_child,
            to_child: stage.count,
            down: if place == 0 { 0 } else { stage.down * stage.count },
            parents: above.map_or(0, |above| above.up),
            to_parent: above.map_or(0, |above| above.count),
        });
        first += alike * (all_hosts / hosts);
    }
    levels
}

impl Routing for TreeRouting {
    fn virtual_channels(&self) -> u32 {
        self.channels
    }

    fn has_alternatives(&self) -> bool {
        match self.choice.ascent {
            Ascent::Adaptive => true,
            Ascent::Hashed => false,
            Ascent::DModK | Ascent::SModK | Ascent::Random => self.levels.iter().any(|level| level.to_child > 1),
        }
    }

    fn fixed_output(&self, at: RouterId, header: &Header, _state: &[i32]) -> Option<PortIndex> {
        let (place, level) = self.level(at)?;
        if level.is_above(at, header.to.0) {
            let first = level.child_towards(header.to.0);
            return match (level.to_child, self.choice.ascent) {
                (1, _) => Some(PortIndex(first)),
                (cables, Ascent::Hashed) => {
                    Some(PortIndex(first + self.choice.downwards((header.from, header.to), place) % cables))
                }
                (_, Ascent::DModK | Ascent::SModK | Ascent::Random | Ascent::Adaptive) => None,
            };
        }
        match self.choice.ascent {
            Ascent::DModK | Ascent::SModK | Ascent::Hashed => {
                Some(level.upwards(self.choice.upwards((header.from, header.to), place + 1, level.alike)))
            }
            Ascent::Random => Some(level.upwards((chance(header.random, place as u64, 0) >> 33) as u32)),
            Ascent::Adaptive => None,
        }
    }

    fn choose(&self, packet: PacketAt, room: impl Fn(PortIndex, ChannelIndex) -> u32) -> Option<OutputVc> {
        let PacketAt { at, header, .. } = packet;
        let (_, level) = self.level(at)?;
        if level.is_above(at, header.to.0) {
            let first = level.child_towards(header.to.0);
            let from_any = (0..level.to_child).map(|cable| PortIndex(first + (cable + header.from.0) % level.to_child));
            return roomiest(from_any, 0..self.channels, room);
        }
        let ports = level.parents * level.to_parent;
        let from_any = (0..ports).map(|number| level.upwards(number + header.to.0 / level.alike % ports));
        roomiest(from_any, 0..self.channels, room)
    }
}

impl TreeRouting {
    /// The level of a switch, and the number of levels of switches below.
    fn level(&self, switch: RouterId) -> Option<(usize, SwitchLevel)> {
        let place = self.levels.iter().rposition(|level| level.first <= switch.0)?;
        Some((place, self.levels[place]))
    }
}

impl SwitchLevel {
    fn is_above(&self, switch: RouterId, host: u32) -> bool {
        (switch.0 - self.first) / self.alike == host / self.hosts
    }

    /// The first port to the child that a host is below.
    fn child_towards(&self, host: u32) -> u32 {
        host / self.hosts_of_child % (self.hosts / self.hosts_of_child) * self.to_child
    }

    /// The port upwards that d-mod-k gives a number. It counts parents first, and then the cables to each.
    fn upwards(&self, number: u32) -> PortIndex {
        let (parent, cable) = (number % self.parents, number / self.parents % self.to_parent);
        PortIndex(self.down + parent * self.to_parent + cable)
    }
}

#[cfg(test)]
mod tests {
    use titr_common::units::Seconds;

    use super::*;
    use crate::topology::{Cable, Duplex, FatTree, HostId, LinkId, RoutePeriod, Topology};

    /// The links between routers that a packet takes whose ports are all fixed.
    fn fixed_links(graph: &RouterGraph, routing: &TreeRouting, from: HostId, to: HostId) -> Vec<LinkId> {
        let router_of = |host: HostId| graph.hosts()[host.index()].router;
        let header = Header { from, to, destination: router_of(to), random: 0, period: RoutePeriod::default() };
        let (mut at, mut links) = (router_of(from), Vec::new());
        while at != header.destination {
            let port = graph.port(at, routing.fixed_output(at, &header, &[]).unwrap()).unwrap();
            links.push(port.link);
            at = port.to.unwrap();
        }
        links
    }

    /// Packets take the path of the flow model, unless they choose it.
    #[test]
    fn packets_take_the_route_of_the_topology() {
        let cable = Cable { bandwidth: 1e9, latency: Seconds(0.0), duplex: Duplex::Full };
        for (ascent, count) in [(Ascent::DModK, 1), (Ascent::SModK, 1), (Ascent::Hashed, 1), (Ascent::Hashed, 3)] {
            let stages = [(3, 1, 1), (4, 2, count), (2, 3, count)].map(|(down, up, count)| Stage { down, up, count });
            let tree = FatTree::new(&stages, cable).choosing(PortChoice { ascent, seed: 5 });
            let graph = tree.router_graph().unwrap();
            let routing = TreeRouting::new(graph.geometry().unwrap(), &RoutingOptions::default()).unwrap();
            assert!(!routing.has_alternatives());
            for (from, to) in (0..24).flat_map(|from| (0..24).map(move |to| (HostId(from), HostId(to)))) {
                let mut route = Vec::new();
                tree.route(from, to, &mut route);
                let between = &route[1..route.len() - 1];
                assert_eq!(fixed_links(&graph, &routing, from, to), between, "{ascent:?} from {from:?} to {to:?}");
            }
        }
    }
}
