//! Ways in trees of switches: up to a switch that the destination is below, and down.
//!
//! The way down is the only one, up to parallel cables; on the way up every port is as short. Going up and never up again
//! after going down, packets wait for one another in one direction only, so no bubble is needed.
//!
//! At level l — hosts are level 0 — **d-mod-k** takes the port ⌊d / Π_{j≤l} w_j⌋ mod w_{l+1} of the destination d, where each
//! device of level j − 1 has w_j ports upwards (Zahavi, CCIT 776, 2010), **s-mod-k** the one that the source's number gives. The
//! **adaptive** ascent takes the port with most room; among equals, the first from d-mod-k's on.

use super::{Way, roomiest};
use crate::packet::chance::chance;
use crate::packet::packets::Packet;
use crate::packet::parameters::Ascent;
use crate::topology::Stage;

/// Up*/down* routing.
#[derive(Clone, Debug)]
pub(in crate::packet) struct TreeWays {
    ascent: Ascent,
    channels: u32,
    /// From the lowest switches up.
    levels: Vec<Level>,
}

/// A level of switches.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// The first of its switches.
    first: u32,
    /// How many switches have the same hosts below: Π_{j≤l} w_j.
    alike: u32,
    /// Hosts below each.
    hosts: u32,
    /// Hosts below each child.
    hosts_of_child: u32,
    /// Cables to each child that is a switch.
    to_child: u32,
    /// Ports downwards.
    down: u32,
    parents: u32,
    /// Cables to each parent.
    to_parent: u32,
}

impl TreeWays {
    pub fn new(stages: &[Stage], ascent: Ascent, channels: u32) -> Self {
        let all_hosts: u32 = stages.iter().map(|stage| stage.down).product();
        let (mut first, mut alike, mut hosts) = (0, 1, 1);
        let mut levels = Vec::with_capacity(stages.len());
        for (place, stage) in stages.iter().enumerate() {
            let hosts_of_child = hosts;
            hosts *= stage.down;
            alike *= stage.up;
            let above = stages.get(place + 1);
            levels.push(Level {
                first,
                alike,
                hosts,
                hosts_of_child,
                to_child: stage.count,
                down: if place == 0 { 0 } else { stage.down * stage.count },
                parents: above.map_or(0, |above| above.up),
                to_parent: above.map_or(0, |above| above.count),
            });
            first += alike * (all_hosts / hosts);
        }
        Self { ascent, channels, levels }
    }

    pub fn may_turn(&self) -> bool {
        self.ascent == Ascent::Adaptive || self.levels.iter().any(|level| level.to_child > 1)
    }

    pub fn settle(&self, here: u32, packet: &Packet) -> Option<u32> {
        let (place, level) = self.level(here)?;
        if level.is_above(here, packet.to) {
            return (level.to_child == 1).then(|| level.child_towards(packet.to));
        }
        match self.ascent {
            Ascent::DModK => Some(level.upwards(packet.to / level.alike)),
            Ascent::SModK => Some(level.upwards(packet.from / level.alike)),
            Ascent::Random => Some(level.upwards((chance(packet.ties, place, 0) >> 33) as u32)),
            Ascent::Adaptive => None,
        }
    }

    pub fn choose_channel(&self, port: u32, room: impl Fn(u32, u32) -> u32) -> Option<Way> {
        roomiest(std::iter::once(port), 0..self.channels, room)
    }

    pub fn choose(&self, here: u32, packet: &Packet, room: impl Fn(u32, u32) -> u32) -> Option<Way> {
        let (_, level) = self.level(here)?;
        if level.is_above(here, packet.to) {
            let first = level.child_towards(packet.to);
            let from_any = (0..level.to_child).map(|cable| first + (cable + packet.from) % level.to_child);
            return roomiest(from_any, 0..self.channels, room);
        }
        let ports = level.parents * level.to_parent;
        let from_any = (0..ports).map(|number| level.upwards(number + packet.to / level.alike % ports));
        roomiest(from_any, 0..self.channels, room)
    }

    /// The level of a switch, and the level's number.
    fn level(&self, switch: u32) -> Option<(u64, Level)> {
        let place = self.levels.iter().rposition(|level| level.first <= switch)?;
        Some((place as u64, self.levels[place]))
    }
}

impl Level {
    fn is_above(&self, switch: u32, host: u32) -> bool {
        (switch - self.first) / self.alike == host / self.hosts
    }

    /// The first port to the child that a host is below.
    fn child_towards(&self, host: u32) -> u32 {
        host / self.hosts_of_child % (self.hosts / self.hosts_of_child) * self.to_child
    }

    /// The port upwards that d-mod-k gives a number. It counts parents first, and then the cables to each.
    fn upwards(&self, number: u32) -> u32 {
        let (parent, cable) = (number % self.parents, number / self.parents % self.to_parent);
        self.down + parent * self.to_parent + cable
    }
}
