//! A trace of DUMPI, version 13.0, for the tools and simulators of SST.
//!
//! Each rank has a file with a record for each call. The ranks' files are written one after another. A communicator that a
//! trace defines without a call becomes one of `MPI_Comm_split`, which all ranks call after `MPI_Init`; such communicators
//! are looked for in all ranks before the first file.

mod collectives;
mod communicators;
mod completions;
mod datatypes;
mod definitions;
mod file;
mod messages;
mod one_sided;
mod open;
mod rank;

use std::fmt::Write;
use std::io::Error;
use std::path::Path;

use titr_common::event::Rank;
use titr_common::format::{count, plural};
use titr_common::output::{OutputDirectory, OutputFile};
use titr_common::program::{Communicators, Fault};
use titr_common::trace::Trace;

use super::timed_calls::TimedCalls;
use super::{ConversionNotes, ConvertError, OutputFormat};
use crate::input::notes::NotesOfRanks;
use definitions::CommDefinitions;
use file::{DumpiFile, VERSION};
use rank::DumpiRank;

/// The format of DUMPI.
pub(super) const DUMPI: OutputFormat = OutputFormat {
    name: "dumpi",
    about: "A trace for SST's simulators and `dumpi2ascii`",
    files: |_| Vec::new(),
    convert: |trace, _, directory| {
        let (calls, differences) = convert(trace, directory)?;
        let (ranks, of) = (trace.ranks(), plural(u64::from(trace.ranks()), "rank", "ranks"));
        let meta = directory.join(format!("{PREFIX}.meta"));
        let written = format!("{}: {} calls of {ranks} {of}", meta.display(), count(calls));
        Ok(ConversionNotes { written, differences })
    },
};

/// The beginning of the names of all files.
const PREFIX: &str = "dumpi";

/// The reason why a call cannot be written.
enum NotWritten {
    Fault(Fault),
    Output(Error),
}

impl From<Fault> for NotWritten {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Error> for NotWritten {
    fn from(error: Error) -> Self {
        Self::Output(error)
    }
}

/// Writes a trace into `directory`; returns the number of calls, and a sentence for each kind of difference.
fn convert(trace: &Trace, directory: &Path) -> Result<(u64, Vec<String>), ConvertError> {
    let output = OutputDirectory::create(directory)?;
    let definitions = CommDefinitions::of(trace)?;
    let mut communicators = Communicators::new(trace.ranks() as usize);
    let notes = NotesOfRanks::default();
    let mut written = 0;
    for rank in (0..trace.ranks()).map(Rank) {
        let path = directory.join(format!("{PREFIX}-{:04}.bin", rank.0));
        let mut records = DumpiRank::new(rank, &mut communicators, &definitions, DumpiFile::create(&path)?);
        let mut calls = TimedCalls::of(trace, rank, 0)?;
        while let Some(call) = calls.next()? {
            records.call(&call, &mut calls.notes).map_err(|failure| match failure {
                NotWritten::Fault(fault) => calls.fault(fault),
                NotWritten::Output(error) => error.into(),
            })?;
            written += 1;
        }
        records.finish(host(trace, rank))?;
        notes.keep(rank, calls.notes);
    }
    OutputFile::write(&directory.join(format!("{PREFIX}.meta")), meta(trace).as_bytes())?;
    output.finish();
    Ok((written, notes.sentences()))
}

/// The host of a rank; empty if it is not known.
fn host(trace: &Trace, rank: Rank) -> &str {
    let entry = trace.manifest().and_then(|manifest| manifest.of_rank(rank));
    entry.map_or("", |entry| &entry.host)
}

/// The text about the files.
fn meta(trace: &Trace) -> String {
    let [version, subversion, subsubversion] = VERSION;
    let mut text = format!("hostname={}\nnumprocs={}\nusername=\n", host(trace, Rank(0)), trace.ranks());
    // The key is spelled as in DUMPI.
    let _ = write!(text, "startime=0\nfileprefix={PREFIX}\nversion={version}\n");
    let _ = write!(text, "subversion={subversion}\nsubsubversion={subsubversion}\n");
    text
}
