//! The threads of a rank: the locations of its process that call MPI, and their records in the order of time.

use std::io::ErrorKind;

use titr_common::event::{Rank, ThreadId};
use titr_common::trace::TraceError;

use super::Archive;
use super::definitions::Region;
use super::local::{Local, Otf2Clock, Otf2Kind};
use super::records::{Contents, Otf2Record, Otf2Records};

/// The records of all threads of a rank.
pub(super) struct ThreadRecords {
    threads: Vec<ThreadRecord>,
    current: usize,
}

/// The records of a thread, and the time of the next one; none at the end, or before it was looked at.
struct ThreadRecord {
    records: Otf2Records,
    clock: Otf2Clock,
    next: Option<u64>,
}

impl Archive {
    /// The locations of a rank: its own, and those of further threads that call MPI.
    pub(super) fn locations(&self, rank: Rank) -> &[u64] {
        let Some(known) = self.threads.get(rank.0 as usize) else { return &[] };
        known.get_or_init(|| {
            let own = self.definitions.locations.get(rank.0 as usize).copied();
            let further = self.definitions.threads.get(rank.0 as usize).into_iter().flatten();
            // A location that cannot be read is a thread whose file has its own error.
            let is_thread = |id| match self.calls_mpi(id) {
                Err(TraceError::Io { error, .. }) if error.kind() == ErrorKind::NotFound => false,
                calls => calls.unwrap_or(true),
            };
            let calls_mpi = |&(id, events): &(u64, u64)| (events > 0 && is_thread(id)).then_some(id);
            own.into_iter().chain(further.filter_map(calls_mpi)).collect()
        })
    }

    /// Whether a location has records of MPI.
    fn calls_mpi(&self, location: u64) -> Result<bool, TraceError> {
        let local = Local::read(&self.file(location, "def"), self.anchor.definition_chunk)?;
        let mut records = Otf2Records::open(&self.file(location, "evt"), Contents::Events, self.anchor.event_chunk)?;
        while let Some(mut record) = records.next()? {
            let is_of_mpi = match record.kind {
                12 => record.fields.u32().is_some_and(|region| {
                    let region = self.definitions.regions.get(&local.global(Otf2Kind::Region, region));
                    matches!(region, Some(Region::Mpi(..)))
                }),
                kind => matches!(kind, 14..=19 | 21 | 23 | 85 | 86),
            };
            if is_of_mpi {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The local definitions of these locations.
    pub(super) fn locals(&self, locations: &[u64]) -> Result<Vec<Local>, TraceError> {
        let read = |&location| Local::read(&self.file(location, "def"), self.anchor.definition_chunk);
        locations.iter().map(read).collect()
    }
}

impl ThreadRecords {
    /// The records of these locations, with their definitions.
    pub(super) fn open(archive: &Archive, locations: &[u64], locals: &[Local]) -> Result<Self, TraceError> {
        let open = |(&location, local): (&u64, &Local)| {
            let path = archive.file(location, "evt");
            let records = Otf2Records::open(&path, Contents::Events, archive.anchor.event_chunk)?;
            let mut this = ThreadRecord { records, clock: local.clock(archive.definitions.clock), next: None };
            if locations.len() > 1 {
                this.look()?;
            }
            Ok(this)
        };
        let threads = locations.iter().zip(locals).map(open).collect::<Result<_, TraceError>>()?;
        Ok(Self { threads, current: 0 })
    }

    /// The records of the thread that the last record was of.
    pub(super) fn current(&self) -> &Otf2Records {
        &self.threads[self.current].records
    }

    /// The next record in time, and its thread: of records at one time, that of the first thread.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<(ThreadId, Otf2Record<'_>)>, TraceError> {
        if self.threads.len() > 1 {
            self.threads[self.current].look()?;
            let next =
                self.threads.iter().enumerate().filter_map(|(number, thread)| Some((thread.next?, number))).min();
            let Some((_, number)) = next else { return Ok(None) };
            self.current = number;
        }
        let record = self.threads[self.current].records.next()?;
        Ok(record.map(|record| (ThreadId(self.current as u32), record)))
    }
}

impl ThreadRecord {
    /// Finds the time of the next record.
    fn look(&mut self) -> Result<(), TraceError> {
        self.next = self.records.peek()?.map(|(_, ticks)| self.clock.nanoseconds(ticks).0);
        Ok(())
    }
}
