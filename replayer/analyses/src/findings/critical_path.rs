//! The findings of the analysis `critical-path`.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use titr_common::units::Seconds;

use super::{ProgramPlace, SegmentKind};

/// The critical path of a replay. The times of each list add up to `length`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CriticalPath {
    /// The length of the path: the predicted time.
    pub length: Seconds,
    /// The number of messages on the path.
    pub messages: u64,
    /// The length by kind of time.
    pub by_kind: ByKind,
    /// The ranks that the path visits, in order of time. Of a path with more than a thousand visits, short ones are left out.
    #[serde(default)]
    pub visits: Vec<Visit>,
    /// The sensitivities of the predicted time to parameters of the machine.
    pub sensitivities: Vec<Sensitivity>,
    /// The ranks that have time on the path, in the order of their numbers.
    pub ranks: Vec<RankShare>,
    /// The regions that have time on the path, sorted by name.
    pub regions: Vec<RegionShare>,
    /// The call sites that have time on the path, sorted by name; empty if no call site is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub call_sites: Vec<CallSiteShare>,
    /// All parts of the path, the longest first.
    pub segments: Vec<SegmentShare>,
}

/// A part of the path on one rank, and the message that leads from there to the next rank.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Visit {
    /// The rank.
    pub rank: u32,
    /// The time at which the path reaches the rank.
    pub begin: Seconds,
}

/// Time by kind, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ByKind {
    /// Computation, and the arithmetic of reductions.
    pub compute: Seconds,
    /// Computation of a fixed time.
    #[serde(default)]
    pub sleep: Seconds,
    /// Software overheads of messages, at their senders and receivers.
    pub overhead: Seconds,
    /// Latency of messages.
    pub latency: Seconds,
    /// Transfer of the bytes of messages, at the rate that they would have in an idle network.
    pub transfer: Seconds,
    /// Further time of messages, caused by other messages in the network.
    pub contention: Seconds,
    /// Accesses to files.
    pub storage: Seconds,
    /// Time of unknown cause.
    pub other: Seconds,
}

/// A parameter of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Parameter {
    /// The speed of all hosts.
    HostSpeed,
    /// The latency of all links.
    Latency,
    /// The bandwidth of all links.
    Bandwidth,
    /// The software overheads of all messages.
    Overheads,
}

impl Parameter {
    pub(crate) const ALL: [Self; 4] = [Self::HostSpeed, Self::Latency, Self::Bandwidth, Self::Overheads];
}

/// The elasticity of the predicted time: its relative change divided by the relative change of a parameter.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Sensitivity {
    /// The parameter.
    pub parameter: Parameter,
    /// The class of links that has the parameter; `None` for all links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<String>,
    /// The elasticity as long as the path stays the same; `None` if it does not follow from the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<f64>,
    /// The elasticity from two replays, with a slightly larger and a slightly smaller parameter; `None` if there were
    /// no such replays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replays: Option<f64>,
}

/// The time of a rank on the path.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RankShare {
    /// The rank.
    pub rank: u32,
    /// The rank's time on the path.
    pub seconds: Seconds,
    /// The parts of `seconds` by what they are spent on.
    #[serde(flatten)]
    pub by_kind: ByKind,
}

/// The time of a region on the path.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RegionShare {
    /// The region; `None` outside of all regions.
    pub region: Option<Arc<str>>,
    /// The region's time on the path.
    pub seconds: Seconds,
    /// The parts of `seconds` by what they are spent on.
    #[serde(flatten)]
    pub by_kind: ByKind,
}

/// The time of a call site on the path.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CallSiteShare {
    /// The call site; `None` if none is known.
    pub call_site: Option<Arc<str>>,
    /// The call site's time on the path.
    pub seconds: Seconds,
    /// The parts of `seconds` by what they are spent on.
    #[serde(flatten)]
    pub by_kind: ByKind,
}

/// The time on the path of one rank, at one place of the program, of one kind.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SegmentShare {
    /// The rank.
    pub rank: u32,
    /// The place.
    #[serde(flatten)]
    pub place: ProgramPlace,
    /// The kind of the time.
    pub kind: SegmentKind,
    /// The other job or load whose messages shared links with those of the rank; only of contention.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<Arc<str>>,
    /// The time.
    pub seconds: Seconds,
}
