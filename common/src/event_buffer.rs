//! A compact buffer of consecutive events of a rank.
//!
//! A replay of a thousand ranks switches from one rank to the next after two or three events, and spends most of its
//! time waiting for memory. An [`EventBuffer`] therefore packs the most frequent events, computations and plain sends
//! and receives, contiguously into half a cache line each. All other events are larger, but programs run in loops, so
//! few of them differ: the buffer keeps each distinct one once. Reading events copies and drops nothing.

use std::slice::from_ref;

use crate::counts::LoopCounter;
use crate::event::{
    CommId, Completed, Completion, Event, Incoming, MessageCompletion, Outgoing, Quantifier, Rank, RequestId,
    RequestKey, SendMode, Tag, Wildcard,
};
use crate::units::{Bytes, Instructions};

/// Consecutive events of one rank.
#[derive(Clone, Debug, Default)]
pub struct EventBuffer {
    packed: Vec<Packed>,
    /// The events that are not packed.
    events: Vec<Event>,
    /// The dictionary entry of each of `events`.
    ids: Vec<EntryId>,
    /// The index in `events` of the event in each slot of the reader's dictionary, if it is there: as in a sparse set (Briggs
    /// and Torczon, ACM Lett. Program. Lang. Syst. 2, 1993), an index holds only if `ids` confirms it.
    places: Vec<u32>,
    /// Bytes of `events`, their lists included.
    heap: usize,
}

/// An event in an [`EventBuffer`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EventRef<'b> {
    /// [`Event::Compute`].
    Compute(Instructions),
    /// An [`Event::Send`] of the standard mode.
    Send(Outgoing, MessageCompletion),
    /// An [`Event::Recv`] without wildcards.
    Recv(ExactRecv, MessageCompletion),
    /// Any other event.
    Event(&'b Event),
}

/// One of the most frequent events of a trace: a computation, or a message with no more than a peer, a tag and a size.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PlainEvent {
    Compute(Instructions),
    Send(Outgoing),
    Recv(Incoming),
    Isend(Outgoing),
    Irecv(Incoming),
    Wait(RequestKey),
}

impl From<PlainEvent> for Event {
    fn from(plain: PlainEvent) -> Self {
        match plain {
            PlainEvent::Compute(work) => Self::Compute(work),
            PlainEvent::Send(message) => Self::Send(SendMode::Standard, message, Completion::Blocking),
            PlainEvent::Recv(message) => Self::Recv(message, Completion::Blocking),
            PlainEvent::Isend(message) => Self::Send(SendMode::Standard, message, Completion::Request(None)),
            PlainEvent::Irecv(message) => Self::Recv(message, Completion::Request(None)),
            PlainEvent::Wait(key) => Self::Wait(Quantifier::Single, Completed::One(key, None)),
        }
    }
}

/// Takes events as a reader finds them.
pub(crate) trait EventSink {
    /// The number of events taken.
    fn len(&self) -> usize;

    /// Removes all but the first `len` events, if possible.
    fn truncate(&mut self, len: usize);

    /// Takes a computation.
    fn compute(&mut self, work: Instructions);

    /// Takes an event of no dictionary.
    fn push(&mut self, event: Event);

    /// Takes the event of a plain line.
    fn plain(&mut self, event: PlainEvent);

    /// Takes the event of an entry of the reader's dictionary.
    fn push_ref(&mut self, entry: &DictEntry);

    /// The counter of the events of loops, if nothing but their counts is wanted.
    #[inline]
    fn loop_counter(&mut self) -> Option<&mut LoopCounter> {
        None
    }
}

/// An event in 32 bytes.
#[derive(Clone, Copy, Debug)]
enum Packed {
    Compute(Instructions),
    Send(Outgoing),
    Isend(Outgoing, RequestId),
    Recv(ExactRecv),
    Irecv(ExactRecv, RequestId),
    /// The event at this index.
    Event(u32),
}

/// A receive without wildcards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExactRecv {
    comm: CommId,
    from: Rank,
    tag: Tag,
    bytes: Bytes,
}

impl Packed {
    /// The packed form of an event that has one.
    #[inline]
    fn of(event: &Event) -> Option<Self> {
        if let Event::Compute(work) = *event {
            return Some(Self::Compute(work));
        }
        let by_completion = |completion| match completion {
            Completion::Blocking => Some(None),
            Completion::Request(Some(id)) => Some(Some(id)),
            Completion::Request(None) | Completion::Persistent(_) => None,
        };
        if let Event::Send(SendMode::Standard, message, completion) = *event {
            let request = by_completion(completion)?;
            return Some(request.map_or(Self::Send(message), |id| Self::Isend(message, id)));
        }
        if let Event::Recv(message, completion) = *event {
            let (message, request) = (ExactRecv::of(message)?, by_completion(completion)?);
            return Some(request.map_or(Self::Recv(message), |id| Self::Irecv(message, id)));
        }
        None
    }
}

