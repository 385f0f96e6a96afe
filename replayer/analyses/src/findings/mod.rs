//! The findings of analyses: plain data that a result contains, and that `titr diff` reads from one.

mod critical_path;
mod matrix;
mod place;
mod segment_kind;
mod wait_states;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::interval::IntervalTime;

pub use critical_path::{
    ByKind, CallSiteShare, CriticalPath, Parameter, RankShare, RegionShare, SegmentShare, Sensitivity, Visit,
};
pub use matrix::Pair;
pub use place::ProgramPlace;
pub use segment_kind::SegmentKind;
pub use wait_states::{Pattern, PatternTime, PlaceWaiting, RankWaiting, WaitCause, WaitFindings, WaitTime};

/// The findings of a replay, each under the name of its analysis; `None` for an analysis that was not requested.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Findings {
    /// The critical path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critical_path: Option<CriticalPath>,
    /// The time between two places of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<IntervalTime>,
    /// The communication matrix: the messages and bytes between each pair of ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix: Option<Vec<Pair>>,
    /// Wait states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_states: Option<WaitFindings>,
}
