//! Some consecutive events, in little memory: what a program is read in.
//!
//! Programs run in loops, so of thousands of events few differ, and what differs in every round is how much was computed
//! in between. A [`Passage`] keeps each distinct event once, and for each time it came no more than where it is kept: what
//! replays a loop finds all of it in the processor's cache, and nothing is copied or dropped.

use crate::event::{CollectiveOp, Event, Requests};
use crate::units::Instructions;

/// Consecutive events of one rank.
#[derive(Clone, Debug, Default)]
pub struct Passage {
    steps: Vec<Step>,
    events: Vec<Event>,
    /// What each of the events was recalled from.
    memories: Vec<Memory>,
    /// Where the event of each slot of the reader's memory is in `events`, if it is there: as in a sparse set (Briggs and
    /// Torczon, ACM Lett. Program. Lang. Syst. 2, 1993), an entry holds only if what it leads to says so.
    places: Vec<u32>,
    /// Bytes of the events, their lists included.
    held: usize,
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moment<'p> {
    /// [`Event::Compute`].
    Compute(Instructions),
    /// Any other.
    Event(&'p Event),
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Compute(Instructions),
    /// The event at this index.
    Event(u32),
}

/// Names an event that a reader remembers: no two of one reader are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    /// Where the reader keeps it.
    pub(crate) slot: u16,
    /// Which of those kept there it is.
    pub(crate) generation: u32,
}

impl Memory {
    /// Of an event that the reader does not remember.
    const NONE: Self = Self { slot: 0, generation: u32::MAX };
}

impl Passage {
    /// How many events there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// About how much memory they take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(self.steps.as_slice()) + self.held
    }

    /// The event at `index`.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Moment<'_>> {
        match *self.steps.get(index)? {
            Step::Compute(work) => Some(Moment::Compute(work)),
            Step::Event(place) => self.events.get(place as usize).map(Moment::Event),
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Moment<'_>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Appends an event.
    pub fn push(&mut self, event: Event) {
        match event {
            Event::Compute(work) => self.compute(work),
            event => self.keep(event, Memory::NONE),
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.steps.clear();
        self.events.clear();
        self.memories.clear();
        self.held = 0;
    }

    /// Forgets all but the first `len` events.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.steps.truncate(len);
    }

    #[inline]
    pub(crate) fn compute(&mut self, work: Instructions) {
        self.steps.push(Step::Compute(work));
    }

    /// Appends an event that a reader remembers: always the same one, as long as there are events here.
    #[inline]
    pub(crate) fn recall(&mut self, memory: Memory, event: &Event) {
        let place = self.places.get(memory.slot as usize).copied().unwrap_or(u32::MAX);
        if self.memories.get(place as usize) == Some(&memory) {
            self.steps.push(Step::Event(place));
        } else {
            self.meet(memory, event);
        }
    }

    /// The first time.
    #[cold]
    fn meet(&mut self, memory: Memory, event: &Event) {
        let slot = memory.slot as usize;
        if self.places.len() <= slot {
            self.places.resize(slot + 1, u32::MAX);
        }
        self.places[slot] = self.events.len() as u32;
        self.keep(event.clone(), memory);
    }

    fn keep(&mut self, event: Event, memory: Memory) {
        self.held += size_of::<Event>() + lists(&event);
        self.steps.push(Step::Event(self.events.len() as u32));
        self.events.push(event);
        self.memories.push(memory);
    }
}

impl Moment<'_> {
    /// The event itself.
    #[must_use]
    pub fn to_event(self) -> Event {
        match self {
            Self::Compute(work) => Event::Compute(work),
            Self::Event(event) => event.clone(),
        }
    }
}

impl FromIterator<Event> for Passage {
    fn from_iter<I: IntoIterator<Item = Event>>(events: I) -> Self {
        let mut passage = Self::default();
        events.into_iter().for_each(|event| passage.push(event));
        passage
    }
}

/// Bytes in an event's lists: there may be one entry for each rank in the world.
fn lists(event: &Event) -> usize {
    match event {
        Event::Collective(collective) | Event::Icollective(collective, _) => match &collective.op {
            CollectiveOp::ReduceScatter { counts: list, .. }
            | CollectiveOp::Gatherv { recvs: list, .. }
            | CollectiveOp::Scatterv { sends: list, .. }
            | CollectiveOp::Allgatherv { recvs: list, .. } => size_of_val(list.as_slice()),
            CollectiveOp::Alltoallv { sends, recvs } | CollectiveOp::Alltoallw { sends, recvs } => {
                size_of_val(sends.as_slice()) + size_of_val(recvs.as_slice())
            }
            _ => 0,
        },
        Event::CommCreate(_, _, Some(group)) => {
            size_of_val(group.members.as_slice()) + size_of_val(group.remote.as_slice())
        }
        Event::Wait(_, Requests::These(list)) | Event::Test(_, Some(Requests::These(list))) | Event::Start(list) => {
            size_of_val(list.as_slice())
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::CommId;

    fn event(id: u32) -> Event {
        Event::CommFree(CommId(id))
    }

    fn memory(slot: u16, generation: u32) -> Memory {
        Memory { slot, generation }
    }

    fn events(passage: &Passage) -> Vec<Event> {
        passage.iter().map(Moment::to_event).collect()
    }

    #[test]
    fn what_comes_again_is_kept_once() {
        let mut passage = Passage::default();
        for round in 0..100 {
            passage.recall(memory(3, 0), &event(7));
            passage.push(Event::Compute(Instructions(f64::from(round))));
        }
        assert_eq!((passage.len(), passage.events.len()), (200, 1));
        assert_eq!(passage.get(6), Some(Moment::Event(&event(7))));
        assert_eq!(passage.get(7), Some(Moment::Compute(Instructions(3.0))));
        assert_eq!(passage.get(200), None);
    }

    #[test]
    fn a_slot_that_holds_another_event_is_told_apart_and_so_is_what_was_before_it_was_cleared() {
        let mut passage = Passage::default();
        passage.recall(memory(0, 0), &event(10));
        passage.recall(memory(0, 1), &event(11));
        passage.recall(memory(1, 0), &event(12));
        passage.recall(memory(0, 1), &event(11));
        assert_eq!(events(&passage), [10, 11, 12, 11].map(event));
        passage.clear();
        passage.recall(memory(1, 0), &event(12));
        passage.recall(memory(0, 1), &event(11));
        assert_eq!(events(&passage), [12, 11].map(event));
    }
}
