//! Dragonflies: groups of routers, and links between the groups.
//!
//! **Cray XC** (Faanes et al., SC 2012; SimGrid's four numbers): nodes on blades, blades in chassis, chassis in groups. Each
//! blade has one router. *Green* links join every two blades of a chassis, and *black* links the blades of one position in
//! every two chassis of a group. One *blue* link joins every two groups *i* and *j*: it leaves group *i* at blade *j* of its
//! first chassis, and arrives at blade *i* of the first chassis of *j*. The number of groups is therefore at most the number
//! of blades in a chassis.
//!
//! **Canonical** (J. Kim, W. J. Dally, S. Scott, D. Abts, ISCA 2008): a group is one chassis, whose blades are its routers,
//! and every router has the same number of links to other groups ([`GlobalLinks::OfRouters`]).
//!
//! Routes are minimal: green, then black, to a link between the groups; then green and black again. (SimGrid 3.32, in
//! `DragonflyZone::get_local_route`, assumes that a message is in the first chassis after its last green link. Within any
//! other chassis its route therefore has a black link too many, and from another chassis to the first one too few.)

mod paths;
mod shape;
#[cfg(test)]
mod tests;

use super::cable::Direction;
use super::limiter::Limiters;
use super::{
    Cable, Duplex, FlowRouting, HostId, HostPort, Link, LinkId, NoRouters, Port, RoutePeriod, RouteVariant,
    RouterGraph, RouterId, Topology, written_routes,
};

pub(crate) use shape::GlobalLink;
pub use shape::{Blade, GlobalLinks, Shape};

/// A dragonfly.
#[derive(Clone, Debug)]
pub struct Dragonfly {
    shape: Shape,
    variant: RouteVariant,
    cable: Cable,
    /// Cables of the nodes, then green, black and blue ones.
    links: Vec<Link>,
    limiters: Limiters,
    flow_routing: FlowRouting,
}

/// The kinds of cables, which have the names of the Cray XC's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CableKind {
    /// To a host.
    Host,
    /// Between routers of a chassis.
    Green,
    /// Between chassis.
    Black,
    /// Between groups.
    Blue,
}

/// Cables side by side at most, where each is a port.
const MOST_PARALLEL: u32 = 64;

impl Dragonfly {
    /// A dragonfly of the given shape; every cable is like `cable`. No number of the shape may be 0, every two groups must
    /// have a link, and the number of cables must fit a `u32`.
    #[must_use]
    pub fn new(shape: Shape, variant: RouteVariant, cable: Cable) -> Self {
        let bundle = |count: u32| Cable { bandwidth: cable.bandwidth * f64::from(count), ..cable };
        let mut links = cable.lay(shape.hosts());
        links.extend(bundle(shape.green).lay(shape.green_links()));
        links.extend(bundle(shape.black).lay(shape.black_links()));
        links.extend(bundle(shape.cables_of_global_link()).lay(shape.blue_links()));
        let (limiters, flow_routing) = (Limiters::default(), FlowRouting::default());
        Self { shape, variant, cable, links, limiters, flow_routing }
    }

    /// The dragonfly in which no host or router passes on more than `bandwidth` in all.
    #[must_use]
    pub fn limited(mut self, bandwidth: f64) -> Self {
        let Shape { groups, chassis, blades, .. } = self.shape;
        self.limiters = Limiters::lay(self.shape.hosts() + groups * chassis * blades, bandwidth, &mut self.links);
        self
    }

    fn blade(&self, host: HostId) -> Blade {
        self.shape.blade(RouterId(host.0 / self.shape.nodes))
    }

    /// Adds the links to a route by which a message leaves `at` through `link`.
    fn leave(&self, at: Blade, link: LinkId, route: &mut Vec<LinkId>) {
        route.extend(self.limiters.of(self.shape.hosts() + self.shape.router(at).0));
        route.push(link);
    }

