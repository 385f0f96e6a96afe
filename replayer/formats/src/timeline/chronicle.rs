//! Marks in the order of time.
//!
//! A rank's clock runs ahead of simulated time while nobody can see it: it is known when a computation ends as soon as it
//! begins. So a mark may be told before its time, but never after it; what is kept is what a rank does by itself before it
//! next meets others.

use std::collections::BTreeMap;
use std::io;

use super::{Format, Mark};
use titr_common::time::Time;

/// Puts marks in order, and writes them in several formats.
pub struct Chronicle {
    formats: Vec<Box<dyn Format>>,
    /// Of one time: as they were told.
    ahead: BTreeMap<(Time, u64), Mark>,
    told: u64,
    /// The latest.
    end: Time,
    /// The first error; nothing is written after it.
    failed: Option<io::Error>,
}

impl Chronicle {
    /// One that is written in these formats.
    #[must_use]
    pub fn new(formats: Vec<Box<dyn Format>>) -> Self {
        Self { formats, ahead: BTreeMap::new(), told: 0, end: Time::ZERO, failed: None }
    }

    /// Something happens at `at`, which is not before the time last [reached](Self::reach).
    pub fn tell(&mut self, at: Time, mark: Mark) {
        self.told += 1;
        self.end = self.end.max(at);
        self.ahead.insert((at, self.told), mark);
    }

    /// When the latest of what was told happens.
    #[must_use]
    pub fn end(&self) -> Time {
        self.end
    }

    /// Nothing that happened before `now` will be told any more.
    pub fn reach(&mut self, now: Time) {
        while let Some(first) = self.ahead.first_entry().filter(|first| first.key().0 <= now) {
            let ((at, _), mark) = first.remove_entry();
            self.write(|format| format.mark(at, mark));
        }
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// The first of all the time.
    pub fn finish(mut self) -> io::Result<()> {
        self.end_all();
        self.failed.take().map_or(Ok(()), Err)
    }

    fn end_all(&mut self) {
        self.reach(Time::NEVER);
        let end = self.end;
        self.write(|format| format.finish(end));
        self.formats.clear();
    }

    fn write(&mut self, mut write: impl FnMut(&mut dyn Format) -> io::Result<()>) {
        if self.failed.is_none() {
            self.failed = self.formats.iter_mut().try_for_each(|format| write(format.as_mut())).err();
        }
    }
}

/// What led to an error can be looked at too.
impl Drop for Chronicle {
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

    impl Format for Listed {
        fn mark(&mut self, at: Time, mark: Mark) -> io::Result<()> {
            if let Mark::Leave(rank) = mark {
                self.0.borrow_mut().push((at.0, rank.0));
            }
            Ok(())
        }

        fn finish(&mut self, end: Time) -> io::Result<()> {
            self.mark(end, Mark::Leave(Rank(99)))
        }
    }

    #[test]
    fn what_is_told_ahead_waits_for_its_time() {
        let list = Rc::default();
        let mut chronicle = Chronicle::new(vec![Box::new(Listed(Rc::clone(&list)))]);
        for (at, rank) in [(5, 1), (3, 2), (5, 3), (9, 4)] {
            chronicle.tell(Time(at), Mark::Leave(Rank(rank)));
        }
        chronicle.reach(Time(5));
        assert_eq!(*list.borrow(), [(3, 2), (5, 1), (5, 3)]);
        chronicle.tell(Time(7), Mark::Leave(Rank(5)));
        chronicle.finish().unwrap();
        assert_eq!(list.borrow()[3..], [(7, 5), (9, 4), (9, 99)]);
    }
}
