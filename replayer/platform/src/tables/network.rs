//! `[network]`: the keys of all its tables, the cables, and the network model.

use std::num::NonZero;
use std::path::Path;

use serde::Deserialize;
use titr_common::units::{Bandwidth, Bytes, Quantity, Seconds};
use titr_document::Checked;
use titr_network::flow::{FlowParameters, Penalties, Preset};
use titr_network::packet::{Arbitration, InjectionOrder};
use titr_network::topology::{
    Ascent, Cable, Duplex, FlowRouting, HostId, Link, MultiRail, RailChoice, Rails, RoutingName, Sharing, Topology,
    WithLoopback, Zones,
};
use toml::Spanned;

use super::node::CardTable;
use super::value::{FactorSteps, NonNegative};
use super::{Builder, File, place_of};
use crate::Model;
use crate::topology::Site;

/// `[network]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "struct Network")]
pub(crate) struct NetworkTable {
    /// `"flow"` (max-min sharing of links), `"packet"` or `"ideal"` (no contention). Default: `"flow"`.
    #[serde(default)]
    pub model: ModelName,
    /// Bandwidth of every cable, in each direction. Required, except for an explicit topology.
    pub bandwidth: Option<Spanned<Quantity<Bandwidth>>>,
    /// Latency of every cable, in each direction. Required, except for an explicit topology and for packets.
    pub latency: Option<Spanned<Quantity<Seconds>>>,
    /// `"full"`: each direction of a cable has the full bandwidth. `"half"`: both share it. `"fat-pipe"`: every message
    /// has the full bandwidth, whatever else crosses the cable. Default: `"full"`.
    pub duplex: Option<Spanned<Duplex>>,
    /// Largest total bandwidth of all messages through a host or switch (SimGrid's `limiter_link`); in a star, through
    /// a host. Default: none.
    pub limiter: Option<Spanned<Quantity<Bandwidth>>>,
    /// Links that are unlike the others.
    #[serde(default)]
    pub link: Vec<UnlikeLinkTable>,
    /// Links and switches that have failed.
    #[serde(default)]
    pub failed: Vec<Spanned<FailedTable>>,
    /// Links that are drawn to fail. Default: none.
    pub failures: Option<Spanned<RandomFailuresTable>>,
    /// Default: one rail.
    pub rails: Option<Spanned<RailsTable>>,
    /// Default: `[node]`, where hosts have several cores and `flow.preset` is `"plain"`.
    pub loopback: Option<LoopbackTable>,
    #[serde(default)]
    pub card: CardTable,
    #[serde(default)]
    pub flow: FlowTable,
    #[serde(default)]
    pub packet: PacketTable,
}

/// `[[network.link]]`: a link that is unlike the others.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnlikeLinkTable {
    /// Name of a link, as in results: `"node-0 +x"`, `"node-3 up"`. The other keys apply to both directions of its
    /// cable. Required.
    pub name: Spanned<String>,
    /// `true`: the other keys apply to the named direction only. Default: `false`.
    #[serde(default)]
    pub one_way: bool,
    /// Number of the only [rail](#rails) on which the cable differs, from 0. Default: all rails.
    pub rail: Option<Spanned<u32>>,
    /// Bandwidth and latency of this cable. Default: those of `[network]`.
    pub bandwidth: Option<Quantity<Bandwidth>>,
    pub latency: Option<Quantity<Seconds>>,
}

/// `[[network.failed]]`: a link with both directions of its cable, or a switch with all its links.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FailedTable {
    /// A link that fails, with both directions of its cable. Required, or `switch`.
    pub link: Option<Spanned<String>>,
    /// A switch or router that fails, with all its links: `"switch-2.0"` (level 2) of a tree, `"router-0.1"` or
    /// `"blade-0.0.1"` of a dragonfly. Required, or `link`.
    #[serde(alias = "router")]
    pub switch: Option<Spanned<String>>,
    /// Number of the only [rail](#rails) on which it fails, from 0. Default: all rails.
    pub rail: Option<Spanned<u32>>,
    /// Simulated times of the failure and the repair, such as `"10 ms"`. Default: the start, never.
    pub at: Option<Spanned<Quantity<Seconds>>>,
    pub until: Option<Spanned<Quantity<Seconds>>>,
}

