//! `titr convert`.

use std::io::{self, BufWriter};
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use titr_common::collectives::{Library, Selection};
use titr_common::units::Bytes;

use super::timeline::{Named, create};
use super::{Failure, TraceArgs, library};
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

SimGrid then predicts the time that titr-replay predicts on the same platform with the same collectives. The index names \
the files with the path given as PLACE: run smpirun from the same place, or give an absolute path. With --collectives \
simgrid, collectives of all ranks stay collectives; all others become the messages they are made of. Events that SimGrid's \
format cannot express are counted on standard error; docs/CONVERT.md says how they affect the time.

`ti` writes a trace directory. It removes the times and the messages of collectives from an extended trace, which gives \
the time-independent trace. It also turns a trace of another tool into one of titr's.

`paje` and `perfetto` write a timeline of the recorded times of an extended trace: what each rank did when, and each \
message as an arrow. ViTE and pj_dump read Pajé, https://ui.perfetto.dev reads the other. titr-replay has options of the \
same names for simulated time.

Exit status: 0 done; 1 the trace, the platform or the directory is at fault; 2 wrong usage.";

/// Writes a trace in the format of another tool.
#[derive(Debug, Parser)]
#[command(after_help = NOTES)]
pub(super) struct Args {
    /// The format of the output.
    #[arg(long, value_name = "FORMAT")]
    to: Format,
    /// The output: a new or empty directory; for paje and perfetto a file.
    #[arg(short, long, value_name = "PLACE")]
    output: PathBuf,
    /// Uses the collective algorithms of simgrid, simgrid-openmpi, openmpi or mpich [default: the platform's, or simgrid].
    #[arg(long, value_name = "LIBRARY", value_parser = library)]
    collectives: Option<Library>,
    /// Uses the collectives and the eager threshold of this platform.
    #[arg(short, long, value_name = "FILE")]
    platform: Option<PathBuf>,
    /// Converts what there is of a torn trace.
    #[arg(long)]
    partial: bool,
    #[command(flatten)]
    trace: TraceArgs,
}

/// What a trace can be converted to.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A trace for `smpirun -replay`.
    #[value(name = "simgrid")]
    SimGrid,
    /// A time-independent trace of titr's.
    Ti,
    /// A timeline of an extended trace for ViTE and pj_dump.
    Paje,
    /// A timeline of an extended trace for Perfetto (Chrome's JSON).
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
    let written = simgrid::convert(Workload::new(source.streams()?), &rules, &args.output)?;
    let (index, events, actions) = (written.index.display(), count(written.events), count(written.actions));
    let of = plural(u64::from(ranks), "rank", "ranks");
    eprintln!("{index}: {events} events of {ranks} {of} became {actions} actions");
    for warning in written.warnings() {
        eprintln!("  {warning}");
    }
    Ok(())
}