impl ExactRecv {
    /// The receive, if it has no wildcards.
    #[inline]
    fn of(message: Incoming) -> Option<Self> {
        match message {
            Incoming { comm, from: Some(from), tag: Some(tag), bytes, wildcard: Wildcard::NONE } => {
                Some(Self { comm, from, tag, bytes })
            }
            _ => None,
        }
    }
}

impl From<ExactRecv> for Incoming {
    #[inline]
    fn from(ExactRecv { comm, from, tag, bytes }: ExactRecv) -> Self {
        Self { comm, from: Some(from), tag: Some(tag), bytes, wildcard: Wildcard::NONE }
    }
}

/// An entry of a reader's dictionary: an event that may come again.
#[derive(Clone, Debug)]
pub(crate) struct DictEntry {
    pub(crate) event: Event,
    id: EntryId,
}

/// Names an entry of a reader's dictionary; no other entry of that reader ever has the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EntryId {
    /// The place of the entry in the dictionary.
    slot: u32,
    /// The number of entries that the reader had made before this one.
    generation: u32,
}

impl EntryId {
    /// The name of an event that is in no dictionary.
    const NONE: Self = Self { slot: 0, generation: u32::MAX };
}

impl DictEntry {
    /// An event that a reader keeps in `slot`; no other entry that it ever keeps there has the same `generation`.
    pub(crate) fn new(event: Event, slot: u32, generation: u32) -> Self {
        Self { event, id: EntryId { slot, generation } }
    }

    /// The slot and the generation of the entry, which no other entry of its reader has.
    #[inline]
    pub(crate) fn name(&self) -> (u32, u32) {
        (self.id.slot, self.id.generation)
    }
}

impl EventBuffer {
    /// The least size of an event in memory.
    pub(crate) const LEAST_BYTES: usize = size_of::<Packed>();

    /// The number of events.
    pub fn len(&self) -> usize {
        self.packed.len()
    }

    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.packed.is_empty()
    }

    /// The approximate size of the events in memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.packed.as_slice()) + self.heap
    }

    /// The event at `index`.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<EventRef<'_>> {
        match *self.packed.get(index)? {
            Packed::Compute(work) => Some(EventRef::Compute(work)),
            Packed::Send(message) => Some(EventRef::Send(message, Completion::Blocking)),
            Packed::Isend(message, id) => Some(EventRef::Send(message, Completion::Request(Some(id)))),
            Packed::Recv(message) => Some(EventRef::Recv(message, Completion::Blocking)),
            Packed::Irecv(message, id) => Some(EventRef::Recv(message, Completion::Request(Some(id)))),
            Packed::Event(place) => self.events.get(place as usize).map(EventRef::Event),
        }
    }

    /// All events in order.
    pub fn iter(&self) -> impl Iterator<Item = EventRef<'_>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Removes all events.
    pub(crate) fn clear(&mut self) {
        self.packed.clear();
        self.events.clear();
        self.ids.clear();
        self.heap = 0;
    }

    /// Appends the event of an entry that is not here yet.
    #[cold]
    fn intern(&mut self, entry: &DictEntry) {
        let slot = entry.id.slot as usize;
        if self.places.len() <= slot {
            self.places.resize(slot + 1, u32::MAX);
        }
        self.places[slot] = self.events.len() as u32;
        self.keep(entry.event.clone(), entry.id);
    }

    fn keep(&mut self, event: Event, id: EntryId) {
        self.heap += size_of::<Event>() + event.list_size().bytes;
        self.packed.push(Packed::Event(self.events.len() as u32));
        self.events.push(event);
        self.ids.push(id);
    }
}

impl EventSink for EventBuffer {
    fn len(&self) -> usize {
        self.packed.len()
    }

    fn truncate(&mut self, len: usize) {
        self.packed.truncate(len);
    }

    #[inline]
    fn compute(&mut self, work: Instructions) {
        self.packed.push(Packed::Compute(work));
    }

    fn push(&mut self, event: Event) {
        match Packed::of(&event) {
            Some(packed) => {
                self.packed.push(packed);
                // Nothing is lost: an event that can be packed owns no memory, and looking for some takes time.
                std::mem::forget(event);
            }
            None => self.keep(event, EntryId::NONE),
        }
    }

