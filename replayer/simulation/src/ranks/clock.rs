//! The waiters, and the clock of each.

use titr_common::time::Time;
use titr_common::units::Seconds;

pub(super) use crate::observe::Waiter;

/// The local time of a waiter. Computing moves it ahead of simulated time; effects on other waiters happen when
/// simulated time has caught up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    pub(super) time: Time,
    /// How many operations the waiter waits for.
    pub(super) awaited: u32,
}

impl Clock {
    /// Records that one of the awaited operations was completed at `now`, which costs the waiter `overhead`, in
    /// seconds. Returns the duration of the overhead in simulated time.
    pub(super) fn complete(&mut self, now: Time, overhead: Seconds) -> Time {
        let begin = self.time.max(now);
        self.time = begin + overhead;
        self.awaited -= 1;
        Time(self.time.0 - begin.0)
    }
}
