//! Routing in trees of switches: up to a switch above the destination, and down (`up-down`).
//!
//! The path down is unique, except for parallel cables; on the way up, every port is equally short. A packet never goes
//! up after going down, so packets wait for one another in one direction only, and no bubble is needed.
//!
//! The ports upwards follow from an [`Ascent`]. The **adaptive** ascent takes the port with most room; among equals, the
//! first from d-mod-k's on. The name `adaptive` selects the adaptive ascent unless another is given; without a name and an
//! ascent, packets choose as the tree says.

use super::{BuildRouting, Header, OutputVc, Routing, RoutingName, RoutingOptions, Unroutable, roomiest};
use crate::chance::chance;
use crate::topology::{Ascent, ChannelIndex, PortChoice, PortIndex, RouterGraph, RouterId, Stage, Stages};

/// Up*/down* routing. Packets carry no state.
#[derive(Clone, Debug)]
pub struct TreeRouting {
    choice: PortChoice,
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
    const NAMES: &'static [&'static str] = &[RoutingName::UP_DOWN.0, ADAPTIVE];

    fn suits(graph: &RouterGraph) -> bool {
        graph.geometry::<Stages>().is_some()
    }

    fn new(graph: &RouterGraph, options: &RoutingOptions) -> Result<Self, Unroutable> {
        let Some(Stages { stages, choice }) = graph.geometry() else {
            return Err(Unroutable::Impossible("routers are not the switches of a tree".to_owned()));
        };
        let by_default = if options.is_named(ADAPTIVE) { Ascent::Adaptive } else { choice.ascent };
        let choice = PortChoice { ascent: options.ascent.unwrap_or(by_default), ..*choice };
        Ok(Self { choice, channels: options.virtual_channels.unwrap_or(1), levels: levels(stages) })
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
        match self.choice.ascent {
            Ascent::Adaptive => true,
            Ascent::Hashed => false,
            Ascent::DModK | Ascent::SModK | Ascent::Random => self.levels.iter().any(|level| level.to_child > 1),
        }
    }

    fn fixed_output(&self, at: RouterId, header: &Header, _state: &[i32]) -> Option<PortIndex> {
        let (place, level) = self.level(at)?;
        if level.is_above(at, header.to.0) {
            let first = level.child_towards(header.to.0);
            return match (level.to_child, self.choice.ascent) {
                (1, _) => Some(PortIndex(first)),
                (cables, Ascent::Hashed) => {
                    Some(PortIndex(first + self.choice.downwards((header.from, header.to), place) % cables))
                }
                (_, Ascent::DModK | Ascent::SModK | Ascent::Random | Ascent::Adaptive) => None,
            };
        }
        match self.choice.ascent {
            Ascent::DModK | Ascent::SModK | Ascent::Hashed => {
                Some(level.upwards(self.choice.upwards((header.from, header.to), place + 1, level.alike)))
            }
            Ascent::Random => Some(level.upwards((chance(header.random, place as u64, 0) >> 33) as u32)),
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
    /// The level of a switch, and the number of levels of switches below.
    fn level(&self, switch: RouterId) -> Option<(usize, SwitchLevel)> {
        let place = self.levels.iter().rposition(|level| level.first <= switch.0)?;
        Some((place, self.levels[place]))
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

#[cfg(test)]
mod tests {
    use titr_common::units::Seconds;

    use super::*;
    use crate::topology::{Cable, Duplex, FatTree, HostId, LinkId, RoutePeriod, Topology};

    /// The links between routers that a packet takes whose ports are all fixed.
    fn fixed_links(graph: &RouterGraph, routing: &TreeRouting, from: HostId, to: HostId) -> Vec<LinkId> {
        let router_of = |host: HostId| graph.hosts()[host.index()].router;
        let header = Header { from, to, destination: router_of(to), random: 0, period: RoutePeriod::default() };
        let (mut at, mut links) = (router_of(from), Vec::new());
        while at != header.destination {
            let port = graph.port(at, routing.fixed_output(at, &header, &[]).unwrap()).unwrap();
            links.push(port.link);
            at = port.to.unwrap();
        }
        links
    }

    /// Packets take the path of the flow model, unless they choose it.
    #[test]
    fn packets_take_the_route_of_the_topology() {
        let cable = Cable { bandwidth: 1e9, latency: Seconds(0.0), duplex: Duplex::Full };
        for (ascent, count) in [(Ascent::DModK, 1), (Ascent::SModK, 1), (Ascent::Hashed, 1), (Ascent::Hashed, 3)] {
            let stages = [(3, 1, 1), (4, 2, count), (2, 3, count)].map(|(down, up, count)| Stage { down, up, count });
            let tree = FatTree::new(&stages, cable).choosing(PortChoice { ascent, seed: 5 });
            let graph = tree.router_graph().unwrap();
            let routing = TreeRouting::new(&graph, &RoutingOptions::default()).unwrap();
            assert!(!routing.has_alternatives());
            for (from, to) in (0..24).flat_map(|from| (0..24).map(move |to| (HostId(from), HostId(to)))) {
                let mut route = Vec::new();
                tree.route(from, to, &mut route);
                let between = &route[1..route.len() - 1];
                assert_eq!(fixed_links(&graph, &routing, from, to), between, "{ascent:?} from {from:?} to {to:?}");
            }
        }
    }
}
