//! The requests in SimGrid's storage for a rank during its replay.
//!
//! SimGrid identifies a request by its source, destination and tag, and a `wait` takes the oldest request with this key
//! (`RequestStorage` in SimGrid 3.32's `smpi_replay.cpp`). A send to oneself and its receive have the same key. At the
//! end of the trace, SimGrid waits for the youngest request of each key, so a receive without a message would prevent
//! the rank from ending. Others are dropped, and a message that is dropped in transit ends the simulation.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use titr_common::event::{Rank, Tag};

/// SimGrid's name of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Name {
    pub(super) from: Rank,
    pub(super) to: Rank,
    pub(super) tag: Tag,
}

/// A request in storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredRequest {
    pub(super) name: Name,
    serial: u64,
}

/// The requests of one rank, by their names, each name's in the order in which they were made.
#[derive(Default)]
pub(super) struct RequestStorage {
    queues: FxHashMap<Name, VecDeque<Entry>>,
    /// The number of requests in all queues.
    len: usize,
    /// The number of cancelled requests in the queues.
    cancelled: usize,
    /// The number of requests that were ever made.
    made: u64,
}

struct Entry {
    serial: u64,
    state: RequestState,
}

/// The kind of a request in storage, and how far it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestState {
    /// A send that is complete at once.
    EagerSend,
    Send,
    Receive,
    /// A receive that is known to have got a message: a cancel comes too late.
    Matched,
    /// A receive that the program has cancelled: SimGrid still has it.
    Cancelled,
}

impl RequestStorage {
    /// Adds a request that was made.
    pub(super) fn post(&mut self, name: Name, state: RequestState) -> StoredRequest {
        let serial = self.made;
        self.made += 1;
        self.len += 1;
        self.queues.entry(name).or_default().push_back(Entry { serial, state });
        StoredRequest { name, serial }
    }

    /// A receive that was cancelled, to serve as a new one.
    pub(super) fn reuse(&mut self, name: Name, state: RequestState) -> Option<StoredRequest> {
        if self.cancelled == 0 {
            return None;
        }
        let mut entries = self.queues.get_mut(&name)?.iter_mut();
        let entry = entries.find(|entry| entry.state == RequestState::Cancelled)?;
        entry.state = state;
        self.cancelled -= 1;
        Some(StoredRequest { name, serial: entry.serial })
    }

    /// A request is cancelled. Returns its state from then on, if it is there at all.
    pub(super) fn cancel(&mut self, posted: StoredRequest) -> Option<RequestState> {
        let entry = self.queues.get_mut(&posted.name)?.iter_mut().find(|entry| entry.serial == posted.serial)?;
        if entry.state == RequestState::Receive {
            entry.state = RequestState::Cancelled;
            self.cancelled += 1;
        }
        Some(entry.state)
    }

    /// Takes requests until `posted` is taken: how many `wait`s of its name that is. Not for a send that is complete at
    /// once where others would have to be waited for.
    pub(super) fn take(&mut self, posted: StoredRequest) -> u64 {
        let Some(queue) = self.queues.get_mut(&posted.name) else { return 0 };
        let Ok(before) = queue.binary_search_by_key(&posted.serial, |entry| entry.serial) else { return 0 };
        let is_eager = |entry: &Entry| entry.state == RequestState::EagerSend;
        if is_eager(&queue[before]) && !queue.iter().take(before).all(is_eager) {
            return 0;
        }
        let mut taken: Vec<Entry> = queue.drain(..=before).collect();
        // A message goes to the older request, so a cancel leaves the younger one over.
        let left = taken.iter().filter(|entry| entry.state == RequestState::Cancelled).count();
        let waits = taken.len() - left;
        for entry in taken.drain(waits..).rev() {
            queue.push_front(Entry { state: RequestState::Cancelled, ..entry });
        }
        if queue.is_empty() {
            self.queues.remove(&posted.name);
        }
        self.len -= waits;
        waits as u64
    }

