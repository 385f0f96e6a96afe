//! A priority queue of deadlines whose entries can be moved.
//!
//! # Timers
//!
//! Timers that are never moved or cancelled: queues for timers that are set in the order in which they are due, and a
//! heap for the rest.
//!
//! Messages of equal size and distance take equally long, so most messages of a program are due in the order of
//! injection, or in a few such orders, one for each distance. A timer in a queue costs a few comparisons.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use titr_common::time::Time;

/// The time at which something is due. `sequence` orders deadlines at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline<T = Time> {
    /// The time.
    pub at: T,
    /// The place among deadlines of the same time.
    pub sequence: u64,
}

/// Ordered by time. Comparing both fields as one number avoids a branch, which would be unpredictable.
impl<T: Copy + Eq + Into<u64>> Ord for Deadline<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        let number = |due: &Self| u128::from(due.at.into()) << 64 | u128::from(due.sequence);
        number(self).cmp(&number(other))
    }
}

impl<T: Copy + Eq + Into<u64>> PartialOrd for Deadline<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A heap with at most one entry per key, for keys that are small numbers. The position of each key in the heap is
/// known, so a key is moved with O(log n) comparisons when its time changes: the heap has no stale entries and is never
/// rebuilt.
#[derive(Debug, Default)]
pub(super) struct IndexedHeap<T = Time> {
    heap: Vec<(Deadline<T>, u32)>,
    /// The place of each key in `heap`; `ABSENT` if it is not there.
    places: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

/// Children of a node. With four, the heap is half as deep as with two, and a node's children are contiguous in memory.
const ARITY: usize = 4;

impl<T: Copy + Ord + Into<u64>> IndexedHeap<T> {
    /// The entry that is due first.
    pub(crate) fn first(&self) -> Option<(Deadline<T>, u32)> {
        self.heap.first().copied()
    }

    /// Enters `key`, or moves it if it is there.
    pub(crate) fn set(&mut self, key: u32, due: Deadline<T>) {
        if self.places.len() <= key as usize {
            self.places.resize(key as usize + 1, ABSENT);
        }
        match self.places[key as usize] {
            ABSENT => {
                self.heap.push((due, key));
                self.rise(self.heap.len() - 1);
            }
            place => {
                let earlier = due < self.heap[place as usize].0;
                self.heap[place as usize].0 = due;
                if earlier {
                    self.rise(place as usize);
                } else {
                    self.sink(place as usize);
                }
            }
        }
    }

    /// Enters `key`, or moves it to an earlier deadline if it is there and due later.
    pub(crate) fn decrease_key(&mut self, key: u32, due: Deadline<T>) {
        let place = self.places.get(key as usize).copied().unwrap_or(ABSENT);
        if self.heap.get(place as usize).is_none_or(|entry| due < entry.0) {
            self.set(key, due);
        }
    }

    /// Takes out the entry that is due first.
    pub(crate) fn pop(&mut self) -> Option<(Deadline<T>, u32)> {
        let last = self.heap.pop()?;
        let first = match self.heap.first_mut() {
            Some(root) => {
                let first = std::mem::replace(root, last);
                self.sink(0);
                first
            }
            None => last,
        };
        self.places[first.1 as usize] = ABSENT;
        Some(first)
    }

    /// Takes out `key` if it is there.
    pub(crate) fn remove(&mut self, key: u32) {
        let place = self.places.get(key as usize).copied().unwrap_or(ABSENT) as usize;
        if place >= self.heap.len() {
            return;
        }
        let (removed, _) = self.heap.swap_remove(place);
        self.places[key as usize] = ABSENT;
        if let Some(&(moved, key)) = self.heap.get(place) {
            self.places[key as usize] = place as u32;
            if moved < removed { self.rise(place) } else { self.sink(place) }
        }
    }

    /// Takes out the entry that is due first if it is due by `now`.
    pub(crate) fn pop_by(&mut self, now: T) -> Option<(Deadline<T>, u32)> {
        self.first().filter(|(due, _)| due.at <= now)?;
        self.pop()
    }

