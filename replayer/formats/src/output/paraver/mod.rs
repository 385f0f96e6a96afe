//! A trace for Paraver, with MPI's events as Extrae writes them: states, calls, messages and communicators.
//!
//! Ranks are read in the order of their calls. A line of a message has both of its ends and is written when both are known;
//! memory grows with the messages in transit. The first line names the end of the trace and the number of communicators, so
//! the lines after it are in a temporary file until then.

mod body;
mod communicators;
mod functions;
mod messages;
mod program;

use std::env;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use titr_common::event::Activity;
use titr_common::format::{count, plural};
use titr_common::output::{HiddenDirectory, OutputFile, named};
use titr_common::trace::Trace;

use super::{ConversionNotes, ConvertError, OutputFormat};
use body::PrvBody;
use communicators::PrvCommunicators;
use program::{PrvProgram, WrittenProgram};

pub(super) const PARAVER: OutputFormat = OutputFormat {
    name: "paraver",
    about: "A trace for Paraver, with MPI's events as Extrae has them; .pcf and .row are written beside the .prv",
    files: |path| files(path).to_vec(),
    convert: |trace, _, path| {
        let place = HiddenDirectory::beside(&env::temp_dir().join("paraver"))?;
        let written = convert(trace, path, &place.path("body"))?;
        let (ranks, of) = (trace.ranks(), plural(u64::from(trace.ranks()), "rank", "ranks"));
        let messages = plural(written.messages, "message", "messages");
        let calls = count(written.calls);
        let sentence =
            format!("{}: {calls} calls of {ranks} {of}, {} {messages}", path.display(), count(written.messages));
        Ok(ConversionNotes { written: sentence, differences: written.differences })
    },
};

fn convert(trace: &Trace, path: &Path, body: &Path) -> Result<WrittenProgram, ConvertError> {
    let [path, config, rows] = files(path);
    let [mut output, mut config, mut rows] =
        [OutputFile::create(&path)?, OutputFile::create(&config)?, OutputFile::create(&rows)?];
    let program = PrvProgram::open(trace, PrvBody::create(body)?)?;
    let ended = program.write()?;
    write_header(&mut output, &ended.threads, ended.end, &ended.communicators)?;
    let mut lines = File::open(body).map_err(|error| named(body, error))?;
    io::copy(&mut lines, &mut output)?;
    write_states(&mut config)?;
    ended.functions.write(&mut config)?;
    let name = |rank: usize, thread: u32| match thread {
        0 => format!("rank {rank}"),
        _ => format!("rank {rank}, thread {thread}"),
    };
    let ranks: Vec<_> = (0..ended.threads.len()).map(|rank| name(rank, 0)).collect();
    let threads = ended.threads.iter().enumerate();
    let threads: Vec<_> = threads.flat_map(|(rank, &all)| (0..all).map(move |thread| name(rank, thread))).collect();
    write_rows(&mut rows, &ranks, &threads)?;
    [&mut output, &mut config, &mut rows].into_iter().try_for_each(OutputFile::finish)?;
    Ok(ended)
}

fn write_header(out: &mut impl Write, threads: &[u32], end: u64, communicators: &PrvCommunicators) -> io::Result<()> {
    let ranks = threads.len();
    let tasks = threads.iter().map(|threads| format!("{threads}:1")).collect::<Vec<_>>().join(",");
    let number = communicators.len();
    // A date would make two files of one trace differ.
    writeln!(out, "#Paraver (01/01/1970 at 00:00):{end}_ns:1({ranks}):1:{ranks}({tasks}),{number}")?;
    communicators.write(out)
}

/// The states: Paraver's number, name and colour of each.
const STATES: [(Activity, u32, &str, &str); 6] = [
    (Activity::Compute, 1, "Running", "{77,179,77}"),
    (Activity::Send, 4, "Blocking Send", "{51,102,204}"),
    (Activity::Recv, 3, "Waiting a message", "{230,153,26}"),
    (Activity::Wait, 8, "Wait/WaitAll", "{204,51,51}"),
    (Activity::File, 12, "I/O", "{128,102,51}"),
    (Activity::Collective, 13, "Group Communication", "{153,77,179}"),
];

/// The files that are written for a trace at `path`: the trace, the meaning of its numbers, and the names of its rows.
fn files(path: &Path) -> [PathBuf; 3] {
    [path.to_owned(), path.with_extension("pcf"), path.with_extension("row")]
}

/// The number of the state of an activity.
fn state_of(activity: Activity) -> u32 {
    STATES.iter().find(|(known, ..)| *known == activity).map_or(0, |found| found.1)
}

/// Writes the beginning of the second file, with the states.
fn write_states(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "DEFAULT_OPTIONS\n\nLEVEL               TASK\nUNITS               NANOSEC\n")?;
    writeln!(out, "STATES")?;
    STATES.iter().try_for_each(|(_, number, name, _)| writeln!(out, "{number:<4}{name}"))?;
    writeln!(out, "\nSTATES_COLOR")?;
    STATES.iter().try_for_each(|(_, number, _, color)| writeln!(out, "{number:<4}{color}"))
}

/// Writes the third file, with the names of tasks and of their threads.
fn write_rows(out: &mut impl Write, tasks: &[String], threads: &[String]) -> io::Result<()> {
    for (level, names) in [("CPU", tasks), ("TASK", tasks), ("THREAD", threads)] {
        writeln!(out, "LEVEL {level} SIZE {}", names.len())?;
        names.iter().try_for_each(|name| writeln!(out, "{name}"))?;
        writeln!(out)?;
    }
    Ok(())
}