    /// The ports of a blade's router to others.
    fn ports(&self, at: Blade) -> Vec<Port> {
        let Shape { chassis, blades, green, black, .. } = self.shape;
        let router = |to: Blade| Some(self.shape.router(to));
        let mut ports = Vec::new();
        let mut join = |to: Blade, link, cables: u32| ports.extend((0..cables).map(|_| Port { to: router(to), link }));
        for blade in (0..blades).filter(|&blade| blade != at.blade) {
            join(Blade { blade, ..at }, self.green(at, blade), green);
        }
        for other in (0..chassis).filter(|&other| other != at.chassis) {
            join(Blade { chassis: other, ..at }, self.black(at, other), black);
        }
        for (group, number) in self.shape.global_links_of(at) {
            let GlobalLink { entry, .. } = self.shape.global_link(at.group, group, number);
            join(entry, self.blue(at.group, group, number), self.shape.cables_of_global_link());
        }
        ports
    }

    /// The green link from `at` to another blade of its chassis.
    fn green(&self, at: Blade, blade: u32) -> LinkId {
        let Shape { chassis, blades, .. } = self.shape;
        let before = (at.group * chassis + at.chassis) * pairs(blades);
        self.directed(self.shape.hosts() + before, blades, at.blade, blade)
    }

    /// The black link from `at` to the blade of its position in another chassis of its group.
    fn black(&self, at: Blade, chassis: u32) -> LinkId {
        let Shape { chassis: all, blades, .. } = self.shape;
        let before = self.shape.green_links() + (at.group * blades + at.blade) * pairs(all);
        self.directed(self.shape.hosts() + before, all, at.chassis, chassis)
    }

    /// A blue link from one group to another.
    fn blue(&self, from: u32, to: u32, number: u32) -> LinkId {
        let before = self.shape.hosts() + self.shape.green_links() + self.shape.black_links();
        let pair = pair(self.shape.groups, from.min(to), from.max(to));
        let direction = if from < to { Direction::Up } else { Direction::Down };
        self.cable.link(before + pair * self.shape.links_of_two_groups() + number, direction)
    }

    /// The names of the ends of a cable, and its kind.
    fn ends(&self, cable: u32) -> (String, String, CableKind) {
        let Shape { groups, chassis, blades, .. } = self.shape;
        let Some(green) = cable.checked_sub(self.shape.hosts()) else {
            let router = self.shape.blade_name(self.blade(HostId(cable)));
            return (format!("node-{cable}"), router, CableKind::Host);
        };
        let (low, high, kind) = if let Some(black) = green.checked_sub(self.shape.green_links()) {
            if let Some(blue) = black.checked_sub(self.shape.black_links()) {
                let links = self.shape.links_of_two_groups();
                let (low, high) = nth_pair(groups, blue / links);
                let GlobalLink { exit, entry, .. } = self.shape.global_link(low, high, blue % links);
                (exit, entry, CableKind::Blue)
            } else {
                let (at, (low, high)) = (black / pairs(chassis), nth_pair(chassis, black % pairs(chassis)));
                let router = |chassis| Blade { group: at / blades, chassis, blade: at % blades };
                (router(low), router(high), CableKind::Black)
            }
        } else {
            let (at, (low, high)) = (green / pairs(blades), nth_pair(blades, green % pairs(blades)));
            let router = |blade| Blade { group: at / chassis, chassis: at % chassis, blade };
            (router(low), router(high), CableKind::Green)
        };
        (self.shape.blade_name(low), self.shape.blade_name(high), kind)
    }

    /// The name of a kind of cables.
    fn class(&self, kind: CableKind) -> &'static str {
        let has_colours = matches!(self.shape.global, GlobalLinks::OfGroups(_));
        match kind {
            CableKind::Host => "to hosts",
            CableKind::Green if has_colours => "green",
            CableKind::Green => "local",
            CableKind::Black => "black",
            CableKind::Blue if has_colours => "blue",
            CableKind::Blue => "global",
        }
    }

    /// The link from one to another of `all` devices that are all joined, the first of whose cables is `first`.
    fn directed(&self, first: u32, all: u32, from: u32, to: u32) -> LinkId {
        let direction = if from < to { Direction::Up } else { Direction::Down };
        self.cable.link(first + pair(all, from.min(to), from.max(to)), direction)
    }
}

