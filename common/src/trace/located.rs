//! Events of a rank with their places.

use crate::event::{Event, ThreadId};
use crate::event_buffer::{EventBuffer, EventRef, EventSink};

/// The place of an event in a rank's trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The thread whose event it is.
    pub thread: ThreadId,
    /// The line in the rank's file, from 1; `None` for events that come from no file.
    pub line: Option<u64>,
}

/// An event and its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Located<'b> {
    /// The event.
    pub event: EventRef<'b>,
    /// Its place.
    pub location: Location,
}

/// Consecutive events of one rank, each with its [`Location`]. Places take memory only where they change.
#[derive(Clone, Debug, Default)]
pub struct LocatedEvents {
    events: EventBuffer,
    /// The line of the events from an index on.
    lines: Vec<(usize, Option<u64>)>,
    /// The thread of the events from an index on; [`ThreadId::MAIN`] before the first index.
    threads: Vec<(usize, ThreadId)>,
}

impl LocatedEvents {
    /// The least size of an event in memory.
    pub const LEAST_BYTES: usize = EventBuffer::LEAST_BYTES;

    /// The number of events.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The approximate size of the events in memory.
    pub fn bytes(&self) -> usize {
        self.events.bytes()
    }

    /// The event at `index`.
    #[inline]
    pub fn get(&self, index: usize) -> Option<EventRef<'_>> {
        self.events.get(index)
    }

    /// The place of the event at `index`.
    pub fn location(&self, index: usize) -> Location {
        Location { thread: self.thread(index), line: at(&self.lines, index).flatten() }
    }

    /// The thread of the event at `index`.
    pub fn thread(&self, index: usize) -> ThreadId {
        at(&self.threads, index).unwrap_or(ThreadId::MAIN)
    }

    /// The index after the last of the consecutive events, from `index` on, that are of one thread.
    pub fn end_of_run(&self, index: usize) -> usize {
        let next = self.threads.partition_point(|&(first, _)| first <= index);
        self.threads.get(next).map_or(self.len(), |&(first, _)| first)
    }

    /// All events in order.
    pub fn iter(&self) -> impl Iterator<Item = Located<'_>> {
        (0..self.len()).filter_map(|index| Some(Located { event: self.get(index)?, location: self.location(index) }))
    }

    /// Appends an event.
    pub fn push(&mut self, event: Event, location: Location) {
        let first = self.len();
        self.events.push(event);
        self.locate(first, location);
    }

    /// The events without places, for readers that append to them and then [`locate`](Self::locate) the new ones.
    pub(crate) fn events_mut(&mut self) -> &mut EventBuffer {
        &mut self.events
    }

    /// Sets the place of the events from index `first` on.
    pub(crate) fn locate(&mut self, first: usize, location: Location) {
        let Location { thread, line } = location;
        if self.lines.last().map_or(line.is_some(), |&(_, last)| last != line) {
            self.lines.push((first, line));
        }
        if self.threads.last().map_or(ThreadId::MAIN, |&(_, last)| last) != thread {
            self.threads.push((first, thread));
        }
    }

    /// Forgets all events.
    pub fn clear(&mut self) {
        self.events.clear();
        self.lines.clear();
        self.threads.clear();
    }
}

/// The value that holds at `index`, of values that each hold from an index on.
fn at<T: Copy>(values: &[(usize, T)], index: usize) -> Option<T> {
    let until = values.partition_point(|&(first, _)| first <= index);
    Some(values.get(until.checked_sub(1)?)?.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Instructions;

    #[test]
    fn each_event_has_the_place_that_was_said_last() {
        let mut events = LocatedEvents::default();
        let places = [(0, Some(2)), (0, Some(2)), (1, Some(3)), (1, None), (0, Some(9))]
            .map(|(thread, line)| Location { thread: ThreadId(thread), line });
        for place in places {
            events.push(Event::Compute(Instructions(1.0)), place);
        }
        assert_eq!(events.iter().map(|located| located.location).collect::<Vec<_>>(), places);
        assert_eq!([0, 1, 2, 3, 4].map(|index| events.end_of_run(index)), [2, 2, 4, 4, 5]);
        events.clear();
        assert_eq!((events.len(), events.end_of_run(0)), (0, 0));
    }
}
