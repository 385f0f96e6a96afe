//! Routing: the port and virtual channel by which a packet leaves a router.
//!
//! A packet at the head of a queue requests one virtual channel of one port that has room for it at this moment. The
//! choice of permitted channels makes a network free of deadlock (W. J. Dally, B. Towles, "Principles and Practices of
//! Interconnection Networks", 2004, ch. 14):
//!
//! - [`GridRouting`]: dimension order, or adaptive with dimension order as escape, both under the bubble restriction.
//! - [`TreeRouting`]: up and then down.
//! - [`DragonflyRouting`]: other channels after the link between groups.
//! - [`nonminimal`]: other channels after each link between groups.
//! - [`fabric`], [`valiant`]: other channels after each hop.
//! - [`up_down`]: up and then down, in any graph.
//! - [`TableRouting`]: the routes of the topology, in layers without a cycle of dependencies.
//! - [`degraded`]: any of these where links have failed, with up*/down* paths as escape.
//!
//! **To add a routing**, implement [`Routing`] and [`BuildRouting`] for a type, and list the type in the `routings!` of
//! [`topology`](super).

mod degraded;
mod fabric;
mod nonminimal;
#[cfg(test)]
mod tests;
mod up_down;
mod valiant;

use std::fmt::{self, Debug};
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Error as _};
use thiserror::Error;

use super::{
    Ascent, ChannelIndex, Geometry, HostId, PortIndex, RoutePeriod, RouteTable, RouterGraph, RouterId, RoutingFunction,
};

pub(crate) use degraded::DegradedRouting;
pub(crate) use fabric::FabricRouting;
pub(crate) use nonminimal::NonminimalRouting;
pub(crate) use up_down::UpDownRouting;
pub(crate) use valiant::ValiantRouting;

/// A virtual channel of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutputVc {
    /// The port of the router.
    pub port: PortIndex,
    /// The virtual channel of the port's link.
    pub channel: ChannelIndex,
}

/// The header of a packet, which stays the same on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The host that sends it.
    pub from: HostId,
    /// The host that receives it.
    pub to: HostId,
    /// The router that `to` is attached to.
    pub destination: RouterId,
    /// The period of the routes that it takes, where routes change.
    pub period: RoutePeriod,
    /// A random number of the packet's own, from which its choices by chance follow.
    pub random: u64,
}

/// A packet at a router that is not its destination.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketAt<'p> {
    /// The router.
    pub at: RouterId,
    pub header: &'p Header,
    /// What the packet carries for its [`Routing`].
    pub state: &'p [i32],
    /// The virtual channel by which it came from the previous router; `None` if its host is attached to this one.
    pub arrival: Option<OutputVc>,
}

