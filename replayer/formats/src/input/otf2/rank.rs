//! The events of one rank, translated from the records of its location.
//!
//! Records stand between those that enter and leave an MPI function. A call becomes events when it is left, because its
//! time is known only then. A receive that is not blocking becomes an event when it completes: only that record names its
//! source, its tag and its bytes. The events after it wait, up to a limit.

use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::event::{Annotation, CommCall, CommId, Event, Group, Mark, Quantifier, Rank, Span, Tag};
use titr_common::trace::{EventSource, LocatedEvents, Location, TraceError};
use titr_common::units::{Instructions, Nanoseconds};

use super::Archive;
use super::communicators::{Communicator, Members};
use super::definitions::Region;
use super::fields::Fields;
use super::functions::Function;
use super::in_order::InOrder;
use super::local::{Clock, Kind, Local};
use super::notes::Notes;
use super::one_sided::Windows;
use super::records::{Record, Records};
use super::requests::{Pending, Requests};
use crate::input::rank_events::CallTimes;

/// The number of events after which a batch is handed out.
const BATCH: usize = 1 << 10;

/// A reason why a record cannot be translated.
pub(super) enum Fault {
    /// The record is not what OTF2 says.
    Malformed,
    /// It contradicts other records.
    Contradiction(String),
}

impl Fault {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self::Contradiction(what.into())
    }
}

/// The events of a rank.
pub(super) struct RankEvents {
    /// The records; none if the file is missing from an incomplete archive.
    records: Option<Records>,
    translation: Translation,
    partial: bool,
    is_ended: bool,
    torn: Option<String>,
}

impl RankEvents {
    /// The events of a rank, of an incomplete file those that there are, if that is `partial`.
    pub(super) fn open(archive: &Arc<Archive>, rank: Rank, partial: bool) -> Result<Self, TraceError> {
        let local = archive.local(rank)?;
        let (records, torn) = match archive.events(rank) {
            Err(error) if partial => (None, Some(error.to_string())),
            records => (Some(records?), None),
        };
        let translation = Translation::new(Arc::clone(archive), rank, local);
        Ok(Self { records, translation, partial, is_ended: false, torn })
    }

    /// Translates the next record; false at the end.
    #[inline]
    fn step(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        let Some(records) = &mut self.records else { return Ok(false) };
        let Some(record) = records.next()? else { return Ok(false) };
        let kind = record.kind;
        match self.translation.take(record, events) {
            Ok(()) => Ok(true),
            Err(Fault::Malformed) => Err(records.malformed(kind)),
            Err(Fault::Contradiction(what)) => Err(records.error(what)),
        }
    }
}

impl EventSource for RankEvents {
    fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        if self.is_ended {
            return Ok(false);
        }
        let before = events.len();
        while events.len() < before + BATCH {
            match self.step(events) {
                Ok(true) => {}
                Err(error) if !self.partial => return Err(error),
                ended => {
                    self.torn = ended.err().map(|error| error.to_string()).or(self.torn.take());
                    self.is_ended = true;
                    self.translation.end(self.torn.is_none(), events);
                    break;
                }
            }
        }
        Ok(events.len() > before)
    }

    fn path(&self) -> Option<PathBuf> {
        self.records.as_ref().map(|records| records.path().to_owned())
    }

    fn torn(&self) -> Option<String> {
        self.torn.clone()
    }
}

/// The state of the translation.
pub(super) struct Translation {
    pub(super) archive: Arc<Archive>,
    pub(super) rank: Rank,
    pub(super) local: Local,
    clock: Clock,
    /// What the numbers of regions in events mean.
    regions: FxHashMap<u32, Place>,
    /// Communicators by their numbers in events.
    comms: FxHashMap<u32, Arc<Comm>>,
    /// Communicators by their global numbers.
    introduced: FxHashMap<u32, Arc<Comm>>,
    /// The MPI function that the rank is in.
    pub(super) call: Option<Call>,
    /// What the records of the call say so far.
    pub(super) pending: Vec<Pending>,
    pub(super) requests: Requests,
    pub(super) windows: Windows,
    pub(super) order: InOrder,
    times: CallTimes,
    returned: Nanoseconds,
    /// The time of the first region.
    began: Option<u64>,
    counter: Counter,
    /// The regions of the program that are open.
    open: Vec<u32>,
    stage: Stage,
    /// The number of collectives with lists so far, by the definition of their communicator.
    pub(super) lists: FxHashMap<u32, usize>,
    pub(super) notes: Notes,
}

