//! The findings on wait states.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use titr_common::units::Seconds;

use super::place::ProgramPlace;
use super::segment_kind::SegmentKind;

/// The wait states of a replay.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WaitFindings {
    /// The time that all ranks have waited, summed.
    pub waiting: Seconds,
    /// The waiting of all ranks by pattern, in decreasing order of time.
    pub patterns: Vec<PatternTime>,
    /// The ranks that have waited, or that others have waited because of.
    pub ranks: Vec<RankWaiting>,
    /// The places of the program, in decreasing order of time.
    pub places: Vec<PlaceWaiting>,
    /// All waiting by rank, place, communicator and pattern, most time first.
    pub waits: Vec<WaitTime>,
    /// All causes of waiting, in decreasing order of time.
    pub causes: Vec<WaitCause>,
}

/// The time that ranks have waited in a pattern.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PatternTime {
    /// The pattern.
    pub pattern: Pattern,
    /// The time of all ranks together.
    pub seconds: Seconds,
}

/// The waiting of a rank, and the waiting that it causes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RankWaiting {
    /// The rank.
    pub rank: u32,
    /// The time that the rank has waited.
    pub waiting: Seconds,
    /// The time that ranks have waited for this one.
    pub direct: Seconds,
    /// The time that ranks have waited for others which had waited for this one.
    pub indirect: Seconds,
}

/// The waiting at a place of the program, and the waiting that the place causes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlaceWaiting {
    /// The place.
    #[serde(flatten)]
    pub place: ProgramPlace,
    /// The time that all ranks have waited there.
    pub waiting: Seconds,
    /// The time that ranks have waited for others which were there.
    pub direct: Seconds,
    /// The time that ranks have waited for others which had waited for those.
    pub indirect: Seconds,
}

/// The waiting of a rank at a place of the program, of one communicator and pattern.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WaitTime {
    /// The rank.
    pub rank: u32,
    /// The place.
    #[serde(flatten)]
    pub place: ProgramPlace,
    /// The number of the communicator, 0 for the communicator of all ranks; `None` if the wait is of no communicator.
    pub communicator: Option<u32>,
    /// The pattern.
    pub pattern: Pattern,
    /// The time.
    pub seconds: Seconds,
}

/// Time of a rank, at a place of the program, in which others waited for it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WaitCause {
    /// The rank.
    pub rank: u32,
    /// The place.
    #[serde(flatten)]
    pub place: ProgramPlace,
    /// The kind of thing that the time was spent on.
    pub kind: SegmentKind,
    /// The waiting that it causes: `direct` and `indirect` together.
    pub seconds: Seconds,
    /// The time that ranks have waited for this one.
    pub direct: Seconds,
    /// The time that ranks have waited for others which had waited for this one.
    pub indirect: Seconds,
}

/// The reason for a wait, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// The sender of a message has not reached its send.
    LateSender,
    /// The sender of a message has not reached its send, while an older message to this rank on the same communicator
    /// has arrived that it receives later.
    WrongOrder,
    /// The receiver of a message has not posted its receive.
    LateReceiver,
    /// Both sides have come, but one has to be in a call of MPI before the message leaves, and is not.
    LateProgress,
    /// A message is in transit.
    Transfer,
    /// Another member has not reached a barrier.
    WaitAtBarrier,
    /// All members have reached a barrier, and its messages are in transit.
    BarrierCompletion,
    /// Another member has not reached a collective in which each depends on all.
    WaitAtNxn,
    /// All members have reached such a collective.
    NxnCompletion,
    /// The root has not reached a collective in which others depend on it.
    LateBroadcast,
    /// No other member has reached a collective whose root depends on others.
    EarlyReduce,
    /// A member before this one has not reached a scan.
    EarlyScan,
    /// The messages of a collective that is none of these, or that no longer waits for whom these name.
    CollectiveCompletion,
    /// A target has not posted its window.
    LatePost,
    /// An origin has not completed its accesses to this rank's window.
    LateComplete,
    /// A lock of a window is not granted or given back.
    Lock,
    /// Accesses to a window are not done.
    Accesses,
    /// An access to a file is not done.
    Storage,
    /// Another thread of the rank has not made its call.
    Thread,
    /// Something else.
    Other,
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}
