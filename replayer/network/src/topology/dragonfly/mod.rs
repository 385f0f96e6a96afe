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

use std::fmt;
use std::ops::Range;

use super::cable::Limiters;
use super::routing::{BuildRouting, Header, OutputVc, PacketAt, Routing, RoutingOptions, Unroutable, roomiest};
use super::{
    Cable, ChannelIndex, Direction, Duplex, FlowRouting, Geometry, HostId, HostPort, Link, LinkId, NoRouters, Port,
    PortIndex, RoutePeriod, RouteVariant, RouterGraph, RouterId, Topology, written_routes,
};

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
        route.extend(self.limiters.of(from.0));
        route.push(self.cable.link(from.0, Direction::Up));
        let (mut at, destination) = (self.blade(from), self.blade(to));
        if at.group != destination.group {
            at = self.to_group(at, destination.group, Some(destination), (from, to), route);
        }
        self.within_group(at, destination, route);
        self.leave(destination, self.cable.link(to.0, Direction::Down), route);
        route.extend(self.limiters.of(to.0));
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
        let cable = |host| Some(self.cable.both_ways(host));
        let hosts = (0..self.hosts()).map(|host| HostPort { router: RouterId(host / nodes), cable: cable(host) });
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

impl Dragonfly {
    /// Appends the links of a message to another group an equal part of which passes each of the other groups, as with
    /// Valiant's routing of packets. Nothing for a message within a group, or if there are two groups only.
    pub(super) fn spread_over_groups(&self, (from, to): (HostId, HostId), parts: &mut Vec<(LinkId, f64)>) {
        let (start, destination) = (self.blade(from), self.blade(to));
        let others = (0..self.shape.groups).filter(|&group| group != start.group && group != destination.group);
        let count = others.clone().count();
        if start.group == destination.group || count == 0 {
            return;
        }
        let mut route = Vec::new();
        for group in others {
            let at = self.to_group(start, group, None, (from, to), &mut route);
            let at = self.to_group(at, destination.group, Some(destination), (from, to), &mut route);
            self.within_group(at, destination, &mut route);
        }
        parts.extend(route.drain(..).map(|link| (link, 1.0 / count as f64)));
        route.push(self.cable.link(from.0, Direction::Up));
        self.leave(destination, self.cable.link(to.0, Direction::Down), &mut route);
        route.extend([from, to].iter().filter_map(|host| self.limiters.of(host.0)));
        parts.extend(route.into_iter().map(|link| (link, 1.0)));
    }

    /// Appends the links of a message at `at` to another group, by the link that is the nearest, to `destination` too if it is
    /// there. Returns the router at which the message arrives.
    fn to_group(
        &self,
        mut at: Blade,
        group: u32,
        destination: Option<Blade>,
        (from, to): (HostId, HostId),
        route: &mut Vec<LinkId>,
    ) -> Blade {
        let link = self.shape.exit(at, group, destination, from.0.wrapping_add(to.0));
        if at.blade != link.exit.blade {
            self.leave(at, self.green(at, link.exit.blade), route);
            at.blade = link.exit.blade;
        }
        if at.chassis != link.exit.chassis {
            self.leave(at, self.black(at, link.exit.chassis), route);
            at.chassis = link.exit.chassis;
        }
        self.leave(at, self.blue(at.group, group, link.number), route);
        link.entry
    }

    /// Appends the links of a message at `at` to another router of the group.
    fn within_group(&self, mut at: Blade, destination: Blade, route: &mut Vec<LinkId>) {
        if at.blade != destination.blade {
            self.leave(at, self.green(at, destination.blade), route);
            at.blade = destination.blade;
            if self.variant == RouteVariant::SimGrid {
                at.chassis = 0;
            }
        }
        if at.chassis != destination.chassis {
            self.leave(at, self.black(at, destination.chassis), route);
        }
    }
}

