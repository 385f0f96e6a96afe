//! Tests of the choice of a counter, and of what every counter promises.

use super::*;

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
    let (volume, bounds) = bounds::measure(&mut exact.open(), Counter::start, |counter| counter.stop().0);
    assert!((2.0 * bounds.least..=2.0 * bounds.most).contains(&volume), "{volume} {bounds:?}");
}

#[test]
fn threads_are_measured_apart() {
    let source = choose(CounterChoice::Cpu).unwrap();
    let busy = std::thread::spawn(move || {
        let mut counter = source.open();
        counter.start();
        let begun = clock::thread_ns();
        while clock::thread_ns() < begun + 50e6 {}
        counter.stop()
    });
    let mut counter = source.open();
    counter.start();
    let busy = busy.join().unwrap();
    let idle = counter.stop();
    assert!(busy.0 > 90e6 && idle.0 < busy.0 / 4.0, "{busy:?} {idle:?}");
}
