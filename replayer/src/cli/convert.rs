//! `titr convert`.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use titr_common::collectives::{Library, Selection};
use titr_common::units::Bytes;

use super::{Failure, Trace};
use crate::convert::simgrid::{self, Rules};
use crate::platform::Platform;
use crate::words::{count, plural};
use crate::workload::Workload;

const NOTES: &str = "\
`simgrid` writes index.txt and a text file for each rank, which SimGrid 3.32 replays:

  titr convert --to simgrid traces/ -o for-simgrid
  smpirun -np 16 -platform cluster16.xml -hostfile hosts -replay for-simgrid/index.txt

Its simulated time there is that of titr-replay on the same platform with the same collectives. The index names files as \
DIRECTORY is given here: run smpirun from the same place, or give an absolute one. Collectives of all ranks leave as \
SimGrid's own where those are titr's (--collectives simgrid), any other as the messages it is made of. What SimGrid \
cannot be told is counted on standard error; docs/CONVERT.md says what that means for the time.

Exit status: 0 done; 1 the trace, the platform or the directory is at fault; 2 wrong usage.";

/// Writes a trace in the format of another tool.
#[derive(Debug, Parser)]
#[command(after_help = NOTES)]
pub(super) struct Args {
    /// The format.
    #[arg(long, value_name = "FORMAT")]
    to: Format,
    /// Where to: a directory that is created, or is empty.
    #[arg(short, long, value_name = "DIRECTORY")]
    output: PathBuf,
    /// Whose algorithms collectives use: simgrid, simgrid-openmpi, openmpi or mpich [default: the platform's, or simgrid].
    #[arg(long, value_name = "LIBRARY", value_parser = library)]
    collectives: Option<Library>,
    /// A platform whose collectives and eager threshold are to be used.
    #[arg(short, long, value_name = "FILE")]
    platform: Option<PathBuf>,
    /// Converts what there is of a torn trace.
    #[arg(long)]
    partial: bool,
    #[command(flatten)]
    trace: Trace,
}

/// What a trace can be converted to.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// What `smpirun -replay` runs.
    #[value(name = "simgrid")]
    SimGrid,
}

fn library(name: &str) -> Result<Library, String> {
    let names = || Library::ALL.iter().map(|library| library.name()).collect::<Vec<_>>().join(", ");
    Library::named(name).ok_or_else(|| format!("there are {}", names()))
}

pub(super) fn convert(args: &Args) -> Result<(), Failure> {
    match args.to {
        Format::SimGrid => to_simgrid(args),
    }
}

fn to_simgrid(args: &Args) -> Result<(), Failure> {
    let mut rules = match &args.platform {
        Some(file) => {
            let mpi = Platform::load(file, &[])?.mpi;
            Rules { collectives: mpi.collectives, eager_threshold: mpi.eager_threshold }
        }
        // SimGrid's own.
        None => Rules { collectives: Selection::from(Library::SimGrid), eager_threshold: Bytes(64 << 10) },
    };
    if let Some(library) = args.collectives {
        rules.collectives = Selection::from(library);
    }
    let source = args.trace.open()?.partial(args.partial);
    let ranks = source.ranks();
    let written = simgrid::convert(Workload::merged(source.streams()?), &rules, &args.output)?;
    let (index, events, actions) = (written.index.display(), count(written.events), count(written.actions));
    let of = plural(u64::from(ranks), "rank", "ranks");
    eprintln!("{index}: {events} events of {ranks} {of} became {actions} actions");
    for warning in written.warnings() {
        eprintln!("  {warning}");
    }
    Ok(())
}