/// Sizes of a dragonfly: how many there are of each in the next larger one, and how many cables side by side make one
/// link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Groups.
    pub groups: u32,
    /// Chassis in a group.
    pub chassis: u32,
    /// Cables between two blades of one position.
    pub black: u32,
    /// Blades in a chassis.
    pub blades: u32,
    /// Cables between two blades of a chassis.
    pub green: u32,
    /// Nodes on a blade.
    pub nodes: u32,
    /// Links between groups.
    pub global: GlobalLinks,
}

/// The arrangement of the links between groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobalLinks {
    /// Cascade's: one link of this many cables for every two groups *i* and *j*, from blade *j* of the first chassis of
    /// *i* to blade *i* of the first chassis of *j*. There are at most as many groups as blades in a chassis.
    OfGroups(u32),
    /// Kim's: this many links at each router, spread evenly over the other groups. There is one chassis, and every two
    /// groups have at least one link.
    ///
    /// The links of a group of a routers are numbered router by router. Link k of group *i* leads to group
    /// *i* − 1 − (k mod (g − 1)) of g groups: the palm tree of C. Camarero, E. Vallejo, R. Beivide, "Topological
    /// Characterization of Hamming and Dragonfly Networks and Its Implications on Routing", ACM TACO 11(4), 2014. Links
    /// that are left over after the last full round are not connected.
    OfRouters(u32),
}

/// The place of a blade, and of its router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blade {
    /// The group that it is in.
    pub group: u32,
    /// The chassis of the group.
    pub chassis: u32,
    /// The blade of the chassis.
    pub blade: u32,
}

/// A link from one group to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GlobalLink {
    /// The index among the links between these two groups.
    pub number: u32,
    /// The router at its start.
    pub exit: Blade,
    /// The ports of that router, one for each of its cables.
    pub ports: Range<u32>,
    /// The router at its end.
    pub entry: Blade,
}

/// Routers are blades, numbered blade by blade, chassis by chassis, and group by group. Ports lead first to the other blades
/// of the chassis (green), then to the other chassis of the group (black), and then to other groups (blue); ports of cables
/// side by side follow one another.
impl Geometry for Shape {
    fn family(&self) -> &'static str {
        "dragonfly"
    }

    fn router_name(&self, router: RouterId) -> String {
        self.blade_name(self.blade(router))
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { groups, chassis, blades, nodes, .. } = self;
        match self.global {
            GlobalLinks::OfGroups(_) => {
                write!(f, "dragonfly of {groups} groups × {chassis} chassis × {blades} blades × {nodes} nodes")
            }
            GlobalLinks::OfRouters(links) => {
                write!(
                    f,
                    "dragonfly of {groups} groups × {blades} routers × {nodes} hosts, {links} global links a router"
                )
            }
        }
    }
}

impl Shape {
    /// The canonical dragonfly (J. Kim, W. J. Dally, S. Scott, D. Abts, "Technology-Driven, Highly-Scalable Dragonfly
    /// Topology", ISCA 2008): every two of the `routers` of a group are joined, and each has `global_links` links to other
    /// groups and `hosts` hosts.
    #[must_use]
    pub fn canonical(groups: u32, routers: u32, global_links: u32, hosts: u32) -> Self {
        let global = GlobalLinks::OfRouters(global_links);
        Self { groups, chassis: 1, black: 1, blades: routers, green: 1, nodes: hosts, global }
    }

    /// The place of the blade with a router.
    pub(crate) fn blade(&self, RouterId(router): RouterId) -> Blade {
        let Self { chassis, blades, .. } = *self;
        Blade { group: router / blades / chassis, chassis: router / blades % chassis, blade: router % blades }
    }

    pub(crate) fn router(&self, at: Blade) -> RouterId {
        RouterId((at.group * self.chassis + at.chassis) * self.blades + at.blade)
    }

    /// The name of a blade's router in reports.
    pub(super) fn blade_name(&self, Blade { group, chassis, blade }: Blade) -> String {
        match self.global {
            GlobalLinks::OfGroups(_) => format!("blade-{group}.{chassis}.{blade}"),
            GlobalLinks::OfRouters(_) => format!("router-{group}.{blade}"),
        }
    }

    pub(crate) fn hosts(&self) -> u32 {
        self.groups * self.hosts_of_group()
    }