/// Finds the ways of packets through a graph of routers, one hop at a time.
///
/// Each packet carries `state`: [`state_words`](Self::state_words) numbers that belong to the routing alone, such as the
/// steps left along each dimension, or an intermediate group that the packet has not reached. [`depart`](Self::depart),
/// [`decide`](Self::decide) and [`hop`](Self::hop) write the state, and the other methods read it.
///
/// `room` is the number of packets that a virtual channel of a port has room for: zero while the port
/// is busy.
pub(crate) trait Routing: Clone + Debug + Send + Sync + 'static {
    /// Whether packets [decide](Self::decide) on their way by the packets that are queued.
    const DECIDES: bool = false;

    /// Virtual channels of each link.
    fn virtual_channels(&self) -> u32;

    /// Numbers that each packet carries for the routing.
    fn state_words(&self) -> usize {
        0
    }

    /// Whether queues form cycles that need bubbles to avoid deadlock.
    fn has_rings(&self) -> bool {
        false
    }

    /// Whether a packet whose request was refused may find another port before the requested port is free again.
    fn has_alternatives(&self) -> bool;

    /// Whether packets that wait decide anew in each cycle, because decisions depend on queues.
    fn reconsiders(&self) -> bool {
        false
    }

    /// Whether these decisions depend on queues of other routers.
    fn watches_other_routers(&self) -> bool {
        false
    }

    /// Writes the state of a packet that starts at router `from`.
    fn depart(&self, _from: RouterId, _header: &Header, _state: &mut [i32]) {}

    /// Whether a packet has still to decide, or may decide anew before it leaves its router.
    fn is_undecided(&self, _state: &[i32]) -> bool {
        false
    }

    /// Writes the decision of a packet that [is undecided](Self::is_undecided) into its state. Called if packets
    /// [decide](Self::DECIDES), at each router that is not the packet's destination, when the packet is the first of its queue,
    /// and in each later cycle in which it still waits and is undecided. There the packet has no
    /// [fixed output](Self::fixed_output). `queued` is the number of packets behind some virtual channels of a port: in the
    /// queues of the channels, or granted a way to them. `awaiting` is the number of packets that wait in the queues of a router
    /// and [await](Self::awaited) a port since an earlier cycle.
    fn decide(
        &self,
        _at: RouterId,
        _header: &Header,
        _state: &mut [i32],
        _queued: impl Fn(RouterId, PortIndex, Range<u32>) -> u32,
        _awaiting: impl Fn(RouterId, PortIndex) -> u32,
    ) {
    }

    /// Whether a packet has decided for a detour, and has not come to the end of it.
    fn is_on_detour(&self, _state: &[i32]) -> bool {
        false
    }

    /// The port that a packet chose when it decided first at its present router, if this counts for the decisions of other
    /// packets until the packet leaves the router. The packet may take another port in the end.
    fn awaited(&self, _state: &[i32]) -> Option<PortIndex> {
        None
    }

    /// The port that a packet at router `at`, which is not its destination, has to take, if it has no choice. Called
    /// once, when the packet is on its way to the router. A port that some packets have to take must not be
    /// [chosen](Self::choose) by others.
    fn fixed_output(&self, _at: RouterId, _header: &Header, _state: &[i32]) -> Option<PortIndex> {
        None
    }

    /// The virtual channel of its [fixed output](Self::fixed_output) that a packet requests now.
    fn choose_channel(
        &self,
        port: PortIndex,
        _arrival: Option<OutputVc>,
        room: impl Fn(PortIndex, ChannelIndex) -> u32,
    ) -> Option<OutputVc> {
        roomiest(std::iter::once(port), 0..self.virtual_channels(), room)
    }

    /// The virtual channel that a packet requests now that has no fixed output, or must not take it.
    fn choose(&self, packet: PacketAt, room: impl Fn(PortIndex, ChannelIndex) -> u32) -> Option<OutputVc>;

    /// Notes in the state of a packet that it takes a virtual channel to router `to`.
    fn hop(&self, _taken: OutputVc, _to: RouterId, _state: &mut [i32]) {}
}

/// Makes something for a routing of any type, such as an engine that is compiled for this type alone.
pub(crate) trait RoutingVisitor {
    /// The result.
    type Output;

    fn visit<R: Routing>(self, routing: &R) -> Self::Output;
}

/// Selection and construction of a routing.
pub(crate) trait BuildRouting: Routing {
    /// The structure of the graphs that it can route.
    type Structure: Geometry;

    /// The names by which platform files select it. The first is its default.
    const NAMES: &'static [&'static str];

    /// The routing of a graph of this structure, by the name in `options` or by the default name.
    ///
    /// # Errors
    /// If packets could deadlock.
    fn new(structure: &Self::Structure, options: &RoutingOptions) -> Result<Self, Unroutable>;
}

/// The requested routing. An option that is `None` is the routing's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoutingOptions {
    /// The routing's name.
    pub name: Option<RoutingName>,
    /// Virtual channels of each link.
    pub virtual_channels: Option<u32>,
    /// The choice of ports upwards in trees.
    pub ascent: Option<Ascent>,
}

/// The name of a registered routing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutingName(pub(super) &'static str);

/// An error that prevents the routing of packets.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unroutable {
    /// The requested routing is for other networks.
    #[error("a {family} is routed by {}", alternatives(possible))]
    OtherRouting {
        /// The family of the network.
        family: &'static str,
        /// The names of the routings that it can have.
        possible: Vec<&'static str>,
    },
    /// Packets could deadlock, or the network is too large.
    #[error("{0}")]
    Impossible(String),
}

impl RoutingOptions {
    /// Whether a routing with one of these names is requested.
    pub(super) fn ask_for(&self, names: &[&'static str]) -> bool {
        self.name.is_none_or(|RoutingName(name)| names.contains(&name))
    }

    /// Whether the routing with this name is requested. The default is the routing with the first name.
    pub(super) fn is_named(&self, name: &str) -> bool {
        self.name.is_some_and(|RoutingName(asked)| asked == name)
    }
}

impl RoutingName {
    /// Up*/down* routing, in trees and in graphs of routers.
    pub const UP_DOWN: Self = Self("up-down");

