//! Passing over the events of a loop without looking at each of them.
//!
//! The rounds of a loop differ in computation only. A reader that passes over them therefore takes the volumes of their
//! computations, and knows everything else from one round.

use std::ops::Range;

use super::history::{History, RoundInProgress};
use super::volumes::VolumeReader;
use crate::counts::{EventCounts, LoopCounter};
use crate::event::Event;
use crate::event_buffer::DictEntry;
use crate::grammar::ParseError;
use crate::units::Instructions;

/// A round of a loop, as far as it matters to a reader that passes over it.
#[derive(Clone, Debug)]
pub(super) struct PassedRound {
    /// The number of the loop in the history.
    number: u32,
    /// The places of the events before which computation is expected, in order.
    computing: Vec<u32>,
    /// The counts of the events before each place, and of all, without computation.
    before: Vec<EventCounts>,
    /// Whether an event defines a communicator, which the reader has to know later.
    introduces: bool,
}

impl PassedRound {
    /// The current round; `None` if its events have to be looked at. Reuses `known` if no line was read since.
    pub(super) fn find<'k>(
        known: &'k mut Option<Box<Self>>,
        going: RoundInProgress,
        kept: &[DictEntry],
    ) -> Option<&'k mut Self> {
        if known.as_ref().is_none_or(|round| round.number != going.number) {
            *known = Some(Box::new(Self::of(going, kept)));
        }
        known.as_deref_mut().filter(|round| !round.introduces)
    }

    fn of(round: RoundInProgress, kept: &[DictEntry]) -> Self {
        let (mut before, mut counts, mut introduces) = (vec![EventCounts::default()], EventCounts::default(), false);
        for event in round.events.iter().map(|place| &kept[place.slot() as usize].event) {
            counts.add(event);
            before.push(counts);
            introduces |= matches!(event, Event::CommCreate(_, _, Some(_)));
        }
        let places = (0..).zip(round.events).filter(|(_, event)| event.is_computing());
        Self { number: round.number, computing: places.map(|(place, _)| place).collect(), before, introduces }
    }

    /// The number of its events.
    fn length(&self) -> usize {
        self.before.len() - 1
    }

    /// Notes that computation is expected before the event at `place`.
    fn expect_computation(&mut self, place: u32) {
        if let Err(index) = self.computing.binary_search(&place) {
            self.computing.insert(index, place);
        }
    }
}

/// A line of a loop that is passed over.
pub(super) struct LoopWalk<'w> {
    pub(super) history: &'w mut History,
    pub(super) round: &'w mut PassedRound,
    pub(super) counter: &'w mut LoopCounter,
    pub(super) line: &'w [u8],
    pub(super) volumes: &'w mut VolumeReader,
    /// Whether each volume of the line was taken.
    pub(super) cycled: &'w mut bool,
}

impl LoopWalk<'_> {
    /// Skips events, starting at index `next` of the round. `computed`: the computation before the first is spelled out.
    ///
    /// # Errors
    /// If the volumes of the line are wrong.
    pub(super) fn pass(mut self, mut next: usize, events: usize, computed: bool) -> Result<(), ParseError> {
        let length = self.round.length();
        self.counter.go_round(self.round.number, self.round.before[length], next > 0);
        let mut remaining = events;
        if remaining > 0 && computed {
            self.history.repeat_at(next, true);
            self.round.expect_computation(next as u32);
            (next, remaining) = (self.advance(next, next + 1), remaining - 1);
        }
        while remaining > 0 {
            let (first, until) = (next, length.min(next + remaining));
            let (volumes_before, counts_before) = (*self.volumes, self.counter.counts());
            let all_compute = self.compute(first..until)?;
            (next, remaining) = (self.advance(first, until), remaining - (until - first));
            let is_whole = until - first == length;
            if is_whole && all_compute && *self.volumes == volumes_before {
                // The list of volumes is where it was, so all further rounds equal this one.
                let (round, rounds) = (self.counter.counts() - counts_before, remaining / length);
                self.counter.add_rounds(round, rounds);
                self.history.advance(rounds * length);
                remaining -= rounds * length;
            }
        }
        Ok(())
    }

    /// Passes over the events from one place of the round up to another, except their computations. Returns the place of the
    /// next event.
    fn advance(&mut self, first: usize, until: usize) -> usize {
        let before = &self.round.before;
        self.counter.add_in_round(before[until] - before[first]);
        self.history.advance(until - first);
        if until < self.round.length() {
            return until;
        }
        self.counter.end_round();
        0
    }

    /// Takes the volumes of the events at these places of the round; true if all have computed where computation is expected.
    fn compute(&mut self, places: Range<usize>) -> Result<bool, ParseError> {
        let computing = &mut self.round.computing;
        let mut all_compute = true;
        let mut index = computing.partition_point(|&place| (place as usize) < places.start);
        while let Some(place) = computing.get(index).map(|&place| place as usize).filter(|&place| place < places.end) {
            if self.volumes.is_at_end(self.line) {
                self.volumes.rewind();
                *self.cycled = true;
            }
            let volume = self.volumes.next(self.line)?;
            all_compute &= volume > 0;
            if volume > 0 {
                self.counter.compute(Instructions(volume as f64));
            }
            if self.history.repeat_at(place, volume > 0) {
                index += 1;
            } else {
                computing.remove(index);
            }
        }
        Ok(all_compute)
    }
}