/// `[network.failures]`: links between switches that are drawn to fail from the start, on all rails.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RandomFailuresTable {
    /// Number of links that fail, in both directions. A larger number adds to the links of a smaller one.
    /// Default: 0.
    pub links: u32,
    /// Class of these links, as in results: `"global"` in a dragonfly. Default: all links between switches.
    pub class: Option<Spanned<String>>,
    /// Seed of the draw. Default: 0.
    pub seed: u64,
}

/// `[network.rails]`: several network interfaces at each host, each on a copy of the topology.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RailsTable {
    /// Number of rails, from 1 to 64. Required.
    pub count: Spanned<u32>,
    /// Rail of a message. `"size"`: the first for small messages; large ones are divided equally among all. `"rank"`:
    /// the number of the sender's rank modulo `count`. `"round-robin"`: each message of a sender takes the next.
    /// Default: `"size"`.
    #[serde(default)]
    pub choice: RailChoiceName,
    /// For `"size"`: size of the largest small message. Default: 16 KiB.
    pub small: Option<Spanned<Quantity<Bytes>>>,
}

/// `[network.rails] choice`
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RailChoiceName {
    /// The first rail for small messages, all rails for large ones.
    #[default]
    Size,
    /// The rail of the sending rank.
    Rank,
    /// Each rail in turn.
    RoundRobin,
}

/// `[network] model`
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ModelName {
    /// Max-min sharing of links.
    #[default]
    Flow,
    /// No contention.
    Ideal,
    /// Packets, routers and virtual channels.
    Packet,
}

/// `[network.loopback]`: messages between ranks of one host.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LoopbackTable {
    /// `"memory"`: messages between ranks of one host use a link of the host, described by the next keys. `"switch"`:
    /// they go to the first switch and back. Default: `"memory"`.
    pub through: Option<Spanned<Through>>,
    /// Bandwidth and latency of this link. Default: 10 GB/s, 100 ns.
    // SimGrid 3.32's network/loopback-bw, and about the time of a cache line between two cores.
    pub bandwidth: Quantity<Bandwidth>,
    pub latency: Quantity<Seconds>,
    /// `"fat-pipe"`: each message has the full bandwidth of this link. `"shared"`: messages share it. Default:
    /// `"fat-pipe"`.
    pub sharing: Sharing,
}

/// `[network.loopback] through`
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Through {
    /// A link of the host's own, described by the other keys.
    Memory,
    /// The network, out to the first switch and back: SimGrid's clusters without `loopback_bw`.
    Switch,
}

impl Default for LoopbackTable {
    fn default() -> Self {
        Self {
            through: None,
            bandwidth: Quantity(Bandwidth { bytes_per_second: 1e10 }),
            latency: Quantity(Seconds(100e-9)),
            sharing: Sharing::FatPipe,
        }
    }
}

/// `[network.flow]`: parameters of `model = "flow"`. A key that is not given has the preset's value.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct FlowTable {
    /// A set of values for the other keys. `"plain"`: bandwidth and latency as in the file. SimGrid's models: `"smpi"`,
    /// `"cm02"`, `"lv08"` and `"ib"`. Default: `"plain"`.
    pub preset: Preset,
    /// Messages' [paths](#flows-over-several-paths). Default: `"minimal"`.
    pub routing: Option<Spanned<FlowRouting>>,
    /// Factors on latency and bandwidth: a number, or steps by message size `[[from_bytes, factor], …]`. Default: the
    /// preset's.
    pub latency_factor: Option<FactorSteps>,
    pub bandwidth_factor: Option<FactorSteps>,
    /// Bytes whose time on each link of the route is added to a message's round-trip time. Messages share a link in
    /// inverse proportion to their round-trip times. 0: nothing is added. Default: the preset's.
    pub weight_s: Option<NonNegative>,
    /// TCP's window in bytes; 0: none. Default: the preset's.
    pub tcp_gamma: Option<NonNegative>,
    /// Rate of the acknowledgements in the opposite direction, as a fraction of the message's rate; 0: none. Default:
    /// the preset's.
    pub crosstraffic: Option<NonNegative>,
    /// Bytes that each link between hosts passes at once after a pause, as a limiter with a token bucket does, which
    /// fills at the bandwidth of the link. Default: 0.
    pub burst: Option<Quantity<Bytes>>,
    /// Bytes that the MPI library adds to each message. Default: the preset's.
    pub envelope: Option<Quantity<Bytes>>,
    /// `true`: messages from one rank to another travel one after the other, as on a TCP connection or a queue pair.
    /// `false`: they share the bandwidth, as in SimGrid. Default: the preset's: `true` for `"plain"`, `false` for the
    /// others.
    pub in_order: Option<bool>,
    /// `[β_e, β_s, γ_s]`: factors by which messages slow down others at the same InfiniBand adapter. Default: none;
    /// with `"ib"` `[0.965, 0.925, 1.35]`.
    // For arriving together, leaving together, and leaving together if one goes to a crowded host.
    pub infiniband_penalties: Option<[NonNegative; 3]>,
}

