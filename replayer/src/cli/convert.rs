//! `titr convert`.

use std::path::PathBuf;

use clap::Parser;
use clap::builder::{PossibleValue, PossibleValuesParser};
use titr_common::collectives::{Library, Selection};
use titr_common::output::claim;
use titr_common::terminal::say;
use titr_common::trace::{Trace, TraceError};
use titr_common::units::Bytes;
use titr_formats::output::{self, Rules};
use titr_formats::timeline::{self, TimelineFormat};
use titr_platform::Platform;

use super::timeline::ExcerptArgs;
use super::{Failure, TraceArgs, library};

const NOTES: &str = "\
`simgrid` writes index.txt and a text file for each rank, which SimGrid 3.32 replays:

  titr convert --to simgrid traces/ -o for-simgrid
  smpirun -np 16 -platform cluster16.xml -hostfile hosts -replay for-simgrid/index.txt

SimGrid then predicts the time that titr replay predicts on the same platform with the same collectives. The index names \
the files with the path given as PLACE: run smpirun from the same place, or give an absolute path. With --collectives \
simgrid, collectives of all ranks stay collectives; all others become messages. Events that SimGrid's \
format cannot express are counted on standard error; docs/FORMATS.md says how they affect the time.

`goal` writes a graph of messages and times for LogGOPSim's txt2bin and for ATLAHS, and `goal-binary` the file that LogGOPSim \
reads. All collectives become the messages that they are made of, by the algorithms that --collectives and --platform choose.

`otf2` writes an archive with MPI's events for Score-P's tools, Vampir and others: PLACE/traces.otf2 and the files beside it. \
titr reads it again as the trace that it was.

`ti` writes a trace directory. It removes the times and the messages of collectives from an extended trace, which gives \
the time-independent trace. It also turns a trace of another tool into one of titr's.

`paraver` writes a trace with MPI's events as Extrae has them: PLACE, and .pcf and .row beside it.

`paje`, `perfetto` and `timeline-csv` write a timeline of the recorded times of an extended trace: what each \
rank did when, and each message. ViTE and pj_dump read Pajé, https://ui.perfetto.dev reads Perfetto's format. titr replay \
has options of the same names for simulated time.

Exit status: 0 done; 1 the trace, the platform, the directory or a value is at fault; 2 wrong usage.";

/// Writes a trace in the format of another tool.
#[derive(Debug, Parser)]
#[command(after_help = NOTES)]
pub(super) struct ConvertArgs {
    /// The format of the output.
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    to: String,
    /// The output: a new or empty directory; for `goal`, `paraver` and timelines a file.
    #[arg(short, long, value_name = "PLACE")]
    output: PathBuf,
    /// Uses the collective algorithms of simgrid, simgrid-openmpi, openmpi, openmpi-4.0, openmpi-5.0 or mpich [default: the platform's, or simgrid].
    #[arg(long, value_name = "LIBRARY", value_parser = library)]
    collectives: Option<Library>,
    /// Uses the collectives and the eager threshold of this platform.
    #[arg(short, long, value_name = "FILE")]
    platform: Option<PathBuf>,
    /// Converts a torn trace up to the point where it breaks off.
    #[arg(long)]
    partial: bool,
    #[command(flatten)]
    excerpt: ExcerptArgs,
    #[command(flatten)]
    trace: TraceArgs,
}

/// The formats that a trace can be converted to.
fn formats() -> PossibleValuesParser {
    let traces = output::FORMATS.iter().map(|format| PossibleValue::new(format.name).help(format.about));
    let timelines = timelines().map(|format| {
        let about = format!("A timeline of an extended trace for {}", format.viewers);
        PossibleValue::new(format.name).help(about)
    });
    traces.chain(timelines).collect::<Vec<_>>().into()
}

/// The formats of timelines, except those that a trace is written in with MPI's events.
fn timelines() -> impl Iterator<Item = &'static TimelineFormat> {
    timeline::FORMATS.iter().filter(|timeline| output::FORMATS.iter().all(|format| format.name != timeline.name))
}

pub(super) fn convert(args: &ConvertArgs) -> Result<(), Failure> {
    let (trace, output) = (args.trace.open_partial(args.partial)?, &args.output);
    let rules = rules(args, &trace)?;
    args.excerpt.is_of(timelines().any(|format| format.name == args.to))?;
    let notes = if let Some(format) = output::FORMATS.iter().find(|format| format.name == args.to) {
        claim((format.files)(output))?;
        (format.convert)(&trace, &rules, output)?
    } else if let Some(format) = timelines().find(|format| format.name == args.to) {
        claim([output.clone()])?;
        if let [first, _, ..] = trace.worlds() {
            let what = "its times and those of the other worlds are of clocks that nobody has compared: a timeline of what \
                        was recorded is of one world; --perfetto and --paje of titr replay draw the replay of all";
            return Err(TraceError::Directory { path: first.place.clone(), what: what.to_owned() }.into());
        }
        let excerpt = args.excerpt.of(trace.ranks())?;
        timeline::recorded::convert(&trace, output, excerpt, |subject| format.begin(output, subject))?
    } else {
        return Err(Failure::Value(format!("there is no format '{}'", args.to)));
    };
    say(format_args!("{}", notes.written));
    for difference in notes.differences {
        say(format_args!("  {difference}"));
    }
    for lost in trace.untranslated() {
        say(format_args!("  {lost}"));
    }
    Ok(())
}

/// The platform's rules, or SimGrid's own.
fn rules(args: &ConvertArgs, trace: &Trace) -> Result<Rules, Failure> {
    let mut rules = match &args.platform {
        Some(file) => {
            let platform = Platform::load(file, &[])?.for_trace(trace);
            let hosts = platform.place(trace.ranks()).map_or_else(|_| Vec::new(), |placement| placement.0);
            let hosts = hosts.into_iter().map(|host| host.0).collect();
            Rules { collectives: platform.mpi.collectives, eager_threshold: platform.mpi.eager_threshold, hosts }
        }
        None => {
            let (collectives, eager_threshold) = (Selection::from(Library::SimGrid), Bytes(64 << 10));
            Rules { collectives, eager_threshold, hosts: Vec::new() }
        }
    };
    if let Some(library) = args.collectives {
        rules.collectives = Selection::from(library);
    }
    Ok(rules)
}
