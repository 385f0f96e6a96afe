//! The platform file: every key that may be written, its default, and where the default comes from. What the keys
//! mean together is [`resolve`](super::resolve)'s business.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::value::{SeqAccessDeserializer, StrDeserializer};
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use titr_common::units::{Bytes, Seconds};
use toml::Spanned;

use super::OverheadStep;
use super::quantity::{Bandwidth, Duration, InstructionRate, Size};
use super::routers::Packet;
use crate::network::flow;

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
    pub speed: Spanned<OneOrMany<InstructionRate>>,
}

/// `[topology.…]`: exactly one of these tables.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Topology {
    /// All hosts on one switch, or round a backbone.
    Star(Star),
    /// A grid of hosts, each dimension closed to a ring.
    Torus(Grid),
    /// A grid of hosts, open at its sides.
    Mesh(Grid),
    /// A torus whose first dimension is twice as long as each other, and whose other rings close half round the first.
    TwistedTorus(Grid),
    /// Switches in levels: SimGrid's `FAT_TREE`.
    FatTree(FatTree),
    /// Switches in levels with one cable between two: k-ary n-trees, thin trees.
    Xgft(Xgft),
    /// Groups of chassis of blades of nodes: SimGrid's `DRAGONFLY`.
    Dragonfly(Dragonfly),
    /// Links and routes one by one, as in SimGrid's zones.
    Explicit(Explicit),
}

/// `[topology.star]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Star {
    /// What all messages between hosts cross. Default: nothing, a switch that forwards everything at once.
    pub backbone: Option<Backbone>,
}

/// `[topology.star.backbone]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Backbone {
    pub bandwidth: Bandwidth,
    pub latency: Duration,
    /// Default: `"shared"`, as SimGrid's `bb_sharing_policy`.
    #[serde(default)]
    pub sharing: Sharing,
}

/// `[topology.torus]`, `[topology.mesh]`, `[topology.twisted-torus]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Hosts along each dimension. The first varies fastest in the numbering of hosts, and is routed first.
    pub dims: Spanned<Vec<u32>>,
}

/// `[topology.fat-tree]`. The lists go from the hosts upwards and are of one length.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FatTree {
    /// Levels of switches. Default: the length of the lists.
    pub levels: Option<Spanned<u32>>,
    /// Children of each switch.
    pub down: Spanned<Vec<u32>>,
    /// Parents of each host or switch.
    pub up: Spanned<Vec<u32>>,
    /// Parallel cables to each parent. Default: 1 everywhere.
    pub count: Option<Spanned<Vec<u32>>>,
    /// Default: `"minimal"`, which is D-mod-K.
    #[serde(default)]
    pub routing: Routing,
}

/// `[topology.xgft]`: XGFT(h; m₁…m_h; w₁…w_h) of Öhring et al. A k-ary n-tree has k everywhere, but w₁ = 1; with smaller w it
/// is a thin tree.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Xgft {
    /// Children of each switch, from the lowest level up.
    pub m: Spanned<Vec<u32>>,
    /// Parents of each host, and of each switch of the levels but the highest.
    pub w: Spanned<Vec<u32>>,
}

/// `[topology.dragonfly]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dragonfly {
    pub groups: Spanned<u32>,
    /// In a group.
    pub chassis: Spanned<u32>,
    /// In a chassis, at least as many as groups.
    pub blades: Spanned<u32>,
    /// On a blade.
    pub nodes: Spanned<u32>,
    /// Cables between two groups. Default: 1.
    pub blue: Option<Spanned<u32>>,
    /// Cables between two blades of one position in different chassis of a group. Default: 1.
    pub black: Option<Spanned<u32>>,
    /// Cables between two blades of a chassis. Default: 1.
    pub green: Option<Spanned<u32>>,
    /// Default: `"minimal"`.
    #[serde(default)]
    pub routing: Routing,
}

/// `[topology.fat-tree] routing`, `[topology.dragonfly] routing`
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Routing {
    #[default]
    Minimal,
    /// What SimGrid 3.32 takes for that.
    SimGrid,
}

