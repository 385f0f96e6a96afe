//! Finds out whether a batch contradicts itself, which of its seeds do, and the smallest program that does.

use std::fmt::{Display, Formatter};

use titr_tests::Counts;

use crate::batch::{Batch, Execution, Fault, Mode};
use crate::replays;

/// What became of the programs of a batch.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Those that fail without the tracer, or are not the same each time.
    pub untried: Vec<String>,
    /// Contradictions, each with its smallest program.
    pub findings: Vec<String>,
}

impl Outcome {
    pub fn append(&mut self, mut other: Self) {
        self.untried.append(&mut other.untried);
        self.findings.append(&mut other.findings);
    }
}

impl Display for Outcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.untried.iter().chain(&self.findings).try_for_each(|line| writeln!(f, "{line}"))
    }
}

enum Verdict {
    /// All runs and replays agree.
    Sound,
    /// It fails without the tracer, or is not the same each time.
    Untried(Fault),
    Finding(Fault),
}

/// Tries all programs of a batch. Where one is at fault, the others are tried without it.
pub fn of(batch: &Batch) -> Outcome {
    let (fault, is_finding) = match verdict(batch) {
        Verdict::Sound => return Outcome::default(),
        Verdict::Untried(fault) => (fault, false),
        Verdict::Finding(fault) => (fault, true),
    };
    let (mut outcome, parts) = (Outcome::default(), batch.parts(fault.seed));
    for part in &parts {
        outcome.append(of(part));
    }
    match (is_finding, parts.is_empty()) {
        (false, true) => outcome.untried.push(format!("{batch}: fails untraced: {}", fault.what)),
        (true, true) => outcome.findings.push(smallest(batch, fault.what)),
        (true, false) if outcome.findings.is_empty() => {
            outcome.findings.push(format!("{batch}, and not in parts: {}", fault.what));
        }
        _ => {}
    }
    outcome
}

/// How often a batch that contradicts itself has to run without the tracer, the same each time. Some faults of a library show
/// themselves in one of twenty runs.
const UNTRACED_RUNS: usize = 60;

/// Runs a batch in all ways.
fn verdict(batch: &Batch) -> Verdict {
    let untraced = match batch.execute(Mode::Untraced) {
        Err(fault) => return Verdict::Untried(fault),
        Ok(untraced) => untraced,
    };
    let again = || {
        let differs = batch.execute(Mode::Untraced)?.differs(&untraced, &batch.seeds);
        let fault = || Fault { what: "receives something else each time".into(), seed: differs };
        if differs.is_some() { Err(fault()) } else { Ok(()) }
    };
    if let Err(fault) = again() {
        return Verdict::Untried(fault);
    }
    let Err(fault) = contradiction(batch, &untraced) else { return Verdict::Sound };
    (0..UNTRACED_RUNS).try_for_each(|_| again()).map_or_else(Verdict::Untried, |()| Verdict::Finding(fault))
}

fn contradiction(batch: &Batch, untraced: &Execution) -> Result<(), Fault> {
    let mut events = Vec::new();
    for mode in [Mode::TimeIndependent, Mode::Extended] {
        let traced = batch.execute(mode)?;
        let named = |what: String| format!("{mode:?}: {what}");
        let differs = traced.differs(untraced, &batch.seeds);
        if differs.is_some() {
            return Err(Fault { what: named("receives something else than untraced".into()), seed: differs });
        }
        let counts = Counts::read(&traced.counts);
        counts.compare(&traced.trace(), batch.threads).map_err(named)?;
        replays::check(batch, mode, &traced).map_err(named)?;
        if batch.plain {
            replays::reenact(batch, &traced, [counts.messages, counts.bytes]).map_err(named)?;
        }
        events.push((counts.messages, counts.bytes));
    }
    match events.as_slice() {
        [plain, extended] if plain != extended => {
            Err(format!("{plain:?} messages and bytes, and {extended:?} extended").into())
        }
        _ => Ok(()),
    }
}

/// The finding of a single seed, with as few steps as show it.
fn smallest(alone: &Batch, mut what: String) -> String {
    let mut smallest = alone.clone();
    // A program is at most this long; whether more steps than needed show it too is not sure, so that this may stop early.
    let (mut fewest, mut too_few) = (50, 0);
    while too_few + 1 < fewest {
        let middle = (fewest + too_few) / 2;
        match verdict(&alone.of_steps(middle)) {
            Verdict::Finding(smaller) => (fewest, what, smallest) = (middle, smaller.what, alone.of_steps(middle)),
            Verdict::Sound | Verdict::Untried(_) => too_few = middle,
        }
    }
    format!("{smallest}: {what}")
}
