//! CPU time of the calling thread, in nanoseconds.
//!
//! `CLOCK_THREAD_CPUTIME_ID` is right even if many ranks share a core, but it is a system call (some hundred
//! nanoseconds). The time-stamp counter is cheap, but continues while the thread does not run. While a thread *stays*
//! on its core, both advance alike:
//!
//! ```text
//! CPU time = CPU time at the last synchronisation + time-stamp counter since,    as long as the preemption flag holds
//! ```
//!
//! When the flag no longer holds, the clock is read once and the two are synchronised again. The preemption flag
//! ([`PreemptionFlag`]) is set before the clock is read and checked after, so a preemption between the two readings is
//! noticed, and they are repeated. They are always repeated after [`OLDEST`], so that a guest without time from its
//! host, or a clock that excludes interrupts, cannot falsify the sum.

use super::clock::thread_ns;
use super::preemption_flag::PreemptionFlag;
use super::tsc::{self, Calibration};
use crate::process_time::waited;

/// Maximum age of a synchronisation, in nanoseconds.
const OLDEST: f64 = 10e6;
/// Maximum number of attempts to synchronise.
const TRIES: usize = 10;
/// The time after which the length of a tick is known well enough: after a second, the error of reading two clocks is 1
/// part in 10⁷.
const CALIBRATED: f64 = 1e9;

/// Measures the CPU time that one thread spends between [`start`](Self::start) and [`stop`](Self::stop).
pub(super) struct CpuTime {
    clock: Method,
}

enum Method {
    Thread { started: f64 },
    Extrapolated(Extrapolation),
}

/// The state needed to continue from the last synchronisation.
struct Extrapolation {
    flag: PreemptionFlag,
    calibration: Calibration,
    calibrated: bool,
    ns_per_tick: f64,
    oldest: u64,
    /// The last synchronisation: one moment on both clocks.
    tsc: u64,
    ns: f64,
    started: Started,
}

/// A start.
#[derive(Clone, Copy)]
enum Started {
    /// At this time-stamp, after the last synchronisation: until the next one, only a difference is needed.
    Tsc(u64),
    /// At this CPU time.
    Ns(f64),
}

impl CpuTime {
    /// For the calling thread; with a `calibration`, the extrapolation is used where it works.
    pub(super) fn of_this_thread(calibration: Option<Calibration>) -> Self {
        let thread = Method::Thread { started: 0.0 };
        let clock = calibration.and_then(Extrapolation::new).map_or(thread, Method::Extrapolated);
        let mut cpu = Self { clock };
        cpu.start();
        cpu
    }

    /// Whether extrapolation works here. Sleeps for a millisecond, which also makes the calibration that long.
    pub(super) fn can_extrapolate() -> bool {
        tsc::is_invariant() && PreemptionFlag::of_this_thread().is_some_and(|flag| flag.works())
    }

    /// Begins to measure.
    pub(super) fn start(&mut self) {
        match &mut self.clock {
            Method::Thread { started } => *started = thread_ns(),
            Method::Extrapolated(clock) => clock.start(),
        }
    }

    /// Nanoseconds since [`start`](Self::start).
    pub(super) fn stop(&mut self) -> f64 {
        match &mut self.clock {
            Method::Thread { started } => thread_ns() - *started,
            Method::Extrapolated(clock) => clock.stop(),
        }
    }

    /// The smallest difference there is, in nanoseconds.
    pub(super) fn resolution(&self) -> f64 {
        match &self.clock {
            Method::Thread { .. } => 1.0,
            Method::Extrapolated(clock) => clock.ns_per_tick,
        }
    }
}

impl Extrapolation {
    fn new(calibration: Calibration) -> Option<Self> {
        let flag = PreemptionFlag::of_this_thread()?;
        let (_, ns_per_tick) = calibration.measure()?;
        let oldest = (OLDEST / ns_per_tick) as u64;
        // The preemption flag is not set yet, so the first reading synchronises.
        Some(Self {
            flag,
            calibration,
            calibrated: false,
            ns_per_tick,
            oldest,
            tsc: 0,
            ns: 0.0,
            started: Started::Ns(0.0),
        })
    }

