//! The events of one rank, translated from the records of the locations of its threads.
//!
//! Records stand between those that enter and leave an MPI function. A call becomes events when it is left, because its
//! time is known only then. A receive that is not blocking becomes an event when it completes: only that record names its
//! source, its tag and its bytes. The events after it wait; of a receive that takes very long, the records are read a
//! second time.

use std::path::PathBuf;
use std::sync::Arc;

use titr_common::event::{Annotation, CommId, Event, Mark, Quantifier, Rank, Span, ThreadId};
use titr_common::trace::{EventSource, LocatedEvents, TraceError};
use titr_common::units::{Instructions, Nanoseconds};

use super::Archive;
use super::definitions::Region;
use super::fields::Otf2Fields;
use super::functions::Otf2Function;
use super::in_order::{FarEvents, InOrder};
use super::local::Otf2Kind;
use super::records::Otf2Record;
use super::threads::ThreadRecords;
use super::translation::{Fault, Otf2Call, Otf2Pending, Otf2Stage, Otf2Thread, Otf2Translation, RegionMeaning};
use crate::input::rank_events::CallTimes;

/// The number of events after which a batch is handed out.
const BATCH: usize = 1 << 10;

pub(super) struct RankEvents {
    /// The records; none if the file is missing from an incomplete archive.
    records: Option<ThreadRecords>,
    translation: Otf2Translation,
    partial: bool,
    is_ended: bool,
    torn: Option<String>,
    /// The events that are known too late, once one was needed.
    far: Option<FarEvents>,
}

impl RankEvents {
    /// The events of a rank, of an incomplete file those that there are, if that is `partial`.
    pub(super) fn open(archive: &Arc<Archive>, rank: Rank, partial: bool) -> Result<Self, TraceError> {
        let locations = archive.locations(rank);
        let locals = archive.locals(locations)?;
        let (records, torn) = match ThreadRecords::open(archive, locations, &locals) {
            Err(error) if partial => (None, Some(error.to_string())),
            records => (Some(records?), None),
        };
        let translation = Otf2Translation::new(Arc::clone(archive), rank, locals);
        Ok(Self { records, translation, partial, is_ended: false, torn, far: None })
    }

    /// Translates the next record; false at the end.
    #[inline]
    fn step(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        let Some(records) = &mut self.records else { return Ok(false) };
        let Some((thread, record)) = records.next()? else { return Ok(false) };
        let kind = record.kind;
        self.translation.switch(thread);
        match self.translation.take(record, events) {
            Ok(()) => {
                while let Some(place) = self.translation.order.overdue() {
                    let far = self.far.get_or_insert_with(|| find_far(&self.translation, self.partial));
                    let event = far.remove(&place).flatten();
                    self.translation.order.fill(place, event, events);
                }
                Ok(true)
            }
            Err(Fault::Malformed) => Err(records.current().malformed(kind)),
            Err(Fault::Contradiction(what)) => Err(records.current().error(what)),
        }
    }
}

/// Reads the records of a rank a second time. If they have a fault, the first reading gets there.
fn find_far(first: &Otf2Translation, partial: bool) -> FarEvents {
    let Ok(mut second) = RankEvents::open(&first.archive, first.rank, partial) else { return FarEvents::default() };
    second.translation.order = InOrder::looking();
    let mut none = LocatedEvents::default();
    while matches!(second.read(&mut none), Ok(true)) {}
    second.translation.order.found()
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
        self.records.as_ref().map(|records| records.current().path().to_owned())
    }

    fn torn(&self) -> Option<String> {
        self.torn.clone()
    }
}

