//! CPU time of the calling thread, extrapolated by the time-stamp counter.
//!
//! The time-stamp counter is cheap, but continues while the thread does not run. While a thread *stays* on its core,
//! both advance alike:
//!
//! ```text
//! CPU time = CPU time at the last synchronisation + time-stamp counter since,    as long as the preemption flag holds
//! ```
//!
//! When the flag no longer holds, the clock is read once and the two are synchronised again. The preemption flag
//! ([`PreemptionFlag`]) is set before the clock is read and checked after, so a preemption between the two readings is
//! noticed, and they are repeated. They are always repeated after [`OLDEST`], so that a guest without time from its
//! host, or a clock that excludes interrupts, cannot falsify the sum.

use super::preemption_flag::PreemptionFlag;
use super::tsc::{self, Calibration};
use crate::clock::thread_ns;
use crate::process_time;

/// Maximum age of a synchronisation, in nanoseconds.
const OLDEST: f64 = 10e6;
const TRIES: usize = 10;
/// The time after which the length of a tick is known well enough: after a second, the error of reading two clocks is 1
/// part in 10⁷.
const CALIBRATED: f64 = 1e9;

/// The clocks that CPU time is extrapolated by, and the preemption flag.
pub(super) trait Clocks {
    fn tsc(&self) -> u64;
    /// The thread's CPU time, in nanoseconds.
    fn thread_ns(&self) -> f64;
    /// Sets the preemption flag.
    fn set_flag(&self);
    /// Whether the thread has stayed on its core since [`set_flag`](Self::set_flag).
    fn flag_holds(&self) -> bool;
    /// The length of a tick in nanoseconds, after the time over which it was measured. `None` if that is no time.
    fn tick(&self) -> Option<(f64, f64)>;
    /// The thread was off its core for this many nanoseconds.
    fn waited(&self, nanoseconds: f64);
}

pub(super) struct ThisThread {
    flag: PreemptionFlag,
    calibration: Calibration,
}

impl ThisThread {
    /// Ticks are as long as on average since `calibration` began. `None` if the thread has no preemption flag.
    pub(super) fn new(calibration: Calibration) -> Option<Self> {
        Some(Self { flag: PreemptionFlag::of_this_thread()?, calibration })
    }
}

impl Clocks for ThisThread {
    #[inline]
    fn tsc(&self) -> u64 {
        tsc::now()
    }

    fn thread_ns(&self) -> f64 {
        thread_ns()
    }

    fn set_flag(&self) {
        self.flag.set();
    }

    #[inline]
    fn flag_holds(&self) -> bool {
        self.flag.holds()
    }

    fn tick(&self) -> Option<(f64, f64)> {
        self.calibration.measure()
    }

    fn waited(&self, nanoseconds: f64) {
        process_time::waited(nanoseconds);
    }
}

/// The state needed to continue from the last synchronisation.
pub(super) struct Extrapolation<C> {
    clocks: C,
    calibrated: bool,
    ns_per_tick: f64,
    oldest: u64,
    /// The last synchronisation: one moment on both clocks.
    tsc: u64,
    ns: f64,
    started: Started,
}

#[derive(Clone, Copy)]
enum Started {
    /// At this time-stamp, after the last synchronisation: until the next one, only a difference is needed.
    Tsc(u64),
    /// At this CPU time.
    Ns(f64),
}

impl<C: Clocks> Extrapolation<C> {
    /// Not synchronised yet; `None` before the time-stamp counter has moved.
    pub(super) fn new(clocks: C) -> Option<Self> {
        let (_, ns_per_tick) = clocks.tick()?;
        let oldest = (OLDEST / ns_per_tick) as u64;
        // The preemption flag is not set yet, so the first reading synchronises.
        Some(Self { clocks, calibrated: false, ns_per_tick, oldest, tsc: 0, ns: 0.0, started: Started::Ns(0.0) })
    }

    /// The length of a tick in nanoseconds.
    pub(super) fn resolution(&self) -> f64 {
        self.ns_per_tick
    }

