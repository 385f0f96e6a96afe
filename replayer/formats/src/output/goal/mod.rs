//! GOAL, for LogGOPSim and ATLAHS: as text, and in the binary form that LogGOPSim reads.
//!
//! GOAL has messages, times, and dependences between them. A trace first becomes one of messages, as for SimGrid: its
//! communicators become tags, its collectives the messages of their schedules, and its requests are known by their
//! messages ([`simgrid`](super::simgrid)). Each rank then becomes a graph ([`program`]). A trace that is a graph keeps
//! its own.

mod graph;
mod program;

use std::env;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use titr_common::event::{Event, Rank};
use titr_common::format::{count, plural};
use titr_common::output::{HiddenDirectory, OutputFile, named};
use titr_common::trace::manifest::Mode;
use titr_common::trace::{Trace, TraceError, Transformation};
use titr_workload::{Computation, ComputeScaling, Workload};

use super::rank_files::RankFiles;
use super::simgrid::{self, Collectives, ThreadBeginning};
use super::{ConversionNotes, ConvertError, OutputFormat, Rules};
use graph::Graph;

/// The format of `txt2bin`.
pub(super) const GOAL: OutputFormat = OutputFormat {
    name: "goal",
    about: "A graph for LogGOPSim's `txt2bin`, and for ATLAHS",
    files: |path| vec![path.to_owned()],
    convert: |trace, rules, path| convert(trace, rules, path, Form::Text),
};

/// The format of `LogGOPSim`.
pub(super) const GOAL_BINARY: OutputFormat = OutputFormat {
    name: "goal-binary",
    about: "A graph for `LogGOPSim`",
    files: |path| vec![path.to_owned()],
    convert: |trace, rules, path| convert(trace, rules, path, Form::Binary),
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Binary,
}

/// Counts of a conversion.
#[derive(Default)]
struct WrittenGoal {
    operations: u64,
    messages: u64,
    /// Computations that are no times.
    instructions: u64,
}

fn convert(trace: &Trace, rules: &Rules, path: &Path, form: Form) -> Result<ConversionNotes, ConvertError> {
    OutputFile::check(path)?;
    let place = HiddenDirectory::beside(&env::temp_dir().join("goal"))?;
    let (messages, threads, mut differences) = match is_graph(trace)? {
        true => (trace.clone(), Vec::new(), Vec::new()),
        false => as_messages(trace, rules, &place.path("messages"))?,
    };
    let written = write(&messages, &threads, path, form, &place.path("ranks"))?;
    if written.instructions > 0 {
        let (number, times) =
            (count(written.instructions), plural(written.instructions, "computation", "computations"));
        differences.push(format!(
            "{number} {times} of instructions became times, a nanosecond for an instruction: GOAL has only times"
        ));
    }
    let of = plural(u64::from(trace.ranks()), "rank", "ranks");
    let written = format!(
        "{}: {} operations of {} {of}, {} of them sends",
        path.display(),
        count(written.operations),
        trace.ranks(),
        count(written.messages)
    );
    Ok(ConversionNotes { written, differences })
}

/// Whether the ranks of a trace are graphs.
fn is_graph(trace: &Trace) -> Result<bool, TraceError> {
    let first = trace.stream(Rank(0))?.next_event()?;
    Ok(matches!(first, Some(Event::Task(_))))
}

/// The further threads of each rank.
type Threads = Vec<Vec<ThreadBeginning>>;

/// The trace with messages alone, written to `directory`, its threads, and a sentence for each kind of difference. An
/// extended trace has its recorded times as computation.
fn as_messages(trace: &Trace, rules: &Rules, directory: &Path) -> Result<(Trace, Threads, Vec<String>), ConvertError> {
    let is_timed = trace.manifest().is_some_and(|manifest| manifest.mode == Mode::Extended);
    let computation = if is_timed { Computation::Timed } else { Computation::Counted };
    let trace = ComputeScaling { computation, scale: 1.0 }.apply(trace.clone())?;
    let workload = Workload::new(trace.streams()?);
    let files = RankFiles::create(directory, workload.windows.len())?;
    let written = simgrid::convert_to(workload, rules, files, Collectives::AsMessages)?;
    let sentences = written.warnings();
    Ok((Trace::open(&written.index)?, written.threads, sentences))
}

/// Writes the graphs of all ranks. Those in binary form are in the file `ranks` first, as their lengths precede them.
fn write(
    trace: &Trace,
    threads: &[Vec<ThreadBeginning>],
    path: &Path,
    form: Form,
    ranks: &Path,
) -> Result<WrittenGoal, ConvertError> {
    let mut output = OutputFile::create(path)?;
    let failed = |error| named(ranks, error);
    let mut all = WrittenGoal::default();
    let mut lengths = Vec::new();
    let mut graph = Graph::default();
    let mut written = Vec::new();
    let (mut of_ranks, mut cores) = (None, 0);
    if form == Form::Binary {
        of_ranks = Some(File::options().read(true).write(true).create_new(true).open(ranks).map_err(failed)?);
    } else {
        writeln!(output, "num_ranks {}", trace.ranks())?;
    }
    for rank in (0..trace.ranks()).map(Rank) {
        graph.clear();
        let threads = threads.get(rank.0 as usize).map_or(&[][..], Vec::as_slice);
        let instructions = program::read(trace.stream(rank)?, rank, threads, &mut graph)?;
        all.instructions += instructions;
        all.operations += graph.len() as u64;
        all.messages += graph.sends();
        cores = cores.max(graph.highest_core());
        written.clear();
        match &mut of_ranks {
            Some(file) => {
                graph.binary(&mut written);
                file.write_all(&written).map_err(failed)?;
                lengths.push(written.len() as u64);
            }
            None => {
                graph.text(rank, &mut written);
                output.write_all(&written)?;
            }
        }
    }
    if let Some(mut file) = of_ranks {
        output.write_all(&graph::header(&lengths, cores))?;
        file.rewind().map_err(failed)?;
        io::copy(&mut file.take(u64::MAX), &mut output)?;
        fs::remove_file(ranks).map_err(failed)?;
    }
    output.finish()?;
    Ok(all)
}
