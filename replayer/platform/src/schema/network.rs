//! `[network]`: the cables, and the network model.

use serde::Deserialize;
use titr_common::units::{Bandwidth, Bytes, Quantity, Seconds};
use titr_network::flow::Preset;
use titr_network::topology::{Duplex, FlowRouting, Sharing};
use toml::Spanned;

use super::packet::PacketTable;
use super::value::{FactorSteps, NonNegative};

/// `[network]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "struct Network")]
pub struct NetworkTable {
    /// Default: `"flow"`.
    #[serde(default)]
    pub model: ModelName,
    /// Bandwidth of every cable in each direction. To be given unless the topology is explicit.
    pub bandwidth: Option<Spanned<Quantity<Bandwidth>>>,
    /// Latency of every cable. To be given unless the topology is explicit or the model is `"packet"`, which counts cycles.
    pub latency: Option<Spanned<Quantity<Seconds>>>,
    /// The way in which the two directions of every cable share it. Default: `"full"`, as SimGrid's SPLITDUPLEX.
    pub duplex: Option<Spanned<Duplex>>,
    /// Bandwidth that each host and switch passes on in all (SimGrid's `limiter_link`; of a star, the hosts only). Default: as
    /// much as its cables do.
    pub limiter: Option<Spanned<Quantity<Bandwidth>>>,
    /// Links that are unlike the others.
    #[serde(default)]
    pub link: Vec<UnlikeLinkTable>,
    /// Links and switches that have failed.
    #[serde(default)]
    pub failed: Vec<Spanned<FailedTable>>,
    /// Default: one rail.
    pub rails: Option<Spanned<RailsTable>>,
    #[serde(default)]
    pub loopback: LoopbackTable,
    #[serde(default)]
    pub flow: FlowTable,
    #[serde(default)]
    pub packet: PacketTable,
}

/// `[[network.link]]`: a link that is unlike the others.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnlikeLinkTable {
    /// The name of the link in results.
    pub name: Spanned<String>,
    /// Whether only the named direction of the cable is so. Default: both directions.
    #[serde(default)]
    pub one_way: bool,
    /// The number of the only rail on which the link is so. Default: all rails.
    pub rail: Option<Spanned<u32>>,
    /// Default: as all links.
    pub bandwidth: Option<Quantity<Bandwidth>>,
    /// Default: as all links.
    pub latency: Option<Quantity<Seconds>>,
}

/// `[[network.failed]]`: a link with both directions of its cable, or a switch with all its links.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailedTable {
    /// The name of the link in results.
    pub link: Option<Spanned<String>>,
    /// The name of the switch or router in the names of its links.
    #[serde(alias = "router")]
    pub switch: Option<Spanned<String>>,
    /// The number of the only rail on which it has failed. Default: all rails.
    pub rail: Option<Spanned<u32>>,
    /// The time from which on it has failed. Default: the start.
    pub at: Option<Spanned<Quantity<Seconds>>>,
    /// The time at which it is repaired. Default: never.
    pub until: Option<Spanned<Quantity<Seconds>>>,
}

/// `[network.rails]`: several network interfaces at each host, each on a copy of the topology.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RailsTable {
    pub count: Spanned<u32>,
    /// The rail that a message takes. Default: `"size"`.
    #[serde(default)]
    pub choice: RailChoiceName,
    /// For `"size"`: the largest message that takes the first rail alone; larger ones are striped. Default: 16 KiB.
    pub small: Option<Spanned<Quantity<Bytes>>>,
}

/// `[network.rails] choice`
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RailChoiceName {
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
pub enum ModelName {
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
pub struct LoopbackTable {
    /// Default: `"memory"`.
    pub through: Option<Spanned<Through>>,
    /// Default: 10 GB/s, as SimGrid 3.32's network/loopback-bw.
    pub bandwidth: Quantity<Bandwidth>,
    /// Default: 100 ns, about the time of a cache line between two cores. The model's latency factor applies.
    pub latency: Quantity<Seconds>,
    /// Default: `"fat-pipe"`, as SimGrid's. `"shared"` makes it the host's memory bus.
    pub sharing: Sharing,
}

/// `[network.loopback] through`
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Through {
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
pub struct FlowTable {
    /// Default: `"plain"`.
    pub preset: Preset,
    /// The paths of messages. Default: `"minimal"`.
    pub routing: Option<Spanned<FlowRouting>>,
    /// Multiplies latency: a number, or steps `[[from_bytes, factor], …]`, each for messages above that size.
    pub latency_factor: Option<FactorSteps>,
    /// Multiplies bandwidth: a number, or steps `[[from_bytes, factor], …]`, each for messages above that size.
    pub bandwidth_factor: Option<FactorSteps>,
    /// Bytes whose time on each link counts towards the round trip that sharing goes by; 0: by latency alone.
    pub weight_s: Option<NonNegative>,
    /// TCP's window in bytes; 0: none.
    pub tcp_gamma: Option<NonNegative>,
    /// The part of a message's rate that its acknowledgements use on the reverse route; 0: none.
    pub crosstraffic: Option<NonNegative>,
    /// Bytes that each link passes at once after a pause, as a limiter with a token bucket does; 0: none.
    pub burst: Option<Quantity<Bytes>>,
    /// Bytes that MPI adds to each message.
    pub envelope: Option<Quantity<Bytes>>,
    /// Whether messages from one rank to another travel one after the other, as on a TCP connection or a queue pair; if
    /// not, all of them share the bandwidth at once, as in SimGrid.
    pub in_order: Option<bool>,
    /// Slowdown of concurrent messages at an InfiniBand adapter: `[β_e, β_s, γ_s]`, for arriving together, leaving
    /// together, and leaving together if one goes to a crowded host. Default: none, except with the preset `"ib"`.
    pub infiniband_penalties: Option<[NonNegative; 3]>,
}