    /// Another spelling of [`UP_DOWN`](Self::UP_DOWN), which platform files may have.
    const UPDOWN: &'static str = "updown";
}

impl FromStr for RoutingName {
    type Err = UnknownRouting;

    fn from_str(name: &str) -> Result<Self, UnknownRouting> {
        let name = if name == Self::UPDOWN { Self::UP_DOWN.0 } else { name };
        let known = RoutingFunction::names().iter().find(|known| **known == name);
        known.map(|known| Self(known)).ok_or_else(|| UnknownRouting(name.to_owned()))
    }
}

/// No routing has this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no routing `{0}`")]
pub struct UnknownRouting(String);

impl<'de> Deserialize<'de> for RoutingName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(|_| D::Error::unknown_variant(&name, RoutingFunction::names()))
    }
}

impl fmt::Display for RoutingName {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.0)
    }
}

fn alternatives(names: &[&str]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(" or ")
}

/// The virtual channel with most room among some channels of some ports, if any has room; the first of those with as much.
pub(crate) fn roomiest(
    ports: impl Iterator<Item = PortIndex>,
    channels: Range<u32>,
    room: impl Fn(PortIndex, ChannelIndex) -> u32,
) -> Option<OutputVc> {
    let (mut most, mut best) = (0, None);
    for port in ports {
        for channel in channels.clone().map(ChannelIndex) {
            let room = room(port, channel);
            if room > most {
                (most, best) = (room, Some(OutputVc { port, channel }));
            }
        }
    }
    best
}

/// The virtual channels of a class, where `channels` are divided into as equal classes as possible.
#[inline]
fn share_of_channels(class: u32, classes: u32, channels: u32) -> Range<u32> {
    class * channels / classes..(class + 1) * channels / classes
}

/// Declares the enum of all registered routings, from which [`RoutingFunction::visit`] gives a visitor the type. Of several
/// that suit a network, the first is the default.
macro_rules! routings {
    ($($name:ident($routing:ty),)*) => {
        /// The routing of a network: one of those that are registered.
        #[derive(Clone, Debug)]
        #[allow(missing_docs)] // Named as the type within.
        pub(crate) enum RoutingFunction {
            $($name($routing),)*
            Degraded(DegradedRouting),
        }

        /// Routing of a type that is only known at run time, for networks in which this costs little.
        impl Routing for RoutingFunction {
            const DECIDES: bool = true;

            routing::delegated! { [$($name)* Degraded]
                virtual_channels() -> u32;
                state_words() -> usize;
                has_rings() -> bool;
                has_alternatives() -> bool;
                reconsiders() -> bool;
                watches_other_routers() -> bool;
                depart(from: RouterId, header: &Header, state: &mut [i32]) -> ();
                is_undecided(state: &[i32]) -> bool;
                is_on_detour(state: &[i32]) -> bool;
                decide(
                    at: RouterId, header: &Header, state: &mut [i32],
                    queued: impl Fn(RouterId, PortIndex, std::ops::Range<u32>) -> u32,
                    awaiting: impl Fn(RouterId, PortIndex) -> u32
                ) -> ();
                awaited(state: &[i32]) -> Option<PortIndex>;
                fixed_output(at: RouterId, header: &Header, state: &[i32]) -> Option<PortIndex>;
                choose_channel(
                    port: PortIndex, arrival: Option<OutputVc>, room: impl Fn(PortIndex, ChannelIndex) -> u32
                ) -> Option<OutputVc>;
                choose(packet: PacketAt, room: impl Fn(PortIndex, ChannelIndex) -> u32) -> Option<OutputVc>;
                hop(taken: OutputVc, to: RouterId, state: &mut [i32]) -> ();
            }
        }

        impl RoutingFunction {
            /// The requested routing of `graph`, as if no port of it failed.
            fn of_whole(graph: &RouterGraph, options: &RoutingOptions) -> Result<Self, Unroutable> {
                let mut possible = Vec::new();
                $(
                    if let Some(structure) = graph.geometry::<<$routing as BuildRouting>::Structure>() {
                        if options.ask_for(<$routing>::NAMES) {
                            return <$routing>::new(structure, options).map(Self::$name);
                        }
                        possible.extend_from_slice(<$routing>::NAMES);
                    }
                )*
                Err(Unroutable::OtherRouting { family: graph.family(), possible })
            }

            /// Hands the routing to `visitor`, by its type.
            pub(crate) fn visit<V: RoutingVisitor>(&self, visitor: V) -> V::Output {
                match self {
                    $(Self::$name(routing) => visitor.visit(routing),)*
                    Self::Degraded(routing) => visitor.visit(routing),
                }
            }

            /// The names of all routings, each once.
            pub(in crate::topology) fn names() -> &'static [&'static str] {
                static NAMES: std::sync::LazyLock<Vec<&'static str>> = std::sync::LazyLock::new(|| {
                    let mut names = Vec::new();
                    $(names.extend(<$routing>::NAMES.iter().filter(|name| !names.contains(*name)).collect::<Vec<_>>());)*
                    names
                });
                &NAMES
            }
        }
    };
}