/// The part of the program that a rank is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Before `MPI_Init`.
    Before,
    Running,
    /// After `MPI_Finalize`.
    After,
}

/// The meaning of the number of a region.
#[derive(Clone, Copy)]
enum Place {
    Mpi(Function, u32),
    User(u32),
    Other,
}

/// A call of an MPI function.
#[derive(Clone, Copy)]
pub(super) struct Call {
    pub function: Function,
    /// The number of its region.
    region: Option<u32>,
    begin: Nanoseconds,
    /// The number of calls that this one makes, and is in.
    depth: u32,
    /// The instructions since the call before.
    counted: f64,
}

/// A communicator, as a rank knows it.
pub(super) struct Comm {
    pub id: CommId,
    /// The members, or the own group of two.
    pub mine: Arc<[Rank]>,
    /// The ranks that peers are numbered in: the members, or the other group of two.
    pub peers: Arc<[Rank]>,
    /// The place of the rank among its members.
    pub me: usize,
    pub is_inter: bool,
}

/// The counter of instructions.
#[derive(Default)]
struct Counter {
    /// Whether the archive has one.
    exists: bool,
    /// The place of the counter in metrics, by their numbers in events.
    places: FxHashMap<u32, Option<usize>>,
    latest: u64,
    /// The count at the end of the last call.
    returned: u64,
}

impl Translation {
    fn new(archive: Arc<Archive>, rank: Rank, local: Local) -> Self {
        let clock = local.clock(archive.definitions.clock);
        let counter = Counter { exists: archive.definitions.counts_instructions(), ..Counter::default() };
        Self {
            archive,
            rank,
            local,
            clock,
            regions: FxHashMap::default(),
            comms: FxHashMap::default(),
            introduced: FxHashMap::default(),
            call: None,
            pending: Vec::new(),
            requests: Requests::default(),
            windows: Windows::default(),
            order: InOrder::default(),
            times: CallTimes::default(),
            returned: Nanoseconds(0),
            began: None,
            counter,
            open: Vec::new(),
            stage: Stage::Before,
            lists: FxHashMap::default(),
            notes: Notes::default(),
        }
    }

    /// Translates a record.
    #[inline]
    fn take(&mut self, record: Record<'_>, events: &mut LocatedEvents) -> Result<(), Fault> {
        let Record { kind, ticks, mut fields } = record;
        match kind {
            12 => {
                let region = fields.u32().ok_or(Fault::Malformed)?;
                self.enter(region, ticks, events);
                return Ok(());
            }
            13 => {
                let region = fields.u32().ok_or(Fault::Malformed)?;
                self.leave(region, ticks, events);
                return Ok(());
            }
            10 => {
                let until = fields.full_u64().ok_or(Fault::Malformed)?;
                self.flushed(ticks, until, events);
                return Ok(());
            }
            11 => {
                // Records are missing from here on, the end of a call among them.
                if let Some(call) = self.call.take() {
                    let end = self.clock.nanoseconds(ticks);
                    self.finish(call, end, events);
                }
                return Ok(());
            }
            31 => return self.count(fields).ok_or(Fault::Malformed),
            _ if self.stage == Stage::After => return Ok(()),
            14..=21 | 23 | 85 | 86 => self.message(kind, fields, events)?,
            35 | 36 | 38..=43 | 46..=52 => self.one_sided(kind, fields, events)?,
            _ => return Ok(()),
        }
        // Some tools record messages without the functions.
        if self.call.is_none() && (!self.pending.is_empty() || self.requests.has_completed()) {
            let begin = self.clock.nanoseconds(ticks);
            let call = self.begin(Function::Plain, None, begin);
            self.finish(call, begin, events);
        }
        Ok(())
    }

