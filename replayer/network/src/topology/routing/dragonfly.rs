//! Minimal routing in dragonflies, as [`Dragonfly`](crate::topology::Dragonfly) routes messages: within a group, green
//! and then black; to another group, to the router with the link, over it, and on as within a group.
//!
//! Within a group, green before black admits no cycle. Paths through two groups could close a cycle through both, so
//! packets use other channels in the last group than before (J. Kim, W. J. Dally, S. Scott, D. Abts,
//! "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008, §4.1): the upper half of the channels.

use std::ops::Range;

use super::{BuildRouting, Header, OutputVc, Routing, RoutingOptions, Unroutable, roomiest};
use crate::topology::{ChannelIndex, PortIndex, RouterGraph, RouterId, Shape};

/// Minimal routing. Packets carry no state.
#[derive(Clone, Debug)]
pub struct DragonflyRouting {
    shape: Shape,
    channels: u32,
}

impl BuildRouting for DragonflyRouting {
    const NAMES: &'static [&'static str] = &["minimal"];

    fn suits(graph: &RouterGraph) -> bool {
        graph.geometry::<Shape>().is_some()
    }

    fn new(graph: &RouterGraph, options: &RoutingOptions) -> Result<Self, Unroutable> {
        let channels = options.virtual_channels.unwrap_or(2);
        match graph.geometry::<Shape>() {
            Some(_) if channels < 2 => Err(Unroutable::Impossible("a dragonfly needs two virtual channels".to_owned())),
            Some(&shape) => Ok(Self { shape, channels }),
            None => Err(Unroutable::Impossible("routers are not those of a dragonfly".to_owned())),
        }
    }
}

impl Routing for DragonflyRouting {
    fn virtual_channels(&self) -> u32 {
        self.channels
    }

    fn has_alternatives(&self) -> bool {
        self.shape.has_bundles()
    }

    fn choose(
        &self,
        at: RouterId,
        header: &Header,
        _state: &[i32],
        _arrival: Option<OutputVc>,
        room: impl Fn(PortIndex, ChannelIndex) -> u32,
    ) -> Option<OutputVc> {
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
