//! Up*/down* routing in a [`Fabric`](crate::topology::Fabric) (`up-down`): packets take the [paths](UpDownPaths) of the flow
//! model with the same name, the same for all packets between two hosts. One virtual channel is enough.

use super::{BuildRouting, Header, OutputVc, PacketAt, Routing, RoutingName, RoutingOptions, Unroutable, roomiest};
use crate::topology::{ChannelIndex, HopTable, PortIndex, RouterId, UpDownPaths, UpDownPlace};

/// Up*/down* routing. The state of a packet is the router that it has reached, and whether it has gone down: 0 or 1.
#[derive(Clone, Debug)]
pub(crate) struct UpDownRouting {
    paths: UpDownPaths,
    channels: u32,
}

impl BuildRouting for UpDownRouting {
    type Structure = HopTable;

    const NAMES: &'static [&'static str] = &[RoutingName::UP_DOWN.0];

    fn new(table: &HopTable, options: &RoutingOptions) -> Result<Self, Unroutable> {
        Ok(Self { paths: UpDownPaths::new(table), channels: options.virtual_channels.unwrap_or(1) })
    }
}

impl Routing for UpDownRouting {
    fn virtual_channels(&self) -> u32 {
        self.channels
    }

    fn state_words(&self) -> usize {
        2
    }

    fn has_alternatives(&self) -> bool {
        false
    }

    fn depart(&self, from: RouterId, _header: &Header, state: &mut [i32]) {
        write(UpDownPlace { at: from, is_descending: false }, state);
    }

    fn fixed_output(&self, _at: RouterId, header: &Header, state: &[i32]) -> Option<PortIndex> {
        self.paths.port(read(state), header.destination, (header.from, header.to))
    }

    /// Every packet has a [fixed output](Self::fixed_output).
    fn choose(&self, packet: PacketAt, room: impl Fn(PortIndex, ChannelIndex) -> u32) -> Option<OutputVc> {
        let PacketAt { at, header, state, .. } = packet;
        roomiest(self.fixed_output(at, header, state).into_iter(), 0..self.channels, room)
    }

    fn hop(&self, _taken: OutputVc, to: RouterId, state: &mut [i32]) {
        if let Some(next) = self.paths.next(read(state), to) {
            write(next, state);
        }
    }
}

/// The place that a packet's state is.
fn read(state: &[i32]) -> UpDownPlace {
    UpDownPlace { at: RouterId(state[0] as u32), is_descending: state[1] != 0 }
}

/// Writes a place into a packet's state.
fn write(place: UpDownPlace, state: &mut [i32]) {
    (state[0], state[1]) = (place.at.0 as i32, place.is_descending.into());
}

#[cfg(test)]
mod tests {
    use titr_common::units::Seconds;

    use super::*;
    use crate::topology::{Cable, Duplex, Fabric, FlowRouting, HostId, Jellyfish, RoutePeriod, Topology};

    #[test]
    fn packets_take_the_paths_of_flows() {
        let cable = Cable { bandwidth: 1e9, latency: Seconds(0.0), duplex: Duplex::Full };
        let wiring = Jellyfish { routers: 14, degree: 3, hosts: 2, seed: 4 }.wiring().unwrap();
        let mut fabric = Fabric::new(wiring, cable).unwrap();
        let graph = fabric.router_graph().unwrap();
        let routing = UpDownRouting::new(graph.geometry().unwrap(), &RoutingOptions::default()).unwrap();
        assert!(fabric.route_flows(FlowRouting::UpDown));
        for (from, to) in (0..28).flat_map(|from| (0..28).map(move |to| (HostId(from), HostId(to)))) {
            let [mut at, destination] = [from, to].map(|host| graph.hosts()[host.index()].router);
            let header = Header { from, to, destination, random: 0, period: RoutePeriod::default() };
            let (mut links, mut state) = (Vec::new(), [0; 2]);
            routing.depart(at, &header, &mut state);
            while at != destination {
                let output = routing.fixed_output(at, &header, &state).unwrap();
                let port = graph.port(at, output).unwrap();
                links.push(port.link);
                at = port.to.unwrap();
                routing.hop(OutputVc { port: output, channel: ChannelIndex(0) }, at, &mut state);
            }
            let mut route = Vec::new();
            fabric.route(from, to, &mut route);
            assert_eq!(links, route[1..route.len() - 1], "from {from:?} to {to:?}");
        }
    }
}
