//! A kernel as a trace directory. A rank is written before the next is begun, so memory holds a phase of one rank.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use titr_common::event::{Rank, ThreadId};
use titr_common::output::{OutputDirectory, named};
use titr_common::trace::manifest::{Counter, Ended, Mode, RankEntry, VERSION};
use titr_common::trace::{Manifest, RankWriter};

use super::{Kernel, Pause, program};

/// The size of the trace that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generated {
    /// The number of ranks.
    pub ranks: u32,
    /// The number of events of all ranks.
    pub events: u64,
}

/// Writes a trace of a kernel into `directory`, which is created or is empty. `command` is the trace's description of
/// its origin.
///
/// # Errors
/// If the directory is not empty, or cannot be written.
pub fn write(
    kernel: &dyn Kernel,
    iterations: u64,
    pause: Option<Pause>,
    command: Vec<String>,
    directory: &Path,
) -> io::Result<Generated> {
    let failed = |error| named(directory, error);
    let output = OutputDirectory::create(directory)?;
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
        untraced_ranks: Vec::new(),
        foreign: None,
        started: None,
        combined: None,
        names: Vec::new(),
        per_rank,
    };
    manifest.write(directory).map_err(failed)?;
    output.finish();
    Ok(Generated { ranks, events })
}

fn write_rank(
    kernel: &dyn Kernel,
    rank: u32,
    iterations: u64,
    pause: Option<Pause>,
    directory: &Path,
) -> io::Result<RankEntry> {
    let mut writer = RankWriter::create(directory, Rank(rank))?;
    program(kernel, rank, iterations, pause).try_for_each(|event| writer.write(ThreadId::MAIN, &event))?;
    let entry = RankEntry::new(Rank(rank), Counter::exact("generated"));
    writer.finish(RankEntry { host: "none".into(), cpu: "none".into(), ended: Ended::Finalize, ..entry })
}
