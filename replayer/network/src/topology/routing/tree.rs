//! Routing in trees of switches: up to a switch above the destination, and down (`updown`).
//!
//! The path down is unique, except for parallel cables; on the way up, every port is equally short. A packet never goes
//! up after going down, so packets wait for one another in one direction only, and no bubble is needed.
//!
//! At level l — hosts are level 0 — **d-mod-k** takes the port ⌊d / Π_{j≤l} w_j⌋ mod w_{l+1} of the destination d,
//! where each device of level j − 1 has w_j ports upwards (Zahavi, CCIT 776, 2010). **s-mod-k** uses the source's
//! number instead. The **adaptive** ascent takes the port with most room; among equals, the first from d-mod-k's on.
//! The name `adaptive` selects the adaptive ascent unless another is given.

use serde::Deserialize;

use super::{BuildRouting, Header, OutputVc, Routing, RoutingOptions, Unroutable, roomiest};
use crate::chance::chance;
use crate::topology::{ChannelIndex, PortIndex, RouterGraph, RouterId, Stage, Stages};

/// The choice among the ports of a switch that lead upwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ascent {
    /// Determined by the destination.
    DModK,
    /// Determined by the source.
    SModK,
    /// A random port.
    Random,
    /// The port with most room.
    Adaptive,
}

/// Up*/down* routing. Packets carry no state.
#[derive(Clone, Debug)]
pub struct TreeRouting {
    ascent: Ascent,
    channels: u32,
    /// From the lowest switches up.
    levels: Vec<SwitchLevel>,
}

/// A level of switches.
#[derive(Clone, Copy, Debug)]
struct SwitchLevel {
    /// The first of its switches.
    first: u32,
    /// The number of switches with the same hosts below: Π_{j≤l} w_j.
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

const ADAPTIVE: &str = "adaptive";

impl BuildRouting for TreeRouting {
    const NAMES: &'static [&'static str] = &["updown", ADAPTIVE];

    fn suits(graph: &RouterGraph) -> bool {
        graph.geometry::<Stages>().is_some()
    }

    fn new(graph: &RouterGraph, options: &RoutingOptions) -> Result<Self, Unroutable> {
        let Some(Stages(stages)) = graph.geometry() else {
            return Err(Unroutable::Impossible("routers are not the switches of a tree".to_owned()));
        };
        let by_default = if options.is_named(ADAPTIVE) { Ascent::Adaptive } else { Ascent::DModK };
        let ascent = options.ascent.unwrap_or(by_default);
        Ok(Self { ascent, channels: options.virtual_channels.unwrap_or(1), levels: levels(stages) })
    }
}

fn levels(stages: &[Stage]) -> Vec<SwitchLevel> {
    let all_hosts: u32 = stages.iter().map(|stage| stage.down).product();
    let (mut first, mut alike, mut hosts) = (0, 1, 1);
    let mut levels = Vec::with_capacity(stages.len());
    for (place, stage) in stages.iter().enumerate() {
        let hosts_of_child = hosts;
        hosts *= stage.down;
        alike *= stage.up;
        let above = stages.get(place + 1);
        levels.push(SwitchLevel {
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
    levels
}

impl Routing for TreeRouting {
    fn virtual_channels(&self) -> u32 {
        self.channels
    }

    fn has_alternatives(&self) -> bool {
        self.ascent == Ascent::Adaptive || self.levels.iter().any(|level| level.to_child > 1)
    }

    fn fixed_output(&self, at: RouterId, header: &Header, _state: &[i32]) -> Option<PortIndex> {
        let (place, level) = self.level(at)?;
        if level.is_above(at, header.to.0) {
            return (level.to_child == 1).then(|| PortIndex(level.child_towards(header.to.0)));
        }
        match self.ascent {
            Ascent::DModK => Some(level.upwards(header.to.0 / level.alike)),
            Ascent::SModK => Some(level.upwards(header.from.0 / level.alike)),
            Ascent::Random => Some(level.upwards((chance(header.random, place, 0) >> 33) as u32)),
            Ascent::Adaptive => None,
        }
    }

    fn choose(
        &self,
        at: RouterId,
        header: &Header,
        _state: &[i32],
        _arrival: Option<OutputVc>,
        room: impl Fn(PortIndex, ChannelIndex) -> u32,
    ) -> Option<OutputVc> {
        let (_, level) = self.level(at)?;
        if level.is_above(at, header.to.0) {
            let first = level.child_towards(header.to.0);
            let from_any = (0..level.to_child).map(|cable| PortIndex(first + (cable + header.from.0) % level.to_child));
            return roomiest(from_any, 0..self.channels, room);
        }
        let ports = level.parents * level.to_parent;
        let from_any = (0..ports).map(|number| level.upwards(number + header.to.0 / level.alike % ports));
        roomiest(from_any, 0..self.channels, room)
    }
}

impl TreeRouting {
    /// The level of a switch, and the level's number.
    fn level(&self, switch: RouterId) -> Option<(u64, SwitchLevel)> {
        let place = self.levels.iter().rposition(|level| level.first <= switch.0)?;
        Some((place as u64, self.levels[place]))
    }
}

impl SwitchLevel {
    fn is_above(&self, switch: RouterId, host: u32) -> bool {
        (switch.0 - self.first) / self.alike == host / self.hosts
    }

    /// The first port to the child that a host is below.
    fn child_towards(&self, host: u32) -> u32 {
        host / self.hosts_of_child % (self.hosts / self.hosts_of_child) * self.to_child
    }

    /// The port upwards that d-mod-k gives a number. It counts parents first, and then the cables to each.
    fn upwards(&self, number: u32) -> PortIndex {
        let (parent, cable) = (number % self.parents, number / self.parents % self.to_parent);
        PortIndex(self.down + parent * self.to_parent + cable)
    }
}
