//! Events of a timeline in the order of time.
//!
//! A rank's clock runs ahead of simulated time while nobody can see it: when a computation ends is known as soon as it
//! begins. So an event may be pushed before its time, but never after it; the sorter keeps what a rank does by itself before
//! it next meets others.

use std::collections::BTreeMap;
use std::io;

use titr_common::time::Time;

use super::{TimelineEvent, TimelineWriter};

/// Puts events in the order of time, and writes them in several formats.
pub struct EventSorter {
    writers: Vec<Box<dyn TimelineWriter>>,
    /// Events by their time; those of one time in the order in which they were pushed.
    ahead: BTreeMap<(Time, u64), TimelineEvent>,
    pushed: u64,
    /// The time of the latest event.
    end: Time,
    /// The first error; nothing is written after it.
    failed: Option<io::Error>,
}

impl EventSorter {
    /// A timeline without events, which is written by `writers`.
    #[must_use]
    pub fn new(writers: Vec<Box<dyn TimelineWriter>>) -> Self {
        Self { writers, ahead: BTreeMap::new(), pushed: 0, end: Time::ZERO, failed: None }
    }

    /// Adds what happens at `at`, which is not before the time that was last [flushed](Self::flush_until).
    pub fn push(&mut self, at: Time, event: TimelineEvent) {
        self.pushed += 1;
        self.end = self.end.max(at);
        self.ahead.insert((at, self.pushed), event);
    }

    /// The time of the latest event so far.
    #[must_use]
    pub fn end(&self) -> Time {
        self.end
    }

    /// Writes what happens until `now`: no earlier event will be pushed any more.
    pub fn flush_until(&mut self, now: Time) {
        while let Some(first) = self.ahead.first_entry().filter(|first| first.key().0 <= now) {
            let ((at, _), event) = first.remove_entry();
            self.write(|writer| writer.event(at, event));
        }
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// Where a file could not be written, now or before.
    pub fn finish(mut self) -> io::Result<()> {
        self.end_all();
        self.failed.take().map_or(Ok(()), Err)
    }

    fn end_all(&mut self) {
        self.flush_until(Time::NEVER);
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

    use titr_common::event::Rank;

    use super::*;

    struct Listed(Rc<RefCell<Vec<(u64, u32)>>>);

    impl TimelineWriter for Listed {
        fn event(&mut self, at: Time, event: TimelineEvent) -> io::Result<()> {
            if let TimelineEvent::Leave(rank) = event {
                self.0.borrow_mut().push((at.0, rank.0));
            }
            Ok(())
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
        sorter.finish().unwrap();
        assert_eq!(list.borrow()[3..], [(7, 5), (9, 4), (9, 99)]);
    }
}