    /// Starts from the CPU time when this returns.
    #[inline]
    fn start(&mut self) {
        let now = tsc::now();
        // Not in one expression, which would be put together on the stack first.
        if self.is_fresh(now) {
            self.started = Started::Tsc(now);
        } else {
            self.started = self.start_anew();
        }
    }

    /// The CPU time at the moment of this call, at any cost of finding it.
    #[inline]
    fn stop(&mut self) -> f64 {
        let asked = tsc::now();
        match self.started {
            Started::Tsc(started) if self.is_fresh(asked) => {
                asked.wrapping_sub(started) as i64 as f64 * self.ns_per_tick
            }
            started => self.stop_at(started, asked),
        }
    }

    #[cold]
    fn start_anew(&mut self) -> Started {
        for _ in 0..TRIES {
            self.synchronise();
            let now = tsc::now();
            if self.is_fresh(now) {
                return Started::Tsc(now);
            }
        }
        Started::Ns(thread_ns())
    }

    #[cold]
    fn stop_at(&mut self, started: Started, asked: u64) -> f64 {
        let (started, passed) = match started {
            Started::Tsc(started) => (self.at(started), Some(asked.wrapping_sub(started) as i64 as f64)),
            Started::Ns(started) => (started, None),
        };
        let stopped = if self.is_fresh(asked) {
            self.at(asked)
        } else {
            // The state before the clocks were read: with cold caches, as after a preemption, that takes microseconds.
            self.synchronise().map_or_else(thread_ns, |before| self.at(before))
        };
        let spent = (stopped - started).max(0.0);
        // The time-stamp counter runs on while the thread does not.
        if let Some(ticks) = passed {
            waited(ticks * self.ns_per_tick - spent);
        }
        spent
    }

    /// Whether the thread was on its core from the last synchronisation to `tsc`, a reading taken just now. The order
    /// matters: events after the reading are irrelevant.
    fn is_fresh(&self, tsc: u64) -> bool {
        self.flag.holds() && tsc.wrapping_sub(self.tsc) < self.oldest
    }

    fn at(&self, tsc: u64) -> f64 {
        self.ns + tsc.wrapping_sub(self.tsc) as i64 as f64 * self.ns_per_tick
    }

    /// Reads both clocks at one moment, and returns an earlier one since which the thread was on its core. `None` if it
    /// was preempted in every attempt; then the preemption flag is not set.
    fn synchronise(&mut self) -> Option<u64> {
        for _ in 0..TRIES {
            self.flag.set();
            let before = tsc::now();
            let ns = thread_ns();
            let after = tsc::now();
            if self.flag.holds() {
                // The kernel reads its clock about halfway through the system call.
                self.tsc = before + after.wrapping_sub(before) / 2;
                self.ns = ns;
                self.calibrate();
                return Some(before);
            }
        }
        None
    }

