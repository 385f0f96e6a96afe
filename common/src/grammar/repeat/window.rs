//! The last events of a thread, as a reader remembers them, and the passages of lines that repeat them.

use super::history::{History, PastEvent};
use super::passing::{LoopWalk, PassedRound};
use super::reach::Lookback;
use super::volumes::{Numbers, VolumeReader};
use super::{EVENTS, LONGEST, VOLUMES_AGAIN};
use crate::counts::LoopCounter;
use crate::event::Event;
use crate::event_buffer::{DictEntry, EventSink};
use crate::grammar::ParseError;
use crate::grammar::parse::Parser;
use crate::units::Instructions;

/// The last events that count.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    /// The history, in terms of slots in `kept`.
    pub(super) history: History,
    /// The events, each once for each time it was spelled; not more than [`most_kept`].
    kept: Vec<DictEntry>,
    /// Places in `kept` whose events are in the window no more.
    free: Vec<u32>,
    /// The numbers in all lists of the events that are kept.
    entries: usize,
    /// Whether a computation was spelled out before the next event.
    computed: bool,
    /// The round of the loop that goes, if some of it was passed over and nothing was read since.
    passed: Option<Box<PassedRound>>,
}

/// A partially read line of repeated events.
#[derive(Clone, Debug)]
pub(super) struct Passage {
    distance: usize,
    /// The number of remaining events of the line.
    left: usize,
    /// Whether the rounds of the line were found to differ.
    varies: bool,
    repetition: Repetition,
    volumes: VolumeReader,
}

/// The form of a line that repeats events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repetition {
    /// `again`: there are as many events as volumes.
    Again,
    /// `loop`: the volumes are of events before which computation came in the first round; `cycled` says whether each
    /// was given.
    Loop { cycled: bool },
}

/// The least number of events for which a round is worth a batch of its own.
const WORTH_PASSING: usize = 64;

/// The number of events that are kept: those in the window, and some more, so that a search for free slots is rare.
fn most_kept(reach: Lookback) -> usize {
    reach.distinct() + reach.distinct() / 4
}

impl Passage {
    /// Whether the rounds after the next one, if they equal it, have enough events to be passed over.
    pub(super) fn is_worth_passing(&self) -> bool {
        let further = (self.left / self.distance).saturating_sub(1);
        matches!(self.repetition, Repetition::Loop { .. }) && further * self.distance >= WORTH_PASSING
    }
}

impl Window {
    /// The passage that begins here, in a line's `DISTANCE VOLUMES…` or `DISTANCE EVENTS VOLUMES…`.
    pub(super) fn passage(&self, repetition: Repetition, mut numbers: Numbers) -> Result<Passage, ParseError> {
        let at = numbers.at;
        let known = self.history.known();
        let distance = numbers.next("how many events ago they were", u64::MAX)? as usize;
        if distance == 0 || distance > known {
            let what = format!("{distance} events ago there was none: {known} are known here");
            return Err(ParseError { column: at + 1, what });
        }
        let left = match repetition {
            Repetition::Again => VOLUMES_AGAIN,
            Repetition::Loop { .. } => {
                let at = numbers.at;
                numbers.expect(b' ')?;
                let events = numbers.next("a number of events", EVENTS as u64)? as usize;
                if events == 0 {
                    return Err(ParseError { column: at + 2, what: "at least one event is expected".into() });
                }
                events
            }
        };
        Ok(Passage { distance, left, varies: false, repetition, volumes: VolumeReader::at(numbers.at) })
    }

    /// Passes over at most this many events of a passage. Returns false, and does nothing, if the events have to be looked at.
    fn pass(
        &mut self,
        passage: &mut Passage,
        line: &[u8],
        counter: &mut LoopCounter,
        most: usize,
    ) -> Result<bool, ParseError> {
        let Passage { distance, left, repetition: Repetition::Loop { cycled }, volumes, .. } = passage else {
            return Ok(false);
        };
        let going = self.history.round(*distance);
        let next = going.next;
        let Some(round) = PassedRound::find(&mut self.passed, going, &self.kept) else { return Ok(false) };
        let events = most.min(*left);
        *left -= events;
        let computed = events > 0 && std::mem::take(&mut self.computed);
        let walk = LoopWalk { history: &mut self.history, round, counter, line, volumes, cycled };
        walk.pass(next, events, computed)?;
        Ok(true)
    }

    /// The number of rounds of a passage that equal its next one, computation included; 0 if the next one has more than `most` events,
    /// or if the others have so few that reading them one by one costs no more.
    pub(super) fn equal_rounds(&mut self, passage: &mut Passage, line: &[u8], most: usize) -> usize {
        let Passage { distance, left, varies, repetition: Repetition::Loop { .. }, volumes } = passage else {
            return 0;
        };
        let further = (*left / *distance).saturating_sub(1);
        if *varies || *distance > most || further * *distance < WORTH_PASSING {
            return 0;
        }
        let computing = self.history.round(*distance).events.iter().filter(|event| event.is_computing()).count();
        *varies = *distance + computing > most || !volumes.is_periodic(line, computing);
        if *varies { 0 } else { *left / *distance - 1 }
    }

