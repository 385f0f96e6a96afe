//! Measures the processor time of a piece of work. Unlike wall-clock time, it does not depend on other programs on the
//! machine.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A stopwatch of processor time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    /// The clock of those whose time is measured.
    whose: ClockId,
    start: Duration,
}

impl Stopwatch {
    /// Starts measuring work of this many threads: the time of this thread, or of all threads of the process if there
    /// are several.
    #[must_use]
    pub(crate) fn start(threads: usize) -> Self {
        let whose = if threads > 1 { ClockId::ProcessCPUTime } else { ClockId::ThreadCPUTime };
        Self { whose, start: cpu_time(whose) }
    }

    /// The time that processors have worked since the start.
    #[must_use]
    pub(crate) fn cpu(&self) -> Duration {
        cpu_time(self.whose).saturating_sub(self.start)
    }
}

fn cpu_time(whose: ClockId) -> Duration {
    Duration::try_from(clock_gettime(whose)).unwrap_or_default()
}
