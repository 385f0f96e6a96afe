//! The sizes of a dragonfly, the places of its routers, and the links between its groups.

use std::fmt;
use std::ops::Range;

use crate::topology::{Geometry, RouterId};

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
pub struct Blade {
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
    /// Its number among the links from the one group to the other.
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

    /// The router of a blade.
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

    /// The number of hosts.
    #[must_use]
    pub(crate) fn hosts(&self) -> u32 {
        self.groups * self.hosts_of_group()
    }

    /// The number of hosts of a group.
    #[must_use]
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
