//! Routing through other groups in dragonflies (J. Kim, W. J. Dally, S. Scott, D. Abts, "Technology-Driven,
//! Highly-Scalable Dragonfly Topology", ISCA 2008, §4; N. Jiang, J. Kim, W. J. Dally, "Indirect Adaptive Routing on Large
//! Scale Interconnection Networks", ISCA 2009).
//!
//! All packets between two groups have to share the few links between these groups. A packet can instead take two links
//! between groups, by way of an **intermediate group**, which is drawn at random from the groups that it does not start
//! or end in. Within a group, and towards the intermediate group, packets are routed [minimally](super::dragonfly).
//!
//! - **Valiant** (`valiant`): every packet to another group passes an intermediate group.
//! - **UGAL-L** (`ugal`): a packet that waits in the injection port of its host compares the minimal path with a path through
//!   one intermediate group, anew in each cycle until it leaves. With q packets behind the first port of a path of H hops,
//!   it takes the minimal path if q·H of this path [exceeds](takes_detour) q·H of the other path by little. If both paths
//!   have the same first port, q counts the virtual channels of each path alone (UGAL-L_VCH).
//! - **UGAL-G** (`ugal-g`): the same, and q also counts the packets behind the first link between groups, which another
//!   router may have. (The packets that wait for this link are in input queues of its router, behind the first port.)
//! - **PAR** (`par`): like UGAL-L; and a packet on the minimal path compares again at each router of its first group.
//!
//! # Freedom from deadlock
//!
//! The virtual channels are divided into classes. A packet uses the last class in the last group, the class before it up
//! to the last link between groups, and the class before that up to the link into its intermediate group. With `par`, a
//! packet that may still leave the minimal path uses class 0. A packet's class never decreases. In a class, packets take
//! green links, then black ones, then one between groups, which ends the class or the group, so that channels cannot
//! form a cycle of dependences.
//!
//! # UGAL
//!
//! The choice of UGAL (universal globally adaptive load-balanced routing, A. Singh, PhD thesis, Stanford University, 2005)
//! between a shortest path and a detour, by the packets that are queued on both.

use std::ops::Range;

use super::{
    BuildRouting, Header, OutputVc, PacketAt, Routing, RoutingOptions, Unroutable, roomiest, share_of_channels,
};
use crate::chance::chance;
use crate::topology::dragonfly::{flow, from_any};
use crate::topology::{Blade, ChannelIndex, GlobalLink, PortIndex, RouterId, Shape};

/// Valiant's routing, and the choice between Valiant's and minimal routing.
#[derive(Clone, Debug)]
pub(crate) struct NonminimalRouting {
    shape: Shape,
    channels: u32,
    rule: Rule,
}

/// The rule by which packets take a path through an intermediate group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// All of them do.
    Valiant,
    /// By the queues of their first router.
    UgalLocal,
    /// By the queues of their first router and of the first links between groups.
    UgalGlobal,
    /// By the queues of each router of their first group.
    Progressive,
}

/// The place in a packet's state of the intermediate group that it has not reached; [`NONE`] if there is none.
const INTERMEDIATE: usize = 0;

/// The place in a packet's state of the routers at which it has still to decide: [`NOWHERE`], [`HERE`] or [`HERE_AND_NEXT`].
const DECIDES_AT: usize = 1;

/// The packet has decided.
const NOWHERE: i32 = 0;

/// The packet decides until it leaves its present router.
const HERE: i32 = 1;

/// The packet decides at its present router, and, if it takes the path that it chose there, at the next router, too.
const HERE_AND_NEXT: i32 = 2;

/// No intermediate group.
const NONE: i32 = -1;

/// A path that a packet may take.
struct Path {
    /// The first ports, one of which the packet takes.
    ports: Range<u32>,
    /// The router with the first link between groups, and the ports of the link, if its queues count, too.
    exit: Option<(RouterId, Range<u32>)>,
    /// Channels between routers.
    hops: u32,
    /// The class of the first hop.
    class: u32,
}

impl BuildRouting for NonminimalRouting {
    type Structure = Shape;

