//! Random legal programs: untraced, traced in both modes, and replayed on all models. `programs/random.c` makes a
//! program from each seed; this compares the received data of all runs, the calls with the trace, and the replays of
//! the trace in all its forms.
//!
//! `ci/fuzz programs [PROGRAMS [FIRST]]` tries other and more seeds, and minimises the program of each finding.

#[path = "programs/batch.rs"]
mod batch;
#[path = "programs/finding.rs"]
mod finding;
#[path = "programs/replays.rs"]
mod replays;

use std::num::NonZero;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::thread;

use batch::Batch;
use finding::Outcome;

/// The variable `name` as a number.
fn number<T: FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

/// How far the programs have been tried.
struct Progress {
    /// The seed of the next batch.
    next: u64,
    tried: u64,
    outcome: Outcome,
}

#[test]
fn are_traced_and_replayed_without_a_contradiction() {
    let programs: u64 = number("TITR_PROGRAMS").unwrap_or(100);
    let first: u64 = number("TITR_PROGRAMS_FIRST").unwrap_or(1);
    // Few programs at once make the most of a hundred, many the most of the time that ten thousand take.
    let at_once = (programs / 10).clamp(1, 40);
    let progress = Mutex::new(Progress { next: first, tried: 0, outcome: Outcome::default() });
    let lock = || progress.lock().unwrap_or_else(PoisonError::into_inner);
    let take = || {
        let mut progress = lock();
        let batch = Batch::of(progress.next, first + programs, at_once)?;
        progress.next = batch.seeds.end;
        Some(batch)
    };
    let work = || {
        while let Some(batch) = take() {
            let outcome = finding::of(&batch);
            eprint!("{outcome}");
            let mut progress = lock();
            let (begun, seeds) = (progress.tried, batch.seeds.end - batch.seeds.start);
            progress.tried += seeds;
            progress.outcome.append(outcome);
            let Progress { tried, outcome: Outcome { untried, findings }, .. } = &*progress;
            if programs > 100 && begun / 1000 != tried / 1000 {
                let (untried, findings) = (untried.len(), findings.len());
                eprintln!("{tried} of {programs} programs, {untried} of them untried, {findings} findings");
            }
        }
    };
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    let Outcome { untried, findings } = &lock().outcome;
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
    // The libraries have faults of their own, which come and go.
    assert!(untried.len() as u64 * 5 <= programs, "{} of {programs} programs fail untraced", untried.len());
}
