//! Where what the threads of a process have done waits to be recorded.
//!
//! A recorder is for one thread at a time. Where two threads call MPI at once, all that it remembers moves from core to
//! core with every call, and that takes several times as long as to record it. So each thread has a lane of its own, where
//! it notes what it does, and now and then one of them records what all have noted (flat combining: Hendler, Incze, Shavit
//! and Tzafrir, SPAA 2010).
//!
//! ```text
//!   thread 0 ──note──► lane 0 ─┐
//!   thread 1 ──note──► lane 1 ─┼─ oldest first ─► recorder
//!   thread 2 ──note──► lane 2 ─┘
//! ```
//!
//! What a thread does because of what another one did has to be recorded after that. A note carries the moment when it was
//! made, and they are collected in that order. Those made after the collector has set out are left for the next one: what
//! another thread did before may be in a lane that was emptied too early to have it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use spin::mutex::{SpinMutex, SpinMutexGuard};

/// How often to try for a lane at the end, when who holds it may never let go.
const TRIES: usize = 1 << 16;

/// What one thread has noted.
pub(super) struct Lane<N>(SpinMutex<VecDeque<Note<N>>>);

struct Note<N> {
    made: Instant,
    what: N,
}

impl<N> Lane<N> {
    /// Notes what the thread has done; `noted` is told before anybody else can see it. Gives how many notes there are now.
    pub(super) fn note(&self, what: impl IntoIterator<Item = N>, noted: impl FnOnce()) -> usize {
        let mut notes = self.0.lock();
        let made = Instant::now();
        notes.extend(what.into_iter().map(|what| Note { made, what }));
        noted();
        notes.len()
    }
}

/// How much to collect.
#[derive(Clone, Copy, Debug)]
pub(super) enum Until {
    /// What was noted by then.
    Moment(Instant),
    /// What can be had.
    End,
}

impl Until {
    fn includes(self, moment: Instant) -> bool {
        match self {
            Self::Moment(last) => moment <= last,
            Self::End => true,
        }
    }

    fn lock<N>(self, lane: &Lane<N>) -> Option<SpinMutexGuard<'_, VecDeque<Note<N>>>> {
        match self {
            Self::Moment(_) => Some(lane.0.lock()),
            Self::End => (0..TRIES).find_map(|_| lane.0.try_lock()),
        }
    }
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Collected {
    /// Whose notes there were.
    pub(super) threads: usize,
    /// Whether nothing is left.
    pub(super) is_all: bool,
}

/// The lanes of a process, and what is to be known of each thread, `T`, when its notes `N` are recorded.
pub(super) struct Lanes<N, T>(Vec<Followed<N, T>>);

struct Followed<N, T> {
    lane: Arc<Lane<N>>,
    /// What is taken out of it and not yet recorded.
    taken: VecDeque<Note<N>>,
    thread: T,
}

impl<N, T> Followed<N, T> {
    fn take(&mut self, until: Until) {
        let Some(mut notes) = until.lock(&self.lane) else { return };
        if self.taken.is_empty() {
            std::mem::swap(&mut self.taken, &mut notes);
        } else {
            self.taken.append(&mut notes);
        }
    }

    fn next(&self) -> Option<Instant> {
        self.taken.front().map(|note| note.made)
    }
}

impl<N, T> Default for Lanes<N, T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<N, T> Lanes<N, T> {
    /// A lane for one more thread.
    pub(super) fn open(&mut self, thread: T) -> Arc<Lane<N>> {
        let lane = Arc::new(Lane(SpinMutex::default()));
        self.0.push(Followed { lane: Arc::clone(&lane), taken: VecDeque::new(), thread });
        lane
    }

    /// Gives up those of some threads, with what is in them.
    pub(super) fn close(&mut self, mut is_one: impl FnMut(&T) -> bool) {
        self.0.retain(|followed| !is_one(&followed.thread));
    }

    pub(super) fn threads(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().map(|followed| &mut followed.thread)
    }

    /// Gives what is noted to `record`.
    pub(super) fn collect(&mut self, until: Until, mut record: impl FnMut(&mut T, N)) -> Collected {
        self.0.iter_mut().for_each(|followed| followed.take(until));
        let threads = self.0.iter().filter(|followed| followed.next().is_some()).count();
        while let Some((first, others)) = self.oldest() {
            // As many of one thread as come before all others'.
            let due = |moment| until.includes(moment) && others.is_none_or(|others| moment <= others);
            let Some(Followed { taken, thread, .. }) = self.0.get_mut(first) else { break };
            if !taken.front().is_some_and(|note| due(note.made)) {
                break;
            }
            while let Some(Note { what, .. }) = taken.pop_front_if(|note| due(note.made)) {
                record(thread, what);
            }
        }
        Collected { threads, is_all: self.0.iter().all(|followed| followed.next().is_none()) }
    }

    /// Whose next note is the oldest, and when the oldest of the others' was made.
    fn oldest(&self) -> Option<(usize, Option<Instant>)> {
        let mut oldest: Option<(usize, Instant)> = None;
        let mut others: Option<Instant> = None;
        for (index, followed) in self.0.iter().enumerate() {
            let Some(moment) = followed.next() else { continue };
            let later = match oldest {
                Some((_, first)) if first <= moment => moment,
                before => {
                    oldest = Some((index, moment));
                    let Some((_, first)) = before else { continue };
                    first
                }
            };
            others = Some(others.map_or(later, |other| other.min(later)));
        }
        oldest.map(|(index, _)| (index, others))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// Threads that hand a number on, each noting it first: they are collected one after the other, however often.
    #[test]
    fn what_follows_from_another_comes_after_it() {
        const THREADS: u64 = 2;
        const NUMBERS: u64 = 4_000;
        let mut lanes = Lanes::default();
        let opened: Vec<_> = (0..THREADS).map(|thread| lanes.open(thread)).collect();
        let turn = AtomicU64::new(0);
        let mut collected = Vec::new();
        std::thread::scope(|scope| {
            for (me, lane) in (0..THREADS).zip(opened) {
                let turn = &turn;
                scope.spawn(move || {
                    for number in (me..NUMBERS).step_by(THREADS as usize) {
                        while turn.load(Ordering::Acquire) != number {
                            std::thread::yield_now();
                        }
                        lane.note([number], || ());
                        turn.store(number + 1, Ordering::Release);
                    }
                });
            }
            while collected.len() < NUMBERS as usize {
                lanes.collect(Until::Moment(Instant::now()), |&mut thread, number| collected.push((thread, number)));
                std::thread::yield_now();
            }
        });
        assert_eq!(collected, (0..NUMBERS).map(|number| (number % THREADS, number)).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_noted_later_is_left() {
        let mut lanes = Lanes::default();
        let lane = lanes.open(());
        lane.note([1, 2], || ());
        let now = Instant::now();
        while Instant::now() == now {}
        assert_eq!(lane.note([3], || ()), 3);
        let mut collected = Vec::new();
        let some = lanes.collect(Until::Moment(now), |(), number| collected.push(number));
        assert_eq!(some, Collected { threads: 1, is_all: false });
        assert_eq!(collected, [1, 2]);
        assert_eq!(lane.note([4], || ()), 1);
        let rest = lanes.collect(Until::End, |(), number| collected.push(number));
        assert_eq!(rest, Collected { threads: 1, is_all: true });
        assert_eq!(collected, [1, 2, 3, 4]);
        lane.note([5], || ());
        lanes.close(|()| true);
        let none = lanes.collect(Until::End, |(), number| collected.push(number));
        assert_eq!((none.threads, collected.len()), (0, 4));
    }
}
