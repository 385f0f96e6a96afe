//! Events in the order of a rank's calls, of which some are known only later: a receive gets its source, its tag and its
//! bytes when it completes.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use titr_common::event::{Event, ThreadId};
use titr_common::trace::{LocatedEvents, Location};

/// The number of events that wait for an open one, at most. One that is known later is [`FarEvents`]'s.
const REACH: usize = 1 << 18;

/// The place of an event that is still open: the number of events before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Otf2Place(u64);

/// The events that are known only after [`REACH`] others, or are left out then.
pub(super) type FarEvents = FxHashMap<Otf2Place, Option<Event>>;

/// Events that wait for an open one before them.
#[derive(Default)]
pub(super) struct InOrder {
    held: VecDeque<Held>,
    /// The place of the first of them.
    first: u64,
    /// The far events, if these are looked for: no other is kept.
    found: Option<FarEvents>,
    /// The thread of the events that are appended.
    pub thread: ThreadId,
}

enum Held {
    Event(Event, ThreadId),
    Open(ThreadId),
    /// The event was left out.
    Nothing,
}

impl InOrder {
    /// Finds far events in a second reading of the rank, which has the same events at the same places.
    pub(super) fn looking() -> Self {
        Self { found: Some(FarEvents::default()), ..Self::default() }
    }

    pub(super) fn found(self) -> FarEvents {
        self.found.unwrap_or_default()
    }

    /// Appends an event to `events`, or holds it if one before it is open.
    #[inline]
    pub(super) fn push(&mut self, event: Event, events: &mut LocatedEvents) {
        if self.held.is_empty() {
            self.first += 1;
            if self.found.is_none() {
                events.push(event, of(self.thread));
            }
        } else {
            self.held.push_back(Held::Event(event, self.thread));
        }
    }

    /// Appends an event that is not known yet.
    pub(super) fn open(&mut self) -> Otf2Place {
        let place = Otf2Place(self.first + self.held.len() as u64);
        match self.found {
            Some(_) => self.first += 1,
            None => self.held.push_back(Held::Open(self.thread)),
        }
        place
    }

    /// Fills in an open event, or leaves it out; appends the events that do not wait any more.
    pub(super) fn fill(&mut self, place: Otf2Place, event: Option<Event>, events: &mut LocatedEvents) {
        if let Some(found) = &mut self.found {
            if self.first - place.0 >= REACH as u64 {
                found.insert(place, event);
            }
            return;
        }
        let index = place.0.checked_sub(self.first).and_then(|index| usize::try_from(index).ok());
        if let Some(held) = index.and_then(|index| self.held.get_mut(index))
            && let Held::Open(thread) = *held
        {
            *held = event.map_or(Held::Nothing, |event| Held::Event(event, thread));
        }
        while let Some(held) = self.held.pop_front() {
            match held {
                Held::Event(event, thread) => events.push(event, of(thread)),
                Held::Nothing => {}
                Held::Open(_) => {
                    self.held.push_front(held);
                    return;
                }
            }
            self.first += 1;
        }
    }

    /// The first open event, if too many events wait for it.
    pub(super) fn overdue(&self) -> Option<Otf2Place> {
        (self.held.len() > REACH).then_some(Otf2Place(self.first))
    }
}

fn of(thread: ThreadId) -> Location {
    Location { thread, ..Location::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_wait_for_open_ones_before_them() {
        let (mut order, mut events) = (InOrder::default(), LocatedEvents::default());
        order.push(Event::Init, &mut events);
        let [first, second] = [order.open(), order.open()];
        order.push(Event::Finalize, &mut events);
        assert_eq!((events.len(), order.held.len()), (1, 3));
        order.fill(second, Some(Event::Start(Vec::new())), &mut events);
        assert_eq!(events.len(), 1);
        order.fill(first, None, &mut events);
        let all: Vec<_> = events.iter().map(|located| located.event.to_event()).collect();
        assert_eq!(all, [Event::Init, Event::Start(Vec::new()), Event::Finalize]);
        assert_eq!(order.held.len(), 0);
    }
}
