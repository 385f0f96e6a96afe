//! Ways through a fabric, one hop at a time.
//!
//! A packet that heads a queue asks for one channel of one port that has room for it at this moment. Which may be asked for
//! is what makes a network free of deadlock:
//!
//! - [`grid`]: dimension order, or adaptively with such a way as escape, both under the bubble restriction.
//! - [`tree`]: up and then down.
//! - [`dragonfly`]: channels that change where the way between groups ends.

mod dragonfly;
mod grid;
mod tree;

use std::ops::Range;

use super::packets::Packet;
use super::parameters::{Parameters, Routing};
use crate::topology::{Fabric, NoFabric, Plan};

pub(super) use dragonfly::DragonflyWays;
pub(super) use grid::GridWays;
pub(super) use tree::TreeWays;

/// A channel of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub port: u32,
    pub channel: u32,
}

/// How a packet came to a router: by a port of another and a channel of it, or from a host that sits here.
pub(super) type Arrival = Option<Way>;

/// The rules for one kind of fabric.
#[derive(Clone, Debug)]
pub(super) enum Ways {
    Grid(GridWays),
    Tree(TreeWays),
    Dragonfly(DragonflyWays),
}

impl Ways {
    /// The rules that `parameters` ask for in `fabric`.
    pub fn new(fabric: &Fabric, parameters: &Parameters) -> Result<Self, NoFabric> {
        let channels = parameters.virtual_channels;
        match (&fabric.plan, parameters.routing) {
            (Plan::Grid(lattice), Routing::DimensionOrder | Routing::Adaptive) => {
                let adaptive = parameters.routing == Routing::Adaptive;
                if adaptive && channels < 2 {
                    return Err(NoFabric("adaptive routing needs a virtual channel beside the escape channel"));
                }
                Ok(Self::Grid(GridWays::new(lattice.clone(), adaptive, channels)))
            }
            (Plan::Tree(stages), Routing::UpDown(ascent)) => Ok(Self::Tree(TreeWays::new(stages, ascent, channels))),
            (Plan::Dragonfly(_), Routing::Minimal) if channels < 2 => {
                Err(NoFabric("a dragonfly needs two virtual channels"))
            }
            (Plan::Dragonfly(shape), Routing::Minimal) => Ok(Self::Dragonfly(DragonflyWays::new(*shape, channels))),
            (Plan::Grid(_), _) => Err(NoFabric("a grid is routed in dimension order or adaptively")),
            (Plan::Tree(_), _) => Err(NoFabric("a tree is routed up and down")),
            (Plan::Dragonfly(_), _) => Err(NoFabric("a dragonfly is routed minimally")),
        }
    }

    /// Whether queues form cycles that only bubbles keep moving.
    pub fn has_rings(&self) -> bool {
        match self {
            Self::Grid(grid) => grid.has_rings(),
            Self::Tree(_) | Self::Dragonfly(_) => false,
        }
    }

    /// In how many dimensions packets count their steps.
    pub fn dimensions(&self) -> usize {
        match self {
            Self::Grid(grid) => grid.dimensions(),
            Self::Tree(_) | Self::Dragonfly(_) => 0,
        }
    }

    /// Whether a packet that lost a port may find another before that is free again.
    pub fn may_turn(&self) -> bool {
        match self {
            Self::Grid(grid) => grid.may_turn(),
            Self::Tree(tree) => tree.may_turn(),
            Self::Dragonfly(dragonfly) => dragonfly.may_turn(),
        }
    }

    /// Counts the steps of a packet that starts at router `from`.
    pub fn depart(&self, from: u32, packet: &Packet, steps: &mut [i32]) {
        if let Self::Grid(grid) = self {
            grid.depart(from, packet, steps);
        }
    }

    /// The port that a packet at router `here`, which is not its goal, has to take, if it has no choice.
    pub fn settle(&self, here: u32, packet: &Packet, steps: &[i32]) -> Option<u32> {
        match self {
            Self::Grid(grid) => grid.settle(steps),
            Self::Tree(tree) => tree.settle(here, packet),
            Self::Dragonfly(_) => None,
        }
    }

    /// What a packet that is [settled](Self::settle) on `port` asks for. `room` tells for how many packets a channel of a
    /// port has room: none while the port is busy.
    pub fn choose_channel(&self, port: u32, arrival: Arrival, room: impl Fn(u32, u32) -> u32) -> Option<Way> {
        match self {
            Self::Grid(grid) => grid.choose_channel(port, arrival, room),
            Self::Tree(tree) => tree.choose_channel(port, room),
            Self::Dragonfly(_) => None,
        }
    }

    /// What a packet at router `here` asks for that is not settled.
    pub fn choose(
        &self,
        here: u32,
        (packet, steps): (&Packet, &[i32]),
        arrival: Arrival,
        room: impl Fn(u32, u32) -> u32,
    ) -> Option<Way> {
        match self {
            Self::Grid(grid) => grid.choose(steps, arrival, room),
            Self::Tree(tree) => tree.choose(here, packet, room),
            Self::Dragonfly(dragonfly) => dragonfly.choose(here, packet, room),
        }
    }

    /// Counts a step through `port`.
    pub fn step(&self, port: u32, steps: &mut [i32]) {
        if let Self::Grid(_) = self {
            GridWays::step(port, steps);
        }
    }
}

/// The channel with most room among those of some ports, if any has room; the first of those that have as much.
fn roomiest(ports: impl Iterator<Item = u32>, channels: Range<u32>, room: impl Fn(u32, u32) -> u32) -> Option<Way> {
    let (mut most, mut best) = (0, None);
    for port in ports {
        for channel in channels.clone() {
            let room = room(port, channel);
            if room > most {
                (most, best) = (room, Some(Way { port, channel }));
            }
        }
    }
    best
}
