//! The findings on the critical path.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use titr_common::units::Seconds;

use super::place::ProgramPlace;
use super::segment_kind::SegmentKind;

/// The critical path of a replay. The times of each list add up to `length`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CriticalPath {
    /// The length of the path: the predicted time.
    pub length: Seconds,
    /// The number of messages on the path.
    pub messages: u64,
    /// The length by what the time is spent on.
    pub by_kind: ByKind,
    /// How the predicted time depends on the machine.
    pub sensitivities: Vec<Sensitivity>,
    /// Ranks that have time on the path, in their order.
    pub ranks: Vec<RankShare>,
    /// Regions that have time on the path, by their names.
    pub regions: Vec<RegionShare>,
    /// Call sites that have time on the path, by their names. Empty where no call site is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub call_sites: Vec<CallSiteShare>,
    /// All parts of the path, those of most time first.
    pub segments: Vec<SegmentShare>,
}

/// Time by what it is spent on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ByKind {
    /// Computing, or sleeping.
    pub compute: Seconds,
    /// The software's part of messages, at their senders and receivers.
    pub overhead: Seconds,
    /// Messages' latency.
    pub latency: Seconds,
    /// Messages' bytes, at the rate that they have with the network to themselves.
    pub transfer: Seconds,
    /// Further time of messages, which others in the network cost them.
    pub contention: Seconds,
    /// Accesses to files.
    pub storage: Seconds,
    /// Time of which the cause is not known.
    pub other: Seconds,
}

/// A parameter of the machine that the time depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Parameter {
    /// The speed of all hosts.
    HostSpeed,
    /// The latency of all links.
    Latency,
    /// The bandwidth of all links.
    Bandwidth,
    /// The overheads of messages.
    Overheads,
}

impl Parameter {
    /// All parameters.
    pub const ALL: [Self; 4] = [Self::HostSpeed, Self::Latency, Self::Bandwidth, Self::Overheads];
}

/// The elasticity of the predicted time: its relative change by the relative change of a parameter.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Sensitivity {
    /// The parameter.
    pub parameter: Parameter,
    /// The class of links whose parameter it is; `None`: all links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<String>,
    /// The elasticity as long as the path stays the same; `None`: the path does not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<f64>,
    /// The elasticity that replays with a little more and a little less of the parameter find; `None`: there were none.
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

/// Time on the path of one rank, at one place of the program, spent on one kind of thing.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SegmentShare {
    /// The rank.
    pub rank: u32,
    /// The place.
    #[serde(flatten)]
    pub place: ProgramPlace,
    /// The kind of thing that the time is spent on.
    pub kind: SegmentKind,
    /// The time.
    pub seconds: Seconds,
}