    /// Appends one round of a passage, skips the equal rounds after it, and returns the rest of the passage.
    pub(super) fn repeat_rounds(
        &mut self,
        mut passage: Passage,
        line: &[u8],
        parser: &mut Parser,
        events: &mut impl EventSink,
        further: usize,
    ) -> Result<Option<Passage>, ParseError> {
        let distance = passage.distance;
        passage.left -= further * distance;
        let rest = self.repeat(passage, line, parser, events, distance)?;
        self.history.advance(further * distance);
        Ok(rest)
    }

    /// Appends at most this many events of a passage, and returns the rest of it.
    pub(super) fn repeat(
        &mut self,
        mut passage: Passage,
        line: &[u8],
        parser: &mut Parser,
        events: &mut impl EventSink,
        most: usize,
    ) -> Result<Option<Passage>, ParseError> {
        let is_passed = match events.loop_counter() {
            Some(counter) => self.pass(&mut passage, line, counter, most)?,
            None => false,
        };
        let Passage { distance, left, repetition, volumes, .. } = &mut passage;
        let most = if is_passed { 0 } else { most.min(*left) };
        *left -= most;
        if most > 0 {
            self.passed = None;
        }
        for _ in 0..most {
            let expected = self.history.expected(*distance);
            let computed = std::mem::take(&mut self.computed);
            let volume = match repetition {
                Repetition::Again => volumes.next(line)?,
                Repetition::Loop { cycled } if expected.is_computing() && !computed => {
                    if volumes.is_at_end(line) {
                        volumes.rewind();
                        *cycled = true;
                    }
                    volumes.next(line)?
                }
                Repetition::Loop { .. } => 0,
            };
            if volume > 0 {
                events.compute(Instructions(volume as f64));
            }
            self.history.repeat(expected, computed || volume > 0);
            let kept = &self.kept[expected.slot() as usize];
            if let Event::CommCreate(_, _, Some(group)) = &kept.event {
                parser.introduce(group);
            }
            events.push_ref(kept);
            if *repetition == Repetition::Again && volumes.is_at_end(line) {
                return Ok(None);
            }
        }
        match repetition {
            _ if *left > 0 => Ok(Some(passage)),
            Repetition::Loop { cycled: false } if !volumes.is_at_end(line) => {
                Err(volumes.refusal("the end of the line is expected: these events take no more volumes"))
            }
            Repetition::Loop { .. } => Ok(None),
            Repetition::Again => Err(volumes.refusal("the end of the line is expected: it holds no more volumes")),
        }
    }

    /// Appends an event that a line spells, and keeps it; the reader has learnt `learnt` others before.
    #[inline]
    pub(super) fn spelled(&mut self, event: Event, learnt: u32, events: &mut impl EventSink) {
        let slot = self.learn(event, learnt);
        events.push_ref(&self.kept[slot as usize]);
        self.history.push(PastEvent::new(slot, std::mem::take(&mut self.computed)));
    }

    /// Appends an event that is not kept.
    #[inline]
    pub(super) fn between(&mut self, event: Event, events: &mut impl EventSink) {
        let waits = self.computed && matches!(event, Event::Annotation(_));
        self.computed = waits || matches!(event, Event::Compute(_));
        events.push(event);
    }

    /// Keeps an event, after the reader has learnt `learnt` others.
    fn learn(&mut self, event: Event, learnt: u32) -> u32 {
        let reach = self.history.reach();
        let is_full = self.free.is_empty() && self.kept.len() >= most_kept(reach);
        if is_full || reach.is_widened() && self.entries > 2 * reach.text() {
            self.find_free(reach);
        }
        self.entries += event.list_size().entries;
        if let Some(slot) = self.free.pop() {
            self.kept[slot as usize] = DictEntry::new(event, slot, learnt);
            return slot;
        }
        let slot = self.kept.len() as u32;
        // Thousands of ranks have a few events each, so memory grows by as little as stays cheap.
        self.kept.reserve_exact(if self.kept.len() == self.kept.capacity() { 2 + self.kept.len() / 4 } else { 0 });
        self.kept.push(DictEntry::new(event, slot, learnt));
        slot
    }

    /// Finds the slots of events that cannot be repeated: they are not in the window any more, or a writer has
    /// forgotten them because of the number of different events since then.
    fn find_free(&mut self, reach: Lookback) {
        let (mut used, mut distinct, mut entries) = (vec![false; self.kept.len()], 0, 0);
        let most_entries = if reach.is_widened() { reach.text() + LONGEST } else { usize::MAX };
        let is_remembered = |place: &&PastEvent| {
            let slot = place.slot() as usize;
            if !used[slot] {
                distinct += 1;
                entries += self.kept[slot].event.list_size().entries;
                used[slot] = distinct <= reach.distinct() && entries <= most_entries;
            }
            used[slot]
        };
        let remembered = self.history.window().iter().rev().take_while(is_remembered).count();
        self.history.forget_before(remembered);
        self.free = (0..self.kept.len() as u32).filter(|&slot| !used[slot as usize]).collect();
        for &slot in &self.free {
            let known = &mut self.kept[slot as usize];
            if known.event.list_size().entries > 0 {
                *known = DictEntry::new(Event::Init, slot, u32::MAX);
            }
        }
        self.entries = self.kept.iter().map(|known| known.event.list_size().entries).sum();
    }
}
