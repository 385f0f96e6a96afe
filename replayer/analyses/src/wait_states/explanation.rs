//! The reasons for a wait: patterns, those of Scalasca and a few that only a replay can see.

use titr_common::event::Rank;
use titr_common::time::Time;
use titr_simulation::observe::{CommunicatorId, WindowCondition};

use crate::findings::Pattern;

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
    pub(crate) fn of(pattern: Pattern) -> Self {
        let never = (pattern, Time::ZERO);
        Self { first: never, second: never, rest: pattern, communicator: None, delayer: None }
    }

    /// The picoseconds of each reason in a wait from one time to another.
    pub(crate) fn split(&self, from: Time, to: Time) -> [(Pattern, u64); 3] {
        let first = self.first.1.clamp(from, to);
        let second = self.second.1.clamp(first, to);
        [(self.first.0, first.0 - from.0), (self.second.0, second.0 - first.0), (self.rest, to.0 - second.0)]
    }
}
