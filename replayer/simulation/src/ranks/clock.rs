//! Whoever can wait, and the clock that each of them has.

use titr_common::time::Time;
use titr_common::units::Seconds;

use super::ids::{ActiveMessageIndex, FileCallIndex, PartIndex, SynchronisationIndex, ThreadIndex};
use crate::observe::CollectiveId;

/// A thread, a rank's part in a collective, a call that synchronises accesses to a window, an active message on its way to
/// one, a rank's call on a file, or a side of a partitioned message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Waiter {
    Thread(ThreadIndex),
    Collective(CollectiveId),
    Synchronisation(SynchronisationIndex),
    ActiveMessage(ActiveMessageIndex),
    FileCall(FileCallIndex),
    Part(PartIndex),
}

/// A waiter's own time. Computing moves it ahead of simulated time; what others can see happens when simulated time has
/// caught up with it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    pub(super) time: Time,
    /// How many operations the waiter waits for.
    pub(super) awaited: u32,
}

impl Clock {
    /// Notes that one of the awaited operations was completed at `now`, which costs the waiter `overhead`, in seconds.
    pub(super) fn complete(&mut self, now: Time, overhead: Seconds) {
        self.time = self.time.max(now) + overhead;
        self.awaited -= 1;
    }
}
