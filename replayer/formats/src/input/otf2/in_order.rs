//! Events in the order of a rank's calls, of which some are known only later: a receive gets its source, its tag and its
//! bytes when it completes.

use std::collections::VecDeque;

use titr_common::event::Event;
use titr_common::trace::{LocatedEvents, Location};

/// The place of an event that is still open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Otf2Place(u64);

/// Events that wait for an open one before them.
#[derive(Default)]
pub(super) struct InOrder {
    held: VecDeque<Held>,
    /// The place of the first of them.
    first: u64,
}

enum Held {
    Event(Event),
    Open,
    /// The event was left out.
    Nothing,
}

impl InOrder {
    /// Appends an event to `events`, or holds it if one before it is open.
    #[inline]
    pub(super) fn push(&mut self, event: Event, events: &mut LocatedEvents) {
        if self.held.is_empty() {
            events.push(event, Location::default());
        } else {
            self.held.push_back(Held::Event(event));
        }
    }

    /// Appends an event that is not known yet.
    pub(super) fn open(&mut self) -> Otf2Place {
        let place = Otf2Place(self.first + self.held.len() as u64);
        self.held.push_back(Held::Open);
        place
    }

    /// Fills in an open event, or leaves it out; appends the events that do not wait any more.
    pub(super) fn fill(&mut self, place: Otf2Place, event: Option<Event>, events: &mut LocatedEvents) {
        let index = place.0.checked_sub(self.first).and_then(|index| usize::try_from(index).ok());
        if let Some(held) = index.and_then(|index| self.held.get_mut(index)) {
            *held = event.map_or(Held::Nothing, Held::Event);
        }
        while let Some(held) = self.held.pop_front() {
            match held {
                Held::Event(event) => events.push(event, Location::default()),
                Held::Nothing => {}
                Held::Open => {
                    self.held.push_front(Held::Open);
                    return;
                }
            }
            self.first += 1;
        }
    }

    /// The number of events that wait, with the open ones.
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// The first open event.
    pub(super) fn first_open(&self) -> Otf2Place {
        Otf2Place(self.first)
    }
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
        assert_eq!((events.len(), order.len()), (1, 3));
        order.fill(second, Some(Event::Start(Vec::new())), &mut events);
        assert_eq!(events.len(), 1);
        order.fill(first, None, &mut events);
        let all: Vec<_> = events.iter().map(|located| located.event.to_event()).collect();
        assert_eq!(all, [Event::Init, Event::Start(Vec::new()), Event::Finalize]);
        assert_eq!(order.len(), 0);
    }
}
