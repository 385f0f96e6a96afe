//! How much of a processor a piece of work took, which other programs on the machine do not change as they do the time on
//! the wall.

use std::time::{Duration, Instant};

/// Measures the thread that it was started by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    wall: Instant,
    cpu: Option<Duration>,
}

impl Stopwatch {
    /// Starts measuring.
    pub(crate) fn start() -> Self {
        Self { wall: Instant::now(), cpu: on_cpu() }
    }

    /// Time on the wall since then.
    pub(crate) fn wall(&self) -> Duration {
        self.wall.elapsed()
    }

    /// Time that a processor took for this thread since then; that on the wall, where the system does not say.
    pub(crate) fn cpu(&self) -> Duration {
        self.cpu.zip(on_cpu()).map_or_else(|| self.wall(), |(start, now)| now.saturating_sub(start))
    }
}

/// The thread's time on a processor, which is the first number that Linux gives there, in nanoseconds (the kernel's
/// Documentation/scheduler/sched-stats.rst).
fn on_cpu() -> Option<Duration> {
    let numbers = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    numbers.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