    fn place(&mut self, local: u32) -> Place {
        if let Some(&place) = self.regions.get(&local) {
            return place;
        }
        let region = self.local.global(Kind::Region, local);
        let place = match self.archive.definitions.regions.get(&region) {
            Some(&Region::Mpi(function, _)) => Place::Mpi(function, region),
            Some(Region::User(_)) => Place::User(region),
            Some(Region::Other) | None => Place::Other,
        };
        self.regions.insert(local, place);
        place
    }

    fn begin(&self, function: Function, region: Option<u32>, begin: Nanoseconds) -> Call {
        let counted = self.counter.latest.saturating_sub(self.counter.returned) as f64;
        Call { function, region, begin, depth: 0, counted }
    }

    fn enter(&mut self, local: u32, ticks: u64, events: &mut LocatedEvents) {
        self.began.get_or_insert(ticks);
        match (self.place(local), &mut self.call) {
            (Place::Mpi(..), Some(call)) => call.depth += 1,
            (Place::Mpi(function, region), None) => {
                let begin = self.clock.nanoseconds(ticks);
                self.call = Some(self.begin(function, Some(region), begin));
            }
            (Place::User(region), None) => {
                self.open.push(region);
                self.mark(region, Mark::RegionBegin, events);
            }
            // A function that MPI calls, such as that of a reduction.
            (Place::User(_), Some(_)) | (Place::Other, _) => {}
        }
    }

    fn leave(&mut self, local: u32, ticks: u64, events: &mut LocatedEvents) {
        match (self.place(local), &mut self.call) {
            (Place::Mpi(..), Some(call)) if call.depth > 0 => call.depth -= 1,
            (Place::Mpi(..), call) => {
                if let Some(call) = call.take() {
                    let end = self.clock.nanoseconds(ticks);
                    self.finish(call, end, events);
                }
            }
            (Place::User(region), None) => {
                // The end of a region is missing if the measurement was off at the time.
                let Some(depth) = self.open.iter().rposition(|&open| open == region) else { return };
                while self.open.len() > depth {
                    let Some(region) = self.open.pop() else { return };
                    self.mark(region, Mark::RegionEnd, events);
                }
            }
            (Place::User(_), Some(_)) | (Place::Other, _) => {}
        }
    }

    /// Marks the beginning or the end of a region of the program.
    fn mark(&mut self, region: u32, mark: fn(Box<str>) -> Mark, events: &mut LocatedEvents) {
        if self.stage == Stage::Running
            && let Some(Region::User(name)) = self.archive.definitions.regions.get(&region)
        {
            self.order.push(Event::Mark(mark(name.clone())), events);
        }
    }

    /// The tool wrote its buffer to disk, which is no computation.
    fn flushed(&mut self, from: u64, until: u64, events: &mut LocatedEvents) {
        if self.stage == Stage::Running && self.call.is_none() {
            let (begin, end) = (self.clock.nanoseconds(from), self.clock.nanoseconds(until));
            let call = self.begin(Function::Plain, None, begin);
            self.called(call, end, events);
        }
    }

    /// Takes note of the counter.
    fn count(&mut self, mut f: Fields<'_>) -> Option<()> {
        if !self.counter.exists {
            return Some(());
        }
        let (metric, number) = (f.u32()?, f.byte()?);
        let Self { local, archive, .. } = self;
        let place = *self
            .counter
            .places
            .entry(metric)
            .or_insert_with(|| archive.definitions.instructions.get(&local.global(Kind::Metric, metric)).copied());
        let Some(place) = place.filter(|&place| place < usize::from(number)) else { return Some(()) };
        for _ in 0..place {
            let _ = (f.byte()?, f.u64()?);
        }
        (_, self.counter.latest) = (f.byte()?, f.u64()?);
        Some(())
    }

