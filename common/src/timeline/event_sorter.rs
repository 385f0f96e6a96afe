//! Sorts the events of a timeline by time.
//!
//! A rank's clock runs ahead of simulated time while the rank does not interact: the end of a computation is known as
//! soon as it begins. An event may therefore be pushed before its time, but never after it. The sorter holds a rank's
//! events until simulated time catches up. Since it knows the order, it also counts the payload in transit.

use std::collections::BTreeMap;
use std::io;

use super::event::{Series, TimelineEvent, TimelineWriter};
use crate::time::Time;
use crate::units::Bytes;

/// Puts events in the order of time, and writes them in several formats.
pub struct EventSorter {
    writers: Vec<Box<dyn TimelineWriter>>,
    /// Events in order of time, then in the order in which they were pushed.
    ahead: BTreeMap<(Time, u64), TimelineEvent>,
    pushed: u64,
    /// The time of the latest event.
    end: Time,
    /// The time of the event that was written last.
    now: Time,
    /// The payload in transit, and the value written last.
    in_flight: Bytes,
    told: Bytes,
    /// The first error; nothing is written after it.
    failed: Option<io::Error>,
}

impl EventSorter {
    /// A timeline without events, which is written by `writers`.
    #[must_use]
    pub fn new(writers: Vec<Box<dyn TimelineWriter>>) -> Self {
        Self {
            writers,
            ahead: BTreeMap::new(),
            pushed: 0,
            end: Time::ZERO,
            now: Time::ZERO,
            in_flight: Bytes(0),
            told: Bytes(0),
            failed: None,
        }
    }

    /// Adds an event at `at`, which is not before the time of the last [flush](Self::flush_until).
    pub fn push(&mut self, at: Time, event: TimelineEvent) {
        self.pushed += 1;
        self.end = self.end.max(at);
        self.ahead.insert((at, self.pushed), event);
    }

    /// The time of the latest event so far.
    pub fn end(&self) -> Time {
        self.end
    }

    /// Writes the events until `now`: no earlier event will be pushed.
    pub fn flush_until(&mut self, now: Time) {
        while let Some(first) = self.ahead.first_entry().filter(|first| first.key().0 <= now) {
            let ((at, _), event) = first.remove_entry();
            if at > self.now {
                self.tell_in_flight();
                self.now = at;
            }
            match event {
                TimelineEvent::Depart(arrow) => self.in_flight += arrow.bytes,
                TimelineEvent::Arrive(arrow) => self.in_flight.0 = self.in_flight.0.saturating_sub(arrow.bytes.0),
                TimelineEvent::Enter(..) | TimelineEvent::Leave(_) | TimelineEvent::InFlight(_) => {}
            }
            self.write(|writer| writer.event(at, event));
        }
    }

    /// Writes the payload in transit if it has changed: once for all events at one time.
    fn tell_in_flight(&mut self) {
        let (now, in_flight) = (self.now, self.in_flight);
        if in_flight != std::mem::replace(&mut self.told, in_flight) {
            self.write(|writer| writer.event(now, TimelineEvent::InFlight(in_flight)));
        }
    }

    /// Writes the rest, and numbers that changed over time.
    ///
    /// # Errors
    /// If a file could not be written, now or before.
    pub fn finish(mut self, series: &[Series]) -> io::Result<()> {
        self.flush_until(Time::NEVER);
        self.tell_in_flight();
        for series in series {
            self.write(|writer| writer.series(series));
        }
        self.end_all();
        self.failed.take().map_or(Ok(()), Err)
    }

    fn end_all(&mut self) {
        self.flush_until(Time::NEVER);
        self.tell_in_flight();
        let end = self.end;
        self.write(|writer| writer.finish(end));
        self.writers.clear();
    }

    fn write(&mut self, mut write: impl FnMut(&mut dyn TimelineWriter) -> io::Result<()>) {
        if self.failed.is_none() {
            self.failed = self.writers.iter_mut().try_for_each(|writer| write(writer.as_mut())).err();
        }
    }
}

/// Ends the files, so that a replay that fails can be looked at up to there.
impl Drop for EventSorter {
    fn drop(&mut self) {
        self.end_all();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use crate::event::Rank;

    use super::*;

    struct Listed(Rc<RefCell<Vec<(u64, u32)>>>);

    impl TimelineWriter for Listed {
        fn event(&mut self, at: Time, event: TimelineEvent) -> io::Result<()> {
            if let TimelineEvent::Leave(rank) = event {
                self.0.borrow_mut().push((at.0, rank.0));
            }
            Ok(())
        }

        fn series(&mut self, series: &Series) -> io::Result<()> {
            self.event(Time(series.samples.len() as u64), TimelineEvent::Leave(Rank(50)))
        }

        fn finish(&mut self, end: Time) -> io::Result<()> {
            self.event(end, TimelineEvent::Leave(Rank(99)))
        }
    }

    #[test]
    fn what_is_pushed_ahead_waits_for_its_time() {
        let list = Rc::default();
        let mut sorter = EventSorter::new(vec![Box::new(Listed(Rc::clone(&list)))]);
        for (at, rank) in [(5, 1), (3, 2), (5, 3), (9, 4)] {
            sorter.push(Time(at), TimelineEvent::Leave(Rank(rank)));
        }
        sorter.flush_until(Time(5));
        assert_eq!(*list.borrow(), [(3, 2), (5, 1), (5, 3)]);
        sorter.push(Time(7), TimelineEvent::Leave(Rank(5)));
        sorter.finish(&[Series { name: String::new(), samples: Vec::new() }]).unwrap();
        assert_eq!(list.borrow()[3..], [(7, 5), (9, 4), (0, 50), (9, 99)]);
    }
}
