//! The platform file: every key that may be written, its default, and where the default comes from. What the keys
//! mean together is [`resolve`](super::resolve)'s business.

mod mpi;
mod topology;
mod value;

use serde::Deserialize;
use titr_common::units::{Bandwidth, Bytes, Quantity, Seconds, Speed};
use toml::Spanned;

use super::routers::Packet;

pub use mpi::{CollectiveLibrary, Collectives, EagerTransfer, Mpi};
pub use topology::{
    Backbone, Dragonfly, Explicit, ExplicitLink, ExplicitRoute, ExplicitRouting, FatTree, Grid, Routing, Topology, Xgft,
};
pub use value::{Factor, NonNegative, OneOrMany, Overhead};

/// A whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Which edition of this schema the file is written in: 1.
    pub schema: Spanned<u32>,
    pub hosts: Hosts,
    pub topology: Spanned<Topology>,
    pub network: Spanned<Network>,
    #[serde(default)]
    pub mpi: Mpi,
    #[serde(default)]
    pub placement: Placement,
}

/// `[hosts]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hosts {
    /// How many. Default: as many as the topology has, where that says it.
    pub count: Option<Spanned<u32>>,
    /// Ranks that a host has room for. Default: 1.
    pub cores: Option<Spanned<u32>>,
    /// Of one core: one value, or one for each host.
    pub speed: Spanned<OneOrMany<Quantity<Speed>>>,
}

/// `[network]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Default: `"flow"`.
    #[serde(default)]
    pub model: Model,
    /// Of every cable, in each direction. To be given unless the topology is explicit.
    pub bandwidth: Option<Spanned<Quantity<Bandwidth>>>,
    /// Of every cable, likewise, but not of the packet model, which counts cycles.
    pub latency: Option<Spanned<Quantity<Seconds>>>,
    /// What the directions of every cable share. Default: `"full"`, as SimGrid's SPLITDUPLEX.
    pub duplex: Option<Spanned<Duplex>>,
    /// What each host and switch passes on in all (SimGrid's `limiter_link`; of a star, the hosts only). Default: as
    /// much as its cables do.
    pub limiter: Option<Spanned<Quantity<Bandwidth>>>,
    #[serde(default)]
    pub loopback: Loopback,
    #[serde(default)]
    pub flow: Flow,
    #[serde(default)]
    pub packet: Packet,
}

/// `[network] model`
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Max-min sharing of links.
    #[default]
    Flow,
    /// No contention.
    Ideal,
    /// Packets, routers and virtual channels.
    Packet,
}

/// `[network] duplex`
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Duplex {
    /// Nothing is shared: a link for each direction (SimGrid's SPLITDUPLEX).
    #[default]
    Full,
    /// The bandwidth is (SHARED).
    Half,
    /// Nothing is, even among messages in one direction (FATPIPE).
    FatPipe,
}

/// Whether messages slow each other down.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// They do.
    #[default]
    Shared,
    /// They do not (SimGrid's FATPIPE).
    FatPipe,
}

/// `[network.loopback]`: messages between ranks of one host.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Loopback {
    /// Default: `"memory"`.
    pub through: Option<Spanned<Through>>,
    /// Default: 10 GB/s, as SimGrid 3.32's network/loopback-bw.
    pub bandwidth: Quantity<Bandwidth>,
    /// Default: 100 ns, about what a cache line takes between two cores. The model's latency factor applies.
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

impl Default for Loopback {
    fn default() -> Self {
        Self {
            through: None,
            bandwidth: Quantity(Bandwidth { bytes_per_second: 1e10 }),
            latency: Quantity(Seconds(100e-9)),
            sharing: Sharing::FatPipe,
        }
    }
}

/// `[network.flow]`: parameters of `model = "flow"`. What is not given is the preset's.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Flow {
    /// Default: `"smpi"`.
    pub preset: Preset,
    /// Multiplies latency: a number, or steps `[[from_bytes, factor], …]`, each for messages above that size.
    pub latency_factor: Option<Factor>,
    /// Multiplies bandwidth, likewise.
    pub bandwidth_factor: Option<Factor>,
    /// Bytes whose time on each link counts towards the round trip that sharing goes by; 0: by latency alone.
    pub weight_s: Option<NonNegative>,
    /// TCP's window in bytes; 0: none.
    pub tcp_gamma: Option<NonNegative>,
    /// How much of a message's rate its acknowledgements take on the way back; 0: none.
    pub crosstraffic: Option<NonNegative>,
    /// What MPI adds to each message.
    pub envelope: Option<Quantity<Bytes>>,
    /// How much messages at one InfiniBand adapter slow each other down: `[β_e, β_s, γ_s]`, for arriving together, leaving
    /// together, and leaving together where one goes to a crowd. Default: not at all, but for the preset `"ib"`.
    pub infiniband_penalties: Option<[NonNegative; 3]>,
}

/// `[network.flow] preset`: SimGrid's models. Their values stand with [`Preset`](titr_network::flow::Preset).
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    #[default]
    Smpi,
    Cm02,
    Lv08,
    Ib,
}

/// `[placement]`
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Placement {
    /// Default: `"block"`.
    pub policy: Option<Spanned<Policy>>,
    /// For `"random"`. Default: 0.
    pub seed: u64,
    /// For `"file"`: the host of each rank, a number a line; relative to the platform file.
    pub file: Option<Spanned<String>>,
}

/// `[placement] policy`
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Fill a host before the next is used.
    Block,
    /// One rank a host, then again from the first.
    RoundRobin,
    /// Any core, each as likely.
    Random,
    /// As a file says.
    File,
}