impl Otf2Translation {
    /// Translates a record.
    #[inline]
    fn take(&mut self, record: Otf2Record<'_>, events: &mut LocatedEvents) -> Result<(), Fault> {
        let Otf2Record { kind, ticks, mut fields } = record;
        match kind {
            12 => {
                let region = fields.u32().ok_or(Fault::Malformed)?;
                return self.enter(region, ticks, events);
            }
            13 => {
                let region = fields.u32().ok_or(Fault::Malformed)?;
                return self.leave(region, ticks, events);
            }
            10 => {
                let until = fields.full_u64().ok_or(Fault::Malformed)?;
                self.flushed(ticks, until, events);
                return Ok(());
            }
            11 => {
                // Records are missing from here on, the end of a call among them.
                if let Some(call) = self.thread.call.take() {
                    let end = self.thread.clock.nanoseconds(ticks);
                    self.finish(call, end, events)?;
                }
                return Ok(());
            }
            6 if self.is_own => return self.attributes(fields).ok_or(Fault::Malformed),
            31 => return self.count(fields).ok_or(Fault::Malformed),
            _ if self.stage == Otf2Stage::After => return Ok(()),
            14 | 15 | 17 | 18 | 23 | 85 if self.thread.call.is_some_and(|call| call.own.is_some()) => {}
            87 if self.is_own => self.thread.own.created = fields.u32(),
            14..=21 | 23 | 85 | 86 => self.message(kind, fields, events)?,
            35 | 36 | 38..=43 | 46..=52 => self.one_sided(kind, fields, events)?,
            _ => {
                // Waits for memory that another rank writes, calls by their place in the program, and what later versions have.
                if matches!(kind, 45 | 66 | 67 | 89..) {
                    *self.notes.unread.entry(kind).or_default() += 1;
                }
                return Ok(());
            }
        }
        // Some tools record messages without the functions.
        if self.thread.call.is_none() && (!self.thread.pending.is_empty() || !self.thread.completed.is_empty()) {
            let begin = self.thread.clock.nanoseconds(ticks);
            let call = self.begin(Otf2Function::Plain, None, begin);
            self.finish(call, begin, events)?;
        }
        Ok(())
    }

    fn place(&mut self, local: u32) -> RegionMeaning {
        if let Some(&place) = self.thread.regions.get(&local) {
            return place;
        }
        let region = self.thread.local.global(Otf2Kind::Region, local);
        let place = match self.archive.definitions.regions.get(&region) {
            Some(&Region::Mpi(function, _)) => RegionMeaning::Mpi(function, region),
            Some(Region::User { .. }) => RegionMeaning::User(region),
            Some(Region::Other) | None => RegionMeaning::Other,
        };
        self.thread.regions.insert(local, place);
        place
    }

    fn begin(&self, function: Otf2Function, region: Option<u32>, begin: Nanoseconds) -> Otf2Call {
        let counted = self.thread.counter.latest.saturating_sub(self.thread.counter.returned) as f64;
        Otf2Call { function, region, begin, depth: 0, counted, own: None }
    }

    fn enter(&mut self, local: u32, ticks: u64, events: &mut LocatedEvents) -> Result<(), Fault> {
        if self.thread.began.is_none() {
            self.thread.began = Some(ticks);
            if self.order.thread != ThreadId::MAIN {
                self.thread.times = CallTimes::since(self.thread.clock.nanoseconds(ticks));
            }
        }
        let own = self.thread.own.next.take();
        match (self.place(local), &mut self.thread.call) {
            (RegionMeaning::Mpi(..), Some(call)) => call.depth += 1,
            (RegionMeaning::Mpi(function, region), None) => {
                let begin = self.thread.clock.nanoseconds(ticks);
                self.thread.call = Some(Otf2Call { own, ..self.begin(function, Some(region), begin) });
            }
            (RegionMeaning::User(region), None) => {
                self.before_mark(own, events)?;
                self.thread.open.push(region);
                self.call_sites.move_on();
                self.mark(region, Mark::RegionBegin, events);
            }
            // A function that MPI calls, such as that of a reduction.
            (RegionMeaning::User(_), Some(_)) | (RegionMeaning::Other, _) => {}
        }
        Ok(())
    }

