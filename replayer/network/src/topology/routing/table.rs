//! Routing by a table: packets follow the routes of the topology.
//!
//! If the dependencies of routes have a cycle, the routes are divided into several layers without cycles
//! ([`written_routes`](crate::topology::RouteTable)). Each layer has its share of the virtual channels, so packets
//! cannot deadlock. There are as many virtual channels as layers unless the user wants more.

use std::ops::Range;
use std::sync::Arc;

use super::{BuildRouting, Header, OutputVc, Routing, RoutingOptions, Unroutable, roomiest};
use crate::topology::{ChannelIndex, PortIndex, RouteTable, RouterGraph, RouterId};

/// Routing by a table. The state of a packet is the place of its next port in the table.
#[derive(Clone, Debug)]
pub struct TableRouting {
    table: Arc<RouteTable>,
    channels: u32,
}

impl BuildRouting for TableRouting {
    const NAMES: &'static [&'static str] = &["table"];

    fn suits(graph: &RouterGraph) -> bool {
        graph.geometry::<RouteTable>().is_some()
    }

    fn new(graph: &RouterGraph, options: &RoutingOptions) -> Result<Self, Unroutable> {
        let Some(table) = graph.geometry::<RouteTable>() else {
            return Err(Unroutable::Impossible("there is no table of routes".to_owned()));
        };
        let channels = options.virtual_channels.unwrap_or(table.layers());
        if channels < table.layers() {
            let cycle: Vec<_> = table.cycle().iter().map(|link| format!("`{link}`")).collect();
            return Err(Unroutable::Impossible(format!(
                "packets could wait for each other for ever around the circle of links {}: these routes need {} virtual \
                 channels",
                cycle.join(", "),
                table.layers()
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

    fn choose(
        &self,
        _at: RouterId,
        header: &Header,
        place: &[i32],
        _arrival: Option<OutputVc>,
        room: impl Fn(PortIndex, ChannelIndex) -> u32,
    ) -> Option<OutputVc> {
        let port = self.table.port(place[0] as u32)?;
        roomiest(std::iter::once(port), self.channels_of(self.table.layer(header.period, header.from, header.to)), room)
    }

    fn hop(&self, _port: PortIndex, _to: RouterId, place: &mut [i32]) {
        place[0] += 1;
    }
}

impl TableRouting {
    /// The virtual channels of a layer.
    fn channels_of(&self, layer: u32) -> Range<u32> {
        let layers = self.table.layers();
        layer * self.channels / layers..(layer + 1) * self.channels / layers
    }
}
