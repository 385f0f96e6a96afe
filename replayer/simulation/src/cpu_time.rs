//! The processor time of a piece of work. Unlike wall-clock time, it does not depend on other programs on the machine.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The processor time that the calling thread has worked.
pub(crate) fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// A count by time; 0 in no time.
pub(crate) fn per_second(count: f64, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { count / time.as_secs_f64() }
}
