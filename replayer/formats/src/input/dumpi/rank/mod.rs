//! The events of a rank, from the records of its file.

mod collectives;
mod communicators;
mod completions;
mod messages;
mod one_sided;

use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use titr_common::dense_slab::DenseSlab;
use titr_common::event::{CommId, Event, Other, Rank, Span, ThreadId};
use titr_common::trace::{EventSource, LocatedEvents, Location, TraceError};
use titr_common::units::{Bytes, Nanoseconds};

use self::communicators::DumpiCommunicators;
use self::one_sided::DumpiWindows;
use super::bytes::Cursor;
use super::communicators::Made;
use super::datatypes::Datatypes;
use super::file::DumpiRankFile;
use super::functions::DumpiFunction;
use super::records::{DumpiRecord, DumpiRecords};
use crate::input::notes::{Notes, NotesOfRanks};
use crate::input::rank_events::CallTimes;
use crate::input::requests::Requests;

pub(super) use messages::ProcNullConvention;

/// The reason why a call has no event.
enum NoEvent {
    /// The peer is `MPI_PROC_NULL`, or the call moves no data.
    Needless,
    /// The record is damaged, or contradicts earlier ones.
    Wrong(String),
}

impl From<String> for NoEvent {
    fn from(what: String) -> Self {
        Self::Wrong(what)
    }
}

type Translated<T = ()> = Result<T, NoEvent>;

/// An argument, of a record whose arguments are known to be there.
fn argument<T>(value: Option<T>) -> Translated<T> {
    value.ok_or_else(|| NoEvent::Wrong("a call with fewer arguments than it has".to_owned()))
}

/// What the readers of all ranks share.
pub(super) struct DumpiTables {
    pub nobody: Arc<ProcNullConvention>,
    pub notes: Arc<NotesOfRanks>,
}

/// The events of a rank.
pub(super) struct DumpiRankSource {
    records: DumpiRecords,
    path: PathBuf,
    translation: DumpiTranslation,
    notes_of_ranks: Arc<NotesOfRanks>,
    stage: DumpiStage,
    /// Whether an incomplete file is read as far as it goes, and why it went no further.
    partial: bool,
    torn: Option<String>,
}

/// Where the reader of a rank is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DumpiStage {
    /// Before `MPI_Init`.
    Start,
    Running,
    /// `MPI_Finalize` was read.
    Finalized,
    Ended,
}

/// The state of a rank at a record.
struct DumpiTranslation {
    me: Rank,
    communicators: DumpiCommunicators,
    datatypes: Datatypes,
    requests: Requests<u16>,
    windows: DumpiWindows,
    /// Operations of the program that are not commutative.
    ordered_operations: FxHashSet<u8>,
    threads: Vec<(u16, CallTimes)>,
    /// The time of the first call.
    origin: Option<Nanoseconds>,
    nobody: Arc<ProcNullConvention>,
    notes: Notes,
}

impl DumpiRankSource {
    pub(super) fn new(
        file: &DumpiRankFile,
        rank: Rank,
        world: &Arc<[Rank]>,
        made: Arc<[Made]>,
        shared: DumpiTables,
        partial: bool,
    ) -> Result<Self, TraceError> {
        let file = if partial { file } else { file.whole()? };
        let translation = DumpiTranslation {
            me: rank,
            communicators: DumpiCommunicators::new(rank, world, made),
            datatypes: Datatypes::new(&file.sizes),
            requests: Requests::default(),
            windows: DumpiWindows::default(),
            ordered_operations: FxHashSet::default(),
            threads: Vec::new(),
            origin: None,
            nobody: shared.nobody,
            notes: Notes::default(),
        };
        let (records, path) = (file.records()?, file.path().to_owned());
        let (notes_of_ranks, stage) = (shared.notes, DumpiStage::Start);
        Ok(Self { records, path, translation, notes_of_ranks, stage, partial, torn: None })
    }

    /// Translates the next record; false at the end of the trace.
    fn step(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        let line = Some(self.records.number() + 1);
        let Some(record) = self.records.next()? else {
            if self.stage == DumpiStage::Start {
                events.push(Event::Init, Location::default());
            }
            if self.stage != DumpiStage::Finalized {
                self.translation
                    .notes
                    .add("ranks have no MPI_Finalize: their traces end before, or the call was not recorded");
                events.push(Event::Finalize, Location::default());
            }
            self.end();
            return Ok(false);
        };
        let function = record.function;
        let is_init = matches!(function, DumpiFunction::INIT | DumpiFunction::INIT_THREAD);
        match self.stage {
            DumpiStage::Start => {
                self.stage = DumpiStage::Running;
                if !is_init {
                    self.translation.notes.add("ranks have no MPI_Init: their traces begin after it");
                    events.push(Event::Init, Location::default());
                }
            }
            _ if is_init || self.stage == DumpiStage::Finalized => {
                return Err(self.records.error(format!("{} after the calls of a rank", function.name())));
            }
            _ => {}
        }
        if function == DumpiFunction::FINALIZE {
            self.stage = DumpiStage::Finalized;
        }
        let location = Location { thread: self.translation.thread(record.thread), line };
        let mut sink = DumpiSink { events, location, span: record.span };
        match self.translation.record(&record, &mut sink) {
            Ok(()) | Err(NoEvent::Needless) => {
                // The time in other calls without an event is no computation.
                if function.is_of_mpi() && !function.is_local() {
                    self.translation.time(&mut sink);
                }
                Ok(true)
            }
            Err(NoEvent::Wrong(what)) => Err(self.records.error(format!("{}: {what}", function.name()))),
        }
    }
}

