//! Combines recordings of several runs of one program into one trace.
//!
//! A machine disturbs computation differently in every run, but a deterministic program communicates in the same way.
//! The ranks' streams are therefore read in [lock step](lock_step), call by call. Each volume of computation between two
//! calls is chosen among the volumes of all runs. Everything else, such as tests and probes and call sites, is that of the
//! first run, whose stream is read a second time for that purpose: memory does not grow with the trace.

mod lock_step;
mod rewrite;

use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use titr_common::event::{Actor, Event, Rank};
use titr_common::grammar::write_event;
use titr_common::output::{OutputDirectory, named};
use titr_common::trace::combined::{Combined, CombinedBy, RepeatedComputation};
use titr_common::trace::manifest::{Mode, RankEntry, VERSION};
use titr_common::trace::{Manifest, RankWriter, Trace, TraceError};

use lock_step::LockStep;
use rewrite::Rewriter;

/// A recording of a run, and the name that it was given.
pub(crate) type NamedTrace<'n> = (&'n Path, Trace);

/// Sums over the volumes between two calls, for the deviation of a volume.
#[derive(Clone, Copy, Debug, Default)]
struct VolumeSums {
    means: f64,
    deviations: f64,
}

/// Writes the combination of `runs` into `output`, a directory that is missing or empty, and returns its description.
pub(crate) fn combine(runs: &[NamedTrace<'_>], by: CombinedBy, output: &Path) -> Result<Combined, CombineError> {
    let Some(((_, first), others)) = runs.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Err(CombineError::TooFew);
    };
    comparable(runs)?;
    let directory = OutputDirectory::create(output)?;
    let mut manifest = first.manifest().cloned().unwrap_or_else(|| Manifest::of_unknown_origin(first.ranks()));
    let (mut sums, mut per_rank) = (VolumeSums::default(), Vec::new());
    for entry in &mut manifest.per_rank {
        per_rank.push(combine_rank(runs, by, output, entry, &mut sums)?);
    }
    let deviation = if sums.means > 0.0 { sums.deviations / sums.means } else { 0.0 };
    let combined = Combined::new(by, others.len() as u32 + 1, deviation, per_rank);
    manifest.titr = VERSION;
    manifest.combined = Some(combined.clone());
    manifest.write(output).map_err(|error| named(output, error))?;
    directory.finish();
    Ok(combined)
}

/// Checks what the manifests of the runs must have in common.
fn comparable(runs: &[NamedTrace<'_>]) -> Result<(), CombineError> {
    let Some(((first_path, first), others)) = runs.split_first() else { return Ok(()) };
    for (path, run) in runs {
        if run.manifest().is_some_and(|manifest| manifest.mode == Mode::Extended) {
            return Err(CombineError::Extended { path: path.into() });
        }
    }
    for (path, run) in others {
        let paths = || (first_path.into(), path.into());
        if run.ranks() != first.ranks() {
            return Err(CombineError::Ranks { paths: paths(), ranks: (first.ranks(), run.ranks()) });
        }
        let entries = |run: &Trace| run.manifest().map_or(Vec::new(), |manifest| manifest.per_rank.clone());
        for (one, other) in entries(first).iter().zip(&entries(run)) {
            let counters = [one, other].map(|entry| format!("{} ({})", entry.counter.kind, entry.counter.unit));
            let [one_counter, other_counter] = counters;
            if one_counter != other_counter {
                let counters = (one_counter, other_counter);
                return Err(CombineError::Counters { rank: Rank(one.rank), paths: paths(), counters });
            }
        }
    }
    Ok(())
}

/// Writes one rank's stream, and the facts about the stream into `entry`.
fn combine_rank(
    runs: &[NamedTrace<'_>],
    by: CombinedBy,
    directory: &Path,
    entry: &mut RankEntry,
    sums: &mut VolumeSums,
) -> Result<RepeatedComputation, CombineError> {
    let failed = |error| named(directory, error);
    let rank = Rank(entry.rank);
    let mut lock_step = LockStep::new(runs, rank)?;
    let Some((_, first)) = runs.first() else { return Err(CombineError::TooFew) };
    let writer = RankWriter::create(directory, rank).map_err(failed)?;
    let mut rewriter = Rewriter { stream: first.stream(rank)?, writer, directory };
    while lock_step.advance()? {
        rewriter.copy(lock_step.calls(), &lock_step.choose(by, sums))?;
    }
    *entry = rewriter.writer.finish(entry.clone()).map_err(failed)?;
    Ok(lock_step.computation())
}

/// Runs that could not be combined.
#[derive(Debug, Error)]
pub(crate) enum CombineError {
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error("one run has nothing to be combined with: name two recordings of one program, or more")]
    TooFew,
    #[error(
        "{}: an extended trace holds the times of one run: convert each run with `titr convert --to ti` first",
        path.display()
    )]
    Extended { path: PathBuf },
    #[error(
        "the runs differ in the number of ranks, which is {1} in {0} and {3} in {2}: record all runs with the same number",
        paths.0.display(), ranks.0, paths.1.display(), ranks.1
    )]
    Ranks { paths: (PathBuf, PathBuf), ranks: (u32, u32) },
    #[error(
        "rank {} counts computation with {} in {}, and with {} in {}: record all runs with one counter, by \
         TITRACE_COUNTER",
        rank.0, counters.0, paths.0.display(), counters.1, paths.1.display()
    )]
    Counters { rank: Rank, paths: (PathBuf, PathBuf), counters: (String, String) },
    #[error(
        "the runs differ in communication: {}, and {}: combine only runs of one program with the same input",
        .0.0, .0.1
    )]
    Communication(Box<(RecordedCall, RecordedCall)>),
    /// Names the file.
    #[error("{0}")]
    Output(#[from] io::Error),
}

/// The place of a call in a recording.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RecordedCall {
    /// The file of the rank, or the name of the trace.
    pub(crate) path: PathBuf,
    /// The line in the file.
    pub(crate) line: Option<u64>,
    /// The rank and its thread.
    pub(crate) actor: Actor,
    /// The call; `None` at the end of the recording.
    pub(crate) event: Option<Event>,
}

impl Display for RecordedCall {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        let Some(event) = &self.event else { return write!(f, ": rank {} ends", self.actor.rank.0) };
        let mut text = Vec::new();
        write_event(&mut text, self.actor, event);
        write!(f, ": `{}`", String::from_utf8_lossy(&text).trim_end())
    }
}
