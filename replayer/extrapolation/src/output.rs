//! Writes the trace of a program on the new grid, rank by rank.

use std::io;
use std::path::Path;

use rustc_hash::FxHashMap;
use titr_common::event::{CommId, Event, Rank, ThreadId};
use titr_common::output::{OutputDirectory, named};
use titr_common::trace::manifest::Ended;
use titr_common::trace::{Manifest, RankWriter};
use titr_common::units::Instructions;

use crate::error::ExtrapolationError;
use crate::failure::Failure;
use crate::group_program::{GroupProgram, Part};
use crate::outline::Item;
use crate::program::Program;
use crate::recording::{Calls, Recording, Step};
use crate::scaling::Scaling;

/// Writes the trace into `directory`, which is missing or empty. Returns the number of events. `wrong` makes the error of a call
/// that no rule gives.
pub(crate) fn write(
    program: &Program,
    recordings: &[Recording],
    calls: &Calls,
    command: Vec<String>,
    directory: &Path,
    wrong: &impl Fn(Failure) -> ExtrapolationError,
) -> Result<u64, ExtrapolationError> {
    if directory.is_file() {
        let what = format!("{}: a file: name a new or an empty directory for the output", directory.display());
        return Err(io::Error::new(io::ErrorKind::NotADirectory, what).into());
    }
    let output = OutputDirectory::create(directory)?;
    let Some(largest) = recordings.last() else { return Ok(0) };
    let recorded = largest.trace.manifest();
    let mut manifest = Manifest::of_unknown_origin(program.target.places());
    manifest.command = command;
    manifest.mpi = format!("extrapolated by titr {}", env!("CARGO_PKG_VERSION"));
    if let Some(recorded) = recorded.filter(|recorded| !recorded.mpi.is_empty()) {
        manifest.mpi += &format!(", recorded with {}", recorded.mpi);
    }
    let mut events = 0;
    for (rank, entry) in (0..).map(Rank).zip(&mut manifest.per_rank) {
        let source = Source::of(program, largest, rank);
        if let Some(recorded) = recorded.and_then(|manifest| manifest.per_rank.get(source.rank.0 as usize)) {
            entry.counter = recorded.counter.clone();
            entry.untraced = recorded.untraced.clone();
        }
        let writer = RankWriter::create(directory, rank).map_err(|error| named(directory, error))?;
        let entry_so_far = entry.clone().with(|entry| entry.ended = Ended::Finalize);
        *entry = write_rank(program, &source, rank, calls, writer, wrong)?
            .finish(entry_so_far)
            .map_err(|error| named(directory, error))?;
        events += entry.events;
    }
    manifest.write(directory).map_err(|error| named(directory, error))?;
    output.finish();
    Ok(events)
}

/// The rank of the largest recording whose computation a new rank has.
struct Source<'r> {
    rank: Rank,
    steps: &'r [Step],
    tail: f64,
}

impl<'r> Source<'r> {
    fn of(program: &Program, largest: &'r Recording, rank: Rank) -> Self {
        let place = program.largest().nearest(&program.target, program.target.coordinates(rank));
        let rank = program.largest().rank(place).unwrap_or_default();
        let steps = largest.ranks.get(rank.0 as usize).map_or(&[][..], Vec::as_slice);
        Self { rank, steps, tail: largest.tails.get(rank.0 as usize).copied().unwrap_or_default() }
    }

    /// The computation before a step, scaled.
    fn work(&self, step: usize, factor: f64) -> Option<Event> {
        scaled(self.steps.get(step)?.work, factor)
    }
}

/// A computation, scaled; whole numbers remain whole. `None` if there is nothing to compute.
fn scaled(work: f64, factor: f64) -> Option<Event> {
    let is_whole = work.fract() == 0.0;
    let scaled = if is_whole { (work * factor).round() } else { work * factor };
    (scaled > 0.0).then_some(Event::Compute(Instructions(scaled)))
}

fn write_rank(
    program: &Program,
    source: &Source<'_>,
    rank: Rank,
    calls: &Calls,
    mut writer: RankWriter,
    wrong: &impl Fn(Failure) -> ExtrapolationError,
) -> Result<RankWriter, ExtrapolationError> {
    let (grid, largest) = (&program.target, program.largest());
    let failure = || wrong(Failure::NoSuchPlace(rank, grid.clone()));
    let group = program.group_of(rank).ok_or_else(failure)?;
    let GroupProgram { parts, loops, rule_of, rules, work, .. } = group;
    let factors: Vec<f64> = work.iter().map(|scaling: &Scaling| scaling.factor(largest, grid)).collect();
    let mut sizes: FxHashMap<CommId, usize> =
        [(CommId::WORLD, grid.places() as usize), (CommId::SELF, 1)].into_iter().collect();
    let mut events = FxHashMap::default();
    let mut write =
        |writer: &mut RankWriter, rule: usize, step: usize, stage: usize| -> Result<(), ExtrapolationError> {
            let factor = factors.get(rule).copied().unwrap_or(1.0);
            if let Some(work) = source.work(step, factor) {
                writer.write(ThreadId::MAIN, &work)?;
            }
            let event = match events.entry((rule, stage)) {
                std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::hash_map::Entry::Vacant(entry) => {
                    let parts = rules[rule].call(rank, grid, largest, stage, program.room).map_err(wrong)?;
                    &*entry.insert(calls.event(parts, |comm| sizes.get(&comm).copied().unwrap_or_default()))
                }
            };
            if let Event::CommCreate(_, _, Some(group)) = event {
                sizes.insert(group.id, group.members.len());
            }
            Ok(writer.write(ThreadId::MAIN, event)?)
        };
    let mut write_part = |writer: &mut RankWriter, part: &Part| -> Result<(), ExtrapolationError> {
        match part.item {
            Item::Call => write(writer, rule_of[part.rule], part.step, 0),
            Item::Stages(stages) => {
                let recorded = stages.number(largest).unwrap_or(1).max(1);
                for stage in 0..stages.number(grid).ok_or_else(failure)? {
                    // Stages beyond those recorded compute as much as the last recorded one.
                    let like = part.step + stage.min(recorded - 1) * stages.calls;
                    for call in 0..stages.calls {
                        write(writer, rule_of[part.rule + call], like + call, stage)?;
                    }
                }
                Ok(())
            }
        }
    };
    let mut next = 0;
    while let Some(part) = parts.get(next) {
        if let Some(varying) = loops.get(&next) {
            for iteration in 0..varying.iterations(grid).map_err(wrong)? {
                // Iterations beyond those recorded compute as much as the last recorded one.
                let like = next + varying.parts * varying.recorded.saturating_sub(1).min(iteration as usize);
                parts.iter().skip(like).take(varying.parts).try_for_each(|part| write_part(&mut writer, part))?;
            }
            next += varying.parts * varying.recorded;
        } else {
            write_part(&mut writer, part)?;
            next += 1;
        }
    }
    if let Some(tail) = scaled(source.tail, program.total_work.factor(largest, grid)) {
        writer.write(ThreadId::MAIN, &tail)?;
    }
    Ok(writer)
}