    fn leave(&mut self, local: u32, ticks: u64, events: &mut LocatedEvents) -> Result<(), Fault> {
        let own = self.thread.own.next.take();
        match (self.place(local), &mut self.thread.call) {
            (RegionMeaning::Mpi(..), Some(call)) if call.depth > 0 => call.depth -= 1,
            (RegionMeaning::Mpi(..), call) => {
                if let Some(call) = call.take() {
                    let end = self.thread.clock.nanoseconds(ticks);
                    self.finish(call, end, events)?;
                }
            }
            (RegionMeaning::User(region), None) => {
                self.before_mark(own, events)?;
                // The end of a region is missing if the measurement was off at the time.
                let Some(depth) = self.thread.open.iter().rposition(|&open| open == region) else { return Ok(()) };
                self.call_sites.move_on();
                while self.thread.open.len() > depth {
                    let Some(region) = self.thread.open.pop() else { return Ok(()) };
                    self.mark(region, Mark::RegionEnd, events);
                }
            }
            (RegionMeaning::User(_), Some(_)) | (RegionMeaning::Other, _) => {}
        }
        Ok(())
    }

    /// The tool wrote its buffer to disk, which is no computation.
    fn flushed(&mut self, from: u64, until: u64, events: &mut LocatedEvents) {
        if self.stage == Otf2Stage::Running && self.thread.call.is_none() {
            let (begin, end) = (self.thread.clock.nanoseconds(from), self.thread.clock.nanoseconds(until));
            let call = self.begin(Otf2Function::Plain, None, begin);
            self.called(call, end, events);
        }
    }

    /// Takes note of the counter.
    fn count(&mut self, mut f: Otf2Fields<'_>) -> Option<()> {
        if !self.thread.counter.exists {
            return Some(());
        }
        let (metric, number) = (f.u32()?, f.byte()?);
        let Self { thread: Otf2Thread { local, counter, .. }, archive, .. } = self;
        let place = *counter
            .places
            .entry(metric)
            .or_insert_with(|| archive.definitions.instructions.get(&local.global(Otf2Kind::Metric, metric)).copied());
        let Some(place) = place.filter(|&place| place < usize::from(number)) else { return Some(()) };
        for _ in 0..place {
            let _ = (f.byte()?, f.u64()?);
        }
        (_, self.thread.counter.latest) = (f.byte()?, f.u64()?);
        Some(())
    }

    /// The call is over: appends its events.
    fn finish(&mut self, mut call: Otf2Call, end: Nanoseconds, events: &mut LocatedEvents) -> Result<(), Fault> {
        if let Some(text) = call.own
            && self.stage != Otf2Stage::After
        {
            self.thread.pending.clear();
            self.thread.completion(call.function);
            return self.finish_own_call(call, text, end, events);
        }
        match (call.function, self.stage) {
            (_, Otf2Stage::After) => {
                self.thread.pending.clear();
                return Ok(());
            }
            (Otf2Function::Init, Otf2Stage::Before) => {
                self.start(end, events);
                return Ok(());
            }
            (Otf2Function::Finalize, Otf2Stage::Before | Otf2Stage::Running) => {
                self.start_if_needed(events);
                self.mark_call_site(events);
                self.close(events);
                self.called(call, end, events);
                self.order.push(Event::Finalize, events);
                self.stage = Otf2Stage::After;
                return Ok(());
            }
            (_, Otf2Stage::Before) if self.thread.pending.is_empty() && self.thread.completed.is_empty() => {
                return Ok(());
            }
            (_, Otf2Stage::Before) => self.start_if_needed(events),
            (Otf2Function::Local, Otf2Stage::Running)
                if self.thread.pending.is_empty() && self.thread.completed.is_empty() =>
            {
                return Ok(());
            }
            (_, Otf2Stage::Running) => {}
        }
        self.mark_call_site(events);
        if call.function == Otf2Function::Sendrecv {
            self.join_messages();
        }
        if call.function == Otf2Function::Wait(Quantifier::All) {
            self.complete_without_records(events);
        }
        let mut is_empty = true;
        for index in 0..self.thread.pending.len() {
            let Some(pending) = self.thread.pending.get_mut(index).map(std::mem::take) else { break };
            if matches!(pending, Otf2Pending::Nothing) {
                continue;
            }
            self.called(call, end, events);
            (is_empty, call.counted) = (false, 0.0);
            self.append(pending, events);
        }
        self.thread.pending.clear();
        if let Some(event) = self.thread.completion(call.function) {
            self.called(call, end, events);
            self.order.push(event, events);
        } else if is_empty {
            self.called(call, end, events);
            match call.function {
                Otf2Function::Test(quantifier) => self.order.push(Event::Test(quantifier, None), events),
                // No record says of which communicator the call makes another.
                Otf2Function::MakesComm(call) if self.archive.makes_of_world() => {
                    self.order.push(Event::CommCreate(call, CommId::WORLD, None), events);
                }
                Otf2Function::Recorded | Otf2Function::MakesComm(_) => self.lose(call),
                // Score-P has no records if both peers are `MPI_PROC_NULL`.
                Otf2Function::Sendrecv if !self.archive.is_score_p() => self.lose(call),
                Otf2Function::Init | Otf2Function::Finalize | Otf2Function::Send(_) | Otf2Function::Sendrecv => {}
                Otf2Function::Wait(_) | Otf2Function::Plain | Otf2Function::Local | Otf2Function::OneSided(_) => {}
            }
        }
        Ok(())
    }

