//! A kernel as a trace directory. A rank is written before the next is begun: memory is a phase of one rank.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use titr_common::event::{Event, Rank};
use titr_common::grammar::EventWriter;
use titr_common::trace::manifest::{Counter, Ended, Mode, RankEntry, VERSION};
use titr_common::trace::{Manifest, StreamWriter};
use titr_common::units::Bytes;

use super::{Kernel, Pause, program};

/// Text in a gzip member, and its level: the tracer's defaults.
const MEMBER: usize = 64 << 10;
const LEVEL: u32 = 3;

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generated {
    /// By how many ranks.
    pub ranks: u32,
    /// How many events of all ranks.
    pub events: u64,
}

/// Why nothing was, or not all.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum NotWritten {
    #[error(
        "{path}: there is something in it already, and nothing is overwritten: name another directory, or remove it"
    )]
    Occupied { path: PathBuf },
    #[error("cannot write {path}: {error}")]
    Output { path: PathBuf, error: io::Error },
}

/// Writes a trace of a kernel into `directory`, which is created or is empty. `command` is what the trace says that it is of.
///
/// # Errors
/// Where the directory holds something already, or cannot be written.
pub fn write(
    kernel: &dyn Kernel,
    iterations: u64,
    pause: Option<Pause>,
    command: Vec<String>,
    directory: &Path,
) -> Result<Generated, NotWritten> {
    let failed = |error| NotWritten::Output { path: directory.into(), error };
    fs::create_dir_all(directory).map_err(failed)?;
    if fs::read_dir(directory).map_err(failed)?.next().is_some() {
        return Err(NotWritten::Occupied { path: directory.into() });
    }
    let ranks = kernel.ranks();
    let entries = (0..ranks).map(|rank| write_rank(kernel, rank, iterations, pause, directory));
    let per_rank = entries.collect::<io::Result<Vec<_>>>().map_err(failed)?;
    let events = per_rank.iter().map(|entry| entry.events).sum();
    let manifest = Manifest {
        titr: VERSION,
        mode: Mode::Ti,
        ranks,
        command,
        mpi: format!("none: titr {}", env!("CARGO_PKG_VERSION")),
        config: BTreeMap::new(),
        per_rank,
    };
    manifest.write(directory).map_err(failed)?;
    Ok(Generated { ranks, events })
}

fn write_rank(
    kernel: &dyn Kernel,
    rank: u32,
    iterations: u64,
    pause: Option<Pause>,
    directory: &Path,
) -> io::Result<RankEntry> {
    let mut stream = Stream {
        file: StreamWriter::create(directory, Rank(rank), LEVEL)?,
        writer: EventWriter::new(Rank(rank)),
        text: Vec::new(),
        events: 0,
        bytes: 0,
    };
    program(kernel, rank, iterations, pause).try_for_each(|event| stream.event(&event))?;
    stream.finish(rank)
}

/// One rank's stream.
struct Stream {
    file: StreamWriter,
    writer: EventWriter,
    text: Vec<u8>,
    events: u64,
    /// Of text, written so far.
    bytes: u64,
}

impl Stream {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.writer.write(&mut self.text, event);
        self.events += 1;
        if self.text.len() < MEMBER { Ok(()) } else { self.end_member() }
    }

    fn end_member(&mut self) -> io::Result<()> {
        self.writer.end_line(&mut self.text);
        self.file.write_member(&self.text)?;
        self.bytes += self.text.len() as u64;
        self.text.clear();
        Ok(())
    }

    fn finish(mut self, rank: u32) -> io::Result<RankEntry> {
        self.end_member()?;
        let (events, text) = (self.events, Bytes(self.bytes));
        let written = self.file.finish(events)?;
        Ok(RankEntry {
            run: String::new(),
            rank,
            host: "none".into(),
            cpu: "none".into(),
            pid: 0,
            ended: Ended::Finalize,
            events,
            text,
            disk: written.size,
            crc32: Some(written.crc32),
            counter: Counter {
                kind: "generated".into(),
                unit: "instructions".into(),
                rate: None,
                resolution: 0.0,
                precision: 0.0,
                hook: 0.0,
                yardstick: None,
            },
            clock: None,
            threads: 1,
            stalls: 0,
            lost_events: 0,
            error: None,
            untraced: BTreeMap::new(),
            opaque: BTreeMap::new(),
            local: BTreeMap::new(),
            null_peer: BTreeMap::new(),
        })
    }
}
