//! Traces of more ranks than were recorded, extrapolated from recordings of one program with two or more numbers of ranks.
//!
//! The idea is that of ScalaExtrap (X. Wu and F. Mueller, "ScalaExtrap: Trace-based communication extrapolation for SPMD
//! programs", PPoPP 2011): peers, volumes and numbers of calls are functions of the rank and of the number of ranks, which can
//! be identified from a few small traces.
//!
//! 1. [`recording`]: the calls of all ranks in memory, each different one once.
//! 2. [`growth`]: the ranks form a grid of one to three dimensions, and its sides grow by a law. All laws are tried.
//! 3. [`group`]: ranks at the same kind of place (corner, edge, inside) make the same calls.
//! 4. [`outline`]: a group makes the same calls in each recording, except for stages, whose number is the logarithm of a side,
//!    and for loops whose number of [iterations] is another function of a side. All recordings [follow] the largest.
//! 5. [`call_rule`]: the rule for each call: its [`peer`]s and its volumes, which [scale](scaling) with the sides.
//! 6. [`work`]: the computation before the calls of each rule scales as well.
//! 7. [`output`]: the calls and the computation of each rank of the new grid.
//!
//! The first growth by which rules explain every call of every rank in all recordings is used; simple rules come first. If there is
//! none, the error names the call that the best growth does not explain.

mod call_rule;
mod error;
mod failure;
mod follow;
mod grid;
mod group;
mod group_program;
mod growth;
mod outline;
mod output;
mod peer;
mod program;
mod recording;
mod scaling;
#[cfg(test)]
mod tests;
mod volumes;
mod work;

use std::path::Path;

use titr_common::trace::Trace;
use titr_common::trace::manifest::{Ended, Mode};

use failure::Failure;
use growth::{Growth, growths};
use program::Program;
use recording::{Calls, Recording};

pub use error::ExtrapolationError;
pub use grid::{Grid, NoSides};

/// The trace that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Extrapolated {
    /// The grid of each recording, by number of ranks.
    pub recorded: Vec<Grid>,
    /// The grid of the new trace.
    pub grid: Grid,
    /// The number of events of all ranks.
    pub events: u64,
    /// The relative difference between the computation that the rules give for the recordings and that recorded.
    pub work_error: f64,
    /// The largest relative difference between a size that the rules give for the recordings and the recorded size.
    pub volume_error: f64,
}

/// A recording, and the name that it was given.
pub type NamedTrace<'n> = (&'n Path, Trace);

/// Writes the trace of `ranks` ranks of the program of the recordings into `output`, a directory that is missing or empty. If
/// the grid of the ranks is given, it need not follow the law by which the recorded grids grow. `command` is the trace's
/// description of its origin.
///
/// # Errors
/// If no rule explains the recordings, or for a recording or a directory that cannot be read or written.
pub fn extrapolate(
    traces: &[NamedTrace<'_>],
    ranks: u32,
    grid: Option<&Grid>,
    command: Vec<String>,
    output: &Path,
) -> Result<Extrapolated, ExtrapolationError> {
    if let Some(grid) = grid.filter(|grid| grid.places() != ranks) {
        return Err(ExtrapolationError::Places { grid: grid.clone(), ranks });
    }
    let mut traces: Vec<&NamedTrace<'_>> = traces.iter().collect();
    traces.sort_by_key(|(_, trace)| trace.ranks());
    comparable(&traces)?;
    let mut calls = Calls::default();
    let read = |(path, trace): &&NamedTrace<'_>| Recording::read(path, trace, &mut calls);
    let recordings = traces.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let program = program(&recordings, ranks, grid, &calls)?;
    let wrong = |failure: Failure| {
        let growth = Growth { recorded: program.grids.clone(), target: Some(program.target.clone()) };
        failure.into_error(growth, &recordings, ranks)
    };
    let events = output::write(&program, &recordings, &calls, command, output, &wrong)?;
    let Program { grids: recorded, target: grid, work_error, volume_error, .. } = program;
    Ok(Extrapolated { recorded, grid, events, work_error, volume_error })
}

/// Checks what the recordings must have in common.
fn comparable(traces: &[&NamedTrace<'_>]) -> Result<(), ExtrapolationError> {
    if traces.len() < 2 {
        return Err(ExtrapolationError::TooFew);
    }
    for (path, trace) in traces {
        if trace.manifest().is_some_and(|manifest| manifest.mode == Mode::Extended) {
            return Err(ExtrapolationError::Extended { path: path.into() });
        }
        for entry in trace.manifest().iter().flat_map(|manifest| &manifest.per_rank) {
            let (path, rank, ended, lost) = (path.to_path_buf(), entry.rank, entry.ended, entry.lost_events);
            if ended != Ended::Finalize {
                return Err(ExtrapolationError::Unfinished { path, rank, ended });
            }
            if lost > 0 {
                return Err(ExtrapolationError::Lost { path, rank, lost });
            }
        }
    }
    for pair in traces.windows(2) {
        let [(one_path, one), (other_path, other)] = pair else { continue };
        let paths = || (one_path.into(), other_path.into());
        if one.ranks() == other.ranks() {
            return Err(ExtrapolationError::SameRanks { paths: paths(), ranks: one.ranks() });
        }
        let counter = |trace: &Trace| {
            let entry = trace.manifest().and_then(|manifest| manifest.per_rank.first());
            entry.map(|entry| format!("{} ({})", entry.counter.kind, entry.counter.unit))
        };
        if let Some(counters) = counter(one).zip(counter(other)).filter(|(one, other)| one != other) {
            return Err(ExtrapolationError::Counters { paths: paths(), counters });
        }
    }
    Ok(())
}

/// The largest number of growths that are tried for a named grid, which the recordings may reach from any others.
const MOST_GROWTHS: usize = 1000;

/// The program that explains the recordings, by the first growth that does with simple rules, or by the first of all. The recordings
/// have to tell all that a program of simple rules does on the target.
fn program(
    recordings: &[Recording],
    ranks: u32,
    grid: Option<&Grid>,
    calls: &Calls,
) -> Result<Program, ExtrapolationError> {
    let counts: Vec<u32> = recordings.iter().map(|recording| recording.ranks.len() as u32).collect();
    let (mut best, mut other): (Option<(Growth, Failure)>, _) = (None, None);
    let is_possible = |number: usize, grid: &Grid| peer::is_possible(&recordings[number], grid, calls);
    let mut growths = growths(&counts, ranks, grid, is_possible);
    let most = if grid.is_some() { MOST_GROWTHS } else { usize::MAX };
    for growth in growths.by_ref().take(most) {
        let failure = match Program::of(recordings, &growth, calls) {
            Ok(mut program) => match (program.is_simple(), program.unknown.take()) {
                (true, None) => return Ok(program),
                (true, Some(unknown)) => return Err(unknown.into_error(growth, recordings, ranks)),
                (false, None) => {
                    other.get_or_insert(program);
                    continue;
                }
                (false, Some(unknown)) => unknown,
            },
            Err(failure) => failure,
        };
        if best.as_ref().is_none_or(|(_, best)| best.progress() < failure.progress()) {
            best = Some((growth, failure));
        }
    }
    if let Some(program) = other {
        return Ok(program);
    }
    if growths.next().is_some() {
        return Err(ExtrapolationError::TooManyGrids { tried: MOST_GROWTHS });
    }
    let dimensions = grid.map_or(1, |grid| grid.sides().len());
    let none = ExtrapolationError::NoRecordedGrids { dimensions };
    Err(best.map_or(none, |(growth, failure)| failure.into_error(growth, recordings, ranks)))
}
