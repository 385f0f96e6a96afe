//! The patterns that waits have: those of Scalasca, and a few for what only a replay can see.

use std::fmt;

use serde::{Deserialize, Serialize};
use titr_common::event::Rank;
use titr_common::time::Time;

use crate::observe::{CommunicatorId, WindowCondition};

/// The reason for a wait, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// The sender of a message has not come to its send.
    LateSender,
    /// The sender of a message has not come to its send, while an older message to this rank, of the same communicator, is there that it receives later.
    WrongOrder,
    /// The receiver of a message has not posted its receive.
    LateReceiver,
    /// Both sides have come, but one has to be in a call of MPI before the message leaves, and is not.
    LateProgress,
    /// A message is under way.
    Transfer,
    /// Another member has not come to a barrier.
    WaitAtBarrier,
    /// All members have come to a barrier, whose messages are under way.
    BarrierCompletion,
    /// Another member has not come to a collective in which each depends on all.
    WaitAtNxn,
    /// All members have come to such a collective.
    NxnCompletion,
    /// The root has not come to a collective in which others depend on it.
    LateBroadcast,
    /// No other member has come to a collective whose root depends on others.
    EarlyReduce,
    /// A member before this one has not come to a scan.
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

impl From<WindowCondition> for Pattern {
    fn from(condition: WindowCondition) -> Self {
        match condition {
            WindowCondition::Lock { .. } | WindowCondition::LockAll | WindowCondition::Release(_) => Self::Lock,
            WindowCondition::Post(_) => Self::LatePost,
            WindowCondition::Complete(_) => Self::LateComplete,
            WindowCondition::Accesses(_) | WindowCondition::Arrivals => Self::Accesses,
        }
    }
}

/// The reasons for a wait for one operation: one until a time, another from then until another time, and a third.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Explanation {
    pub first: (Pattern, Time),
    pub second: (Pattern, Time),
    pub rest: Pattern,
    pub communicator: Option<CommunicatorId>,
    /// The rank that was waited for.
    pub delayer: Option<Rank>,
}

impl Explanation {
    /// The explanation of a wait that has one reason.
    pub fn of(pattern: Pattern) -> Self {
        let never = (pattern, Time::ZERO);
        Self { first: never, second: never, rest: pattern, communicator: None, delayer: None }
    }

    /// The picoseconds of each reason in a wait from one time to another.
    pub fn split(&self, from: Time, to: Time) -> [(Pattern, u64); 3] {
        let first = self.first.1.clamp(from, to);
        let second = self.second.1.clamp(first, to);
        [(self.first.0, first.0 - from.0), (self.second.0, second.0 - first.0), (self.rest, to.0 - second.0)]
    }
}
