//! Some consecutive events, in little memory: what a program is read in.
//!
//! Whoever replays a thousand ranks goes from one to the next after two or three events, and waits for memory most of all.
//! So the events that programs consist of, computations and plain sends and receives, lie in a [`Passage`] one beside the
//! other in half a cache line each; and of all others, which are larger but few differ as programs run in loops, it keeps
//! each distinct one once. Nothing is copied or dropped when they are used.

use crate::event::{
    CollectiveOp, CommId, Event, Incoming, OneSided, Outgoing, Rank, Requests, SendMode, Tag, Wildcard,
};
use crate::units::{Bytes, Instructions};

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
    /// [`Event::Send`] of the standard mode.
    Send(Outgoing),
    /// [`Event::Recv`] without wildcards.
    Recv(Incoming),
    /// Any other.
    Event(&'p Event),
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Compute(Instructions),
    Send(Outgoing),
    Recv(Named),
    /// The event at this index.
    Event(u32),
}

/// A receive without wildcards.
#[derive(Clone, Copy, Debug)]
struct Named {
    comm: CommId,
    from: Rank,
    tag: Tag,
    bytes: Bytes,
}

impl Step {
    /// Of an event that is small enough to lie here.
    #[inline]
    fn of(event: &Event) -> Option<Self> {
        match *event {
            Event::Compute(work) => Some(Self::Compute(work)),
            Event::Send(SendMode::Standard, message) => Some(Self::Send(message)),
            Event::Recv(Incoming { comm, from: Some(from), tag: Some(tag), bytes, wildcard: Wildcard::NONE }) => {
                Some(Self::Recv(Named { comm, from, tag, bytes }))
            }
            _ => None,
        }
    }
}

/// An event that a reader remembers.
#[derive(Clone, Debug)]
pub(crate) struct Remembered {
    pub(crate) event: Event,
    /// What it is in a passage, if it is small.
    step: Option<Step>,
    memory: Memory,
}

/// Names an event that a reader remembers: no two of one reader are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Memory {
    /// Where the reader keeps it.
    slot: u16,
    /// Which of those kept there it is.
    generation: u32,
}

impl Memory {
    /// Of an event that the reader does not remember.
    const NONE: Self = Self { slot: 0, generation: u32::MAX };
}

impl Remembered {
    /// An event that a reader keeps in `slot`; no other that it ever keeps there is of the same `generation`.
    pub(crate) fn new(event: Event, slot: u16, generation: u32) -> Self {
        Self { step: Step::of(&event), event, memory: Memory { slot, generation } }
    }
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
            Step::Send(message) => Some(Moment::Send(message)),
            Step::Recv(Named { comm, from, tag, bytes }) => {
                let (from, tag, wildcard) = (Some(from), Some(tag), Wildcard::NONE);
                Some(Moment::Recv(Incoming { comm, from, tag, bytes, wildcard }))
            }
            Step::Event(place) => self.events.get(place as usize).map(Moment::Event),
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Moment<'_>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Appends an event.
    pub fn push(&mut self, event: Event) {
        match Step::of(&event) {
            Some(step) => self.steps.push(step),
            None => self.keep(event, Memory::NONE),
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
    pub(crate) fn recall(&mut self, remembered: &Remembered) {
        if let Some(step) = remembered.step {
            return self.steps.push(step);
        }
        let place = self.places.get(remembered.memory.slot as usize).copied().unwrap_or(u32::MAX);
        if self.memories.get(place as usize) == Some(&remembered.memory) {
            self.steps.push(Step::Event(place));
        } else {
            self.meet(remembered);
        }
    }

    /// The first time.
    #[cold]
    fn meet(&mut self, remembered: &Remembered) {
        let slot = remembered.memory.slot as usize;
        if self.places.len() <= slot {
            self.places.resize(slot + 1, u32::MAX);
        }
        self.places[slot] = self.events.len() as u32;
        self.keep(remembered.event.clone(), remembered.memory);
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
            Self::Send(message) => Event::Send(SendMode::Standard, message),
            Self::Recv(message) => Event::Recv(message),
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
        Event::Collective(collective) | Event::Icollective(collective, _) | Event::CollectiveInit(collective, _) => {
            match &collective.op {
                CollectiveOp::ReduceScatter { counts: list, .. }
                | CollectiveOp::Gatherv { recvs: list, .. }
                | CollectiveOp::Scatterv { sends: list, .. }
                | CollectiveOp::Allgatherv { recvs: list, .. } => size_of_val(list.as_slice()),
                CollectiveOp::Alltoallv { sends, recvs } | CollectiveOp::Alltoallw { sends, recvs } => {
                    size_of_val(sends.as_slice()) + size_of_val(recvs.as_slice())
                }
                _ => 0,
            }
        }
        Event::Neighbor(call) | Event::Ineighbor(call, _) | Event::NeighborInit(call, _) => {
            size_of_val(call.sends.as_slice()) + size_of_val(call.recvs.as_slice())
        }
        Event::Pready(_, parts) => size_of_val(parts.as_slice()),
        Event::OneSided(OneSided::Sync(_, _, ranks)) => size_of_val(ranks.as_slice()),
        Event::Other(other) => other.function.len(),
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

    fn events(passage: &Passage) -> Vec<Event> {
        passage.iter().map(Moment::to_event).collect()
    }

    #[test]
    fn what_comes_again_is_kept_once() {
        let mut passage = Passage::default();
        let again = Remembered::new(event(7), 3, 0);
        for round in 0..100 {
            passage.recall(&again);
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
        let (before, there) = (Remembered::new(event(10), 0, 0), Remembered::new(event(12), 1, 0));
        passage.recall(&before);
        let here = Remembered::new(event(11), 0, 1);
        passage.recall(&here);
        passage.recall(&there);
        passage.recall(&here);
        assert_eq!(events(&passage), [10, 11, 12, 11].map(event));
        passage.clear();
        passage.recall(&there);
        passage.recall(&here);
        assert_eq!(events(&passage), [12, 11].map(event));
    }

    #[test]
    fn small_events_are_what_they_were() {
        let (comm, bytes) = (CommId::WORLD, Bytes(640));
        let outgoing = Outgoing { comm, to: Rank(1), tag: Tag(2), bytes };
        let incoming = |from: Option<Rank>, tag: Option<Tag>| {
            let wildcard = Wildcard { source: from.is_none(), tag: tag.is_none() };
            Incoming { comm, from, tag, bytes, wildcard }
        };
        let (from, tag) = (Some(Rank(3)), Some(Tag(4)));
        let all = [
            Event::Compute(Instructions(0.5)),
            Event::Send(SendMode::Standard, outgoing),
            Event::Send(SendMode::Synchronous, outgoing),
            Event::Recv(incoming(from, tag)),
            Event::Recv(incoming(None, tag)),
            Event::Recv(incoming(from, None)),
            Event::Recv(Incoming { wildcard: Wildcard { source: true, tag: false }, ..incoming(from, tag) }),
        ];
        let passage: Passage = all.iter().cloned().collect();
        assert_eq!(events(&passage), all);
        assert_eq!(passage.events.len(), 4);
    }
}