    /// The call is over: appends its events.
    fn finish(&mut self, mut call: Call, end: Nanoseconds, events: &mut LocatedEvents) {
        match (call.function, self.stage) {
            (_, Stage::After) => return self.pending.clear(),
            (Function::Init, Stage::Before) => return self.start(end, events),
            (Function::Finalize, Stage::Before | Stage::Running) => {
                self.start_if_needed(events);
                self.close(events);
                self.called(call, end, events);
                self.order.push(Event::Finalize, events);
                self.stage = Stage::After;
                return;
            }
            (_, Stage::Before) if self.pending.is_empty() && !self.requests.has_completed() => return,
            (_, Stage::Before) => self.start_if_needed(events),
            (_, Stage::Running) => {}
        }
        if call.function == Function::Sendrecv {
            self.join_messages();
        }
        if call.function == Function::Wait(Quantifier::All) {
            self.complete_without_records(events);
        }
        let mut is_empty = true;
        for index in 0..self.pending.len() {
            let Some(pending) = self.pending.get_mut(index).map(std::mem::take) else { break };
            if matches!(pending, Pending::Nothing) {
                continue;
            }
            self.called(call, end, events);
            (is_empty, call.counted) = (false, 0.0);
            self.append(pending, events);
        }
        self.pending.clear();
        if let Some(event) = self.requests.completion(call.function) {
            self.called(call, end, events);
            self.order.push(event, events);
        } else if is_empty {
            self.called(call, end, events);
            match call.function {
                Function::Test(quantifier) => self.order.push(Event::Test(quantifier, None), events),
                Function::Recorded => self.lose(call),
                // No record says of which communicator the call makes another.
                Function::MakesComm(call) if self.archive.makes_of_world() => {
                    self.order.push(Event::CommCreate(call, CommId::WORLD, None), events);
                }
                // Score-P has no records if both peers are `MPI_PROC_NULL`.
                Function::Sendrecv if !self.archive.is_score_p() => self.lose(call),
                Function::Init | Function::Finalize | Function::Send(_) | Function::Sendrecv => {}
                Function::Wait(_) | Function::MakesComm(_) | Function::Plain | Function::OneSided(_) => {}
            }
        }
        self.limit(events);
    }

    fn lose(&mut self, call: Call) {
        let region = call.region.and_then(|region| self.archive.definitions.regions.get(&region));
        if let Some(Region::Mpi(_, name)) = region {
            *self.notes.lost.entry(name.clone()).or_default() += 1;
        }
    }

    /// Appends the computation before a call, and its time.
    fn called(&mut self, call: Call, end: Nanoseconds, events: &mut LocatedEvents) {
        self.notes.backwards += u64::from(call.begin < self.returned && end < self.returned || end < call.begin);
        self.returned = self.returned.max(end);
        self.counter.returned = self.counter.latest;
        let span = Span { begin: call.begin, end };
        let counted = self.counter.exists.then_some(Instructions(call.counted));
        if self.order.len() == 0 {
            return self.times.call(events, Location::default(), span, counted);
        }
        let (volume, span) = self.times.next(span, counted);
        if volume.0 > 0.0 {
            self.order.push(Event::Compute(volume), events);
        }
        self.order.push(Event::Annotation(Annotation::Call(span)), events);
    }

    fn start_if_needed(&mut self, events: &mut LocatedEvents) {
        if self.stage == Stage::Before {
            let began = self.began.map_or(Nanoseconds(0), |ticks| self.clock.nanoseconds(ticks));
            self.start(began, events);
        }
    }

    /// Begins the rank's events, with an `MPI_Init` that ends at this time. The time before is a part of it: when a process
    /// started is no computation.
    fn start(&mut self, end: Nanoseconds, events: &mut LocatedEvents) {
        self.stage = Stage::Running;
        let (_, span) = self.times.next(Span { begin: Nanoseconds(0), end }, None);
        self.returned = span.end;
        self.counter.returned = self.counter.latest;
        self.order.push(Event::Annotation(Annotation::Call(span)), events);
        self.order.push(Event::Init, events);
        let communicators = &self.archive.definitions.communicators;
        let mut comms: Vec<u32> = match self.local.globals(Kind::Communicator) {
            Some(globals) => globals.collect(),
            None => communicators.of_rank(self.rank).iter().copied().chain(communicators.itself()).collect(),
        };
        comms.sort_unstable();
        comms.dedup();
        for comm in comms {
            // A communicator of others, or of another paradigm.
            let _ = self.introduce(comm, events);
        }
        self.introduce_windows(events);
        for region in self.open.clone() {
            self.mark(region, Mark::RegionBegin, events);
        }
    }

