//! Random legal programs: untraced, traced in both modes, and replayed on all models. `programs/random.c` makes a program of each
//! seed; this compares what each run of it received, what it called with what is in the trace, and what a replay says of the
//! trace in all its forms.
//!
//! `ci/fuzz programs [PROGRAMS [FIRST]]` tries other seeds and more of them, and looks for the smallest program of each finding.

#[path = "programs/batch.rs"]
mod batch;
#[path = "programs/counts.rs"]
mod counts;
#[path = "programs/finding.rs"]
mod finding;
#[path = "programs/replays.rs"]
mod replays;

use std::str::FromStr;

use batch::Batch;
use finding::Verdict;

/// The variable `name` as a number.
fn number<T: FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
#[ignore = "takes minutes: ci/fuzz programs"]
fn are_traced_and_replayed_without_a_contradiction() {
    let programs: u64 = number("TITR_PROGRAMS").unwrap_or(100);
    let first: u64 = number("TITR_PROGRAMS_FIRST").unwrap_or(1);
    let (mut findings, mut untried, mut begun) = (Vec::new(), 0, first);
    while begun < first + programs {
        let batch = Batch::of(begun, first + programs);
        let seeds = batch.seeds();
        match finding::verdict(&batch) {
            Verdict::Sound => {}
            Verdict::Untried(why) => {
                eprintln!("{batch}: fails untraced: {why}");
                untried += seeds;
            }
            Verdict::Finding(what) => {
                let finding = finding::smallest(&batch, what);
                eprintln!("{finding}");
                findings.push(finding);
            }
        }
        begun += seeds;
        if programs > 100 && begun % 1000 < seeds {
            eprintln!(
                "{} of {programs} programs, {untried} of them untried, {} findings",
                begun - first,
                findings.len()
            );
        }
    }
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
    // The libraries have faults of their own, which come and go.
    assert!(untried * 5 <= programs, "{untried} of {programs} programs fail untraced");
}
