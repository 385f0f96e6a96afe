//! Measures how much of a processor a piece of work takes. Unlike the time on the wall, other programs on the machine do not
//! change it.

use std::time::{Duration, Instant};

/// A stopwatch of the thread that started it: time on the wall and of a processor.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    wall: Instant,
    cpu: Option<Duration>,
}

impl Stopwatch {
    /// Starts measuring.
    #[must_use]
    pub fn start() -> Self {
        Self { wall: Instant::now(), cpu: cpu_time() }
    }

    /// The time on the wall since the start.
    #[must_use]
    pub fn wall(&self) -> Duration {
        self.wall.elapsed()
    }

    /// The time that a processor has worked for this thread since the start; the time on the wall where the system does not
    /// say.
    #[must_use]
    pub fn cpu(&self) -> Duration {
        self.cpu.zip(cpu_time()).map_or_else(|| self.wall(), |(start, now)| now.saturating_sub(start))
    }
}

/// The thread's time on a processor: the first number that Linux gives there, in nanoseconds (the kernel's
/// Documentation/scheduler/sched-stats.rst).
fn cpu_time() -> Option<Duration> {
    let numbers = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    numbers.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
