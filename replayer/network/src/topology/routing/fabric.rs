//! Minimal routing in a [`Fabric`](crate::topology::Fabric): every hop brings a packet closer to its destination.
//!
//! - `minimal`: the route of the fabric, the same for all packets between two hosts.
//! - `adaptive`: of all ports on shortest paths, the one with most room.
//!
//! A packet uses another [class of virtual channels](HopClasses) for each hop.
//!
//! # Classes by hops
//!
//! Classes of virtual channels by hops: a packet uses another class for each hop, so that channels depend on channels of the
//! next class only, and cannot form a cycle (K. D. Günther, "Prevention of Deadlocks in Packet-Switched Data Transport
//! Systems", IEEE Trans. Commun. 29(4), 1981; Dally and Towles, §14.2.2).

use std::ops::Range;

use super::{
    BuildRouting, Header, OutputVc, PacketAt, Routing, RoutingOptions, Unroutable, roomiest, share_of_channels,
};
use crate::topology::{ChannelIndex, HopTable, PortIndex, RouterId};

/// Minimal routing. Packets carry no state.
#[derive(Clone, Debug)]
pub(crate) struct FabricRouting {
    table: HopTable,
    classes: HopClasses,
    is_adaptive: bool,
}

const MINIMAL: &str = "minimal";
const ADAPTIVE: &str = "adaptive";

impl BuildRouting for FabricRouting {
    type Structure = HopTable;

    const NAMES: &'static [&'static str] = &[MINIMAL, ADAPTIVE];

    fn new(table: &HopTable, options: &RoutingOptions) -> Result<Self, Unroutable> {
        let classes = HopClasses::new(table.diameter, options, MINIMAL)?;
        Ok(Self { table: table.clone(), classes, is_adaptive: options.is_named(ADAPTIVE) })
    }
}

impl Routing for FabricRouting {
    fn virtual_channels(&self) -> u32 {
        self.classes.channels
    }

    fn has_alternatives(&self) -> bool {
        self.is_adaptive
    }

    fn fixed_output(&self, at: RouterId, header: &Header, _state: &[i32]) -> Option<PortIndex> {
        if self.is_adaptive {
            return None;
        }
        self.table.port_of_flow(at, header.destination, (header.from, header.to))
    }

    fn choose_channel(
        &self,
        port: PortIndex,
        arrival: Option<OutputVc>,
        room: impl Fn(PortIndex, ChannelIndex) -> u32,
    ) -> Option<OutputVc> {
        roomiest(std::iter::once(port), self.classes.next(arrival), room)
    }

    fn choose(&self, packet: PacketAt, room: impl Fn(PortIndex, ChannelIndex) -> u32) -> Option<OutputVc> {
        let PacketAt { at, header, arrival, .. } = packet;
        let ports = self.table.ports_towards(at, header.destination, header.random as u32);
        roomiest(ports, self.classes.next(arrival), room)
    }
}

/// Virtual channels, divided into as many classes as a path has hops.
#[derive(Clone, Copy, Debug)]
pub(super) struct HopClasses {
    classes: u32,
    pub channels: u32,
}

impl HopClasses {
    /// Classes for paths of up to `hops` hops, with the channels that the options request, or one a class.
    pub(super) fn new(hops: u32, options: &RoutingOptions, default_name: &str) -> Result<Self, Unroutable> {
        let classes = hops.max(1);
        let channels = options.virtual_channels.unwrap_or(classes);
        if channels < classes {
            let name = options.name.map_or(default_name.to_owned(), |name| name.to_string());
            return Err(Unroutable::Impossible(format!(
                "\"{name}\" routing needs {classes} virtual channels here, one for each hop"
            )));
        }
        Ok(Self { classes, channels })
    }

    /// The channels of the next hop of a packet.
    #[inline]
    pub(super) fn next(self, arrival: Option<OutputVc>) -> Range<u32> {
        let class = arrival.map_or(0, |vc| ((vc.channel.0 + 1) * self.classes - 1) / self.channels + 1);
        share_of_channels(class, self.classes, self.channels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{ChannelIndex, PortIndex};

    /// From any channel of a class, a packet continues on the channels of the next class; the classes are all channels.
    #[test]
    fn each_hop_has_the_next_class() {
        for (classes, channels) in (1..9).flat_map(|classes| (classes..20).map(move |channels| (classes, channels))) {
            let options = RoutingOptions { virtual_channels: Some(channels), ..RoutingOptions::default() };
            let hops = HopClasses::new(classes, &options, "minimal").unwrap();
            let mut class = hops.next(None);
            assert_eq!(class.start, 0);
            for _ in 1..classes {
                let next = |channel| hops.next(Some(OutputVc { port: PortIndex(0), channel: ChannelIndex(channel) }));
                let all: Vec<_> = class.clone().map(next).collect();
                assert!(all.iter().all(|range| *range == all[0] && range.start == class.end), "{classes} {channels}");
                class = all[0].clone();
            }
            assert_eq!(class.end, channels);
        }
    }
}