    pub(crate) fn hosts_of_group(&self) -> u32 {
        self.chassis * self.blades * self.nodes
    }

    /// Links from each group to each other.
    #[must_use]
    pub fn links_of_two_groups(&self) -> u32 {
        match self.global {
            GlobalLinks::OfGroups(_) => 1,
            GlobalLinks::OfRouters(links) => self.blades.saturating_mul(links) / self.groups.saturating_sub(1).max(1),
        }
    }

    /// Cables side by side that make a link between groups.
    pub(super) fn cables_of_global_link(&self) -> u32 {
        match self.global {
            GlobalLinks::OfGroups(cables) => cables,
            GlobalLinks::OfRouters(_) => 1,
        }
    }

    /// The number of cables of a dragonfly of this shape, `u64::MAX` if that many or more. Cables that make one link count
    /// once.
    #[must_use]
    pub fn cables(&self) -> u64 {
        let pairs = |count: u32| u64::from(count) * u64::from(count.saturating_sub(1)) / 2;
        let product = |factors: [u64; 4]| factors.into_iter().fold(1, u64::saturating_mul);
        let [groups, chassis, blades, nodes] = [self.groups, self.chassis, self.blades, self.nodes].map(u64::from);
        [
            product([groups, chassis, blades, nodes]),
            product([groups, chassis, pairs(self.blades), 1]),
            product([groups, blades, pairs(self.chassis), 1]),
            product([pairs(self.groups), self.links_of_two_groups().into(), 1, 1]),
        ]
        .into_iter()
        .fold(0, u64::saturating_add)
    }

    /// Channels between two routers of a group.
    pub(crate) fn distance_within(&self, one: Blade, other: Blade) -> u32 {
        u32::from(one.blade != other.blade) + u32::from(one.chassis != other.chassis)
    }

    /// A link from one group to another.
    pub(crate) fn global_link(&self, from: u32, to: u32, number: u32) -> GlobalLink {
        let first = self.first_global_port();
        match self.global {
            GlobalLinks::OfGroups(cables) => GlobalLink {
                number,
                exit: Blade { group: from, chassis: 0, blade: to },
                ports: first..first + cables,
                entry: Blade { group: to, chassis: 0, blade: from },
            },
            GlobalLinks::OfRouters(links) => {
                let (before, step) = (number * (self.groups - 1), (from + self.groups - to) % self.groups);
                let (leaves, arrives) = (before + step - 1, before + self.groups - step - 1);
                let router = |group, place| Blade { group, chassis: 0, blade: place / links };
                let port = first + leaves % links;
                GlobalLink { number, exit: router(from, leaves), ports: port..port + 1, entry: router(to, arrives) }
            }
        }
    }

    /// The links of a router to other groups, in the order of their ports: the other group, and the link's number.
    pub(super) fn global_links_of(&self, at: Blade) -> Vec<(u32, u32)> {
        match self.global {
            GlobalLinks::OfGroups(_) => {
                let has_link = at.chassis == 0 && at.blade < self.groups && at.blade != at.group;
                has_link.then_some((at.blade, 0)).into_iter().collect()
            }
            GlobalLinks::OfRouters(links) => {
                let others = self.groups.saturating_sub(1).max(1);
                let connected = if self.groups > 1 { self.links_of_two_groups() * others } else { 0 };
                let places = at.blade * links..((at.blade + 1) * links).min(connected);
                let to = |place: u32| (at.group + self.groups - 1 - place % others) % self.groups;
                places.map(|place| (to(place), place / others)).collect()
            }
        }
    }

    /// The first port of a router to another group.
    pub(crate) fn first_global_port(&self) -> u32 {
        (self.blades - 1) * self.green + (self.chassis - 1) * self.black
    }