    fn rise(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if self.heap[parent].0 <= entry.0 {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    fn sink(&mut self, mut place: usize) {
        let entry = self.heap[place];
        loop {
            let first = place * ARITY + 1;
            let Some(children) = self.heap.get(first..self.heap.len().min(first + ARITY)) else { break };
            let mut least = 0;
            for child in 1..children.len() {
                if children[child].0 < children[least].0 {
                    least = child;
                }
            }
            let Some(&child) = children.get(least).filter(|child| child.0 < entry.0) else { break };
            self.put(place, child);
            place = first + least;
        }
        self.put(place, entry);
    }

    fn put(&mut self, place: usize, entry: (Deadline<T>, u32)) {
        self.heap[place] = entry;
        self.places[entry.1 as usize] = place as u32;
    }
}

/// Timers, each with a key, which need not be unique.
#[derive(Debug)]
pub struct TimerQueue<K = u32> {
    /// Each in order.
    queues: [VecDeque<(Deadline, K)>; QUEUES],
    heap: BinaryHeap<Reverse<(Deadline, K)>>,
    /// When the first timer of each queue is due, and last the first one in the heap; [`NONE`] if there is none.
    fronts: [Deadline; QUEUES + 1],
    /// The place of the earliest of these.
    first: usize,
}

const QUEUES: usize = 4;

const NONE: Deadline = Deadline { at: Time::NEVER, sequence: u64::MAX };

impl<K: Ord> Default for TimerQueue<K> {
    fn default() -> Self {
        Self { queues: Default::default(), heap: BinaryHeap::new(), fronts: [NONE; QUEUES + 1], first: 0 }
    }
}

impl<K: Ord> TimerQueue<K> {
    /// Sets a timer.
    pub fn set(&mut self, key: K, due: Deadline) {
        let fits = |queue: &VecDeque<(Deadline, K)>| queue.back().is_none_or(|&(last, _)| last <= due);
        let place = self.queues.iter().position(fits).unwrap_or(QUEUES);
        match self.queues.get_mut(place) {
            Some(queue) => queue.push_back((due, key)),
            None => self.heap.push(Reverse((due, key))),
        }
        if due < self.fronts[place] {
            self.fronts[place] = due;
            if due < self.fronts[self.first] {
                self.first = place;
            }
        }
    }

    /// When the first timer is due.
    #[inline]
    pub fn first(&self) -> Option<Deadline> {
        Some(self.fronts[self.first]).filter(|&due| due != NONE)
    }

    /// Takes out the timer that is due first if it is due by `now`, and returns its key.
    #[inline]
    pub fn pop_by(&mut self, now: Time) -> Option<K> {
        self.first().filter(|due| due.at <= now)?;
        let (key, next) = match self.queues.get_mut(self.first) {
            Some(queue) => (queue.pop_front().map(|(_, key)| key), queue.front().map(|&(due, _)| due)),
            None => (self.heap.pop().map(|Reverse((_, key))| key), self.heap.peek().map(|&Reverse((due, _))| due)),
        };
        self.fronts[self.first] = next.unwrap_or(NONE);
        // A loop, because the compiler makes calls of a chain of iterators, and this is a tenth of many replays.
        self.first = 0;
        for place in 1..self.fronts.len() {
            if self.fronts[place] < self.fronts[self.first] {
                self.first = place;
            }
        }
        key
    }
}

/// A number that is not negative, kept as a whole number by which such numbers are in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NonNegative(u64);

impl NonNegative {
    pub(crate) fn of(number: f64) -> Self {
        // The bits of non-negative floats have the same order as their values; adding 0.0 turns -0.0 into 0.0.
        Self((number + 0.0).to_bits())
    }

    pub(crate) fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl From<NonNegative> for u64 {
    fn from(number: NonNegative) -> Self {
        number.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Set(u32, u64),
        DecreaseKey(u32, u64),
        Remove(u32),
        Pop,
    }

    fn step() -> impl Strategy<Value = Step> {
        let (key, at) = (0_u32..20, 0_u64..50);
        prop_oneof![
            (key.clone(), at.clone()).prop_map(|(key, at)| Step::Set(key, at)),
            (key.clone(), at).prop_map(|(key, at)| Step::DecreaseKey(key, at)),
            key.prop_map(Step::Remove),
            Just(Step::Pop),
        ]
    }

    proptest! {
        /// The heap agrees with an ordered map after any sequence of insertions, moves and removals.
        #[test]
        fn is_an_ordered_map(steps in prop::collection::vec(step(), 0..200)) {
            let mut heap = IndexedHeap::default();
            let mut model: BTreeMap<u32, Deadline> = BTreeMap::new();
            for (sequence, step) in (0_u64..).zip(steps) {
                match step {
                    Step::Set(key, at) => {
                        let due = Deadline { at: Time(at), sequence };
                        heap.set(key, due);
                        model.insert(key, due);
                    }
                    Step::DecreaseKey(key, at) => {
                        let due = Deadline { at: Time(at), sequence };
                        heap.decrease_key(key, due);
                        model.entry(key).and_modify(|known| *known = due.min(*known)).or_insert(due);
                    }
                    Step::Remove(key) => {
                        heap.remove(key);
                        model.remove(&key);
                    }
                    Step::Pop => {
                        let expected = model.iter().map(|(&key, &due)| (due, key)).min();
                        prop_assert_eq!(heap.pop(), expected);
                        if let Some((_, key)) = expected {
                            model.remove(&key);
                        }
                    }
                }
                prop_assert_eq!(heap.first(), model.iter().map(|(&key, &due)| (due, key)).min());
            }
        }
    }
}

#[cfg(test)]
mod timer_queue_tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Timers come out in the order of their time, then of their insertion, after any sequence of insertions and
        /// removals.
        #[test]
        fn come_in_order(steps in prop::collection::vec((0_u64..50, 0_u64..60), 0..200)) {
            let mut timers = TimerQueue::default();
            let mut model = std::collections::BTreeSet::new();
            for (sequence, (at, now)) in (0_u64..).zip(steps) {
                timers.set(sequence as u32, Deadline { at: Time(at), sequence });
                model.insert((at, sequence));
                prop_assert_eq!(timers.first().map(|due| (due.at.0, due.sequence)), model.first().copied());
                while let Some(key) = timers.pop_by(Time(now)) {
                    let (at, sequence) = model.pop_first().unwrap();
                    prop_assert!(at <= now && sequence == u64::from(key));
                }
                prop_assert!(model.first().is_none_or(|&(at, _)| at > now));
            }
        }
    }
}
