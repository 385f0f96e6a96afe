//! Events that are kept in memory, of a trace that is read many times.
//!
//! A study replays a trace on hundreds of machines, and to inflate, parse and check its text takes up to a third of a replay. A kept
//! rank is a code of four bytes for each event, which names one of the rank's different events, and the volumes of its computations.
//! All replays and threads share it.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;

use super::error::TraceError;
use super::event_source::{EventSource, SkipSupport};
use super::located::{Located, LocatedEvents, Location};
use super::opened::{RankSources, Trace};
use super::section::Section;
use super::skipped::{SkippedEvents, hash_of};
use crate::event::{Event, Rank};
use crate::event_buffer::{DictEntry, EventRef, EventSink};
use crate::units::Instructions;

/// The most bytes of a trace that are kept. Ranks beyond are read from their files each time.
const MOST: usize = 256 << 20;

/// The most events of a round that is kept once for all rounds that equal it.
const LARGEST_ROUND: usize = 1 << 11;

/// The number of events that are returned at a time.
const AT_ONCE: usize = 64;

/// The code of a computation. All other codes are places in the dictionary.
const COMPUTE: u32 = u32::MAX;

impl Trace {
    /// This trace, which keeps the events of each rank in memory when it is first asked for them: up to 256 MB, and no rank that
    /// cannot be read to its end, or shares its file with others.
    #[must_use]
    pub fn kept(self) -> Self {
        self.kept_within(MOST)
    }

    fn kept_within(self, most: usize) -> Self {
        let ranks = (0..self.ranks()).map(|_| OnceLock::new()).collect();
        self.with_sources(|sources| Arc::new(KeptSources { sources, ranks, left: AtomicUsize::new(most) }))
    }
}

/// The sources of a trace, and the ranks that are kept of it.
struct KeptSources {
    sources: Arc<dyn RankSources>,
    /// `None` for a rank that is not kept.
    ranks: Vec<OnceLock<Option<Arc<KeptRank>>>>,
    /// The bytes that may still be kept.
    left: AtomicUsize,
}

impl KeptSources {
    /// The events of a rank; `None` if they do not fit or cannot be read, so that whoever replays them finds the fault in its place.
    fn keep(&self, rank: Rank, partial: bool) -> Option<Arc<KeptRank>> {
        if !self.sources.are_separate() || self.left.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut source = self.sources.source(rank, partial).ok()?;
        let mut keeper = Keeper::default();
        let (mut events, mut reserved, mut more) = (LocatedEvents::default(), 0, true);
        while more {
            events.clear();
            let again = source.read_round(&mut events, LARGEST_ROUND).ok()?;
            if again == 0 {
                more = source.read(&mut events).ok()?;
            }
            keeper.add(&events, 1 + again);
            let bytes = keeper.rank.bytes();
            let reserve = |left: usize| left.checked_sub(bytes - reserved);
            if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, reserve).is_err() {
                self.left.store(0, Ordering::Relaxed);
                return None;
            }
            reserved = bytes;
        }
        let (path, torn) = (source.path(), source.torn());
        Some(Arc::new(KeptRank { partial, path, torn, ..keeper.rank }))
    }
}

/// The events of one rank.
#[derive(Default)]
struct KeptRank {
    /// Whether an incomplete stream was accepted.
    partial: bool,
    path: Option<PathBuf>,
    torn: Option<String>,
    /// The code of each event.
    codes: Vec<u32>,
    /// The volume of each computation, in order.
    works: Vec<Instructions>,
    /// The other events, those that recur once.
    dictionary: Vec<DictEntry>,
    /// The bytes of the lists of these.
    lists: usize,
    parts: Vec<KeptPart>,
    places: Vec<KeptPlace>,
}

/// Consecutive events that come one or more times.
struct KeptPart {
    codes: Range<usize>,
    works: Range<usize>,
    times: u64,
}

/// The location of the events from an index on: of all the same, or a line further from each to the next.
struct KeptPlace {
    first: usize,
    location: Location,
    is_line_each: bool,
}