/// Methods of an enum that call the method of the variant.
macro_rules! delegated {
    ($names:tt $($method:ident $arguments:tt -> $result:ty;)*) => {
        $($crate::topology::routing::delegated! { @ $names $method $arguments $result })*
    };
    (@ $names:tt $method:ident($($argument:ident: $type:ty),*) $result:ty) => {
        $crate::topology::routing::delegated! {
            => $names $method ($($argument),*) [$($argument: $type),*] $result
        }
    };
    (=> [$($name:ident)*] $method:ident $arguments:tt [$($parameter:tt)*] $result:ty) => {
        fn $method(&self, $($parameter)*) -> $result {
            match self { $(Self::$name(routing) => routing.$method $arguments,)* }
        }
    };
}

pub(super) use {delegated, routings};

impl RoutingFunction {
    /// The requested routing of `graph`.
    pub(crate) fn new(graph: &RouterGraph, options: &RoutingOptions) -> Result<Self, Unroutable> {
        let whole = Self::of_whole(graph, options)?;
        let is_degraded = !graph.failed.is_empty() || !graph.links.is_empty() && !graph.is_of_written_routes();
        Ok(if is_degraded { Self::Degraded(DegradedRouting::new(graph, whole)) } else { whole })
    }

    /// The routing of the network if no link failed.
    pub(crate) fn of_whole_network(&self) -> &Self {
        if let Self::Degraded(routing) = self { &routing.whole } else { self }
    }
}

// Routing by a table: packets follow the routes of the topology.
//
// If the dependencies of routes have a cycle, the routes are divided into several layers without cycles
// ([`written_routes`](crate::topology::RouteTable)). Each layer has its share of the virtual channels, so packets
// cannot deadlock. There are as many virtual channels as layers unless the user wants more.

/// Routing by a table. The state of a packet is the place of its next port in the table.
#[derive(Clone, Debug)]
pub(crate) struct TableRouting {
    table: Arc<RouteTable>,
    channels: u32,
}

impl BuildRouting for TableRouting {
    type Structure = RouteTable;

    const NAMES: &'static [&'static str] = &["table"];

    fn new(table: &RouteTable, options: &RoutingOptions) -> Result<Self, Unroutable> {
        let channels = options.virtual_channels.unwrap_or(table.layers);
        if channels < table.layers {
            let cycle: Vec<_> = table.cycle.iter().map(|link| format!("`{link}`")).collect();
            return Err(Unroutable::Impossible(format!(
                "packets could wait for each other for ever around the circle of links {}: these routes need {} virtual \
                 channels",
                cycle.join(", "),
                table.layers
            )));
        }
        Ok(Self { table: Arc::new(table.clone()), channels })
    }
}

impl Routing for TableRouting {
    fn virtual_channels(&self) -> u32 {
        self.channels
    }

    fn state_words(&self) -> usize {
        1
    }

    fn has_alternatives(&self) -> bool {
        false
    }

    fn depart(&self, _from: RouterId, header: &Header, place: &mut [i32]) {
        place[0] = self.table.first(header.period, header.from, header.to) as i32;
    }

    fn choose(&self, packet: PacketAt, room: impl Fn(PortIndex, ChannelIndex) -> u32) -> Option<OutputVc> {
        let PacketAt { header, state: place, .. } = packet;
        let port = self.table.port(place[0] as u32)?;
        let layer = self.table.layer(header.period, header.from, header.to);
        roomiest(std::iter::once(port), share_of_channels(layer, self.table.layers, self.channels), room)
    }

    fn hop(&self, _taken: OutputVc, _to: RouterId, place: &mut [i32]) {
        place[0] += 1;
    }
}