/// `[topology.explicit]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explicit {
    /// Their names.
    pub hosts: Spanned<Vec<Spanned<String>>>,
    /// Their names. Default: there are none.
    #[serde(default)]
    pub routers: Vec<Spanned<String>>,
    #[serde(default)]
    pub links: Vec<ExplicitLink>,
    #[serde(default)]
    pub routes: Vec<ExplicitRoute>,
    /// What routes between hosts are made of. Default: `"full"`.
    #[serde(default)]
    pub routing: ExplicitRouting,
}

/// `[[topology.explicit.links]]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExplicitLink {
    pub name: Spanned<String>,
    pub bandwidth: Bandwidth,
    pub latency: Duration,
    #[serde(default)]
    pub sharing: Sharing,
}

/// `[[topology.explicit.routes]]`: one way only.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExplicitRoute {
    /// A host or router.
    pub from: Spanned<String>,
    /// A host or router.
    pub to: Spanned<String>,
    pub links: Vec<Spanned<String>>,
}

/// `[topology.explicit] routing`: SimGrid's kinds of zone.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExplicitRouting {
    /// Each is written.
    #[default]
    Full,
    /// To the first router, and from there (`Cluster`).
    Hub,
    /// The shortest way, counted in links.
    Floyd,
    /// Likewise, where that matters with other ties.
    Dijkstra,
}

/// `[network]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Default: `"flow"`.
    #[serde(default)]
    pub model: Model,
    /// Of every cable, in each direction. To be given unless the topology is explicit.
    pub bandwidth: Option<Spanned<Bandwidth>>,
    /// Of every cable, likewise, but not of the packet model, which counts cycles.
    pub latency: Option<Spanned<Duration>>,
    /// What the directions of every cable share. Default: `"full"`, as SimGrid's SPLITDUPLEX.
    pub duplex: Option<Spanned<Duplex>>,
    /// What each host and switch passes on in all (SimGrid's `limiter_link`; of a star, the hosts only). Default: as
    /// much as its cables do.
    pub limiter: Option<Spanned<Bandwidth>>,
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
    pub bandwidth: Bandwidth,
    /// Default: 100 ns, about what a cache line takes between two cores. The model's latency factor applies.
    pub latency: Duration,
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
            bandwidth: Bandwidth { bytes_per_second: 1e10 },
            latency: Duration(Seconds(100e-9)),
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
    pub envelope: Option<Size>,
    /// How much messages at one InfiniBand adapter slow each other down: `[β_e, β_s, γ_s]`, for arriving together, leaving
    /// together, and leaving together where one goes to a crowd. Default: not at all, but for the preset `"ib"`.
    pub infiniband_penalties: Option<[NonNegative; 3]>,
}

/// `[network.flow] preset`: SimGrid's models. Their values stand with [`flow::Preset`].
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    #[default]
    Smpi,
    Cm02,
    Lv08,
    Ib,
}

/// `[mpi]`
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mpi {
    /// Sends of fewer bytes are buffered. Default: 64 KiB, SimGrid's smpi/send-is-detached-thresh.
    pub eager_threshold: Option<Size>,
    /// When those travel. Default: `"at-once"`, as in MPI libraries.
    pub eager_transfer: EagerTransfer,
    /// What MPI_Send costs, in steps `[[from_bytes, seconds, seconds_per_byte], …]`. Default: nothing, as SimGrid's
    /// smpi/os.
    pub send_overhead: Overhead,
    /// What MPI_Isend costs, likewise (smpi/ois).
    pub isend_overhead: Overhead,
    /// What the receipt of a buffered message costs, likewise (smpi/or).
    pub recv_overhead: Overhead,
    /// Whose algorithms collectives use. Default: `"mpich"`.
    pub collectives: Collectives,
}

/// `[mpi] eager_transfer`
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EagerTransfer {
    /// When they are sent.
    #[default]
    AtOnce,
    /// Once the receive is posted: SimGrid's default.
    OnMatch,
}

