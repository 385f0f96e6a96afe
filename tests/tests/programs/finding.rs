//! Whether a batch contradicts itself, and which is the smallest program that does.

use crate::batch::{Batch, Execution, Mode};
use crate::counts::Counts;
use crate::replays;

/// What became of a batch.
pub enum Verdict {
    /// All runs and replays agree.
    Sound,
    /// It fails without the tracer, or is not the same each time.
    Untried(String),
    Finding(String),
}

/// Runs a batch in all ways.
pub fn verdict(batch: &Batch) -> Verdict {
    let untraced = batch.execute(Mode::Untraced).and_then(|first| Ok((batch.execute(Mode::Untraced)?.sums, first)));
    match untraced {
        Err(why) => Verdict::Untried(why),
        Ok((again, untraced)) if again != untraced.sums => Verdict::Untried("receives something else each time".into()),
        Ok((_, untraced)) => match contradiction(batch, &untraced) {
            Ok(()) => Verdict::Sound,
            Err(what) => Verdict::Finding(what),
        },
    }
}

fn contradiction(batch: &Batch, untraced: &Execution) -> Result<(), String> {
    let mut events = Vec::new();
    for mode in [Mode::TimeIndependent, Mode::Extended] {
        let traced = batch.execute(mode)?;
        let named = |what: String| format!("{mode:?}: {what}");
        if traced.sums != untraced.sums {
            return Err(named(format!("received {:?} and not {:?}", traced.sums, untraced.sums)));
        }
        let counts = Counts::read(&traced.counts);
        counts.compare(&traced.trace()).map_err(named)?;
        replays::check(batch, mode, &traced).map_err(named)?;
        events.push((counts.messages, counts.bytes));
    }
    match events.as_slice() {
        [plain, extended] if plain != extended => {
            Err(format!("{plain:?} messages and bytes, and {extended:?} extended"))
        }
        _ => Ok(()),
    }
}

/// The finding for the first seed that shows one alone, with as few steps as do.
pub fn smallest(batch: &Batch, what: String) -> String {
    let found = |batch: &Batch| match verdict(batch) {
        Verdict::Finding(what) => Some(what),
        Verdict::Sound | Verdict::Untried(_) => None,
    };
    let Some((mut alone, mut what)) = batch.alone().find_map(|alone| found(&alone).map(|what| (alone, what))) else {
        return format!("{batch}, and none of these seeds alone: {what}");
    };
    // A program is at most this long; whether more steps than needed show it too is not sure, so that this may stop early.
    let (mut fewest, mut too_few) = (50, 0);
    while too_few + 1 < fewest {
        let middle = (fewest + too_few) / 2;
        match found(&alone.of_steps(middle)) {
            Some(smaller) => (fewest, what, alone) = (middle, smaller, alone.of_steps(middle)),
            None => too_few = middle,
        }
    }
    format!("{alone}: {what}")
}
