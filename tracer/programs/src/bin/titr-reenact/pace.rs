//! Computation by busy waiting, so that each call is made when it is due.
//!
//! A call is due when the one before it has returned and the time of the computation between them has passed. The
//! reenactment's own work in between, reading events and the clock, is part of that time. If a call is late, because
//! the computation before it is shorter than this work, later computation is shortened; intervals that are too short to
//! wait for therefore add up to the right time.

use std::hint::spin_loop;
use std::time::{Duration, Instant};

/// The times at which calls are due.
pub(crate) struct Pace {
    began: Instant,
    /// The return of the last call.
    returned: Instant,
    /// The start of the last call.
    called: Instant,
    /// The computation since then, in seconds.
    computed: f64,
    /// The time, in seconds, by which calls were made later than they were due, and that no computation has made up for yet.
    late: f64,
    /// Seconds that computation takes for a unit of its volume.
    seconds_per_unit: f64,
}

impl Pace {
    /// A pace that begins now, at which computation of a volume of `rate` takes a second.
    pub(crate) fn new(rate: f64) -> Self {
        let now = Instant::now();
        Self { began: now, returned: now, called: now, computed: 0.0, late: 0.0, seconds_per_unit: 1.0 / rate }
    }

    /// Adds computation before the next call, by its volume.
    pub(crate) fn compute(&mut self, volume: f64) {
        self.computed += volume * self.seconds_per_unit;
    }

    /// Adds time before the next call.
    pub(crate) fn pass(&mut self, seconds: f64) {
        self.computed += seconds;
    }

    /// Waits until the next call is due. Returns the computation before it, as it was due and as it took, in seconds.
    #[inline]
    pub(crate) fn await_call(&mut self) -> [f64; 2] {
        let due = self.computed - self.late;
        let mut passed = self.returned.elapsed();
        if due > 0.0 {
            let due = Duration::from_secs_f64(due);
            while passed < due {
                spin_loop();
                passed = self.returned.elapsed();
            }
        }
        let waited = passed.as_secs_f64();
        self.called = self.returned + passed;
        self.late = waited - due;
        [std::mem::take(&mut self.computed), waited]
    }

    /// The call has returned. Returns the seconds that it took.
    #[inline]
    pub(crate) fn call_returned(&mut self) -> f64 {
        self.returned = Instant::now();
        (self.returned - self.called).as_secs_f64()
    }

    /// Seconds since the pace began, until the last call returned.
    pub(crate) fn seconds(&self) -> f64 {
        (self.returned - self.began).as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computation_takes_its_time_in_pieces_of_any_length() {
        for pieces in [1, 1000, 100_000] {
            let mut pace = Pace::new(1e9);
            for _ in 0..pieces {
                pace.compute(20e6 / f64::from(pieces));
                pace.await_call();
                pace.call_returned();
            }
            // Never less; how much more is up to the machine.
            let seconds = pace.seconds();
            assert!(seconds >= 0.0199, "{pieces}: {seconds}");
        }
    }
}
