//! Queues in which the threads of a process publish their calls, to be recorded later.
//!
//! ```text
//!   thread 0 ──publish──► queue 0 ─┐
//!   thread 1 ──publish──► queue 1 ─┼─ oldest first ─► recorder
//!   thread 2 ──publish──► queue 2 ─┘
//! ```
//!
//! An action of a thread that depends on another thread's action has to be recorded after it. An item therefore has the
//! time of its publication, and the queues are drained in that order. Items published after the start of a drain are
//! left for the next one: an item that they depend on may be in a queue that was emptied before it arrived.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use spin::mutex::{SpinMutex, SpinMutexGuard};

/// The number of attempts to get a queue at the end, when its holder may never release it.
const TRIES: usize = 1 << 16;

/// The items that one thread has published.
pub(super) struct PublicationQueue<N>(SpinMutex<VecDeque<Item<N>>>);

struct Item<N> {
    made: Instant,
    what: N,
}

impl<N> PublicationQueue<N> {
    /// Publishes the thread's items, and calls `published` before another thread can see them. Returns the number of
    /// items that are in the queue now.
    pub(super) fn publish(&self, what: impl IntoIterator<Item = N>, published: impl FnOnce()) -> usize {
        let mut items = self.0.lock();
        let made = Instant::now();
        items.extend(what.into_iter().map(|what| Item { made, what }));
        published();
        items.len()
    }
}

/// The amount to drain.
#[derive(Clone, Copy, Debug)]
pub(super) enum Until {
    /// The items that were published by then.
    Moment(Instant),
    /// All items that can be had.
    End,
}

impl Until {
    fn includes(self, moment: Instant) -> bool {
        match self {
            Self::Moment(last) => moment <= last,
            Self::End => true,
        }
    }

    fn lock<N>(self, queue: &PublicationQueue<N>) -> Option<SpinMutexGuard<'_, VecDeque<Item<N>>>> {
        match self {
            Self::Moment(_) => Some(queue.0.lock()),
            Self::End => (0..TRIES).find_map(|_| queue.0.try_lock()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Drained {
    /// The number of threads whose items there were.
    pub(super) threads: usize,
    /// Whether no item is left.
    pub(super) is_all: bool,
}

/// The queues of a process, and the data needed about each thread, `T`, when its items `N` are recorded.
pub(super) struct PublicationQueues<N, T>(Vec<Publishing<N, T>>);

struct Publishing<N, T> {
    queue: Arc<PublicationQueue<N>>,
    /// The items that were taken out of the queue and are not yet recorded.
    taken: VecDeque<Item<N>>,
    thread: T,
}

impl<N, T> Publishing<N, T> {
    fn take(&mut self, until: Until) {
        let Some(mut items) = until.lock(&self.queue) else { return };
        if self.taken.is_empty() {
            std::mem::swap(&mut self.taken, &mut items);
        } else {
            self.taken.append(&mut items);
        }
    }

    fn next(&self) -> Option<Instant> {
        self.taken.front().map(|item| item.made)
    }
}

impl<N, T> Default for PublicationQueues<N, T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<N, T> PublicationQueues<N, T> {
    /// Opens a queue for one more thread.
    pub(super) fn open(&mut self, thread: T) -> Arc<PublicationQueue<N>> {
        let queue = Arc::new(PublicationQueue(SpinMutex::default()));
        self.0.push(Publishing { queue: Arc::clone(&queue), taken: VecDeque::new(), thread });
        queue
    }

    /// Closes the queues of some threads, with the items in them.
    pub(super) fn close(&mut self, mut is_one: impl FnMut(&T) -> bool) {
        self.0.retain(|publishing| !is_one(&publishing.thread));
    }

    pub(super) fn threads(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().map(|publishing| &mut publishing.thread)
    }

    /// Gives the published items to `record`.
    pub(super) fn drain(&mut self, until: Until, mut record: impl FnMut(&mut T, N)) -> Drained {
        self.0.iter_mut().for_each(|publishing| publishing.take(until));
        let threads = self.0.iter().filter(|publishing| publishing.next().is_some()).count();
        while let Some((first, others)) = self.oldest() {
            // Consecutive items of one thread that precede all others'.
            let due = |moment| until.includes(moment) && others.is_none_or(|others| moment <= others);
            let Some(Publishing { taken, thread, .. }) = self.0.get_mut(first) else { break };
            if !taken.front().is_some_and(|item| due(item.made)) {
                break;
            }
            while let Some(Item { what, .. }) = taken.pop_front_if(|item| due(item.made)) {
                record(thread, what);
            }
        }
        Drained { threads, is_all: self.0.iter().all(|publishing| publishing.next().is_none()) }
    }

    /// The index of the thread whose next item is the oldest, and the moment of the oldest item of the others.
    fn oldest(&self) -> Option<(usize, Option<Instant>)> {
        let mut oldest: Option<(usize, Instant)> = None;
        let mut others: Option<Instant> = None;
        for (index, publishing) in self.0.iter().enumerate() {
            let Some(moment) = publishing.next() else { continue };
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

    /// Threads that hand a number on, each publishing it first: they are drained one after the other, however often.
    #[test]
    fn what_follows_from_another_comes_after_it() {
        const THREADS: u64 = 2;
        const NUMBERS: u64 = 4_000;
        let mut queues = PublicationQueues::default();
        let opened: Vec<_> = (0..THREADS).map(|thread| queues.open(thread)).collect();
        let turn = AtomicU64::new(0);
        let mut drained = Vec::new();
        std::thread::scope(|scope| {
            for (me, queue) in (0..THREADS).zip(opened) {
                let turn = &turn;
                scope.spawn(move || {
                    for number in (me..NUMBERS).step_by(THREADS as usize) {
                        while turn.load(Ordering::Acquire) != number {
                            std::thread::yield_now();
                        }
                        queue.publish([number], || ());
                        turn.store(number + 1, Ordering::Release);
                    }
                });
            }
            while drained.len() < NUMBERS as usize {
                queues.drain(Until::Moment(Instant::now()), |&mut thread, number| drained.push((thread, number)));
                std::thread::yield_now();
            }
        });
        assert_eq!(drained, (0..NUMBERS).map(|number| (number % THREADS, number)).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_published_later_is_left() {
        let mut queues = PublicationQueues::default();
        let queue = queues.open(());
        queue.publish([1, 2], || ());
        let now = Instant::now();
        while Instant::now() == now {}
        assert_eq!(queue.publish([3], || ()), 3);
        let mut drained = Vec::new();
        let some = queues.drain(Until::Moment(now), |(), number| drained.push(number));
        assert_eq!(some, Drained { threads: 1, is_all: false });
        assert_eq!(drained, [1, 2]);
        assert_eq!(queue.publish([4], || ()), 1);
        let rest = queues.drain(Until::End, |(), number| drained.push(number));
        assert_eq!(rest, Drained { threads: 1, is_all: true });
        assert_eq!(drained, [1, 2, 3, 4]);
        queue.publish([5], || ());
        queues.close(|()| true);
        let none = queues.drain(Until::End, |(), number| drained.push(number));
        assert_eq!((none.threads, drained.len()), (0, 4));
    }
}
