//! Bounds of a thread's CPU time for the tests of its counters. They hold on any machine, whatever else runs there.

use std::hint::black_box;
use std::time::Duration;

use super::clock::{monotonic_ns, thread_ns};

/// Time from a start to a stop, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bounds {
    /// The thread's CPU time from the end of the start to the beginning of the stop.
    pub(super) least: f64,
    /// The thread's CPU time from the beginning of the start to the end of the stop.
    pub(super) most: f64,
    /// The time that has passed from the beginning of the start to the end of the stop, but for sleep.
    pub(super) awake: f64,
}

impl Bounds {
    /// Whether a count by a clock of the kernel's other than the CPU time of threads is that of what is measured. Perf's task
    /// clock does not run while the kernel changes from one thread to another, and an interrupt or the host of a virtual machine
    /// may take that time again and again: the two clocks differ by several hundredths on a busy machine, so this allows half.
    /// A start that does not forget the count before it gives ten times as much, a stop that does not count twenty times.
    pub(super) fn allow(&self, counted: f64) -> bool {
        (0.5 * self.least..=1.5 * self.awake).contains(&counted)
    }
}

/// Rounds of work and sleep that are measured, each followed by much more work that is not.
const ROUNDS: u32 = 20;
const MEASURED: f64 = 1e6;
const SLEPT: Duration = Duration::from_millis(20);
const NOT_MEASURED: f64 = 20e6;

/// Starts and stops a counter for a few rounds. Returns the sum of its counts, and bounds of the CPU time in them. A counter
/// that goes on after a stop, or while the thread sleeps, exceeds the bounds by much.
pub(super) fn measure<C>(counter: &mut C, start: impl Fn(&mut C), stop: impl Fn(&mut C) -> f64) -> (f64, Bounds) {
    let (mut counted, mut bounds) = (0.0, Bounds::default());
    for _ in 0..ROUNDS {
        let (begun, before) = (monotonic_ns(), thread_ns());
        start(counter);
        let started = thread_ns();
        work(MEASURED);
        std::thread::sleep(SLEPT);
        bounds.least += thread_ns() - started;
        counted += stop(counter);
        bounds.most += thread_ns() - before;
        bounds.awake += monotonic_ns() - begun - SLEPT.as_nanos() as f64;
        work(NOT_MEASURED);
    }
    (counted, bounds)
}

/// Computes for this many nanoseconds of CPU time.
pub(super) fn work(nanoseconds: f64) {
    let until = thread_ns() + nanoseconds;
    while thread_ns() < until {
        black_box(());
    }
}
