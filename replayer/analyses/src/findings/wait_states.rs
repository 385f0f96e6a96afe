//! The findings on wait states.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use titr_common::units::Seconds;

use super::{ProgramPlace, SegmentKind};

/// The wait states of a replay.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WaitFindings {
    /// The time that all ranks have waited, summed.
    pub waiting: Seconds,
    /// The waiting of all ranks by pattern, in decreasing order of time.
    pub patterns: Vec<PatternTime>,
    /// The waiting in collectives, in decreasing order of `own`.
    #[serde(default)]
    pub collectives: Vec<CollectiveWaiting>,
    /// The ranks that waited, or because of which others waited.
    pub ranks: Vec<RankWaiting>,
    /// The places of the program, in decreasing order of time.
    pub places: Vec<PlaceWaiting>,
    /// All waiting by rank, place, communicator and pattern, in decreasing order of time.
    pub waits: Vec<WaitTime>,
    /// All causes of waiting, in decreasing order of time.
    pub causes: Vec<WaitCause>,
}

/// The time that ranks waited in a pattern.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PatternTime {
    /// The pattern.
    pub pattern: Pattern,
    /// The time of all ranks together.
    pub seconds: Seconds,
}

/// The waiting of all ranks in one kind of collective.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CollectiveWaiting {
    /// The collective, as a trace calls it: `bcast`.
    pub collective: String,
    /// The time that ranks waited for members that had not entered.
    pub late: Seconds,
    /// The time that the messages of the collective took, which another algorithm may save.
    pub own: Seconds,
}

/// The waiting of a rank, and the waiting that it causes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RankWaiting {
    /// The rank.
    pub rank: u32,
    /// The time that the rank has waited.
    pub waiting: Seconds,
    /// The time that ranks waited directly for this rank.
    pub direct: Seconds,
    /// The time that ranks waited for other ranks that this rank had delayed.
    pub indirect: Seconds,
}

/// The waiting at a place of the program, and the waiting that the place causes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlaceWaiting {
    /// The place.
    #[serde(flatten)]
    pub place: ProgramPlace,
    /// The time that all ranks waited at this place.
    pub waiting: Seconds,
    /// The time that ranks waited directly for a rank at this place.
    pub direct: Seconds,
    /// The time that ranks waited for other ranks that a rank at this place had delayed.
    pub indirect: Seconds,
}

/// The waiting of a rank at one place of the program, on one communicator and in one pattern.
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

/// The time of a rank at one place of the program that made other ranks wait.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WaitCause {
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
    /// The waiting that it causes: `direct` and `indirect` together.
    pub seconds: Seconds,
    /// The time that ranks waited directly for this rank.
    pub direct: Seconds,
    /// The time that ranks waited for other ranks that this rank had delayed.
    pub indirect: Seconds,
}

/// The reason for a wait, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// The sender of a message has not reached its send.
    LateSender,
    /// The sender of a message has not reached its send, although an earlier message on the same communicator has
    /// arrived, which the rank receives later.
    WrongOrder,
    /// The receiver of a message has not posted its receive.
    LateReceiver,
    /// Both sides have reached the message, but it cannot leave before one of them is in an MPI call.
    LateProgress,
    /// A message is in transit.
    Transfer,
    /// Another member has not reached a barrier.
    WaitAtBarrier,
    /// All members have reached a barrier, and its messages are in transit.
    BarrierCompletion,
    /// Another member has not reached a collective in which each member needs data from all members.
    WaitAtNxn,
    /// All members have reached such a collective.
    NxnCompletion,
    /// The root has not reached a collective in which the others need its data.
    LateBroadcast,
    /// No other member has reached a collective whose root needs data of the others.
    EarlyReduce,
    /// A member before this one has not reached a scan.
    EarlyScan,
    /// The messages of any other collective are in transit, or of a collective above whose late member has arrived.
    CollectiveCompletion,
    /// A target has not posted its window.
    LatePost,
    /// An origin has not completed its accesses to this rank's window.
    LateComplete,
    /// A lock of a window is not granted or released.
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

impl Pattern {
    /// Whether a member of a collective has not entered it.
    pub(crate) fn is_late_member(self) -> bool {
        matches!(
            self,
            Self::WaitAtBarrier | Self::WaitAtNxn | Self::LateBroadcast | Self::EarlyReduce | Self::EarlyScan
        )
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}