/// `[network.packet]`: parameters of `model = "packet"`. The defaults are those of FSIN's router.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PacketTable {
    /// Data that a channel carries in one cycle. Default: `"4 B"`.
    pub phit: Option<Spanned<Quantity<Bytes>>>,
    /// Size of every packet of a message; with output-queued switches, the last may be shorter. An empty message is one
    /// packet. Default: `"64 B"`.
    pub packet: Option<Spanned<Quantity<Bytes>>>,
    /// Part of each packet that carries no data. With `"4 B"`, 64 bytes of data need two packets. With the default they
    /// are one, as in the curves of the literature. Default: `"0 B"`.
    pub header: Option<Spanned<Quantity<Bytes>>>,
    /// Virtual channels of each channel; each has an input queue at the end of the channel. Default: 1; adaptive 3;
    /// dragonfly 2, 3 or 4 ([by its routing](#dragonflies)); [graphs of routers](#graphs-of-routers): one for each hop;
    /// written routes: as needed.
    pub virtual_channels: Option<Spanned<u32>>,
    /// Capacity of each input queue, in packets; at least 2 in rings. Default: 4.
    pub queue_packets: Option<Spanned<u32>>,
    /// Capacity of each virtual channel between the crossbar and the cable, in packets. With 0, a packet is on the
    /// cable as soon as the port is granted. Default: 0.
    pub output_queue: Option<Spanned<u32>>,
    /// `"adaptive"` in tori, meshes (two virtual channels or more, one of them the escape channel), trees and graphs of
    /// routers; `"valiant"`, `"ugal"` and `"ugal-g"` in [dragonflies](#dragonflies) and [graphs of
    /// routers](#graphs-of-routers); `"par"` in dragonflies; `"up-down"` in graphs of routers. Default: `"dor"`; in
    /// trees `"up-down"`; in dragonflies and graphs of routers `"minimal"`; for written routes `"table"`.
    // `"updown"` is the same as `"up-down"`.
    pub routing: Option<Spanned<RoutingName>>,
    /// Path of packets [up a tree](#trees). Default: `ascent` of the [topology](PLATFORM.md#topology), or `"d-mod-k"`; with
    /// adaptive routing `"adaptive"`.
    pub ascent: Option<Spanned<Ascent>>,
    /// `"vct"` (virtual cut-through alone) is refused in topologies with rings, because it allows deadlock. Default:
    /// `"bubble"`.
    pub flow_control: Option<Spanned<FlowControl>>,
    /// `"round-robin"`, `"fifo"`, `"random"` or `"longest"` (the longest queue first). Default: `"round-robin"`.
    pub arbitration: Option<Spanned<Arbitration>>,
    /// `"fifo"`, or `"round-robin"`: the messages of a host take turns, one packet each, as TCP connections do;
    /// messages between the same two ranks still follow each other. Default: `"fifo"`.
    pub injection_order: InjectionOrder,
    /// With `injection_order = "round-robin"` and output-queued switches: bytes between two ranks that may be on their
    /// way at once, in whole packets. TCP begins with ten packets (RFC 6928): `"14480 B"`. Default: without limit.
    pub connection_window: Option<Spanned<Quantity<Bytes>>>,
    /// Packets that a host can send at the same time. Default: 1.
    pub injection_ports: Option<Spanned<u32>>,
    /// Packets of each injection port that wait at the router of their host, each in a queue of its own. With 1, a
    /// packet that waits for a port delays those behind it: a network without other limits accepts about 0.6 of uniform
    /// traffic. Default: 1.
    pub injection_queues: Option<Spanned<u32>>,
    /// Packets that a host can receive at the same time. Default: 1.
    pub consumption_ports: Option<Spanned<u32>>,
    /// Additional cycles in each router and on each cable. Default: 0, 0.
    pub router_delay: u32,
    pub wire_delay: Option<u32>,
    /// With output-queued switches: bytes that each link passes at once after a pause, in whole phits, as a limiter
    /// with a token bucket does (`titr-calibrate` writes it as `network.flow.burst`). Default: none.
    pub burst: Option<Spanned<Quantity<Bytes>>>,
    /// `"output-queued"`: a [switch with one memory](#switches-with-output-queues), as in Ethernet, without
    /// `queue_packets`, `output_queue`, `injection_queues` and `arbitration`. Default: `"input-queued"`.
    pub switch: SwitchKind,
    /// Memory of each output-queued switch, in whole packets. Default: without limit.
    pub buffer: Option<Spanned<Quantity<Bytes>>>,
    /// `"shared"`: dynamic thresholds (Choudhury and Hahne, 1998); a queue may grow while it is shorter than `alpha`
    /// times the free memory. `"partitioned"`: equal parts. Default: `"shared"`.
    pub buffer_sharing: Option<Spanned<BufferSharingName>>,
    /// For `"shared"`: n full queues have α/(1 + nα) of the memory each. With 1, a single hot port gets half of it.
    /// Default: 1.
    pub alpha: Option<Spanned<f64>>,
    /// `"pause"`: the sender waits, as with priority flow control. `"drop"`: the packet is lost, and its host sends it
    /// again. Default: `"pause"`.
    pub when_full: Option<Spanned<Full>>,
    /// Time from the first loss of a packet until its host sends it again: by default the minimum of Linux; fast
    /// retransmission takes about a round trip, such as `"50 us"`. Default: `"200 ms"`.
    pub retransmit_after: Option<Spanned<Quantity<Seconds>>>,
    /// Seed of all random choices. Default: 0.
    pub seed: u64,
}

