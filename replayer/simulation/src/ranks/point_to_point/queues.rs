//! First-in-first-out queues, indexed by key. An empty queue takes no memory. A queue of a single item, the usual case,
//! stores it beside its key.

use std::collections::hash_map::Entry;
use std::hash::Hash;

use rustc_hash::FxHashMap;
use slab::Slab;

/// The queues: for each key the first item, and the further ones of all of them linked in one slab.
pub(in crate::ranks) struct Queues<K, V> {
    queues: FxHashMap<K, Queue<V>>,
    nodes: Slab<QueueNode<V>>,
}

struct Queue<V> {
    first: V,
    further: Option<Further>,
}

/// The position of the first and last of the further items.
#[derive(Clone, Copy)]
struct Further {
    first: u32,
    last: u32,
}

struct QueueNode<V> {
    value: V,
    /// Undefined in the last one.
    next: u32,
}

impl<K, V> Default for Queues<K, V> {
    fn default() -> Self {
        Self { queues: FxHashMap::default(), nodes: Slab::new() }
    }
}

impl<K: Hash + Eq + Copy, V> Queues<K, V> {
    /// Appends `value` to the queue of `key`.
    pub(in crate::ranks) fn push(&mut self, key: K, value: V) {
        self.meet(key, value, |_| false);
    }

    /// Takes the first item of `key`'s queue if it `fits`; if not, or if there is none, appends `value`.
    #[inline]
    pub(in crate::ranks) fn meet(&mut self, key: K, value: V, fits: impl FnOnce(&V) -> bool) -> Option<V> {
        match self.queues.entry(key) {
            Entry::Occupied(mut entry) => {
                let queue = entry.get_mut();
                if !fits(&queue.first) {
                    queue.append(value, &mut self.nodes);
                    return None;
                }
                Some(match queue.shift(&mut self.nodes) {
                    Some(first) => first,
                    None => entry.remove().first,
                })
            }
            Entry::Vacant(entry) => {
                entry.insert(Queue { first: value, further: None });
                None
            }
        }
    }

    /// The number of queues that are not empty.
    #[inline]
    pub(in crate::ranks) fn len(&self) -> usize {
        self.queues.len()
    }

    /// The first item of `key`'s queue.
    pub(in crate::ranks) fn front(&self, key: &K) -> Option<&V> {
        self.queues.get(key).map(|queue| &queue.first)
    }

    /// Takes the first item of `key`'s queue.
    pub(in crate::ranks) fn pop(&mut self, key: &K) -> Option<V> {
        self.take(key, |_| true)
    }

    /// Takes the first item of `key`'s queue that `fits`, at any position.
    pub(in crate::ranks) fn take(&mut self, key: &K, fits: impl Fn(&V) -> bool) -> Option<V> {
        let queue = self.queues.get_mut(key)?;
        if fits(&queue.first) {
            return match queue.shift(&mut self.nodes) {
                Some(first) => Some(first),
                None => self.queues.remove(key).map(|queue| queue.first),
            };
        }
        let Further { first, last } = queue.further?;
        let mut before = None;
        let mut at = first;
        while !fits(&self.nodes[at as usize].value) {
            if at == last {
                return None;
            }
            before = Some(at);
            at = self.nodes[at as usize].next;
        }
        let QueueNode { value, next } = self.nodes.remove(at as usize);
        queue.further = match before {
            None => (at != last).then_some(Further { first: next, last }),
            Some(before) => {
                self.nodes[before as usize].next = next;
                Some(Further { first, last: if at == last { before } else { last } })
            }
        };
        Some(value)
    }

    /// Every item with its key, in no order to rely on.
    pub(in crate::ranks) fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.queues.iter().flat_map(move |(&key, queue)| {
            let mut at = queue.further.map(|further| further.first);
            let further = std::iter::from_fn(move || {
                let node = &self.nodes[at? as usize];
                at = (at != queue.further.map(|further| further.last)).then_some(node.next);
                Some(&node.value)
            });
            std::iter::once(&queue.first).chain(further).map(move |value| (key, value))
        })
    }
}

impl<V> Queue<V> {
    #[inline(never)]
    fn append(&mut self, value: V, nodes: &mut Slab<QueueNode<V>>) {
        let node = nodes.insert(QueueNode { value, next: 0 }) as u32;
        self.further = Some(match self.further {
            None => Further { first: node, last: node },
            Some(Further { first, last }) => {
                nodes[last as usize].next = node;
                Further { first, last: node }
            }
        });
    }

    /// Takes the first item, if there is another to follow it.
    fn shift(&mut self, nodes: &mut Slab<QueueNode<V>>) -> Option<V> {
        let Further { first, last } = self.further?;
        let QueueNode { value, next } = nodes.remove(first as usize);
        self.further = (first != last).then_some(Further { first: next, last });
        Some(std::mem::replace(&mut self.first, value))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, VecDeque};

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Call {
        Push(u8, u16),
        Meet(u8, u16),
        Pop(u8),
        Take(u8, u16),
    }

    fn call() -> impl Strategy<Value = Call> {
        let (key, value) = (0..3u8, 0..8u16);
        prop_oneof![
            (key.clone(), value.clone()).prop_map(|(key, value)| Call::Push(key, value)),
            (key.clone(), value.clone()).prop_map(|(key, value)| Call::Meet(key, value)),
            key.clone().prop_map(Call::Pop),
            (key, value).prop_map(|(key, value)| Call::Take(key, value)),
        ]
    }

    proptest! {
        #[test]
        fn they_do_what_separate_queues_do(calls in prop::collection::vec(call(), 0..200)) {
            let mut queues = Queues::default();
            let mut separate: BTreeMap<u8, VecDeque<u16>> = BTreeMap::new();
            let even = |value: &u16| value.is_multiple_of(2);
            for call in calls {
                match call {
                    Call::Push(key, value) => {
                        queues.push(key, value);
                        separate.entry(key).or_default().push_back(value);
                    }
                    Call::Meet(key, value) => {
                        let queue = separate.entry(key).or_default();
                        let met = queue.front().is_some_and(even).then(|| queue.pop_front()).flatten();
                        if met.is_none() {
                            queue.push_back(value);
                        }
                        prop_assert_eq!(queues.meet(key, value, even), met);
                    }
                    Call::Pop(key) => {
                        prop_assert_eq!(queues.pop(&key), separate.entry(key).or_default().pop_front());
                    }
                    Call::Take(key, value) => {
                        let queue = separate.entry(key).or_default();
                        let at = queue.iter().position(|&item| item == value);
                        prop_assert_eq!(queues.take(&key, |&item| item == value), at.and_then(|at| queue.remove(at)));
                    }
                }
                prop_assert_eq!(queues.iter().count(), separate.values().map(VecDeque::len).sum::<usize>());
                for key in 0..3 {
                    let items: VecDeque<u16> = queues.iter().filter(|item| item.0 == key).map(|item| *item.1).collect();
                    prop_assert_eq!(&items, &separate.get(&key).cloned().unwrap_or_default());
                    prop_assert_eq!(queues.front(&key).copied(), items.front().copied());
                }
            }
        }
    }
}