    const NAMES: &'static [&'static str] = &["valiant", "ugal", "ugal-g", "par"];

    fn new(shape: &Shape, options: &RoutingOptions) -> Result<Self, Unroutable> {
        let rules = [Rule::Valiant, Rule::UgalLocal, Rule::UgalGlobal, Rule::Progressive];
        let named = Self::NAMES.iter().zip(rules).find(|(name, _)| options.is_named(name));
        let rule = named.map_or(Rule::Valiant, |(_, rule)| rule);
        let classes = rule.classes();
        let channels = options.virtual_channels.unwrap_or(classes);
        if channels < classes {
            let name = options.name.map_or("valiant".to_owned(), |name| name.to_string());
            return Err(Unroutable::Impossible(format!(
                "\"{name}\" routing of a dragonfly needs {classes} virtual channels"
            )));
        }
        Ok(Self { shape: *shape, channels, rule })
    }
}

impl Rule {
    /// Classes of virtual channels.
    fn classes(self) -> u32 {
        match self {
            Self::Valiant | Self::UgalLocal | Self::UgalGlobal => 3,
            Self::Progressive => 4,
        }
    }
}

impl Routing for NonminimalRouting {
    const DECIDES: bool = true;

    fn virtual_channels(&self) -> u32 {
        self.channels
    }

    fn state_words(&self) -> usize {
        2
    }

    fn has_alternatives(&self) -> bool {
        self.shape.has_bundles()
    }

    fn reconsiders(&self) -> bool {
        self.rule != Rule::Valiant
    }

    fn watches_other_routers(&self) -> bool {
        self.rule == Rule::UgalGlobal
    }

    fn depart(&self, from: RouterId, header: &Header, state: &mut [i32]) {
        let (from, to) = (self.shape.blade(from), self.shape.blade(header.destination));
        (state[INTERMEDIATE], state[DECIDES_AT]) = (NONE, if from.group == to.group { NOWHERE } else { HERE });
    }

    fn is_undecided(&self, state: &[i32]) -> bool {
        state[DECIDES_AT] != NOWHERE
    }

    fn is_on_detour(&self, state: &[i32]) -> bool {
        state[INTERMEDIATE] != NONE
    }

    fn decide(
        &self,
        at: RouterId,
        header: &Header,
        state: &mut [i32],
        queued: impl Fn(RouterId, PortIndex, Range<u32>) -> u32,
        _awaiting: impl Fn(RouterId, PortIndex) -> u32,
    ) {
        let here = self.shape.blade(at);
        (state[INTERMEDIATE], state[DECIDES_AT]) = (NONE, NOWHERE);
        let Some(group) = self.draw(here, header) else { return };
        if self.rule == Rule::Valiant {
            state[INTERMEDIATE] = group as i32;
            return;
        }
        state[DECIDES_AT] = HERE;
        let (minimal, other) = (self.minimal_path(here, header), self.path_through(group, here, header));
        let same_port = minimal.ports == other.ports;
        let cost = |path: &Path| {
            let channels = if same_port { self.channels_of(path.class) } else { 0..self.channels };
            let of_port = |at, port, channels: Range<u32>| queued(at, PortIndex(port), channels);
            let first = path.ports.clone().map(|port| of_port(at, port, channels.clone())).min();
            let exit =
                path.exit.iter().flat_map(|(at, ports)| ports.clone().map(|port| of_port(*at, port, 0..self.channels)));
            (first.unwrap_or(0) + exit.min().unwrap_or(0)) * path.hops
        };
        if takes_detour(cost(&minimal), || cost(&other)) {
            state[INTERMEDIATE] = group as i32;
        } else if self.rule == Rule::Progressive && minimal.ports.start < self.shape.first_global_port() {
            state[DECIDES_AT] = HERE_AND_NEXT;
        }
    }

    fn choose(&self, packet: PacketAt, room: impl Fn(PortIndex, ChannelIndex) -> u32) -> Option<OutputVc> {
        let PacketAt { at, header, state, .. } = packet;
        let (at, destination) = (self.shape.blade(at), self.shape.blade(header.destination));
        let ports = if at.group == destination.group {
            self.shape.ports_within(at, destination)
        } else {
            let link = match u32::try_from(state[INTERMEDIATE]) {
                Ok(group) => self.shape.exit(at, group, None, flow(header)),
                Err(_) => self.shape.exit(at, destination.group, Some(destination), flow(header)),
            };
            self.shape.ports_towards(at, &link)
        };
        let class = self.class(at, destination, state);
        roomiest(from_any(ports, header), self.channels_of(class), room)
    }