    /// Introduces the communicator with this global number, if the rank is a member.
    pub(super) fn introduce(&mut self, global: u32, events: &mut LocatedEvents) -> Option<Arc<Comm>> {
        if let Some(known) = self.introduced.get(&global) {
            return Some(Arc::clone(known));
        }
        let communicators = &self.archive.definitions.communicators;
        let definition: &Communicator = communicators.get(global)?;
        let place = |members: &[Rank]| members.iter().position(|&member| member == self.rank);
        let (id, mine, peers) = match &definition.members {
            Members::World => (Some(CommId::WORLD), Arc::clone(communicators.world()), None),
            Members::Itself => {
                let is_self = communicators.itself() == Some(global);
                (is_self.then_some(CommId::SELF), Arc::from([self.rank]), None)
            }
            Members::Group(members) => (None, Arc::clone(members), None),
            Members::Between(first, second) => {
                let (mine, peers) = if place(first).is_some() { (first, second) } else { (second, first) };
                (None, Arc::clone(mine), Some(Arc::clone(peers)))
            }
        };
        let me = if id == Some(CommId::WORLD) { self.rank.0 as usize } else { place(&mine)? };
        let is_inter = peers.is_some();
        // The numbers 0 and 1 are those of the world and of the rank itself.
        let next = CommId(2 + u32::try_from(self.introduced.len()).unwrap_or(u32::MAX - 2));
        let comm =
            Comm { id: id.unwrap_or(next), peers: peers.unwrap_or_else(|| Arc::clone(&mine)), mine, me, is_inter };
        if id.is_none() {
            let group = Group {
                id: comm.id,
                members: comm.mine.to_vec(),
                remote: if is_inter { comm.peers.to_vec() } else { Vec::new() },
                tag: Some(Tag(definition.id.cast_signed())),
            };
            self.order.push(Event::CommCreate(CommCall::World, CommId::WORLD, Some(group)), events);
        }
        let comm = Arc::new(comm);
        self.introduced.insert(global, Arc::clone(&comm));
        Some(comm)
    }

    /// The communicator with this number in events.
    #[inline]
    pub(super) fn comm(&mut self, local: u32, events: &mut LocatedEvents) -> Result<Arc<Comm>, Fault> {
        if let Some(comm) = self.comms.get(&local) {
            return Ok(Arc::clone(comm));
        }
        let global = self.local.global(Kind::Communicator, local);
        self.start_if_needed(events);
        let Some(comm) = self.introduce(global, events) else {
            return Err(Fault::new(match self.archive.definitions.communicators.get(global) {
                Some(_) => format!("rank {} is no member of communicator {global}", self.rank.0),
                None => format!("no definition of communicator {global}"),
            }));
        };
        self.comms.insert(local, Arc::clone(&comm));
        Ok(comm)
    }

    /// Ends regions and requests that are still open.
    fn close(&mut self, events: &mut LocatedEvents) {
        self.leave_open_requests(events);
        while let Some(region) = self.open.pop() {
            self.mark(region, Mark::RegionEnd, events);
        }
    }

    /// There are no more records; all of them were read if the file `is_whole`.
    fn end(&mut self, is_whole: bool, events: &mut LocatedEvents) {
        if let Some(call) = self.call.take() {
            self.finish(call, call.begin, events);
        }
        if self.stage != Stage::After {
            self.start_if_needed(events);
            self.close(events);
            if is_whole {
                self.order.push(Event::Finalize, events);
            }
        }
        self.archive.notes.set(self.rank, &self.notes);
    }
}