impl DumpiRankSource {
    fn end(&mut self) {
        self.notes_of_ranks.keep(self.translation.me, std::mem::take(&mut self.translation.notes));
        self.stage = DumpiStage::Ended;
    }
}

impl EventSource for DumpiRankSource {
    fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        let before = events.len();
        while self.stage != DumpiStage::Ended && events.len() == before {
            match self.step(events) {
                Ok(_) => {}
                Err(error) if self.partial => {
                    self.torn = Some(error.to_string());
                    self.end();
                }
                Err(error) => return Err(error),
            }
        }
        Ok(events.len() > before)
    }

    fn torn(&self) -> Option<String> {
        self.torn.clone()
    }

    fn path(&self) -> Option<PathBuf> {
        Some(self.path.clone())
    }
}

/// The place where the events of a record go.
struct DumpiSink<'s> {
    events: &'s mut LocatedEvents,
    location: Location,
    span: Option<Span>,
}

impl DumpiTranslation {
    /// The number of a thread, by the order in which threads appear.
    fn thread(&mut self, name: u16) -> ThreadId {
        let at = self.threads.iter().position(|&(known, _)| known == name).unwrap_or_else(|| {
            self.threads.push((name, CallTimes::default()));
            self.threads.len() - 1
        });
        ThreadId(at as u32)
    }

    /// Appends the time of a call; its event has to follow.
    fn time(&mut self, sink: &mut DumpiSink<'_>) {
        let Some(span) = sink.span.take() else { return };
        let origin = self.origin.get_or_insert(span.begin).0;
        let since = |time: Nanoseconds| Nanoseconds(time.0.saturating_sub(origin));
        let span = Span { begin: since(span.begin), end: since(span.end) };
        if let Some((_, times)) = self.threads.get_mut(sink.location.thread.0 as usize) {
            times.call(sink.events, sink.location, span, None);
        }
    }

    /// Appends the time of a call and its event.
    fn push(&mut self, sink: &mut DumpiSink<'_>, event: Event) {
        self.time(sink);
        sink.events.push(event, sink.location);
    }

    fn record(&mut self, record: &DumpiRecord<'_>, sink: &mut DumpiSink<'_>) -> Translated {
        let mut arguments = record.arguments;
        let bytes = &mut arguments;
        match record.function {
            DumpiFunction::INIT | DumpiFunction::INIT_THREAD => self.push(sink, Event::Init),
            DumpiFunction::FINALIZE => self.push(sink, Event::Finalize),
            DumpiFunction(0..=5 | 8..=12 | 22 | 23 | 26..=30 | 33 | 34) => self.message(record, bytes, sink)?,
            DumpiFunction(13..=21 | 24 | 31 | 32) => self.completion(record, bytes, sink)?,
            DumpiFunction(35..=47 | 178 | 217..=223) => self.datatypes.apply(record),
            DumpiFunction(52..=62 | 65..=67 | 155 | 156) => self.collective(record.function, bytes, sink)?,
            DumpiFunction::OP_CREATE => {
                let commutes = argument(bytes.i32())? != 0;
                let operation = argument(bytes.u8())?;
                if commutes {
                    self.ordered_operations.remove(&operation);
                } else {
                    self.ordered_operations.insert(operation);
                }
            }
            DumpiFunction::COMM_RANK => self.check_rank(bytes)?,
            DumpiFunction(141..=147 | 149..=154) => self.one_sided(record, bytes, sink)?,
            function if function.changes_communicators() => self.communicator(record, sink)?,
            DumpiFunction::BUFFER_DETACH => {
                let function = record.function.name().into();
                self.push(sink, Event::Other(Other { function, sent: Bytes(0), received: Bytes(0) }));
            }
            function if function.is_of_mpi() && !function.is_local() => {
                self.notes.add(format!("calls of {} have no event", function.name()));
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether the rank that a communicator has for this one is that of the members that were worked out.
    fn check_rank(&mut self, bytes: &mut Cursor<'_>) -> Translated {
        let (comm, rank) = (argument(bytes.u16())?, argument(bytes.i32())?);
        if let Some(members) = self.communicators.members(comm)
            && usize::try_from(rank).ok().and_then(|rank| members.get(rank)) != Some(&self.me)
        {
            self.notes.add(
                "calls of MPI_Comm_rank differ from the order of members that titr worked out: the library reordered a \
                 topology, and titr has the ranks in their old order",
            );
        }
        Ok(())
    }
}

/// The lowest free numbers of things that a rank makes and frees.
#[derive(Default)]
struct Numbers {
    used: DenseSlab<()>,
}

impl Numbers {
    fn take(&mut self) -> u32 {
        // A rank has no more than the 65,536 that its file has numbers for.
        self.used.insert(()) as u32
    }

    fn free(&mut self, number: u32) {
        if self.used.get(number as usize).is_some() {
            self.used.remove(number as usize);
        }
    }
}

/// The number of `MPI_COMM_WORLD` and `MPI_COMM_SELF`, which have fixed ones.
const PREDEFINED_COMMS: u32 = CommId::SELF.0 + 1;