impl KeptPlace {
    fn of(&self, index: usize) -> Location {
        let lines = if self.is_line_each { (index - self.first) as u64 } else { 0 };
        Location { line: self.location.line.map(|line| line + lines), ..self.location }
    }
}

impl KeptRank {
    fn bytes(&self) -> usize {
        size_of_val(self.codes.as_slice())
            + size_of_val(self.works.as_slice())
            + size_of_val(self.dictionary.as_slice())
            + self.lists
            + size_of_val(self.parts.as_slice())
            + size_of_val(self.places.as_slice())
    }

    /// The place of the event at an index, and the index after the last event that it is the place of.
    fn place(&self, index: usize) -> Option<(&KeptPlace, usize)> {
        let next = self.places.partition_point(|place| place.first <= index);
        let end = self.places.get(next).map_or(self.codes.len(), |place| place.first);
        Some((self.places.get(next.checked_sub(1)?)?, end))
    }
}

/// Makes a [`KeptRank`].
#[derive(Default)]
struct Keeper {
    rank: KeptRank,
    /// The place in the dictionary of each event that may recur, by its hash.
    slots: FxHashMap<u64, u32>,
    text: Vec<u8>,
}

impl Keeper {
    /// Adds events that come so many times.
    fn add(&mut self, events: &LocatedEvents, times: u64) {
        let (codes, works) = (self.rank.codes.len(), self.rank.works.len());
        for Located { event, location } in events.iter() {
            self.locate(location);
            let code = match event {
                EventRef::Compute(work) => {
                    self.rank.works.push(work);
                    COMPUTE
                }
                EventRef::Event(event) => self.slot(event),
                EventRef::Send(..) | EventRef::Recv(..) => self.slot(&event.to_event()),
            };
            self.rank.codes.push(code);
        }
        let (codes, works) = (codes..self.rank.codes.len(), works..self.rank.works.len());
        match self.rank.parts.last_mut() {
            _ if codes.is_empty() => {}
            Some(last) if last.times == 1 && times == 1 => (last.codes.end, last.works.end) = (codes.end, works.end),
            _ => self.rank.parts.push(KeptPart { codes, works, times }),
        }
    }

    fn locate(&mut self, location: Location) {
        let index = self.rank.codes.len();
        if let Some(last) = self.rank.places.last_mut() {
            let is_second = index == last.first + 1;
            let is_line_each = last.is_line_each;
            last.is_line_each |= is_second && last.location != location;
            if last.of(index) == location {
                return;
            }
            last.is_line_each = is_line_each;
        }
        self.rank.places.push(KeptPlace { first: index, location, is_line_each: false });
    }

    /// The place of an event in the dictionary.
    fn slot(&mut self, event: &Event) -> u32 {
        let next = self.rank.dictionary.len() as u32;
        // Times differ from each other.
        if !matches!(event, Event::Sleep(_) | Event::Annotation(_)) {
            let slot = *self.slots.entry(hash_of(event, &mut self.text)).or_insert(next);
            if self.rank.dictionary.get(slot as usize).is_some_and(|known| known.event == *event) {
                return slot;
            }
        }
        self.rank.lists += event.list_size().bytes;
        self.rank.dictionary.push(DictEntry::new(event.clone(), next, 0));
        next
    }
}

/// A reading of a kept rank.
struct KeptSource {
    rank: Arc<KeptRank>,
    /// The current part, and how often it came.
    part: usize,
    came: u64,
    /// The next event in the codes, and the next computation.
    at: usize,
    work: usize,
}