impl Shape {
    fn green_links(&self) -> u32 {
        self.groups * self.chassis * pairs(self.blades)
    }

    fn black_links(&self) -> u32 {
        self.groups * self.blades * pairs(self.chassis)
    }

    fn blue_links(&self) -> u32 {
        pairs(self.groups) * self.links_of_two_groups()
    }
}

/// The number of pairs of `count` things.
fn pairs(count: u32) -> u32 {
    count * count.saturating_sub(1) / 2
}

/// The place of the pair `low < high` among the pairs of `count` things, in their order.
fn pair(count: u32, low: u32, high: u32) -> u32 {
    pairs(count) - pairs(count - low) + (high - low - 1)
}

impl Topology for Dragonfly {
    fn name(&self) -> String {
        self.shape.to_string()
    }

    fn hosts(&self) -> u32 {
        self.shape.hosts()
    }

    fn links(&self) -> &[Link] {
        &self.links
    }

    fn link_name(&self, link: LinkId) -> String {
        if let Some(device) = self.limiters.device(link) {
            return match device.checked_sub(self.shape.hosts()) {
                None => format!("node-{device} limiter"),
                Some(router) => format!("{} limiter", self.shape.blade_name(self.shape.blade(RouterId(router)))),
            };
        }
        let (cable, direction) = self.cable.of_link(link);
        let (lower, upper, kind) = self.ends(cable);
        let (from, to) = Direction::in_order(direction, lower, upper);
        match kind {
            CableKind::Host => format!("{from} to {to}"),
            CableKind::Green | CableKind::Black | CableKind::Blue => format!("{from} to {to} {}", self.class(kind)),
        }
    }

    fn link_class(&self, link: LinkId) -> String {
        match self.limiters.device(link) {
            Some(_) => "limiters".to_owned(),
            None => self.class(self.ends(self.cable.of_link(link).0).2).to_owned(),
        }
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        self.shortest((from, to), route);
    }

    fn spread(&self, _: RoutePeriod, from: HostId, to: HostId, parts: &mut Vec<(LinkId, f64)>) {
        match self.flow_routing {
            FlowRouting::Minimal | FlowRouting::Adaptive | FlowRouting::UpDown => {}
            FlowRouting::Valiant => self.spread_over_groups((from, to), parts),
        }
    }

    fn route_flows(&mut self, routing: FlowRouting) -> bool {
        match routing {
            FlowRouting::Minimal | FlowRouting::Valiant => {
                self.flow_routing = routing;
                true
            }
            FlowRouting::Adaptive | FlowRouting::UpDown => false,
        }
    }

    fn router_graph(&self) -> Result<RouterGraph, NoRouters> {
        if self.cable.duplex != Duplex::Full || !self.limiters.is_empty() {
            return written_routes::router_graph(self);
        }
        let side_by_side = [self.shape.green, self.shape.black, self.shape.cables_of_global_link()];
        if side_by_side.iter().any(|&cables| cables > MOST_PARALLEL) {
            return Err(NoRouters("packets need fewer cables side by side".to_owned()));
        }
        let Shape { groups, chassis, blades, nodes, .. } = self.shape;
        let hosts = (0..self.hosts()).map(|host| HostPort {
            router: RouterId(host / nodes),
            cable: Some((self.cable.link(host, Direction::Up), self.cable.link(host, Direction::Down))),
        });
        let ports = (0..groups * chassis * blades).map(|router| self.ports(self.shape.blade(RouterId(router))));
        Ok(RouterGraph::new(ports, hosts, self.shape))
    }
}

/// The inverse of [`pair`].
fn nth_pair(count: u32, mut place: u32) -> (u32, u32) {
    let mut low = 0;
    while low + 1 < count && place >= count - low - 1 {
        place -= count - low - 1;
        low += 1;
    }
    (low, low + 1 + place)
}