    fn hop(&self, _taken: OutputVc, to: RouterId, state: &mut [i32]) {
        if state[INTERMEDIATE] == self.shape.blade(to).group as i32 {
            state[INTERMEDIATE] = NONE;
        }
        if state[DECIDES_AT] == HERE {
            state[DECIDES_AT] = NOWHERE;
        }
    }
}

impl NonminimalRouting {
    /// A random group that is neither the group of `at` nor the last group of a packet, if there is one.
    fn draw(&self, at: Blade, header: &Header) -> Option<u32> {
        let last = self.shape.blade(header.destination).group;
        draw(self.shape.groups, [at.group, last], self.shape.router(at), header)
    }

    fn minimal_path(&self, at: Blade, header: &Header) -> Path {
        let to = self.shape.blade(header.destination);
        let link = self.shape.exit(at, to.group, Some(to), flow(header));
        let within = self.shape.distance_within(at, link.exit);
        let hops = within + 1 + self.shape.distance_within(link.entry, to);
        let class = if self.rule == Rule::Progressive && within > 0 { 0 } else { self.rule.classes() - 2 };
        self.path(at, &link, hops, class)
    }

    fn path_through(&self, group: u32, at: Blade, header: &Header) -> Path {
        let to = self.shape.blade(header.destination);
        let link = self.shape.exit(at, group, None, flow(header));
        let next = self.shape.exit(link.entry, to.group, Some(to), flow(header));
        let within = self.shape.distance_within(at, link.exit) + self.shape.distance_within(link.entry, next.exit);
        let hops = within + 2 + self.shape.distance_within(next.entry, to);
        self.path(at, &link, hops, self.rule.classes() - 3)
    }

    /// The path that leaves the group of `at` by a link.
    fn path(&self, at: Blade, link: &GlobalLink, hops: u32, class: u32) -> Path {
        let ports = self.shape.ports_towards(at, link);
        let counts = self.rule == Rule::UgalGlobal && at != link.exit;
        let exit = counts.then(|| (self.shape.router(link.exit), link.ports.clone()));
        Path { ports, exit, hops, class }
    }

    /// The class of the virtual channel by which a packet leaves a router.
    fn class(&self, at: Blade, destination: Blade, state: &[i32]) -> u32 {
        let classes = self.rule.classes();
        if at.group == destination.group {
            classes - 1
        } else if state[DECIDES_AT] == HERE_AND_NEXT {
            0
        } else if state[INTERMEDIATE] == NONE {
            classes - 2
        } else {
            classes - 3
        }
    }

    /// The virtual channels of a class.
    fn channels_of(&self, class: u32) -> Range<u32> {
        share_of_channels(class, self.rule.classes(), self.channels)
    }
}

/// The cost that the shortest path may exceed another by, in packets times hops: a single packet behind the first port of a path
/// of two hops is in transit, and no congestion.
const BIAS: u32 = 2;

/// Whether a packet takes the detour. Costs are the expected delays of the paths, in packets. The cost of the detour is computed
/// only if the shortest path costs more than the bias.
#[inline]
pub(super) fn takes_detour(cost_of_shortest: u32, cost_of_detour: impl FnOnce() -> u32) -> bool {
    cost_of_shortest > BIAS && cost_of_shortest > cost_of_detour() + BIAS
}

/// A random place of `count` that is neither of the two `ends`, for a packet at a router; `None` if there are no others. Each
/// router draws anew.
pub(super) fn draw(count: u32, ends: [u32; 2], at: RouterId, header: &Header) -> Option<u32> {
    let others = count.checked_sub(2).filter(|&others| others > 0)?;
    let random = chance(header.random, at.0.into(), 0) >> 32;
    let place = ((random * u64::from(others)) >> 32) as u32;
    let [one, other] = ends;
    let (low, high) = (one.min(other), one.max(other));
    let place = if place < low { place } else { place + 1 };
    Some(if place < high { place } else { place + 1 })
}
