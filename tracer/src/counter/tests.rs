//! Tests of the choice of a counter, and of what every counter promises.

use std::hint::black_box;
use std::time::Duration;

use super::*;
use crate::clock::{monotonic_ns, thread_ns};

fn choose(counter: CounterChoice) -> Result<Source, CounterError> {
    Source::choose(counter, 2e9, Calibration::begin())
}

/// Whether a counter of instructions can be opened in this thread; if not, the error says why.
fn opens(choice: CounterChoice) -> Result<(), String> {
    match choice {
        CounterChoice::Perf => {
            Perf::of_this_thread(Event::INSTRUCTIONS).map(drop).map_err(|error| format!("perf_event_open: {error}"))
        }
        #[cfg(feature = "papi")]
        CounterChoice::Papi => papi::EventSet::of_this_thread(papi::INSTRUCTIONS).map(drop),
        #[cfg(not(feature = "papi"))]
        CounterChoice::Papi => Err("this libtitrace.so was built without PAPI".into()),
        CounterChoice::Emulated => Emulated::of_this_thread().map(drop),
        CounterChoice::Cpu | CounterChoice::Auto => Ok(()),
    }
}

#[test]
fn auto_finds_the_first_counter_that_works_and_says_which() {
    let counter = choose(CounterChoice::Auto).unwrap().describe();
    let order = [(CounterChoice::Papi, "papi"), (CounterChoice::Perf, "perf"), (CounterChoice::Cpu, "cpu")];
    let first = order.into_iter().find(|&(choice, _)| opens(choice).is_ok()).unwrap();
    assert_eq!(counter.kind, first.1);
    assert_eq!(counter.rate.is_some(), counter.kind == "cpu");
    assert!(counter.resolution > 0.0);
}

#[test]
fn a_counter_that_was_asked_for_is_used_or_refused_with_the_reason() {
    for (choice, name) in [(CounterChoice::Papi, "papi"), (CounterChoice::Perf, "perf")] {
        let chosen = choose(choice).map(|source| source.describe().kind).map_err(|error| error.to_string());
        let expected = opens(choice).map(|()| name.to_owned());
        assert_eq!(chosen, expected.map_err(|reason| format!("TITRACE_COUNTER={name}: {reason}")));
    }
}

/// Fails if the rate is not applied, or is applied per another unit of time.
#[test]
fn cpu_time_is_worth_its_rate() {
    let source = choose(CounterChoice::Cpu).unwrap();
    assert_eq!(source.describe().rate, Some(2e9));
    let exact = Source { kind: Kind::Cpu { rate: 2e9, calibration: None }, ..source };
    let (volume, bounds) = measure(&mut exact.open(), Counter::start, |counter| counter.stop().0);
    assert!((2.0 * bounds.least..=2.0 * bounds.most).contains(&volume), "{volume} {bounds:?}");
}

#[test]
fn threads_are_measured_apart() {
    let source = choose(CounterChoice::Cpu).unwrap();
    let busy = std::thread::spawn(move || {
        let mut counter = source.open();
        counter.start();
        let begun = thread_ns();
        while thread_ns() < begun + 50e6 {}
        counter.stop()
    });
    let mut counter = source.open();
    counter.start();
    let busy = busy.join().unwrap();
    let idle = counter.stop();
    assert!(busy.0 > 90e6 && idle.0 < busy.0 / 4.0, "{busy:?} {idle:?}");
}

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