    /// Marks the call site of the call that follows, with the computation before it.
    fn mark_call_site(&mut self, events: &mut LocatedEvents) {
        if !self.is_own {
            for mark in
                self.call_sites.marks(&self.thread.open, &self.archive.definitions.regions).into_iter().flatten()
            {
                self.order.push(Event::Mark(mark), events);
            }
        }
    }

    fn lose(&mut self, call: Otf2Call) {
        let region = call.region.and_then(|region| self.archive.definitions.regions.get(&region));
        if let Some(Region::Mpi(_, name)) = region {
            *self.notes.lost.entry(name.clone()).or_default() += 1;
        }
    }

    /// Appends the computation before a call, and its time.
    fn called(&mut self, call: Otf2Call, end: Nanoseconds, events: &mut LocatedEvents) {
        self.notes.backwards +=
            u64::from(call.begin < self.thread.returned && end < self.thread.returned || end < call.begin);
        self.thread.returned = self.thread.returned.max(end);
        self.thread.counter.returned = self.thread.counter.latest;
        let span = Span { begin: call.begin, end };
        let counted = self.thread.counter.exists.then_some(Instructions(call.counted));
        let (volume, span) = self.thread.times.next(span, counted);
        if volume.0 > 0.0 {
            self.order.push(Event::Compute(volume), events);
        }
        self.order.push(Event::Annotation(Annotation::Call(span)), events);
    }

    /// Ends regions and requests that are still open.
    fn close(&mut self, events: &mut LocatedEvents) {
        self.leave_open_requests(events);
        self.of_each_thread(|this| {
            if this.is_own {
                this.thread.open.clear();
            }
            while let Some(region) = this.thread.open.pop() {
                this.mark(region, Mark::RegionEnd, events);
            }
        });
    }

    /// There are no more records; all of them were read if the file `is_whole`.
    fn end(&mut self, is_whole: bool, events: &mut LocatedEvents) {
        self.of_each_thread(|this| {
            if let Some(call) = this.thread.call.take() {
                // The text of a call that did not end is not looked at.
                let _ = this.finish(Otf2Call { own: None, ..call }, call.begin, events);
            }
        });
        if self.stage != Otf2Stage::After {
            self.start_if_needed(events);
            self.close(events);
            if is_whole {
                self.order.push(Event::Finalize, events);
            }
        }
        self.archive.notes.keep(self.rank, std::mem::take(&mut self.notes));
    }
}
