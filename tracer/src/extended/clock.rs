//! The time of a host since the world's first barrier.

use std::time::Instant;

use titr_common::units::Nanoseconds;

/// A monotonic clock (`CLOCK_MONOTONIC`).
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: Instant,
}

impl Clock {
    /// One that starts now, behind a barrier.
    #[must_use]
    pub fn start() -> Self {
        Self { origin: Instant::now() }
    }

    /// The time: of 64 bits there are five hundred years.
    #[must_use]
    pub fn now(&self) -> Nanoseconds {
        Nanoseconds(self.origin.elapsed().as_nanos() as u64)
    }
}