impl KeptSource {
    /// Gives the next events to `sink`: so many, or up to the end of the part. Returns their indices.
    fn give(&mut self, sink: &mut impl EventSink, most: usize) -> Range<usize> {
        let Some(part) = self.rank.parts.get(self.part) else { return self.at..self.at };
        let given = self.at..part.codes.end.min(self.at.saturating_add(most));
        for &code in &self.rank.codes[given.clone()] {
            match self.rank.dictionary.get(code as usize) {
                Some(entry) => sink.push_ref(entry),
                None => {
                    sink.compute(self.rank.works[self.work]);
                    self.work += 1;
                }
            }
        }
        self.at = given.end;
        if self.at == part.codes.end {
            self.came += 1;
            if self.came < part.times {
                (self.at, self.work) = (part.codes.start, part.works.start);
            } else {
                (self.part, self.came) = (self.part + 1, 0);
            }
        }
        given
    }

    /// As [`give`](Self::give), with the places of the events.
    fn give_located(&mut self, events: &mut LocatedEvents, most: usize) -> bool {
        let first = events.len();
        let given = self.give(events.events_mut(), most);
        let mut index = given.start;
        while index < given.end
            && let Some((place, end)) = self.rank.place(index)
        {
            let end = end.min(given.end);
            // One call is enough where all have the same place.
            let each = if place.is_line_each { index..end } else { index..index + 1 };
            each.for_each(|index| events.locate(first + index - given.start, place.of(index)));
            index = end;
        }
        !given.is_empty()
    }
}

impl EventSource for KeptSource {
    fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        Ok(self.give_located(events, AT_ONCE))
    }

    fn goes_round(&mut self, most: usize) -> bool {
        let part = self.rank.parts.get(self.part);
        part.is_some_and(|part| {
            self.came == 0 && self.at == part.codes.start && part.times > 1 && part.codes.len() <= most
        })
    }

    fn read_round(&mut self, events: &mut LocatedEvents, most: usize) -> Result<u64, TraceError> {
        if !self.goes_round(most) {
            return Ok(0);
        }
        let Some(KeptPart { codes, works, times }) = self.rank.parts.get(self.part) else { return Ok(0) };
        let (after, further) = ((codes.end, works.end), times - 1);
        self.give_located(events, most);
        (self.at, self.work) = after;
        (self.part, self.came) = (self.part + 1, 0);
        Ok(further)
    }

    fn pass(&mut self, passed: &mut SkippedEvents, most: usize) -> Result<SkipSupport, TraceError> {
        let Some((place, end)) = self.rank.place(self.at) else { return Ok(SkipSupport::Ended) };
        let (thread, run) = (place.location.thread, end - self.at);
        // No more than `most` events, of which no more than these have letters, and all of these only if the last one has.
        let given = self.give(passed, most.min(run));
        Ok(if given.is_empty() { SkipSupport::Ended } else { SkipSupport::SkippedEvents(thread) })
    }

    fn path(&self) -> Option<PathBuf> {
        self.rank.path.clone()
    }

    fn torn(&self) -> Option<String> {
        self.rank.torn.clone()
    }
}

impl RankSources for KeptSources {
    fn source(&self, rank: Rank, partial: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        let kept = self.ranks.get(rank.0 as usize);
        let kept = kept.and_then(|kept| kept.get_or_init(|| self.keep(rank, partial)).as_ref());
        match kept.filter(|kept| kept.partial == partial) {
            Some(rank) => Ok(Box::new(KeptSource { rank: Arc::clone(rank), part: 0, came: 0, at: 0, work: 0 })),
            None => self.sources.source(rank, partial),
        }
    }

    fn file(&self, rank: Rank) -> Result<Option<Section>, TraceError> {
        self.sources.file(rank)
    }

    fn untranslated(&self) -> Vec<String> {
        self.sources.untranslated()
    }

    fn as_recorded(&self) -> Option<Arc<dyn RankSources>> {
        self.sources.as_recorded()
    }

