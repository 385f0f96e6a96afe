//! The time-stamp counter, and the length of its tick.
//!
//! If the processor declares the counter *invariant*, it runs at one rate in all power states (Intel SDM vol. 3,
//! §19.17.1). The rate is measured against `CLOCK_MONOTONIC_RAW`, which no time daemon adjusts, between two moments
//! that are far apart anyway: this needs no waiting, and the precision increases while the program runs.

use crate::clock::monotonic_ns;

/// A moment, on both clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calibration {
    tsc: u64,
    ns: f64,
}

/// Readings of both clocks this many ticks apart were not interrupted.
const TOGETHER: u64 = 2000;
/// Number of attempts to find such a pair.
const TRIES: usize = 10;

impl Calibration {
    /// The moment from which the rate is measured.
    pub(crate) fn begin() -> Self {
        Self::at(now, monotonic_ns)
    }

    /// A moment on two clocks: the one whose readings are the closest together.
    fn at(tsc: impl Fn() -> u64, clock: impl Fn() -> f64) -> Self {
        let mut best = (u64::MAX, Self { tsc: 0, ns: 0.0 });
        for _ in 0..TRIES {
            let before = tsc();
            let ns = clock();
            let apart = tsc().wrapping_sub(before);
            if apart < best.0 {
                best = (apart, Self { tsc: before + apart / 2, ns });
            }
            if apart < TOGETHER {
                break;
            }
        }
        best.1
    }

    /// Nanoseconds since the beginning, and in a tick, on average since then. `None` before the counter has moved.
    pub(super) fn measure(&self) -> Option<(f64, f64)> {
        self.until(&Self::begin())
    }

    fn until(&self, end: &Self) -> Option<(f64, f64)> {
        let span = end.ns - self.ns;
        let ticks = end.tsc.wrapping_sub(self.tsc);
        (ticks > 0 && span > 0.0).then(|| (span, span / ticks as f64))
    }
}

/// The counter. No access to memory is moved across the reading.
#[cfg(target_arch = "x86_64")]
pub(super) fn now() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: the instruction writes the two registers named and nothing else.
    unsafe { std::arch::asm!("rdtsc", out("eax") low, out("edx") high, options(nostack, preserves_flags)) };
    u64::from(high) << 32 | u64::from(low)
}

/// Whether the counter's rate never changes (CPUID leaf 8000_0007h, EDX bit 8).
#[cfg(target_arch = "x86_64")]
pub(super) fn is_invariant() -> bool {
    use std::arch::x86_64::__cpuid;
    const POWER_MANAGEMENT: u32 = 0x8000_0007;
    __cpuid(0x8000_0000).eax >= POWER_MANAGEMENT && __cpuid(POWER_MANAGEMENT).edx & 1 << 8 != 0
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn now() -> u64 {
    0
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn is_invariant() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use titr_test_support::no_such_hardware;

    use super::*;

    /// Fails if the length of a tick is its inverse, or a counter that starts again at zero gives nonsense.
    #[test]
    fn a_tick_is_the_time_that_has_passed_by_the_ticks() {
        let moment = |tsc, ns| Calibration { tsc, ns };
        assert_eq!(moment(1000, 50.0).until(&moment(3000, 550.0)), Some((500.0, 0.25)));
        assert_eq!(moment(u64::MAX - 999, 50.0).until(&moment(1000, 550.0)), Some((500.0, 0.25)));
        assert_eq!(moment(1000, 50.0).until(&moment(1000, 550.0)), None);
        assert_eq!(moment(1000, 50.0).until(&moment(3000, 50.0)), None);
    }

    /// A core whose counter ticks twice a nanosecond. Each reading of the clock is interrupted for one of these times, in
    /// ticks, before the clock is read.
    fn interrupted(interruptions: &[u64]) -> (Calibration, u64) {
        let (now, readings) = (Cell::new(0), Cell::new(0));
        let tsc = || {
            now.set(now.get() + 20);
            now.get()
        };
        let clock = || {
            now.set(now.get() + interruptions[readings.replace(readings.get() + 1)]);
            now.get() as f64 / 2.0
        };
        (Calibration::at(tsc, clock), readings.get() as u64)
    }

    /// Fails if interrupted readings are used although there are better ones, or if readings that are close are repeated.
    #[test]
    fn readings_that_are_interrupted_are_repeated() {
        let error = |calibration: Calibration| (calibration.tsc as f64 / 2.0 - calibration.ns).abs();
        let (calibration, readings) = interrupted(&[1_000_000, 5000, 100, 100]);
        assert_eq!((error(calibration) <= 50.0, readings), (true, 3), "{calibration:?}");
        let mut all = [1_000_000; TRIES];
        all[4] = 3000;
        let (calibration, readings) = interrupted(&all);
        assert_eq!((error(calibration) <= 1500.0, readings), (true, TRIES as u64), "{calibration:?}");
    }

    #[test]
    fn this_counter_runs_at_a_tenth_to_ten_times_a_nanosecond_s_rate() {
        if !is_invariant() {
            return no_such_hardware("the time-stamp counter is not invariant");
        }
        let calibration = Calibration::begin();
        std::thread::sleep(Duration::from_millis(100));
        let (span, tick) = calibration.measure().unwrap();
        assert!(span >= 0.99e8, "{span}");
        assert!((0.1..10.0).contains(&tick), "{tick}");
    }
}
