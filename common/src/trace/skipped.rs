//! Events that a reader passes over without returning them.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use crate::counts::{EventCounts, LoopCounter, PassedLoop, has_symbol};
use crate::event::{Event, Rank};
use crate::event_buffer::{DictEntry, EventRef, EventSink, PlainEvent};
use crate::grammar::write_event;
use crate::units::Instructions;

/// Counts of events that were passed over and, if requested, their letters.
///
/// A **letter** is a number that is the same for equal events, and practically never the same for different events of a
/// trace: the first event has 0, the next different one 1. Not all events [have](has_letter) one.
#[derive(Clone, Debug, Default)]
pub struct SkippedEvents {
    counter: LoopCounter,
    letters: Option<Vec<u32>>,
    /// The relevant properties of the event in each slot of the reader's dictionary.
    known: Vec<PassedEvent>,
    /// The letter of each event that has one, by a hash of its fields, or of its text where it is a rare one.
    alphabet: FxHashMap<u64, u32>,
    text: Vec<u8>,
}

/// The relevant properties of an event in the reader's dictionary.
#[derive(Clone, Copy, Debug)]
struct PassedEvent {
    /// The generation of the event in the dictionary.
    generation: u32,
    letter: u32,
    is_executed: bool,
}

impl PassedEvent {
    const NOTHING: Self = Self { generation: u32::MAX, letter: 0, is_executed: false };
}

impl SkippedEvents {
    /// Keeps letters.
    #[must_use]
    pub fn with_letters() -> Self {
        Self { letters: Some(Vec::new()), ..Self::default() }
    }

    /// The letters of the events that have one, in order; none if they are not kept.
    pub fn letters(&self) -> &[u32] {
        self.letters.as_deref().unwrap_or_default()
    }

    /// The counts of all events.
    pub fn counts(&self) -> EventCounts {
        self.counter.counts()
    }

    /// The longest loop that the trace has as a loop, if letters are not kept. There is none if it has no rounds.
    pub fn longest_loop(&mut self) -> &PassedLoop {
        self.counter.longest()
    }

    /// Counts an event.
    pub(crate) fn add(&mut self, event: EventRef<'_>) {
        match event {
            EventRef::Compute(work) => self.compute(work),
            EventRef::Send(..) | EventRef::Recv(..) => self.count(&event.to_event()),
            EventRef::Event(event) => self.count(event),
        }
    }

    fn count(&mut self, event: &Event) {
        self.counter.add(event);
        if has_symbol(event) && self.letters.is_some() {
            let letter = self.letter(event);
            self.letters.as_mut().into_iter().for_each(|letters| letters.push(letter));
        }
    }

    /// The letter of an event; 0 if none are kept.
    fn letter(&mut self, event: &Event) -> u32 {
        if self.letters.is_none() {
            return 0;
        }
        let next = self.alphabet.len() as u32;
        *self.alphabet.entry(hash_of(event, &mut self.text)).or_insert(next)
    }
}

/// A hash of the fields of an event, or of its text, written into `text`, where it is a rare one.
pub(super) fn hash_of(event: &Event, text: &mut Vec<u8>) -> u64 {
    let mut hasher = FxHasher::default();
    if let Event::Send(mode, message, completion) = event {
        (b's', mode, message, completion).hash(&mut hasher);
    } else if let Event::Recv(message, completion) = event {
        (b'r', message, completion).hash(&mut hasher);
    } else if let Event::Wait(quantifier, completed) = event {
        (b'w', quantifier, completed).hash(&mut hasher);
    } else {
        text.clear();
        write_event(text, Rank(0), event);
        hasher.write(text);
    }
    hasher.finish()
}

impl EventSink for SkippedEvents {
    fn len(&self) -> usize {
        self.counts().events as usize
    }

    /// Does nothing: events that were passed stay passed, as a line that is wrong ends the reading.
    fn truncate(&mut self, _: usize) {}

    #[inline]
    fn compute(&mut self, work: Instructions) {
        self.counter.compute(work);
    }

    fn push(&mut self, event: Event) {
        if let Event::Compute(work) = event {
            self.compute(work);
        } else {
            self.count(&event);
        }
    }

    fn plain(&mut self, event: PlainEvent) {
        self.push(event.into());
    }

    #[inline]
    fn push_ref(&mut self, entry: &DictEntry) {
        let (slot, generation) = entry.name();
        match self.known.get(slot as usize) {
            Some(&known) if known.generation == generation => self.count_known(known),
            _ => self.learn(entry),
        }
    }

    #[inline]
    fn loop_counter(&mut self) -> Option<&mut LoopCounter> {
        self.letters.is_none().then_some(&mut self.counter)
    }
}

impl SkippedEvents {
    #[inline]
    fn count_known(&mut self, PassedEvent { letter, is_executed, .. }: PassedEvent) {
        self.counter.add_call(is_executed);
        if let Some(letters) = &mut self.letters {
            letters.push(letter);
        }
    }

