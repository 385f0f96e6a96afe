//! The time-stamp counter, and the length of its tick.
//!
//! If the processor declares the counter *invariant*, it runs at one rate in all power states (Intel SDM vol. 3,
//! §19.17.1). The rate is measured against `CLOCK_MONOTONIC_RAW`, which no time daemon adjusts, between two moments
//! that are far apart anyway: this needs no waiting, and the precision increases while the program runs.

use super::clock;

/// A moment, on both clocks.
#[derive(Clone, Copy, Debug)]
pub struct Calibration {
    tsc: u64,
    ns: f64,
}

/// Readings of both clocks this many ticks apart were not interrupted.
const TOGETHER: u64 = 2000;
/// Number of attempts to find such a pair.
const TRIES: usize = 10;

impl Calibration {
    /// The moment from which the rate is measured.
    #[must_use]
    pub fn begin() -> Self {
        let mut best = (u64::MAX, Self { tsc: 0, ns: 0.0 });
        for _ in 0..TRIES {
            let before = now();
            let ns = clock::monotonic_ns();
            let apart = now().wrapping_sub(before);
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
        let end = Self::begin();
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
    use std::time::Duration;

    use titr_test_support::{assert_settles, no_such_hardware};

    use super::*;

    #[test]
    fn a_tick_is_as_long_over_a_short_span_as_over_a_longer_one() {
        if !is_invariant() {
            return no_such_hardware("the time-stamp counter is not invariant");
        }
        assert_settles(0.99..=1.01, || {
            let calibration = Calibration::begin();
            std::thread::sleep(Duration::from_millis(5));
            let (_, first) = calibration.measure().unwrap();
            std::thread::sleep(Duration::from_millis(100));
            let (long, second) = calibration.measure().unwrap();
            assert!(long >= 1e8);
            assert!((0.1..10.0).contains(&second), "counters run at 0.1 to 10 GHz");
            first / second
        });
    }
}