    /// Takes these, none named twice, if they are all there is.
    pub(super) fn take_all(&mut self, posted: &[StoredRequest]) -> bool {
        let is_here = |posted: &&StoredRequest| {
            let queue = self.queues.get(&posted.name);
            queue.is_some_and(|queue| queue.binary_search_by_key(&posted.serial, |entry| entry.serial).is_ok())
        };
        let all = posted.iter().filter(is_here).count() == self.len;
        if all {
            self.queues.clear();
            self.len = 0;
        }
        all
    }

    /// Whether no request is left.
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The receives that are left in the end and may have got nothing, in order.
    pub(super) fn receives_left(&self) -> Vec<Name> {
        let receives = |(&name, queue): (&Name, &VecDeque<Entry>)| {
            let is_open = |entry: &&Entry| matches!(entry.state, RequestState::Receive | RequestState::Cancelled);
            std::iter::repeat_n(name, queue.iter().filter(is_open).count())
        };
        let mut left: Vec<Name> = self.queues.iter().flat_map(receives).collect();
        left.sort_unstable();
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(tag: i32) -> Name {
        Name { from: Rank(1), to: Rank(0), tag: Tag(tag) }
    }

    #[test]
    fn a_wait_takes_the_oldest_of_its_name_first() {
        let mut storage = RequestStorage::default();
        let [first, second, third] = [7, 7, 8].map(|tag| storage.post(name(tag), RequestState::Receive));
        assert_eq!(storage.take(second), 2);
        assert_eq!(storage.take(first), 0);
        assert_eq!(storage.receives_left(), [name(8)]);
        assert_eq!(storage.take(third), 1);
        assert_eq!(storage.take(third), 0);
    }

    #[test]
    fn all_there_is_can_be_taken_at_once() {
        let mut storage = RequestStorage::default();
        let [first, second] = [7, 8].map(|tag| storage.post(name(tag), RequestState::Send));
        assert!(!storage.take_all(&[first]));
        assert_eq!(storage.take(first), 1);
        assert!(storage.take_all(&[first, second]));
        assert!(storage.take_all(&[]));
    }

    #[test]
    fn a_send_that_is_complete_does_not_wait_for_others() {
        let mut storage = RequestStorage::default();
        let states = [RequestState::Send, RequestState::EagerSend, RequestState::Send];
        let [large, small, last] = states.map(|state| storage.post(name(7), state));
        assert_eq!(storage.take(small), 0);
        assert_eq!(storage.take(large), 1);
        assert_eq!(storage.take(last), 2);
    }

    #[test]
    fn a_cancelled_receive_serves_again() {
        let mut storage = RequestStorage::default();
        let first = storage.post(name(7), RequestState::Receive);
        assert_eq!(storage.reuse(name(7), RequestState::Receive), None);
        assert_eq!(storage.cancel(first), Some(RequestState::Cancelled));
        assert_eq!(storage.receives_left(), [name(7)]);
        assert_eq!(storage.reuse(name(7), RequestState::Matched), Some(first));
        assert_eq!(storage.cancel(first), Some(RequestState::Matched));
        assert_eq!(storage.receives_left(), []);
        assert_eq!(storage.take(first), 1);
        assert_eq!(storage.cancel(first), None);
    }

    #[test]
    fn a_receive_after_one_that_was_cancelled_gets_what_comes_first() {
        let mut storage = RequestStorage::default();
        let [first, second] = [7, 7].map(|tag| storage.post(name(tag), RequestState::Receive));
        storage.cancel(first);
        assert_eq!(storage.take(second), 1);
        assert_eq!(storage.receives_left(), [name(7)]);
        let third = storage.reuse(name(7), RequestState::Receive).unwrap();
        assert_eq!(storage.take(third), 1);
        assert_eq!(storage.receives_left(), []);
    }
}