/// `[mpi] collectives`: a library, or a table that names one and algorithms that are to be used all the same
/// (`bcast = "binomial"`, with segments of so many bytes `"pipeline:65536"`).
#[derive(Default)]
pub struct Collectives {
    /// Default: `"mpich"`.
    pub library: CollectiveLibrary,
    /// By collective.
    pub algorithms: BTreeMap<String, Spanned<String>>,
}

/// Whose rules choose algorithms.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CollectiveLibrary {
    /// MPICH 4.0's defaults.
    #[default]
    Mpich,
    /// Open MPI 4.1's `tuned` component.
    OpenMpi,
    /// SimGrid 3.32's default selector.
    SimGrid,
    /// SimGrid 3.32's selector `ompi`.
    #[serde(rename = "simgrid-openmpi")]
    SimGridOpenMpi,
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

/// One value for all, or a list.
#[derive(Clone, Debug)]
pub enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

/// A number that is not negative.
#[derive(Clone, Copy, Debug)]
pub struct NonNegative(pub f64);

/// A factor in steps of message size.
pub struct Factor(pub flow::Factor);

/// A cost in steps of message size.
#[derive(Default)]
pub struct Overhead(pub super::Overhead);

impl<'de> Deserialize<'de> for NonNegative {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match f64::deserialize(deserializer)? {
            number if number.is_finite() && number >= 0.0 => Ok(Self(number)),
            number => Err(D::Error::custom(format!("{number} is not a number from 0 up"))),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = OneOrMany<T>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("one quantity in quotes, or a list of them")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                T::deserialize(StrDeserializer::new(text)).map(OneOrMany::One)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(items)).map(OneOrMany::Many)
            }
        }
        deserializer.deserialize_any(Either(std::marker::PhantomData))
    }
}

impl<'de> Deserialize<'de> for Factor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrSteps;
        impl<'de> Visitor<'de> for NumberOrSteps {
            type Value = flow::Factor;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number, or steps [[from_bytes, factor], …]")
            }
            fn visit_f64<E: Error>(self, factor: f64) -> Result<Self::Value, E> {
                Ok(flow::Factor::constant(positive(factor)?))
            }
            fn visit_i64<E: Error>(self, factor: i64) -> Result<Self::Value, E> {
                self.visit_f64(factor as f64)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
                let steps: Vec<(u64, f64)> = Vec::deserialize(SeqAccessDeserializer::new(items))?;
                for &(_, factor) in &steps {
                    positive::<A::Error>(factor)?;
                }
                Ok(flow::Factor::steps(steps))
            }
        }
        deserializer.deserialize_any(NumberOrSteps).map(Self)
    }
}

fn positive<E: Error>(factor: f64) -> Result<f64, E> {
    if factor.is_finite() && factor > 0.0 {
        Ok(factor)
    } else {
        Err(E::custom(format!("a factor cannot be {factor}: it must be more than 0")))
    }
}

impl<'de> Deserialize<'de> for Overhead {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let steps: Vec<(u64, NonNegative, NonNegative)> = Vec::deserialize(deserializer)?;
        let steps = steps.into_iter().map(|(above, seconds, per_byte)| OverheadStep {
            above: Bytes(above),
            seconds: Seconds(seconds.0),
            seconds_per_byte: Seconds(per_byte.0),
        });
        Ok(Self(super::Overhead::new(steps.collect())))
    }
}

impl<'de> Deserialize<'de> for Collectives {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LibraryOrTable;
        impl<'de> Visitor<'de> for LibraryOrTable {
            type Value = Collectives;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a library, or a table of algorithms")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                let library = CollectiveLibrary::deserialize(StrDeserializer::new(text))?;
                Ok(Collectives { library, ..Collectives::default() })
            }
            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
                let mut table = Collectives::default();
                while let Some(key) = entries.next_key::<String>()? {
                    if key == "library" {
                        table.library = entries.next_value()?;
                    } else {
                        table.algorithms.insert(key, entries.next_value()?);
                    }
                }
                Ok(table)
            }
        }
        deserializer.deserialize_any(LibraryOrTable)
    }
}
