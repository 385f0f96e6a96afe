//! A dragonfly as the Cray XC builds it (Faanes et al., SC 2012; SimGrid's four numbers): nodes on blades, blades in
//! chassis, chassis in groups.
//!
//! Each blade has one router. *Green* links join every two blades of a chassis, and *black* links the blades of one
//! position in every two chassis of a group. One *blue* link joins every two groups *i* and *j*: it leaves group *i* at
//! blade *j* of its first chassis, and arrives at blade *i* of the first chassis of *j*. The number of groups is
//! therefore at most the number of blades in a chassis. Routes are minimal: green, then black, to the blue link; then
//! green and black again. (SimGrid 3.32, in `DragonflyZone::get_local_route`, assumes that a message is in the first
//! chassis after its last green link. Within any other chassis its route therefore has a black link too many, and from
//! another chassis to the first one too few.)

use std::fmt;

use super::cable::Direction;
use super::limiter::Limiters;
use super::{
    Cable, Duplex, Geometry, HostId, HostPort, Link, LinkId, NoRouters, Port, RouteVariant, RouterGraph, RouterId,
    Topology, written_routes,
};

/// Sizes of a dragonfly: how many there are of each in the next larger one, and how many cables side by side make one
/// link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Groups, at most as many as blades in a chassis.
    pub groups: u32,
    /// Cables between two groups.
    pub blue: u32,
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
}

/// A dragonfly.
#[derive(Clone, Debug)]
pub struct Dragonfly {
    shape: Shape,
    variant: RouteVariant,
    cable: Cable,
    /// Cables of the nodes, then green, black and blue ones.
    links: Vec<Link>,
    limiters: Limiters,
}

/// Cables side by side at most, where each is a port.
const MOST_PARALLEL: u32 = 64;

/// The place of a blade, and of its router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blade {
    /// The group that it is in.
    pub group: u32,
    /// The chassis of the group.
    pub chassis: u32,
    /// The blade of the chassis.
    pub blade: u32,
}

/// Routers are blades, numbered blade by blade, chassis by chassis, and group by group. Ports lead first to the other blades
/// of the chassis (green), then to the other chassis of the group (black), and then to another group if the blade has blue
/// cables; ports of cables side by side follow one another.
impl Geometry for Shape {
    fn family(&self) -> &'static str {
        "dragonfly"
    }
}

impl fmt::Display for Blade {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "blade-{}.{}.{}", self.group, self.chassis, self.blade)
    }
}

impl Dragonfly {
    /// A dragonfly of the given shape; every cable is like `cable`. No number of the shape may be 0, there must be at
    /// least as many blades as groups, and the number of cables must fit a `u32`.
    #[must_use]
    pub fn new(shape: Shape, variant: RouteVariant, cable: Cable) -> Self {
        let bundle = |count: u32| Cable { bandwidth: cable.bandwidth * f64::from(count), ..cable };
        let mut links = cable.lay(shape.hosts());
        links.extend(bundle(shape.green).lay(shape.green_links()));
        links.extend(bundle(shape.black).lay(shape.black_links()));
        links.extend(bundle(shape.blue).lay(pairs(shape.groups)));
        Self { shape, variant, cable, links, limiters: Limiters::default() }
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
        let Shape { chassis, blades, .. } = self.shape;
        route.extend(self.limiters.of(self.shape.hosts() + (at.group * chassis + at.chassis) * blades + at.blade));
        route.push(link);
    }

