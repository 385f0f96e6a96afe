//! Minimal routing in a [`Fabric`](crate::topology::Fabric): every hop brings a packet closer to its destination.
//!
//! - `minimal`: the route of the fabric, the same for all packets between two hosts.
//! - `adaptive`: of all ports on shortest paths, the one with most room.
//!
//! A packet uses another [class of virtual channels](super::hop_classes) for each hop.

use super::hop_classes::HopClasses;
use super::{BuildRouting, Header, OutputVc, Routing, RoutingOptions, Unroutable, roomiest};
use crate::topology::{ChannelIndex, HopTable, PortIndex, RouterGraph, RouterId};

/// Minimal routing. Packets carry no state.
#[derive(Clone, Debug)]
pub struct FabricRouting {
    table: HopTable,
    classes: HopClasses,
    is_adaptive: bool,
}

const MINIMAL: &str = "minimal";
const ADAPTIVE: &str = "adaptive";

impl BuildRouting for FabricRouting {
    const NAMES: &'static [&'static str] = &[MINIMAL, ADAPTIVE];

    fn suits(graph: &RouterGraph) -> bool {
        graph.geometry::<HopTable>().is_some()
    }

    fn new(graph: &RouterGraph, options: &RoutingOptions) -> Result<Self, Unroutable> {
        let Some(table) = graph.geometry::<HopTable>() else {
            return Err(Unroutable::Impossible("the hops between routers are not known".to_owned()));
        };
        let classes = HopClasses::new(table.diameter(), options, MINIMAL)?;
        Ok(Self { table: table.clone(), classes, is_adaptive: options.is_named(ADAPTIVE) })
    }
}

impl Routing for FabricRouting {
    fn virtual_channels(&self) -> u32 {
        self.classes.channels()
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

    fn choose(
        &self,
        at: RouterId,
        header: &Header,
        _state: &[i32],
        arrival: Option<OutputVc>,
        room: impl Fn(PortIndex, ChannelIndex) -> u32,
    ) -> Option<OutputVc> {
        let ports = self.table.ports_towards(at, header.destination, header.random as u32);
        roomiest(ports, self.classes.next(arrival), room)
    }
}
