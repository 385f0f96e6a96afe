//! `titr extrapolate`.

use std::path::PathBuf;

use clap::Parser;
use titr_common::format::count;
use titr_common::terminal::say;
use titr_extrapolation::{self as extrapolation, Extrapolated, Grid, NamedTrace};
use titr_formats::input;

use super::Failure;

const NOTES: &str = "\
The recordings must be of one program with the same input on different numbers of ranks. The peers, sizes and computation of \
each call become functions of the rank and of the grid that the ranks form:

  for ranks in 16 64; do TITRACE_DIR=run-$ranks mpirun -np $ranks titrace ./cg.C.x; done
  titr extrapolate --ranks 1024 run-16 run-64 --output traces
  titr replay --platform cluster.toml traces

A program that no such functions explain is an error, which names a rank, a line and the reason. docs/EXTRAPOLATING.md says which \
programs can be extrapolated, and how exact that is.

Exit status: 0 done; 1 the recordings cannot be extrapolated, or a recording or the output is at fault; 2 wrong usage.";

/// Writes the trace of more ranks than were recorded, from recordings with two or more numbers of ranks.
#[derive(Debug, Parser)]
#[command(after_help = NOTES)]
pub(super) struct ExtrapolateArgs {
    /// The number of ranks of the new trace.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=MOST_RANKS))]
    ranks: u32,
    /// Number of ranks along each of one to three dimensions of the new trace, such as 16x8 [default: as the recorded grids grow].
    #[arg(long, value_name = "SIZES")]
    dimensions: Option<Grid>,
    /// The output: a new or empty directory.
    #[arg(short, long, value_name = "TRACE")]
    output: PathBuf,
    /// The recordings: trace directories or archives, each with another number of ranks.
    #[arg(required = true, num_args = 2.., value_name = "RECORDING")]
    recordings: Vec<PathBuf>,
}

const MOST_RANKS: i64 = 1 << 20;

pub(super) fn extrapolate(args: &ExtrapolateArgs) -> Result<(), Failure> {
    let mut recordings: Vec<NamedTrace<'_>> = Vec::new();
    for path in &args.recordings {
        recordings.push((path, input::open_one(&[path])?));
    }
    let command = super::recorded_command(Some("titr"));
    let extrapolated =
        extrapolation::extrapolate(&recordings, args.ranks, args.dimensions.as_ref(), command, &args.output)?;
    let Extrapolated { recorded, grid, events, work_error, volume_error } = extrapolated;
    let recorded: Vec<String> = recorded.iter().map(Grid::to_string).collect();
    let (output, events, recorded) = (args.output.display(), count(events), recorded.join(" and "));
    say(format_args!("{output}: {events} events of a grid of {grid} ranks, from {recorded}"));
    let (work, volumes) = (100.0 * work_error, 100.0 * volume_error);
    say(format_args!(
        "  the rules give the computation of the recordings within {work:.1} %, and sizes within {volumes:.1} %"
    ));
    Ok(())
}
