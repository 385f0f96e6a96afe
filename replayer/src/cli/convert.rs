//! `titr convert`.

use std::io::{self, BufWriter};
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use titr_common::collectives::{Library, Selection};
use titr_common::units::Bytes;

use super::timeline::{Named, create};
use super::{Failure, Trace, library};
use titr_common::format::{count, plural};
use titr_formats::timeline::{self, Chronicle, Paje, Perfetto};
use titr_platform::Platform;
use titr_simulation::convert::recorded::{Drawn, Recording};
use titr_simulation::convert::simgrid::{self, Rules};
use titr_simulation::convert::ti;
use titr_simulation::workload::Workload;

const NOTES: &str = "\
`simgrid` writes index.txt and a text file for each rank, which SimGrid 3.32 replays:

  titr convert --to simgrid traces/ -o for-simgrid
  smpirun -np 16 -platform cluster16.xml -hostfile hosts -replay for-simgrid/index.txt

Its simulated time there is that of titr-replay on the same platform with the same collectives. The index names files as \
DIRECTORY is given here: run smpirun from the same place, or give an absolute one. Collectives of all ranks leave as \
SimGrid's own where those are titr's (--collectives simgrid), any other as the messages it is made of. What SimGrid \
cannot be told is counted on standard error; docs/CONVERT.md says what that means for the time.

`ti` writes a trace directory of titr's: an extended trace without its times and without the messages of its collectives, \
which is the time-independent one; a trace of another tool as titr writes it.

`paje` and `perfetto` draw what an extended trace says of time into one file: what each rank did when, and each message as \
an arrow. ViTE and pj_dump read the one, https://ui.perfetto.dev the other. titr-replay draws simulated time likewise.

Exit status: 0 done; 1 the trace, the platform or the directory is at fault; 2 wrong usage.";

/// Writes a trace in the format of another tool.
#[derive(Debug, Parser)]
#[command(after_help = NOTES)]
pub(super) struct Args {
    /// The format.
    #[arg(long, value_name = "FORMAT")]
    to: Format,
    /// Where to: a directory that is created, or is empty; one file for paje and perfetto.
    #[arg(short, long, value_name = "PLACE")]
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
    /// A time-independent trace of titr's own.
    Ti,
    /// A picture of an extended trace that ViTE and pj_dump read.
    Paje,
    /// One that Perfetto opens: Chrome's JSON.
    Perfetto,
}

pub(super) fn convert(args: &Args) -> Result<(), Failure> {
    match args.to {
        Format::SimGrid => to_simgrid(args),
        Format::Ti => to_ti(args),
        Format::Paje => draw(args, |out, ranks| Ok(Box::new(Paje::new(out, ranks)?))),
        Format::Perfetto => draw(args, |out, ranks| Ok(Box::new(Perfetto::new(out, ranks, RECORDED)?))),
    }
}

/// What time it is that goes by.
const RECORDED: &str = "recorded time";

fn draw(
    args: &Args,
    format: impl FnOnce(BufWriter<Named>, u32) -> io::Result<Box<dyn timeline::Format>>,
) -> Result<(), Failure> {
    let source = args.trace.open()?.partial(args.partial);
    let recording = Recording::open(&source)?;
    let format = format(create(&args.output)?, source.ranks())?;
    let Drawn { calls, messages, lost } = recording.draw(Chronicle::new(vec![format]))?;
    let (path, ranks) = (args.output.display(), source.ranks());
    let of = plural(u64::from(ranks), "rank", "ranks");
    let arrows = plural(messages, "message", "messages");
    eprintln!("{path}: {} calls of {ranks} {of}, {} {arrows}", count(calls), count(messages));
    if lost > 0 {
        eprintln!("  drawn to the end, as the trace has no receive of theirs: {}", count(lost));
    }
    Ok(())
}

fn to_ti(args: &Args) -> Result<(), Failure> {
    let source = args.trace.open()?.partial(args.partial);
    let folded = ti::convert(&source, &args.output)?;
    let (path, ranks) = (args.output.display(), source.ranks());
    let (of, events) = (plural(u64::from(ranks), "rank", "ranks"), count(folded.events));
    eprintln!(
        "{path}: {events} events of {ranks} {of}; {} times and messages of collectives are left out",
        count(folded.seen)
    );
    Ok(())
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
