//! Builds the network of a platform file: topology, cables, messages within a host, and the model's parameters.

use std::path::Path;

use titr_common::units::Seconds;
use titr_document::Checked;
use titr_network::flow::{FlowParameters, Penalties};
use titr_network::topology::{Cable, FlowRouting, HostId, Link, RoutingName, Topology, WithLoopback, Zones};
use toml::Spanned;

use super::Builder;
use crate::Model;
use crate::schema::{File, FlowTable, LoopbackTable, ModelName, NetworkTable, NonNegative, Through};
use crate::topology::Site;

impl Builder<'_> {
    /// The topology, or the topology of `zones` if there are any, with a route for messages within a host.
    pub(super) fn topology(&self, file: &File, zones: Option<Zones>) -> Checked<Box<dyn Topology>> {
        let network = file.network.get_ref();
        let NetworkTable { bandwidth, latency, duplex, limiter, .. } = network;
        let cable_keys = [
            bandwidth.as_ref().map(Spanned::span),
            latency.as_ref().map(Spanned::span),
            duplex.as_ref().map(Spanned::span),
            limiter.as_ref().map(Spanned::span),
        ];
        let count = file.hosts.count.as_ref();
        let cable_key = cable_keys.into_iter().flatten().next();
        let has_zones = zones.is_some();
        let topology = match (&file.topology, zones, &cable_key) {
            (Some(written), Some(_), _) => {
                let mistake = self.wrong(written, "the platform has zones, which are its topology");
                return Err(mistake.with_help("leave `topology` out"));
            }
            (None, Some(_), Some(place)) => {
                let mistake = self.source.mistake(Some(place.clone()), "no link would be affected by this");
                return Err(mistake.with_help("each link of an explicit topology says what it is like"));
            }
            (None, Some(zones), None) => Box::new(zones),
            (None, None, _) => return Err(self.source.mistake(Some(0..0), "missing key `topology`")),
            (Some(written), None, _) => written.get_ref().build(&Site {
                source: self.source,
                folder: self.path.parent().unwrap_or(Path::new("")),
                place: written.span(),
                hosts: count,
                network: file.network.span(),
                cable: cable(network),
                cable_key,
                limiter: limiter.as_ref().map(|limiter| limiter.get_ref().0.bytes_per_second),
                turns_round: network.loopback.turns_round(),
            })?,
        };
        if let Some(count) = count.filter(|count| *count.get_ref() != topology.hosts()) {
            let message = format!("a {} has {} hosts, not {}", topology.name(), topology.hosts(), count.get_ref());
            return Err(self.wrong(count, message).with_help("change the count or the topology"));
        }
        let topology = self.with_up_down_packets(self.with_routed_flows(topology, network)?, network)?;
        let mut topologies = self.with_unlike_links(topology, network)?;
        // All hosts in zones reach themselves.
        if !has_zones || !network.loopback.turns_round() {
            let with_loopback = |topology| self.with_loopback(topology, &network.loopback);
            topologies = topologies.into_iter().map(with_loopback).collect::<Checked<_>>()?;
        }
        self.with_rails(topologies, network)
    }

    /// The topology in which flows take the paths that are written. Other models have paths of their own.
    fn with_routed_flows(&self, mut topology: Box<dyn Topology>, network: &NetworkTable) -> Checked<Box<dyn Topology>> {
        let Some(routing) = network.flow.routing.as_ref().filter(|_| network.model == ModelName::Flow) else {
            return Ok(topology);
        };
        if topology.route_flows(*routing.get_ref()) {
            return Ok(topology);
        }
        let mistake = self.wrong(routing, format!("the flows of a {} have no such routing", topology.name()));
        Err(mistake.with_help(
            "use \"adaptive\" in trees and graphs of routers, \"valiant\" in dragonflies and graphs of routers, \"up-down\" in \
             trees and graphs of routers, or \"minimal\"",
        ))
    }

    /// The topology whose routes are up*/down* paths if packets take such paths. Packets that find their ways in a table take
    /// these routes.
    fn with_up_down_packets(
        &self,
        mut topology: Box<dyn Topology>,
        network: &NetworkTable,
    ) -> Checked<Box<dyn Topology>> {
        let named = network.packet.routing.as_ref().filter(|name| *name.get_ref() == RoutingName::UP_DOWN);
        let Some(routing) = named.filter(|_| network.model == ModelName::Packet) else { return Ok(topology) };
        if topology.route_flows(FlowRouting::UpDown) {
            return Ok(topology);
        }
        let name = topology.name();
        let mistake = self.wrong(
            routing,
            format!("the packets of a {name} do not have this routing: it is for trees and graphs of routers"),
        );
        Err(mistake.with_help("leave `routing` out"))
    }

    fn with_loopback(&self, topology: Box<dyn Topology>, table: &LoopbackTable) -> Checked<Box<dyn Topology>> {
        let Some(through) = table.through.as_ref().filter(|_| table.turns_round()) else {
            let loopback = Link {
                bandwidth: table.bandwidth.0.bytes_per_second,
                latency: table.latency.0,
                sharing: table.sharing,
            };
            return Ok(Box::new(WithLoopback::new(topology, loopback)));
        };
        let mut route = Vec::new();
        topology.route(HostId(0), HostId(0), &mut route);
        if route.is_empty() {
            let message = format!("in a {} there is no switch at which messages could turn round", topology.name());
            return Err(self.wrong(through, message).with_help("use through = \"memory\""));
        }
        Ok(topology)
    }

    /// The model with its parameters, and remarks on how they were read.
    pub(super) fn model(
        &self,
        network: Spanned<NetworkTable>,
        topology: &dyn Topology,
    ) -> Checked<(Model, Vec<String>)> {
        let place = network.span();
        let refused = |what: &str| {
            let message = format!("{what} on links that change over time, as those of this platform do");
            let mistake = self.source.mistake(Some(place.clone()), message);
            mistake.with_help("use another network.model or network.flow.preset, or leave the profiles of links out")
        };
        let changes = !topology.changes().is_empty();
        Ok(match network.get_ref().model {
            ModelName::Flow => {
                let parameters = flow(network.into_inner().flow);
                if changes && parameters.contention.is_some() {
                    return Err(refused("titr does not simulate InfiniBand's penalties"));
                }
                (Model::Flow(parameters), Vec::new())
            }
            ModelName::Packet if changes => return Err(refused("titr does not simulate packets")),
            ModelName::Ideal => (Model::Ideal, Vec::new()),
            ModelName::Packet => {
                let (design, warnings) = self.packet(&network, topology)?;
                (Model::Packet(design.into()), warnings)
            }
        })
    }
}

