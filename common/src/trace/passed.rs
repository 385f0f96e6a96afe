//! Events that a reader passes over without returning them.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use crate::event::{Event, PlainEvent, Rank};
use crate::event_buffer::{DictEntry, EventRef, EventSink};
use crate::grammar::write_event;
use crate::units::{Instructions, Seconds};

/// Counts of events that were passed over and, if requested, their letters.
///
/// A **letter** is a number that is the same for equal events, and practically never the same for different events of a
/// trace: the first event has 0, the next different one 1. Computations, sleeps, annotations and the stacks of call
/// sites have none, because they may differ between iterations of a loop that makes the same calls.
#[derive(Clone, Debug, Default)]
pub struct Passed {
    letters: Option<Vec<u32>>,
    counted: u64,
    events: u64,
    /// The events that a replay does not execute.
    facts: u64,
    work: Instructions,
    slept: Seconds,
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

impl Passed {
    /// Keeps letters.
    #[must_use]
    pub fn with_letters() -> Self {
        Self { letters: Some(Vec::new()), ..Self::default() }
    }

    /// The letters of the events that have one, in order; none if they are not kept.
    #[must_use]
    pub fn letters(&self) -> &[u32] {
        self.letters.as_deref().unwrap_or_default()
    }

    /// The number of events that have a letter.
    #[must_use]
    pub(crate) fn counted(&self) -> u64 {
        self.counted
    }

    /// The number of events.
    #[must_use]
    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    /// The number of events that a replay [executes](Event::is_executed).
    #[must_use]
    pub fn executed(&self) -> u64 {
        self.events - self.facts
    }

    /// The computation of all events.
    #[must_use]
    pub fn work(&self) -> Instructions {
        self.work
    }

    /// The time of all sleeps.
    #[must_use]
    pub fn slept(&self) -> Seconds {
        self.slept
    }

    /// Counts an event.
    pub(crate) fn add(&mut self, event: EventRef<'_>) {
        match event {
            EventRef::Compute(work) => self.compute(work),
            EventRef::Send(_) | EventRef::Recv(_) => self.count(&event.to_event()),
            EventRef::Event(event) => self.count(event),
        }
    }

    fn count(&mut self, event: &Event) {
        self.events += 1;
        self.facts += u64::from(!event.is_executed());
        if !has_letter(event) {
            if let Event::Sleep(time) = event {
                self.slept.0 += time.0;
            }
            return;
        }
        self.counted += 1;
        if self.letters.is_some() {
            let letter = self.letter(event);
            self.letters.as_mut().into_iter().for_each(|letters| letters.push(letter));
        }
    }

    /// The letter of an event; 0 if none are kept.
    fn letter(&mut self, event: &Event) -> u32 {
        if self.letters.is_none() {
            return 0;
        }
        let mut hasher = FxHasher::default();
        if let Event::Send(mode, message, completion) = event {
            (b's', mode, message, completion).hash(&mut hasher);
        } else if let Event::Recv(message, completion) = event {
            (b'r', message, completion).hash(&mut hasher);
        } else if let Event::Wait(quantifier, completed) = event {
            (b'w', quantifier, completed).hash(&mut hasher);
        } else {
            self.text.clear();
            write_event(&mut self.text, Rank(0), event);
            hasher.write(&self.text);
        }
        let next = self.alphabet.len() as u32;
        *self.alphabet.entry(hasher.finish()).or_insert(next)
    }
}

/// Whether an event has a letter.
#[must_use]
pub fn has_letter(event: &Event) -> bool {
    use crate::event::Mark;
    !matches!(event, Event::Compute(_) | Event::Sleep(_) | Event::Annotation(_) | Event::Mark(Mark::CallStack(..)))
}

impl EventSink for Passed {
    fn len(&self) -> usize {
        self.events as usize
    }

    /// Does nothing: events that were passed stay passed, as a line that is wrong ends the reading.
    fn truncate(&mut self, _: usize) {}

    #[inline]
    fn compute(&mut self, work: Instructions) {
        self.events += 1;
        self.work.0 += work.0;
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
}

impl Passed {
    #[inline]
    fn count_known(&mut self, PassedEvent { letter, is_executed, .. }: PassedEvent) {
        self.events += 1;
        self.counted += 1;
        self.facts += u64::from(!is_executed);
        if let Some(letters) = &mut self.letters {
            letters.push(letter);
        }
    }

    /// Counts an event of the dictionary that was not there before.
    #[cold]
    fn learn(&mut self, entry: &DictEntry) {
        if !has_letter(&entry.event) {
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