    fn are_separate(&self) -> bool {
        self.sources.are_separate()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::event::{CommId, Completion, Outgoing, SendMode, Tag, ThreadId};
    use crate::units::{Bytes, Seconds};

    /// Events with their places, in parts, some of which are rounds that come again.
    #[derive(Clone, Debug)]
    struct Listed(Vec<(Vec<(Event, Location)>, u64)>);

    impl EventSource for Listed {
        fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
            let Some((part, again)) = self.0.first_mut() else { return Ok(false) };
            part.iter().for_each(|(event, location)| events.push(event.clone(), *location));
            match again.checked_sub(1) {
                Some(left) => *again = left,
                None => drop(self.0.remove(0)),
            }
            Ok(true)
        }

        fn goes_round(&mut self, most: usize) -> bool {
            self.0.first().is_some_and(|(part, again)| *again > 0 && part.len() <= most)
        }

        fn read_round(&mut self, events: &mut LocatedEvents, most: usize) -> Result<u64, TraceError> {
            if !self.goes_round(most) {
                return Ok(0);
            }
            let again = std::mem::take(&mut self.0[0].1);
            self.read(events).map(|_| again)
        }

        fn torn(&self) -> Option<String> {
            Some("as it is".to_owned())
        }
    }

    impl RankSources for Listed {
        fn source(&self, _: Rank, _: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
            Ok(Box::new(self.clone()))
        }
    }

    fn event(kind: u32) -> Event {
        let message = Outgoing { comm: CommId::WORLD, to: Rank(kind), tag: Tag(7), bytes: Bytes(8) };
        match kind {
            0 => Event::Compute(Instructions(0.25)),
            1 => Event::Sleep(Seconds(0.5)),
            2 => Event::CommFree(CommId(3)),
            _ => Event::Send(SendMode::Standard, message, Completion::Blocking),
        }
    }

    fn parts() -> impl Strategy<Value = Listed> {
        let described = (0..6_u32, 0..3_u32, prop::option::of(0..3_u64));
        let part = (prop::collection::vec(described, 1..90), 0..3_u64);
        prop::collection::vec(part, 0..6).prop_map(|parts| {
            let mut line = 1;
            let mut located = |(kind, thread, step): (u32, u32, Option<u64>)| {
                line += step.unwrap_or(0);
                (event(kind), Location { thread: ThreadId(thread / 2), line: step.map(|_| line) })
            };
            Listed(
                parts.into_iter().map(|(part, again)| (part.into_iter().map(&mut located).collect(), again)).collect(),
            )
        })
    }

    /// All events with their places, read with rounds of at most so many events.
    fn all(mut source: Box<dyn EventSource + Send>, most: usize) -> Vec<(Event, Location)> {
        let (mut all, mut more) = (Vec::new(), true);
        while more {
            let mut events = LocatedEvents::default();
            let again = source.read_round(&mut events, most).unwrap();
            if again == 0 {
                more = source.read(&mut events).unwrap();
            }
            let read: Vec<_> = events.iter().map(|located| (located.event.to_event(), located.location)).collect();
            (0..=again).for_each(|_| all.extend(read.iter().cloned()));
        }
        assert_eq!(source.torn().as_deref(), Some("as it is"));
        all
    }

    proptest! {
        /// Whether they fit or not, and again.
        #[test]
        fn kept_events_are_those_of_the_trace(parts in parts(), most in prop::sample::select(vec![0, 500, MOST]), round in 0..99_usize) {
            let trace = Trace::new(1, parts).partial(true);
            let kept = trace.clone().kept_within(most);
            let expected = all(trace.source(Rank(0), true).unwrap(), 0);
            for _ in 0..2 {
                prop_assert_eq!(&all(kept.source(Rank(0), true).unwrap(), round), &expected);
            }
            let (mut read, mut passed) = (SkippedEvents::default(), SkippedEvents::default());
            let threads = trace.stream(Rank(0)).unwrap().pass(&mut read, u64::MAX).unwrap();
            let mut stream = kept.stream(Rank(0)).unwrap();
            let before = stream.pass(&mut passed, round as u64).unwrap();
            prop_assert_eq!(passed.counts().letters, read.counts().letters.min(round as u64));
            prop_assert_eq!(stream.pass(&mut passed, u64::MAX).unwrap().max(before), threads);
            prop_assert_eq!(passed.counts(), read.counts());
        }
    }
}