    /// Counts an event of the dictionary that was not there before.
    #[cold]
    fn learn(&mut self, entry: &DictEntry) {
        if !has_symbol(&entry.event) {
            return self.count(&entry.event);
        }
        let (slot, generation) = entry.name();
        let known =
            PassedEvent { generation, letter: self.letter(&entry.event), is_executed: entry.event.is_executed() };
        if self.known.len() <= slot as usize {
            self.known.resize(slot as usize + 1, PassedEvent::NOTHING);
        }
        self.known[slot as usize] = known;
        self.count_known(known);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::event::{CommId, Completion, Outgoing, SendMode, Tag};
    use crate::event_buffer::EventBuffer;
    use crate::grammar::{EventReader, EventWriter};
    use crate::units::{Bytes, Seconds};

    fn event(kind: u32) -> Event {
        let message = Outgoing { comm: CommId::WORLD, to: Rank(kind), tag: Tag(7), bytes: Bytes(8) };
        match kind {
            0 => Event::Sleep(Seconds(0.5)),
            1 => Event::Matched(crate::event::RequestId(1), Rank(2), Tag(3)),
            _ => Event::Send(SendMode::Standard, message, Completion::Blocking),
        }
    }

    /// A program of loops with computation that varies, some of it none.
    fn program() -> impl Strategy<Value = Vec<Event>> {
        let body = prop::collection::vec((0..6_u32, prop::bool::ANY), 1..8);
        let loops = (body, 1..80_usize, prop::collection::vec(0..4_u32, 1..9));
        prop::collection::vec(loops, 1..6).prop_map(|loops| {
            let round = |body: &[(u32, bool)], works: &[u32], number: usize| {
                let steps = body.iter().enumerate().flat_map(|(place, &(kind, computes))| {
                    let work = works[(number * body.len() + place) % works.len()] * 1000;
                    let compute = (computes && work > 0).then(|| Event::Compute(Instructions(work.into())));
                    compute.into_iter().chain([event(kind)])
                });
                steps.collect::<Vec<_>>()
            };
            let all = loops.iter().flat_map(|(body, times, works)| {
                (0..*times).flat_map(|number| round(body, works, number)).collect::<Vec<_>>()
            });
            all.collect()
        })
    }

    fn counted(events: impl IntoIterator<Item = Event>) -> EventCounts {
        let mut counts = EventCounts::default();
        events.into_iter().for_each(|event| counts.add(&event));
        counts
    }

    proptest! {
        /// Some events are passed over and others read, however lines are divided.
        #[test]
        fn nothing_is_lost_between_what_is_passed_over_and_what_is_read(
            events in program(), portions in prop::collection::vec((1..50_usize, 0..3_u32), 1..20), letters in prop::bool::ANY
        ) {
            let (mut text, mut writer) = (Vec::new(), EventWriter::new(Rank(0)));
            events.iter().for_each(|event| writer.write(&mut text, event));
            writer.end_line(&mut text);
            let mut reader = EventReader::new(9);
            reader.remember();
            let (mut passed, mut read) = (if letters { SkippedEvents::with_letters() } else { SkippedEvents::default() }, Vec::new());
            let mut portions = portions.into_iter().cycle();
            for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
                loop {
                    let (most, fate) = portions.next().unwrap();
                    if fate == 0 {
                        let mut buffer = EventBuffer::default();
                        reader.some_of_line(line, &mut buffer, most).unwrap();
                        read.extend(buffer.iter().map(EventRef::to_event));
                    } else {
                        reader.some_of_line(line, &mut passed, most).unwrap();
                    }
                    if !reader.is_unfinished() {
                        break;
                    }
                }
            }
            let mut all = passed.counts();
            all += counted(read);
            prop_assert_eq!(all, counted(events));
            let found = passed.longest_loop().clone();
            let total: u32 = found.rounds.iter().map(|round| round.executed).sum();
            prop_assert!(found.before.executed + u64::from(total) <= passed.counts().executed);
        }

        /// The rounds of a loop are those of the program.
        #[test]
        fn rounds_have_their_computation(works in prop::collection::vec(0..5_u32, 40..200)) {
            let rounds = works.iter().map(|&work| {
                let compute = (work > 0).then(|| Event::Compute(Instructions(f64::from(work))));
                compute.into_iter().chain([event(2), event(3)])
            });
            let (mut text, mut writer) = (Vec::new(), EventWriter::new(Rank(0)));
            rounds.flatten().for_each(|event| writer.write(&mut text, &event));
            writer.end_line(&mut text);
            let (mut reader, mut passed) = (EventReader::new(9), SkippedEvents::default());
            reader.remember();
            for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
                reader.some_of_line(line, &mut passed, usize::MAX).unwrap();
            }
            let found = passed.longest_loop();
            let expected = works.iter().skip(works.len() - found.rounds.len()).map(|&work| f64::from(work));
            prop_assert_eq!(found.period, 2);
            prop_assert!(found.rounds.iter().map(|round| round.work.0).eq(expected));
        }
    }
}
