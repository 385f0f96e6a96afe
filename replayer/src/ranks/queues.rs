//! Many first-in-first-out queues, by key. One that is empty takes no room, one of a single item no allocation.

use std::collections::hash_map::Entry;
use std::hash::Hash;

use rustc_hash::FxHashMap;
use slab::Slab;

/// The queues: for each key where it begins and ends, and the items of all of them linked in one slab.
pub(super) struct Queues<K, V> {
    ends: FxHashMap<K, Ends>,
    nodes: Slab<Node<V>>,
}

struct Ends {
    first: usize,
    last: usize,
}

struct Node<V> {
    value: V,
    /// Of no meaning in the last one.
    next: usize,
}

impl<K, V> Default for Queues<K, V> {
    fn default() -> Self {
        Self { ends: FxHashMap::default(), nodes: Slab::new() }
    }
}

impl<K: Hash + Eq + Copy, V> Queues<K, V> {
    /// How many items there are in all queues.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Appends `value` to the queue of `key`.
    pub(super) fn push(&mut self, key: K, value: V) {
        self.meet(key, value, |_| false);
    }

    /// Takes the first item of `key`'s queue if it `fits`; if not, or if there is none, appends `value`.
    pub(super) fn meet(&mut self, key: K, value: V, fits: impl FnOnce(&V) -> bool) -> Option<V> {
        match self.ends.entry(key) {
            Entry::Occupied(mut entry) => {
                let ends = entry.get_mut();
                if !fits(&self.nodes[ends.first].value) {
                    let node = self.nodes.insert(Node { value, next: 0 });
                    self.nodes[ends.last].next = node;
                    ends.last = node;
                    return None;
                }
                let node = self.nodes.remove(ends.first);
                if ends.first == ends.last {
                    entry.remove();
                } else {
                    ends.first = node.next;
                }
                Some(node.value)
            }
            Entry::Vacant(entry) => {
                let node = self.nodes.insert(Node { value, next: 0 });
                entry.insert(Ends { first: node, last: node });
                None
            }
        }
    }

    /// The first item of `key`'s queue.
    pub(super) fn front(&self, key: &K) -> Option<&V> {
        self.ends.get(key).map(|ends| &self.nodes[ends.first].value)
    }

    /// Takes the first item of `key`'s queue.
    pub(super) fn pop(&mut self, key: &K) -> Option<V> {
        self.take(key, |_| true)
    }

    /// Takes the first item of `key`'s queue that `fits`, wherever it stands.
    pub(super) fn take(&mut self, key: &K, fits: impl Fn(&V) -> bool) -> Option<V> {
        let ends = self.ends.get_mut(key)?;
        let mut before = None;
        let mut at = ends.first;
        while !fits(&self.nodes[at].value) {
            if at == ends.last {
                return None;
            }
            before = Some(at);
            at = self.nodes[at].next;
        }
        let node = self.nodes.remove(at);
        match before {
            None if at == ends.last => {
                self.ends.remove(key);
            }
            None => ends.first = node.next,
            Some(before) => {
                self.nodes[before].next = node.next;
                if at == ends.last {
                    ends.last = before;
                }
            }
        }
        Some(node.value)
    }

    /// Takes everything, in an order that depends on nothing but what was pushed and taken before.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = V> + '_ {
        self.ends.clear();
        self.nodes.drain().map(|node| node.value)
    }

    /// Every item with its key, in no order to rely on.
    pub(super) fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.ends.iter().flat_map(move |(&key, ends)| {
            let mut at = Some(ends.first);
            std::iter::from_fn(move || {
                let node = &self.nodes[at?];
                at = (at != Some(ends.last)).then_some(node.next);
                Some((key, &node.value))
            })
        })
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
                prop_assert_eq!(queues.len(), separate.values().map(VecDeque::len).sum::<usize>());
                for key in 0..3 {
                    let items: VecDeque<u16> = queues.iter().filter(|item| item.0 == key).map(|item| *item.1).collect();
                    prop_assert_eq!(&items, &separate.get(&key).cloned().unwrap_or_default());
                    prop_assert_eq!(queues.front(&key).copied(), items.front().copied());
                }
            }
            prop_assert_eq!(queues.drain().count(), separate.values().map(VecDeque::len).sum::<usize>());
            prop_assert_eq!(queues.len(), 0);
        }
    }
}