impl LoopbackTable {
    /// Whether messages within a host go to the first switch and back.
    fn turns_round(&self) -> bool {
        self.through.as_ref().is_some_and(|through| *through.get_ref() == Through::Switch)
    }
}

/// The cable between any two neighbours, or an error that names the missing key.
fn cable(network: &NetworkTable) -> Result<Cable, &'static str> {
    let NetworkTable { bandwidth, latency, duplex, model, .. } = network;
    Ok(Cable {
        bandwidth: bandwidth.as_ref().ok_or("bandwidth")?.get_ref().0.bytes_per_second,
        latency: match (latency, model) {
            (Some(latency), _) => latency.get_ref().0,
            (None, ModelName::Packet) => Seconds(0.0),
            (None, ModelName::Flow | ModelName::Ideal) => return Err("latency"),
        },
        duplex: duplex.as_ref().map(|duplex| *duplex.get_ref()).unwrap_or_default(),
    })
}

/// The preset's parameters, with those in the file in their place.
fn flow(table: FlowTable) -> FlowParameters {
    let preset = FlowParameters::from(table.preset);
    let number = |written: Option<NonNegative>, default| written.map_or(default, |number| number.0);
    FlowParameters {
        latency_factor: table.latency_factor.map_or(preset.latency_factor, |factor| factor.0),
        bandwidth_factor: table.bandwidth_factor.map_or(preset.bandwidth_factor, |factor| factor.0),
        weight_s: number(table.weight_s, preset.weight_s),
        tcp_gamma: number(table.tcp_gamma, preset.tcp_gamma),
        crosstraffic: number(table.crosstraffic, preset.crosstraffic),
        burst: table.burst.map_or(preset.burst, |size| size.0),
        envelope: table.envelope.map_or(preset.envelope, |size| size.0),
        in_order: table.in_order.unwrap_or(preset.in_order),
        contention: table.infiniband_penalties.map_or(preset.contention, |factors| {
            let [arriving, leaving, crossing] = factors.map(|factor| factor.0);
            Some(Penalties { arriving, leaving, crossing })
        }),
    }
}
