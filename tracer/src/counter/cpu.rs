//! CPU time of the calling thread, in nanoseconds.
//!
//! `CLOCK_THREAD_CPUTIME_ID` is right even if many ranks share a core, but it is a system call (some hundred
//! nanoseconds). Where it can be [extrapolated](super::extrapolation), most readings take less.

use super::extrapolation::{Extrapolation, ThisThread};
use super::preemption_flag::PreemptionFlag;
use super::tsc::{self, Calibration};
use crate::clock::thread_ns;

/// Measures the CPU time that one thread spends between [`start`](Self::start) and [`stop`](Self::stop).
pub(super) enum CpuTime {
    /// By the thread's clock.
    Thread {
        started: f64,
    },
    Extrapolated(Extrapolation<ThisThread>),
}

impl CpuTime {
    /// For the calling thread; with a `calibration`, the extrapolation is used where it works.
    pub(super) fn of_this_thread(calibration: Option<Calibration>) -> Self {
        let thread = Self::Thread { started: 0.0 };
        let mut cpu =
            calibration.and_then(ThisThread::new).and_then(Extrapolation::new).map_or(thread, Self::Extrapolated);
        cpu.start();
        cpu
    }

    /// Whether extrapolation works here. Sleeps for a millisecond, which also makes the calibration that long.
    pub(super) fn can_extrapolate() -> bool {
        tsc::is_invariant() && PreemptionFlag::of_this_thread().is_some_and(|flag| flag.works())
    }

    /// Begins to measure.
    pub(super) fn start(&mut self) {
        match self {
            Self::Thread { started } => *started = thread_ns(),
            Self::Extrapolated(clock) => clock.start(),
        }
    }

    /// Nanoseconds since [`start`](Self::start).
    pub(super) fn stop(&mut self) -> f64 {
        match self {
            Self::Thread { started } => thread_ns() - *started,
            Self::Extrapolated(clock) => clock.stop(),
        }
    }

    /// The smallest difference there is, in nanoseconds.
    pub(super) fn resolution(&self) -> f64 {
        match self {
            Self::Thread { .. } => 1.0,
            Self::Extrapolated(clock) => clock.resolution(),
        }
    }
}

#[cfg(test)]
mod tests {
    use titr_test_support::no_such_hardware;

    use super::super::tests::{measure, work};
    use super::*;

    /// Fails if time that passes is measured, or if the thread's work in the place of MPI calls is.
    #[test]
    fn neither_sleep_nor_what_lies_between_stop_and_start_is_computation() {
        let (measured, bounds) = measure(&mut CpuTime::of_this_thread(None), CpuTime::start, CpuTime::stop);
        assert!((bounds.least..=bounds.most).contains(&measured), "{measured} {bounds:?}");
    }

    /// Fails if this machine's time-stamp counter or its preemption flag is used wrongly. A tick is known to some hundredths
    /// from 100 ms, and time that a host takes from its guest may be measured.
    #[test]
    fn nor_are_they_by_extrapolation() {
        if !tsc::is_invariant() {
            return no_such_hardware("the time-stamp counter is not invariant: nothing is extrapolated by it");
        }
        assert!(CpuTime::can_extrapolate());
        let calibration = Calibration::begin();
        work(100e6);
        let mut meter = CpuTime::of_this_thread(Some(calibration));
        let (measured, bounds) = measure(&mut meter, CpuTime::start, CpuTime::stop);
        assert!((0.9 * bounds.least..=1.1 * bounds.awake).contains(&measured), "{measured} {bounds:?}");
    }
}