/// `[network.packet] flow_control`
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FlowControl {
    /// Virtual cut-through, where a packet that enters a ring leaves a bubble in it.
    Bubble,
    /// Virtual cut-through alone, where there are no rings.
    Vct,
}

/// `[network.packet] switch`
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SwitchKind {
    /// A router of an interconnect: queues at the ends of channels.
    #[default]
    InputQueued,
    /// A switch of Ethernet: one memory, and a queue for each port.
    OutputQueued,
}

/// `[network.packet] buffer_sharing`
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BufferSharingName {
    /// Dynamic thresholds.
    #[default]
    Shared,
    /// Equal parts.
    Partitioned,
}

/// `[network.packet] when_full`
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Full {
    /// Senders wait.
    #[default]
    Pause,
    /// Packets are lost, and sent again.
    Drop,
}

impl Builder<'_> {
    /// The topology, or the topology of `zones` if there are any, with a route for messages within a host.
    pub(super) fn topology(&self, file: &File, zones: Option<Zones>) -> Checked<Box<dyn Topology>> {
        let (written, count, table) = (file.topology.as_ref(), file.hosts.count.as_ref(), &file.network);
        let network = table.get_ref();
        let NetworkTable { bandwidth, latency, duplex, limiter, .. } = network;
        let cable_keys = [place_of(bandwidth), place_of(latency), place_of(duplex), place_of(limiter)];
        let cable_key = cable_keys.into_iter().flatten().next();
        let has_zones = zones.is_some();
        let topology = match (written, zones, &cable_key) {
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
                network: table.span(),
                cable: cable(network),
                cable_key,
                limiter: limiter.as_ref().map(|limiter| limiter.get_ref().0.bytes_per_second),
                turns_round: network.turns_round(),
            })?,
        };
        if let Some(count) = count.filter(|count| *count.get_ref() != topology.hosts()) {
            let message = format!("a {} has {} hosts, not {}", topology.name(), topology.hosts(), count.get_ref());
            return Err(self.wrong(count, message).with_help("change the count or the topology"));
        }
        let topology = self.with_up_down_packets(self.with_routed_flows(topology, network)?, network)?;
        let mut topologies = self.with_unlike_links(topology, network)?;
        if let Some(node) = &file.node {
            let node = self.node(node, self.cores(file.hosts.cores.as_ref())?)?;
            if let Some(through) = network.loopback.as_ref().and_then(|loopback| loopback.through.as_ref()) {
                let mistake = self.wrong(through, "messages within a host take its levels, which [node] describes");
                return Err(mistake.with_help("leave [network.loopback] or [node] out"));
            }
            let links = u64::from(topologies[0].hosts()) * node.links().len() as u64;
            if links > MOST_LINKS {
                let message = format!("{links} links within all hosts: a platform has at most {MOST_LINKS}");
                return Err(self.source.mistake(Some(table.span()), message).with_help("leave out inner levels"));
            }
            let with_node = |topology| WithLoopback::with_node(topology, &node);
            topologies =
                topologies.into_iter().map(|topology| self.with_process(with_node(topology), network)).collect();
        // All hosts in zones reach themselves.
        } else if !has_zones || !network.turns_round() {
            let with_loopback = |topology| self.with_loopback(topology, network);
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

    fn with_loopback(&self, topology: Box<dyn Topology>, network: &NetworkTable) -> Checked<Box<dyn Topology>> {
        let default = LoopbackTable::default();
        let table = network.loopback.as_ref().unwrap_or(&default);
        let Some(through) = table.through.as_ref().filter(|_| network.turns_round()) else {
            let loopback = Link {
                bandwidth: table.bandwidth.0.bytes_per_second,
                latency: table.latency.0,
                sharing: table.sharing,
            };
            return Ok(self.with_process(WithLoopback::new(topology, loopback), network));
        };
        let mut route = Vec::new();
        topology.route(HostId(0), HostId(0), &mut route);
        if route.is_empty() {
            let message = format!("in a {} there is no switch at which messages could turn round", topology.name());
            return Err(self.wrong(through, message).with_help("use through = \"memory\""));
        }
        Ok(topology)
    }

    /// The topology in which a message between hosts has at most the bandwidth of a process.
    fn with_process(&self, topology: WithLoopback, network: &NetworkTable) -> Box<dyn Topology> {
        Box::new(match &network.card.process_bandwidth {
            Some(bandwidth) => topology.with_process_bandwidth(bandwidth.0.bytes_per_second),
            None => topology,
        })
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

impl NetworkTable {
    /// Whether messages within a host go to the first switch and back.
    fn turns_round(&self) -> bool {
        let through = self.loopback.as_ref().and_then(|loopback| loopback.through.as_ref());
        through.is_some_and(|through| *through.get_ref() == Through::Switch)
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

/// Rails at most: a mistyped number is refused rather than filling memory with links.
const MOST: u32 = 64;

/// Links of all rails at most.
const MOST_LINKS: u64 = 1 << 27;

/// The largest message that takes the first rail alone, if the platform does not say it.
const SMALL: Bytes = Bytes(16 << 10);

impl Builder<'_> {
    /// The machine whose rails have these topologies, or all the same one.
    pub(super) fn with_rails(
        &self,
        mut topologies: Vec<Box<dyn Topology>>,
        network: &NetworkTable,
    ) -> Checked<Box<dyn Topology>> {
        let rails = match &network.rails {
            Some(table) => self.rails(table.get_ref())?,
            None => Rails::ONE,
        };
        let Some(table) = network.rails.as_ref().filter(|_| rails.count.get() > 1) else {
            return Ok(topologies.swap_remove(0));
        };
        let links = topologies[0].links().len() as u64 * u64::from(rails.count.get());
        if links > MOST_LINKS {
            let message = format!("{links} links of all rails: a platform has at most {MOST_LINKS}");
            return Err(self.wrong(table, message));
        }
        Ok(Box::new(MultiRail::new(topologies, rails)))
    }

    pub(super) fn rails(&self, RailsTable { count, choice, small }: &RailsTable) -> Checked<Rails> {
        let Some(number) = NonZero::new(*count.get_ref()).filter(|number| number.get() <= MOST) else {
            return Err(self.wrong(count, format!("{} is not from 1 to {MOST}", count.get_ref())));
        };
        let choice = match (choice, small) {
            (RailChoiceName::Size, small) => {
                RailChoice::Size { small: small.as_ref().map_or(SMALL, |small| small.get_ref().0) }
            }
            (RailChoiceName::Rank, None) => RailChoice::Rank,
            (RailChoiceName::RoundRobin, None) => RailChoice::RoundRobin,
            (RailChoiceName::Rank | RailChoiceName::RoundRobin, Some(small)) => {
                let mistake = self.wrong(small, "messages choose their rails by size only with choice = \"size\"");
                return Err(mistake.with_help("leave `small` out, or change `choice`"));
            }
        };
        Ok(Rails { count: number, choice })
    }
}