    /// The link by which a message at `at` reaches another group in the fewest hops, or the router `to` in it. If several
    /// links are as near, `choice` selects one.
    pub(crate) fn exit(&self, at: Blade, group: u32, to: Option<Blade>, choice: u32) -> GlobalLink {
        let links = self.links_of_two_groups();
        if links == 1 {
            return self.global_link(at.group, group, 0);
        }
        let hops = |number| {
            let link = self.global_link(at.group, group, number);
            self.distance_within(at, link.exit) + to.map_or(0, |to| self.distance_within(link.entry, to))
        };
        let fewest = (0..links).map(hops).min().unwrap_or_default();
        let nearest = (0..links).filter(|&number| hops(number) == fewest);
        let place = choice as usize % nearest.clone().count();
        let number = nearest.clone().nth(place).unwrap_or_default();
        self.global_link(at.group, group, number)
    }

    /// Whether some links are several cables, each with a port.
    pub(crate) fn has_bundles(&self) -> bool {
        self.green.max(self.black).max(self.cables_of_global_link()) > 1
    }

    /// The ports of a router towards another router of its group.
    pub(crate) fn ports_within(&self, at: Blade, to: Blade) -> Range<u32> {
        let place_among_others = |me: u32, other: u32| if other < me { other } else { other - 1 };
        let (first, cables) = if at.blade != to.blade {
            (place_among_others(at.blade, to.blade) * self.green, self.green)
        } else {
            let greens = (self.blades - 1) * self.green;
            (greens + place_among_others(at.chassis, to.chassis) * self.black, self.black)
        };
        first..first + cables
    }

    /// The ports of a router towards the other end of a link to another group.
    pub(crate) fn ports_towards(&self, at: Blade, link: &GlobalLink) -> Range<u32> {
        if at == link.exit { link.ports.clone() } else { self.ports_within(at, link.exit) }
    }
}

// Minimal routing in dragonflies, as [`Dragonfly`](crate::topology::Dragonfly) routes messages: within a group, green
// and then black; to another group, to the router with the link, over it, and on as within a group.
//
// Within a group, green before black admits no cycle. Paths through two groups could close a cycle through both, so
// packets use other channels in the last group than before (J. Kim, W. J. Dally, S. Scott, D. Abts,
// "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008, §4.1): the upper half of the channels.

/// Minimal routing. Packets carry no state.
#[derive(Clone, Debug)]
pub(crate) struct DragonflyRouting {
    shape: Shape,
    channels: u32,
}

impl BuildRouting for DragonflyRouting {
    type Structure = Shape;

    const NAMES: &'static [&'static str] = &["minimal"];

    fn new(&shape: &Shape, options: &RoutingOptions) -> Result<Self, Unroutable> {
        let channels = options.virtual_channels.unwrap_or(2);
        if channels < 2 {
            return Err(Unroutable::Impossible("a dragonfly needs two virtual channels".to_owned()));
        }
        Ok(Self { shape, channels })
    }
}

impl Routing for DragonflyRouting {
    fn virtual_channels(&self) -> u32 {
        self.channels
    }

    fn has_alternatives(&self) -> bool {
        self.shape.has_bundles()
    }

    fn choose(&self, packet: PacketAt, room: impl Fn(PortIndex, ChannelIndex) -> u32) -> Option<OutputVc> {
        let PacketAt { at, header, .. } = packet;
        let (at, destination) = (self.shape.blade(at), self.shape.blade(header.destination));
        let last_group = at.group == destination.group;
        let ports = if last_group {
            self.shape.ports_within(at, destination)
        } else {
            self.shape.ports_towards(at, &self.shape.exit(at, destination.group, Some(destination), flow(header)))
        };
        let channels = if last_group { self.channels / 2..self.channels } else { 0..self.channels / 2 };
        roomiest(from_any(ports, header), channels, room)
    }
}

/// The number by which a packet selects one of several links that are as near: the one that
/// [`Dragonfly`](crate::topology::Dragonfly) gives messages between the same hosts.
pub(super) fn flow(header: &Header) -> u32 {
    header.from.0.wrapping_add(header.to.0)
}

/// The ports of cables side by side, from any of them on.
pub(super) fn from_any(ports: Range<u32>, header: &Header) -> impl Iterator<Item = PortIndex> + use<> {
    let (cables, from) = (ports.end - ports.start, header.from.0);
    (0..cables).map(move |cable| PortIndex(ports.start + (cable + from) % cables))
}

#[cfg(test)]
mod tests;
