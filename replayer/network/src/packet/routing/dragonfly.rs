//! The shortest way in dragonflies, as [`Dragonfly`](crate::topology::Dragonfly) routes: within a group green and then
//! black; to another group to the blade that has the blue cable, over it, and on as within a group.
//!
//! Within a group, green before black admits no cycle. Ways that pass through two groups would close one through both;
//! but in the last group packets use other channels than before (J. Kim, W. J. Dally, S. Scott, D. Abts, "Technology-Driven,
//! Highly-Scalable Dragonfly Topology", ISCA 2008, §4.1): the upper half of them.

use std::ops::Range;

use super::{Way, roomiest};
use crate::packet::packets::Packet;
use crate::topology::Shape;

/// Minimal routing.
#[derive(Clone, Debug)]
pub(in crate::packet) struct DragonflyWays {
    shape: Shape,
    channels: u32,
}

/// A blade's place.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Blade {
    group: u32,
    chassis: u32,
    blade: u32,
}

impl DragonflyWays {
    pub fn new(shape: Shape, channels: u32) -> Self {
        Self { shape, channels }
    }

    pub fn may_turn(&self) -> bool {
        self.shape.green.max(self.shape.black).max(self.shape.blue) > 1
    }

    pub fn choose(&self, here: u32, packet: &Packet, room: impl Fn(u32, u32) -> u32) -> Option<Way> {
        let (at, goal) = (self.blade(here), self.blade(packet.goal));
        let last_group = at.group == goal.group;
        let ports = if last_group { self.within(at, goal) } else { self.between(at, goal) };
        let channels = if last_group { self.channels / 2..self.channels } else { 0..self.channels / 2 };
        let cables = ports.end - ports.start;
        let from_any = (0..cables).map(|cable| ports.start + (cable + packet.from) % cables);
        roomiest(from_any, channels, room)
    }

    /// The cables towards a blade of the same group.
    fn within(&self, at: Blade, goal: Blade) -> Range<u32> {
        if at.blade != goal.blade { self.green(at, goal.blade) } else { self.black(at, goal.chassis) }
    }

    /// The cables towards another group.
    fn between(&self, at: Blade, goal: Blade) -> Range<u32> {
        let Shape { chassis, blades, green, black, blue, .. } = self.shape;
        if at.blade != goal.group {
            self.green(at, goal.group)
        } else if at.chassis != 0 {
            self.black(at, 0)
        } else {
            let first = (blades - 1) * green + (chassis - 1) * black;
            first..first + blue
        }
    }

    fn green(&self, at: Blade, blade: u32) -> Range<u32> {
        let first = other(at.blade, blade) * self.shape.green;
        first..first + self.shape.green
    }

    fn black(&self, at: Blade, chassis: u32) -> Range<u32> {
        let Shape { blades, green, black, .. } = self.shape;
        let first = (blades - 1) * green + other(at.chassis, chassis) * black;
        first..first + black
    }

    fn blade(&self, router: u32) -> Blade {
        let Shape { chassis, blades, .. } = self.shape;
        Blade { group: router / blades / chassis, chassis: router / blades % chassis, blade: router % blades }
    }
}

/// The place of one among all but `me`.
fn other(me: u32, one: u32) -> u32 {
    if one < me { one } else { one - 1 }
}