    fn calibrate(&mut self) {
        if let (false, Some((span, ns_per_tick))) = (self.calibrated, self.calibration.measure()) {
            self.calibrated = span > CALIBRATED;
            self.ns_per_tick = ns_per_tick;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::ops::RangeInclusive;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    use titr_test_support::{assert_settles, no_such_hardware};

    use super::*;

    /// Accepted ratio of a measured time to the thread's clock.
    const NEAR: RangeInclusive<f64> = 0.95..=1.05;

    /// A meter by the thread's clock, and one by extrapolation.
    fn meters() -> Vec<CpuTime> {
        let calibration = Calibration::begin();
        let mut meters = vec![CpuTime::of_this_thread(None)];
        if tsc::is_invariant() {
            assert!(CpuTime::can_extrapolate());
            meters.push(CpuTime::of_this_thread(Some(calibration)));
        } else {
            no_such_hardware("the time-stamp counter is not invariant: nothing is extrapolated by it");
        }
        meters
    }

    fn work(rounds: u64) {
        let mut state = 1_u64;
        for _ in 0..rounds {
            state = black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
    }

    /// The CPU time of `bursts` bursts of work, by the meter and by the thread's clock around all of them, with
    /// `between` in the place of MPI calls.
    fn measure(meter: &mut CpuTime, bursts: u64, rounds: u64, mut between: impl FnMut()) -> (f64, f64) {
        let (mut measured, mut between_ns) = (0.0, 0.0);
        let begun = thread_ns();
        for _ in 0..bursts {
            meter.start();
            work(rounds);
            measured += meter.stop();
            let left = thread_ns();
            between();
            between_ns += thread_ns() - left;
        }
        (measured, thread_ns() - begun - between_ns)
    }

    fn pin(core: usize) {
        // SAFETY: the set is a live local; 0 is the calling thread.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(core, &mut set);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
        }
    }

    /// On a thread of its own, because it changes where that thread runs.
    fn with_competitors(competitors: usize, test: impl FnOnce() + Send + 'static) {
        let stop = Arc::new(AtomicBool::new(false));
        let busy = |stop: Arc<AtomicBool>| {
            move || {
                pin(0);
                while !stop.load(Ordering::Relaxed) {
                    work(1000);
                }
            }
        };
        let competitors: Vec<_> = (0..competitors).map(|_| thread::spawn(busy(stop.clone()))).collect();
        let outcome = thread::spawn(|| {
            pin(0);
            test();
        })
        .join();
        stop.store(true, Ordering::Relaxed);
        competitors.into_iter().for_each(|thread| thread.join().unwrap());
        outcome.unwrap();
    }

    #[test]
    fn time_off_the_core_is_not_computation() {
        with_competitors(3, || {
            for mut meter in meters() {
                assert_settles(NEAR, || {
                    let passed = std::time::Instant::now();
                    let (measured, truth) = measure(&mut meter, 500, 20_000, || {});
                    let passed = passed.elapsed().as_nanos() as f64;
                    assert!(passed > 2.0 * truth, "three competitors take their share");
                    measured / truth
                });
            }
        });
    }

    #[test]
    fn neither_is_sleep() {
        for mut meter in meters() {
            assert_settles(NEAR, || {
                meter.start();
                let begun = thread_ns();
                for _ in 0..20 {
                    work(100_000);
                    thread::sleep(Duration::from_millis(5));
                }
                meter.stop() / (thread_ns() - begun)
            });
        }
    }

    #[test]
    fn nor_is_what_lies_between_stop_and_start() {
        for mut meter in meters() {
            let mut calls = 0_u64;
            assert_settles(NEAR, || {
                let (measured, truth) = measure(&mut meter, 200, 40_000, || {
                    calls += 1;
                    work(60_000);
                    if calls.is_multiple_of(20) {
                        thread::sleep(Duration::from_millis(1));
                    }
                });
                measured / truth
            });
        }
    }

    #[test]
    fn short_bursts_add_up() {
        for mut meter in meters() {
            // The clock readings in `measure` would outweigh the bursts, so these are measured against the same work in
            // one piece just before them: in many rounds, as a busy machine may be twice as fast in one moment as in the
            // next.
            assert_settles(0.7..=1.6, || {
                let mut ratios: Vec<f64> = (0..51)
                    .map(|_| {
                        let begun = thread_ns();
                        work(100 * 1000);
                        let truth = thread_ns() - begun;
                        let measured: f64 = (0..100)
                            .map(|_| {
                                meter.start();
                                work(1000);
                                meter.stop()
                            })
                            .sum();
                        measured / truth
                    })
                    .collect();
                ratios.sort_by(f64::total_cmp);
                ratios[ratios.len() / 2]
            });
        }
    }
}
