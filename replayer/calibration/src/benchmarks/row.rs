//! A row of a benchmark's results.

use std::fmt;

use serde::{Deserialize, Serialize};
use titr_common::collectives::{CallMode, collective_named};
use titr_common::event::CollectiveKind;
use titr_common::units::{Bytes, Seconds};

/// A time or a rate that a benchmark measured, for one size of messages on one number of ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The machine; empty if the file does not say.
    #[serde(skip)]
    pub machine: String,
    /// The MPI library; empty if the file does not say.
    #[serde(skip)]
    pub library: String,
    /// The benchmark.
    pub benchmark: Benchmark,
    /// How near to each other the two ranks of a pair are, if the file says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The number of nodes.
    pub nodes: u32,
    /// The number of ranks that the job had on each node. The first ranks of the job take part.
    pub ranks_per_node: u32,
    /// The number of ranks that take part.
    pub ranks: u32,
    /// The size of a message, or the size that the collective has for each rank; for a reduction, of the vector.
    pub bytes: Bytes,
    /// The time of a call, averaged over the ranks where the benchmark does so; for a ping-pong, half a round trip.
    pub time: Option<Seconds>,
    /// The messages of all pairs in a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages_per_second: Option<f64>,
    /// The bytes of all pairs in a second.
    #[serde(skip)]
    pub bandwidth: Option<f64>,
    /// How many measured rows this one is the median of.
    #[serde(skip)]
    pub runs: u32,
    /// Its line in the file.
    #[serde(skip)]
    pub line: u64,
}

impl Row {
    /// The bytes of all pairs in a second.
    pub(super) fn rate(&self) -> Option<f64> {
        self.bandwidth.or_else(|| Some(self.messages_per_second? * self.bytes.0 as f64))
    }

    /// The measured time that [`predict`](super::predict) predicts: that of a call, or, where windows of messages were sent, of
    /// one message, when all pairs send.
    pub(crate) fn measured(&self) -> Option<Seconds> {
        let of_rate = |rate: f64, amount: f64| (rate > 0.0).then_some(Seconds(amount / rate));
        match self.benchmark {
            Benchmark::Uniband | Benchmark::Biband => {
                let by_messages = self.messages_per_second.and_then(|rate| of_rate(rate, 1.0));
                by_messages.or_else(|| self.bandwidth.and_then(|rate| of_rate(rate, self.bytes.0 as f64)))
            }
            _ => self.time,
        }
    }
}

/// A benchmark of the Intel MPI Benchmarks (IMB-MPI1). Those of OSU that measure the same are not told apart from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Benchmark {
    /// A message there and back, between two ranks or in several pairs at once; `osu_latency`, `osu_multi_lat`.
    PingPong,
    /// Messages of a pair to each other at the same time.
    PingPing,
    /// Each rank sends to the next one and receives from the one before.
    Sendrecv,
    /// Each rank sends to both neighbours and receives from both.
    Exchange,
    /// Windows of messages of the first rank of each pair to the second; `osu_bw`, `osu_mbw_mr`.
    Uniband,
    /// Windows of messages of both ranks of each pair to the other; `osu_bibw`.
    Biband,
    /// A reduction of two vectors that each rank has, `MPI_Reduce_local`.
    ReduceLocal,
    /// A collective of all ranks.
    Collective(CollectiveKind),
}

impl Benchmark {
    /// The benchmark of this name: one of IMB-MPI1's, `Alltoall`, or the name of OSU's program, `osu_alltoall`. Case does not
    /// matter.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        Some(match name.strip_prefix("osu_").unwrap_or(&name) {
            "pingpong" | "pingpongspecificsource" | "pingponganysource" | "latency" | "multi_lat" => Self::PingPong,
            "pingping" | "pingpingspecificsource" | "pingpinganysource" => Self::PingPing,
            "sendrecv" => Self::Sendrecv,
            "exchange" => Self::Exchange,
            "uniband" | "bw" | "mbw_mr" => Self::Uniband,
            "biband" | "bibw" => Self::Biband,
            "reduce_local" => Self::ReduceLocal,
            other => match collective_named(other)? {
                (kind, CallMode::Blocking) => Self::Collective(kind),
                (_, CallMode::Nonblocking) => return None,
            },
        })
    }

    pub(crate) fn has_pairs(self) -> bool {
        matches!(self, Self::PingPong | Self::PingPing | Self::Uniband | Self::Biband)
    }
}

impl fmt::Display for Benchmark {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::PingPong => "PingPong",
            Self::PingPing => "PingPing",
            Self::Sendrecv => "Sendrecv",
            Self::Exchange => "Exchange",
            Self::Uniband => "Uniband",
            Self::Biband => "Biband",
            Self::ReduceLocal => "Reduce_local",
            Self::Collective(kind) => kind.name(),
        })
    }
}

impl TryFrom<String> for Benchmark {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::named(&name).ok_or_else(|| format!("there is no benchmark `{name}`"))
    }
}

impl From<Benchmark> for String {
    fn from(benchmark: Benchmark) -> Self {
        benchmark.to_string()
    }
}

/// How near to each other two ranks are: the smallest part of the machine that both are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Place {
    /// A core complex, whose cores share a cache: `intraccx`.
    #[serde(rename = "intraccx")]
    CoreComplex,
    /// A NUMA region: `intranuma`.
    #[serde(rename = "intranuma")]
    NumaRegion,
    /// A socket: `intrasocket`.
    #[serde(rename = "intrasocket")]
    Socket,
    /// A node: `intranode`.
    #[serde(rename = "intranode")]
    Node,
    /// The ranks are on two nodes: `internode`.
    #[serde(rename = "internode")]
    BetweenNodes,
}

impl Place {
    /// The names in files.
    pub(super) const NAMES: [(&str, Self); 5] = [
        ("intraccx", Self::CoreComplex),
        ("intranuma", Self::NumaRegion),
        ("intrasocket", Self::Socket),
        ("intranode", Self::Node),
        ("internode", Self::BetweenNodes),
    ];

    /// The name of the level of a platform whose parts these are.
    pub(crate) fn level(self) -> &'static str {
        match self {
            Self::CoreComplex => "core-complex",
            Self::NumaRegion => "numa-region",
            Self::Socket => "socket",
            Self::Node | Self::BetweenNodes => "node",
        }
    }
}