    /// Starts from the CPU time when this returns.
    #[inline]
    pub(super) fn start(&mut self) {
        let now = self.clocks.tsc();
        // Not in one expression, which would be put together on the stack first.
        if self.is_fresh(now) {
            self.started = Started::Tsc(now);
        } else {
            self.started = self.start_anew();
        }
    }

    /// Nanoseconds of CPU time from [`start`](Self::start) to the moment of this call, at any cost of finding it.
    #[inline]
    pub(super) fn stop(&mut self) -> f64 {
        let asked = self.clocks.tsc();
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
            let now = self.clocks.tsc();
            if self.is_fresh(now) {
                return Started::Tsc(now);
            }
        }
        Started::Ns(self.clocks.thread_ns())
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
            self.synchronise().map_or_else(|| self.clocks.thread_ns(), |before| self.at(before))
        };
        let spent = (stopped - started).max(0.0);
        // The time-stamp counter was not the thread's alone since the start, if this is asked again.
        self.started = Started::Ns(started);
        // The time-stamp counter runs on while the thread does not.
        if let Some(ticks) = passed {
            self.clocks.waited(ticks * self.ns_per_tick - spent);
        }
        spent
    }

    /// Whether the thread was on its core from the last synchronisation to `tsc`, a reading taken just now. The order
    /// matters: events after the reading are irrelevant.
    fn is_fresh(&self, tsc: u64) -> bool {
        self.clocks.flag_holds() && tsc.wrapping_sub(self.tsc) < self.oldest
    }

    fn at(&self, tsc: u64) -> f64 {
        self.ns + tsc.wrapping_sub(self.tsc) as i64 as f64 * self.ns_per_tick
    }

    /// Reads both clocks at one moment, and returns an earlier one since which the thread was on its core. `None` if it
    /// was preempted in every attempt; then the preemption flag is not set.
    fn synchronise(&mut self) -> Option<u64> {
        for _ in 0..TRIES {
            self.clocks.set_flag();
            let before = self.clocks.tsc();
            let ns = self.clocks.thread_ns();
            let after = self.clocks.tsc();
            if self.clocks.flag_holds() {
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
        if let (false, Some((span, ns_per_tick))) = (self.calibrated, self.clocks.tick()) {
            self.calibrated = span > CALIBRATED;
            self.ns_per_tick = ns_per_tick;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    /// Ticks that a reading of the time-stamp counter takes, and one of the thread's clock.
    const READING: u64 = 20;
    const SYSTEM_CALL: u64 = 600;
    /// Nanoseconds of a tick.
    const TICK: f64 = 0.5;
    /// How far a reading of the thread's clock is from the middle of its two readings of the counter, in nanoseconds.
    const MIDDLE: f64 = READING as f64 * TICK;

    /// A made-up core that a thread runs on, alone or not.
    #[derive(Default)]
    struct Core {
        /// Ticks since the beginning, and those of the thread.
        now: Cell<u64>,
        used: Cell<u64>,
        flag: Cell<bool>,
        /// One in so many steps of the thread is followed by a preemption; 0 for none.
        preemptions: Cell<u64>,
        random: Cell<u64>,
        waited: Cell<f64>,
    }

    impl Core {
        fn run(&self, ticks: u64) {
            self.now.set(self.now.get() + ticks);
            self.used.set(self.used.get() + ticks);
            let random = self.random.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            self.random.set(random);
            if self.preemptions.get() > 0 && (random >> 33).is_multiple_of(self.preemptions.get()) {
                self.leave(random >> 50);
            }
        }

        /// The thread is off the core for some ticks.
        fn leave(&self, ticks: u64) {
            self.flag.set(false);
            self.now.set(self.now.get() + ticks);
        }

        /// The thread works in steps.
        fn work(&self, steps: u64) {
            (0..steps).for_each(|_| self.run(100));
        }

        /// The thread's CPU time without the cost of reading it.
        fn used_ns(&self) -> f64 {
            self.used.get() as f64 * TICK
        }
    }

    impl Clocks for Rc<Core> {
        fn tsc(&self) -> u64 {
            let now = self.now.get();
            self.run(READING);
            now
        }

        fn thread_ns(&self) -> f64 {
            self.run(SYSTEM_CALL / 2);
            let ns = self.used_ns();
            self.run(SYSTEM_CALL / 2);
            ns
        }

        fn set_flag(&self) {
            self.flag.set(true);
        }

        fn flag_holds(&self) -> bool {
            self.flag.get()
        }

        fn tick(&self) -> Option<(f64, f64)> {
            Some((1e9, TICK))
        }

        fn waited(&self, nanoseconds: f64) {
            self.waited.set(self.waited.get() + nanoseconds);
        }
    }

    fn meter(preemptions: u64) -> (Rc<Core>, Extrapolation<Rc<Core>>) {
        let core = Rc::new(Core { preemptions: Cell::new(preemptions), now: Cell::new(1 << 40), ..Core::default() });
        (core.clone(), Extrapolation::new(core).unwrap())
    }

    /// Measures `inside`, and asserts that the result is the CPU time of the thread from somewhere in `start` to somewhere
    /// in `stop`.
    fn assert_measured(core: &Core, meter: &mut Extrapolation<Rc<Core>>, inside: impl FnOnce()) -> f64 {
        let before = core.used_ns();
        meter.start();
        let begun = core.used_ns();
        inside();
        let ended = core.used_ns();
        let measured = meter.stop();
        let (least, most) = (ended - begun - 2.0 * MIDDLE, core.used_ns() - before + 2.0 * MIDDLE);
        assert!((least..=most).contains(&measured), "{measured} is not in {least}..={most}");
        measured
    }

    /// Fails if the flag is not looked at in `start`, in `stop` or in a synchronisation, or in the wrong order.
    #[test]
    fn only_the_thread_s_time_is_measured_wherever_it_is_preempted() {
        for preemptions in [0, 1, 2, 3, 10, 100, 10_000] {
            let (core, mut meter) = meter(preemptions);
            for round in 0..2000 {
                assert_measured(&core, &mut meter, || core.work(round % 50));
                core.work(round % 7);
            }
        }
    }

    /// Fails if sleep counts as computation or is not reported as waiting, or if work between the bursts counts.
    #[test]
    fn sleep_and_what_lies_between_stop_and_start_are_not_computation() {
        let (core, mut meter) = meter(0);
        let mut measured = 0.0;
        for _ in 0..100 {
            measured += assert_measured(&core, &mut meter, || {
                core.work(100);
                core.leave(1_000_000);
                core.work(100);
            });
            core.work(100_000);
            core.leave(1_000_000);
        }
        let worked = 100.0 * 200.0 * 100.0 * TICK;
        assert!((worked..1.1 * worked).contains(&measured), "{measured} for {worked}");
        let slept = 100.0 * 1e6 * TICK;
        assert!((0.9 * slept..=slept).contains(&core.waited.get()), "{} for {slept}", core.waited.get());
    }

    /// Fails if each burst costs more than a reading of the counter, or if the clock is read for each.
    #[test]
    fn short_bursts_add_up() {
        let (core, mut meter) = meter(0);
        meter.start();
        let used = core.used_ns();
        let measured: f64 = (0..100)
            .map(|_| {
                meter.start();
                core.work(1);
                meter.stop()
            })
            .sum();
        let (burst, reading) = (100.0 * TICK, READING as f64 * TICK);
        assert_eq!(measured, 100.0 * (burst + reading));
        assert_eq!(core.used_ns() - used, 100.0 * (burst + 2.0 * reading));
    }

    /// Fails if a synchronisation is used for longer than [`OLDEST`].
    #[test]
    fn a_pause_that_the_flag_does_not_show_falsifies_no_more_than_one_synchronisation() {
        let (core, mut meter) = meter(0);
        meter.start();
        assert_measured(&core, &mut meter, || {
            core.work(100);
            core.now.set(core.now.get() + (2.0 * OLDEST / TICK) as u64);
        });
    }
}
