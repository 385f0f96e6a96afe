//! Minimal routing in dragonflies, as [`Dragonfly`](crate::topology::Dragonfly) routes messages: within a group, green
//! and then black; to another group, to the blade with the blue cable, over it, and on as within a group.
//!
//! Within a group, green before black admits no cycle. Paths through two groups could close a cycle through both, so
//! packets use other channels in the last group than before (J. Kim, W. J. Dally, S. Scott, D. Abts,
//! "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008, §4.1): the upper half of the channels.

use std::ops::Range;

use super::{BuildRouting, Header, OutputVc, Routing, RoutingOptions, Unroutable, roomiest};
use crate::topology::{Blade, ChannelIndex, PortIndex, RouterGraph, RouterId, Shape};

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
            None => Err(Unroutable::Impossible("routers are not the blades of a dragonfly".to_owned())),
        }
    }
}

impl Routing for DragonflyRouting {
    fn virtual_channels(&self) -> u32 {
        self.channels
    }

    fn has_alternatives(&self) -> bool {
        self.shape.green.max(self.shape.black).max(self.shape.blue) > 1
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
        let ports = if last_group { self.within(at, destination) } else { self.between(at, destination) };
        let channels = if last_group { self.channels / 2..self.channels } else { 0..self.channels / 2 };
        let cables = ports.end - ports.start;
        let from_any = (0..cables).map(|cable| PortIndex(ports.start + (cable + header.from.0) % cables));
        roomiest(from_any, channels, room)
    }
}

impl DragonflyRouting {
    /// The cables towards a blade of the same group.
    fn within(&self, at: Blade, to: Blade) -> Range<u32> {
        if at.blade != to.blade { self.green(at, to.blade) } else { self.black(at, to.chassis) }
    }

    /// The cables towards another group.
    fn between(&self, at: Blade, to: Blade) -> Range<u32> {
        let Shape { chassis, blades, green, black, blue, .. } = self.shape;
        if at.blade != to.group {
            self.green(at, to.group)
        } else if at.chassis != 0 {
            self.black(at, 0)
        } else {
            let first = (blades - 1) * green + (chassis - 1) * black;
            first..first + blue
        }
    }

    fn green(&self, at: Blade, blade: u32) -> Range<u32> {
        let first = place_among_others(at.blade, blade) * self.shape.green;
        first..first + self.shape.green
    }

    fn black(&self, at: Blade, chassis: u32) -> Range<u32> {
        let Shape { blades, green, black, .. } = self.shape;
        let first = (blades - 1) * green + place_among_others(at.chassis, chassis) * black;
        first..first + black
    }
}

/// The place of `other` among all but `me`.
fn place_among_others(me: u32, other: u32) -> u32 {
    if other < me { other } else { other - 1 }
}
