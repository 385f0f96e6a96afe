//! Traces as the tracer leaves them, in temporary folders.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use titr_common::event::{Event, Rank};
use titr_common::trace::manifest::{Counter, Ended, RankEntry};
use titr_common::trace::{FinishedStream, Manifest, StreamWriter, Trace, TraceError};
use titr_common::units::{Bytes, Instructions};

pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn without_its_name(&self, text: &str) -> String {
        text.replace(&self.0.path().display().to_string(), "DIR")
    }

    /// Rank 0's part of the manifest.
    pub fn manifest(&self, directory: &str, ranks: u32) {
        let (command, mpi) = (vec!["./ring".to_owned()], "some MPI".to_owned());
        std::fs::create_dir_all(self.path(directory)).unwrap();
        let manifest = Manifest { command, mpi, per_rank: Vec::new(), ..Manifest::of_unknown_origin(ranks) };
        manifest.write(&self.path(directory)).unwrap();
    }

    /// What these ranks write.
    pub fn ranks(&self, directory: &str, which: impl IntoIterator<Item = u32>, ranks: u32) {
        self.ranks_of("a run", directory, which, ranks);
    }

    pub fn ranks_of(&self, run: &str, directory: &str, which: impl IntoIterator<Item = u32>, ranks: u32) {
        let path = self.path(directory);
        for rank in which {
            let mut stream = StreamWriter::create(&path, Rank(rank), 3).unwrap();
            stream.write_member(format!("{rank} init\n{rank} compute 5\n").as_bytes()).unwrap();
            stream.write_member(format!("{rank} finalize\n").as_bytes()).unwrap();
            let written = stream.finish(3).unwrap();
            entry(run, rank, Some(written)).end(&path, ranks).unwrap();
        }
    }

    /// As for a killed rank.
    pub fn running(&self, directory: &str, rank: u32) {
        entry("a run", rank, None).write(&self.path(directory)).unwrap();
    }
}

fn entry(run: &str, rank: u32, written: Option<FinishedStream>) -> RankEntry {
    let counter = Counter { rate: Some(1e9), ..Counter::exact("cpu") };
    let mut entry = RankEntry { pid: 100 + rank, ..RankEntry::new(Rank(rank), counter) };
    (entry.run, entry.host, entry.cpu) = (run.into(), "here".into(), "a processor".into());
    (entry.events, entry.text) = (3, Bytes(40));
    if let Some(written) = written {
        (entry.ended, entry.disk, entry.crc32) = (Ended::Finalize, written.size, Some(written.crc32));
    }
    entry
}

/// What every rank did.
pub fn events() -> Vec<Event> {
    vec![Event::Init, Event::Compute(Instructions(5.0)), Event::Finalize]
}

/// The events of all ranks.
pub fn read(places: &[impl AsRef<Path>]) -> Result<Vec<Vec<Event>>, TraceError> {
    let streams = Trace::open_all(places)?.streams()?;
    let drain = |mut stream: titr_common::trace::RankStream| {
        let mut events = Vec::new();
        while let Some(event) = stream.next_event()? {
            events.push(event);
        }
        Ok(events)
    };
    streams.into_iter().map(drain).collect()
}
