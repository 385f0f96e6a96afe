//! Measures the processor time of a piece of work. Unlike wall-clock time, it does not depend on other programs on the
//! machine.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A stopwatch of the calling thread's processor time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    start: Duration,
}

impl Stopwatch {
    /// Starts measuring.
    pub(crate) fn start() -> Self {
        Self { start: cpu_time() }
    }

    /// The time that the thread has worked since the start.
    pub(crate) fn cpu(&self) -> Duration {
        cpu_time().saturating_sub(self.start)
    }
}

fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}
