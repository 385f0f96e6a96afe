//! The findings of analyses: plain data that a result contains, and that `titr diff` reads from one.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use titr_common::units::Bytes;

use crate::interval::IntervalTime;

mod critical_path;
mod wait_states;

pub use critical_path::{
    ByKind, CallSiteShare, CriticalPath, Parameter, RankShare, RegionShare, SegmentShare, Sensitivity, Visit,
};
pub use wait_states::{
    CollectiveWaiting, Pattern, PatternTime, PlaceWaiting, RankWaiting, WaitCause, WaitFindings, WaitTime,
};

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

/// A place in the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct ProgramPlace {
    /// The innermost region; `None` outside of all regions.
    pub region: Option<Arc<str>>,
    /// The call site, as places in the code from the innermost to the outermost, joined by ` < `; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_site: Option<Arc<str>>,
}

/// The messages from one rank to another during the whole replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// The number of messages.
    pub messages: u64,
    /// The payload of these messages.
    pub bytes: Bytes,
}

/// The kind of an interval of time on a chain of causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SegmentKind {
    /// Computing.
    Compute,
    /// Computation of a fixed time.
    Sleep,
    /// The software overhead of a message, at its sender or receiver.
    Overhead,
    /// The latency of a message.
    Latency,
    /// The transfer of the bytes of a message, at the rate that they would have in an idle network.
    Transfer,
    /// Further time of a message, caused by other messages in the network.
    Contention,
    /// An access to files.
    Storage,
    /// Time with an unknown cause.
    Other,
}

impl fmt::Display for SegmentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl SegmentKind {
    /// All kinds, in the order of the type.
    pub(crate) const ALL: [Self; 8] = [
        Self::Compute,
        Self::Sleep,
        Self::Overhead,
        Self::Latency,
        Self::Transfer,
        Self::Contention,
        Self::Storage,
        Self::Other,
    ];
}