    #[inline]
    fn plain(&mut self, event: PlainEvent) {
        let packed = match event {
            PlainEvent::Compute(work) => Some(Packed::Compute(work)),
            PlainEvent::Send(message) => Some(Packed::Send(message)),
            PlainEvent::Recv(message) => ExactRecv::of(message).map(Packed::Recv),
            PlainEvent::Isend(_) | PlainEvent::Irecv(_) | PlainEvent::Wait(_) => None,
        };
        match packed {
            Some(packed) => self.packed.push(packed),
            None => self.keep(event.into(), EntryId::NONE),
        }
    }

    /// Until the buffer is cleared, all entries have to be of one reader.
    #[inline]
    fn push_ref(&mut self, entry: &DictEntry) {
        if let Some(packed) = Packed::of(&entry.event) {
            return self.packed.push(packed);
        }
        let place = self.places.get(entry.id.slot as usize).copied().unwrap_or(u32::MAX);
        if self.ids.get(place as usize) == Some(&entry.id) {
            self.packed.push(Packed::Event(place));
        } else {
            self.intern(entry);
        }
    }
}

impl EventRef<'_> {
    /// A copy of the event.
    #[must_use]
    pub fn to_event(self) -> Event {
        match self {
            Self::Compute(work) => Event::Compute(work),
            Self::Send(message, completion) => Event::Send(SendMode::Standard, message, completion),
            Self::Recv(message, completion) => Event::Recv(message.into(), completion),
            Self::Event(event) => event.clone(),
        }
    }

    /// The requests that the event starts, as [`Event::starts`].
    pub fn starts(&self) -> &[RequestId] {
        match self {
            Self::Send(_, Completion::Request(Some(id))) | Self::Recv(_, Completion::Request(Some(id))) => from_ref(id),
            Self::Compute(_) | Self::Send(..) | Self::Recv(..) => &[],
            Self::Event(event) => event.starts(),
        }
    }
}

impl FromIterator<Event> for EventBuffer {
    fn from_iter<I: IntoIterator<Item = Event>>(events: I) -> Self {
        let mut buffer = Self::default();
        events.into_iter().for_each(|event| buffer.push(event));
        buffer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::CommId;

    fn event(id: u32) -> Event {
        Event::CommFree(CommId(id))
    }

    fn events(buffer: &EventBuffer) -> Vec<Event> {
        buffer.iter().map(EventRef::to_event).collect()
    }

    #[test]
    fn what_comes_again_is_kept_once() {
        let mut buffer = EventBuffer::default();
        let again = DictEntry::new(event(7), 3, 0);
        for round in 0..100 {
            buffer.push_ref(&again);
            buffer.push(Event::Compute(Instructions(f64::from(round))));
        }
        assert_eq!((buffer.len(), buffer.events.len()), (200, 1));
        assert_eq!(buffer.get(6), Some(EventRef::Event(&event(7))));
        assert_eq!(buffer.get(7), Some(EventRef::Compute(Instructions(3.0))));
        assert_eq!(buffer.get(200), None);
    }

    #[test]
    fn a_slot_that_holds_another_event_is_told_apart_and_so_is_what_was_before_it_was_cleared() {
        let mut buffer = EventBuffer::default();
        let (before, there) = (DictEntry::new(event(10), 0, 0), DictEntry::new(event(12), 1, 0));
        buffer.push_ref(&before);
        let here = DictEntry::new(event(11), 0, 1);
        buffer.push_ref(&here);
        buffer.push_ref(&there);
        buffer.push_ref(&here);
        assert_eq!(events(&buffer), [10, 11, 12, 11].map(event));
        buffer.clear();
        buffer.push_ref(&there);
        buffer.push_ref(&here);
        assert_eq!(events(&buffer), [12, 11].map(event));
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
            Event::Send(SendMode::Standard, outgoing, Completion::Blocking),
            Event::Send(SendMode::Standard, outgoing, Completion::Request(Some(RequestId(5)))),
            Event::Send(SendMode::Standard, outgoing, Completion::Request(None)),
            Event::Send(SendMode::Synchronous, outgoing, Completion::Blocking),
            Event::Recv(incoming(from, tag), Completion::Blocking),
            Event::Recv(incoming(from, tag), Completion::Request(Some(RequestId(6)))),
            Event::Recv(incoming(from, tag), Completion::Persistent(RequestId(7))),
            Event::Recv(incoming(None, tag), Completion::Blocking),
            Event::Recv(incoming(from, None), Completion::Blocking),
            Event::Recv(
                Incoming { wildcard: Wildcard { source: true, tag: false }, ..incoming(from, tag) },
                Completion::Blocking,
            ),
        ];
        let buffer: EventBuffer = all.iter().cloned().collect();
        assert_eq!(events(&buffer), all);
        assert_eq!((buffer.events.len(), size_of::<Packed>()), (6, 32));
    }
}
