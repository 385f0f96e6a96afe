//! The reference kernel: a fixed piece of work, counted once at the start, which makes the volumes of different
//! counters comparable.
//!
//! If ranks run on processors of different speeds and CPU time is measured, the same computation counts for more on the
//! slower ones; if some ranks count instructions and others time, their units differ. The counts of the same work show
//! the ratio. The work consists of equal parts of typical operations: integer arithmetic in which each step waits for
//! the one before, independent floating-point arithmetic, and reading and writing memory in a first- and a second-level
//! cache. No single piece of work is like every program, so this is a rule of thumb: it distinguishes counters and
//! makes them roughly comparable, but does not replace equal machines.

use std::hint::black_box;

use titr_common::trace::manifest::ReferenceCount;

use super::{Counter, Source};
use crate::clock::thread_ns;

/// Number of counts. Sometimes the thread is interrupted, or its processor has yet to speed up.
const TIMES: usize = 9;
/// Steps of the work; all of it takes some hundred microseconds.
const STEPS: u64 = 20_000;
/// Words of memory that it goes through: 16 KiB, and 256 KiB.
const NEAR: usize = 2 << 10;
const FAR: usize = 32 << 10;

/// Counts the kernel with the counters of `source`, in this thread, which has no counter open.
pub(super) fn measure(source: &Source) -> Option<ReferenceCount> {
    let mut counter: Counter = source.open();
    let mut memory = vec![1_u64; FAR];
    let mut least = ReferenceCount { volume: f64::INFINITY, seconds: f64::INFINITY };
    for _ in 0..TIMES {
        let begun = thread_ns();
        counter.start();
        black_box(work(black_box(&mut memory)));
        let volume = counter.stop();
        let seconds = (thread_ns() - begun) / 1e9;
        least = ReferenceCount { volume: least.volume.min(volume.0), seconds: least.seconds.min(seconds) };
    }
    (least.volume > 0.0 && least.volume.is_finite()).then_some(least)
}

#[inline(never)]
fn work(memory: &mut [u64]) -> f64 {
    // Knuth's MMIX generator: a multiplication and an addition, each waiting for the last.
    let mut state = 1_u64;
    for _ in 0..STEPS {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    }
    let mut sums = [1.0_f64; 8];
    for _ in 0..STEPS {
        for (lane, sum) in (1_u8..).zip(&mut sums) {
            *sum = *sum * 0.999 + f64::from(lane);
        }
    }
    for (size, stride) in [(NEAR, 1), (FAR, 9)] {
        let mut at = 0;
        for step in 0..STEPS {
            if let Some(word) = memory.get_mut(at) {
                *word = word.wrapping_add(step ^ state);
            }
            at = (at + stride) % size;
        }
    }
    sums.iter().sum::<f64>() + memory.first().map_or(0.0, |word| *word as f64)
}

#[cfg(test)]
mod tests {
    use super::super::{Calibration, Kind};
    use super::*;
    use titr_config::CounterChoice;

    /// Fails if the kernel is not between start and stop, or the units differ: its CPU time includes both, which take less
    /// than the kernel.
    #[test]
    fn cpu_time_makes_its_rate_of_it() {
        for rate in [1e9, 3e9] {
            let source = Source::choose(CounterChoice::Cpu, rate, Calibration::begin()).unwrap();
            let exact = Source { kind: Kind::Cpu { rate, calibration: None }, ..source };
            let ReferenceCount { volume, seconds } = measure(&exact).unwrap();
            let most = seconds * rate;
            assert!((0.1 * most..=most).contains(&volume), "{volume} in {seconds} s at {rate}");
        }
    }
}