    /// The ports of a blade's router to others.
    fn ports(&self, at: Blade) -> Vec<Port> {
        let Shape { groups, chassis, blades, green, black, blue, .. } = self.shape;
        let number = |to: Blade| Some(RouterId((to.group * chassis + to.chassis) * blades + to.blade));
        let mut ports = Vec::new();
        let mut join = |to: Blade, link, cables: u32| ports.extend((0..cables).map(|_| Port { to: number(to), link }));
        for blade in (0..blades).filter(|&blade| blade != at.blade) {
            join(Blade { blade, ..at }, self.green(at, blade), green);
        }
        for other in (0..chassis).filter(|&other| other != at.chassis) {
            join(Blade { chassis: other, ..at }, self.black(at, other), black);
        }
        if at.chassis == 0 && at.blade < groups && at.blade != at.group {
            let there = Blade { group: at.blade, chassis: 0, blade: at.group };
            join(there, self.blue(at.group, at.blade), blue);
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

    /// The blue link from one group to another.
    fn blue(&self, from: u32, to: u32) -> LinkId {
        let before = self.shape.green_links() + self.shape.black_links();
        self.directed(self.shape.hosts() + before, self.shape.groups, from, to)
    }

    /// The names of the ends of a cable, and the colour of its kind, if it has one.
    fn ends(&self, cable: u32) -> (String, String, &'static str) {
        let Shape { chassis, blades, .. } = self.shape;
        let Some(green) = cable.checked_sub(self.shape.hosts()) else {
            return (format!("node-{cable}"), self.blade(HostId(cable)).to_string(), "");
        };
        let (low, high, colour) = if let Some(black) = green.checked_sub(self.shape.green_links()) {
            if let Some(blue) = black.checked_sub(self.shape.black_links()) {
                let (low, high) = nth_pair(self.shape.groups, blue);
                let router = |group, blade| Blade { group, chassis: 0, blade };
                (router(low, high), router(high, low), " blue")
            } else {
                let (at, (low, high)) = (black / pairs(chassis), nth_pair(chassis, black % pairs(chassis)));
                let router = |chassis| Blade { group: at / blades, chassis, blade: at % blades };
                (router(low), router(high), " black")
            }
        } else {
            let (at, (low, high)) = (green / pairs(blades), nth_pair(blades, green % pairs(blades)));
            let router = |blade| Blade { group: at / chassis, chassis: at % chassis, blade };
            (router(low), router(high), " green")
        };
        (low.to_string(), high.to_string(), colour)
    }

    /// The link from one to another of `all` devices that are all joined, the first of whose cables is `first`.
    fn directed(&self, first: u32, all: u32, from: u32, to: u32) -> LinkId {
        let direction = if from < to { Direction::Up } else { Direction::Down };
        self.cable.link(first + pair(all, from.min(to), from.max(to)), direction)
    }
}

impl Shape {
    /// The place of the blade with a router.
    pub(super) fn blade(&self, RouterId(router): RouterId) -> Blade {
        let Shape { chassis, blades, .. } = *self;
        Blade { group: router / blades / chassis, chassis: router / blades % chassis, blade: router % blades }
    }

    /// The number of hosts.
    #[must_use]
    pub(crate) fn hosts(&self) -> u32 {
        self.groups * self.chassis * self.blades * self.nodes
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
            pairs(self.groups),
        ]
        .into_iter()
        .fold(0, u64::saturating_add)
    }

    fn green_links(&self) -> u32 {
        self.groups * self.chassis * pairs(self.blades)
    }

    fn black_links(&self) -> u32 {
        self.groups * self.blades * pairs(self.chassis)
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
        let Shape { groups, chassis, blades, nodes, .. } = self.shape;
        format!("dragonfly of {groups} groups × {chassis} chassis × {blades} blades × {nodes} nodes")
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
                Some(router) => format!("{} limiter", self.shape.blade(RouterId(router))),
            };
        }
        let (cable, direction) = self.cable.of_link(link);
        let (lower, upper, colour) = self.ends(cable);
        match direction {
            Some(Direction::Up) | None => format!("{lower} to {upper}{colour}"),
            Some(Direction::Down) => format!("{upper} to {lower}{colour}"),
        }
    }

    fn link_class(&self, link: LinkId) -> String {
        match self.limiters.device(link) {
            Some(_) => "limiters".to_owned(),
            None => match self.ends(self.cable.of_link(link).0) {
                (.., "") => "to hosts".to_owned(),
                (.., colour) => colour.trim().to_owned(),
            },
        }
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        route.extend(self.limiters.of(from.0));
        route.push(self.cable.link(from.0, Direction::Up));
        let (mut at, destination) = (self.blade(from), self.blade(to));
        if at.group != destination.group {
            if at.blade != destination.group {
                self.leave(at, self.green(at, destination.group), route);
                at.blade = destination.group;
            }
            if at.chassis != 0 {
                self.leave(at, self.black(at, 0), route);
                at.chassis = 0;
            }
            self.leave(at, self.blue(at.group, destination.group), route);
            at = Blade { group: destination.group, chassis: 0, blade: at.group };
        }
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
        self.leave(destination, self.cable.link(to.0, Direction::Down), route);
        route.extend(self.limiters.of(to.0));
    }

    fn router_graph(&self) -> Result<RouterGraph, NoRouters> {
        if self.cable.duplex != Duplex::Full || !self.limiters.is_empty() {
            return written_routes::router_graph(self);
        }
        if [self.shape.green, self.shape.black, self.shape.blue].iter().any(|&cables| cables > MOST_PARALLEL) {
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
