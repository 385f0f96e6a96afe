//! A slab whose next key is the lowest free one.
//!
//! A replay of thousands of ranks has a hundred thousand messages in transit, which begin and end again and again in
//! nearly the same order. If the key freed last is used first, as in other slabs, neighbouring entries end up far apart
//! in memory after a few rounds. With the lowest free key, consecutive entries are contiguous.

use std::ops::{Index, IndexMut};

use crate::bit_set::BitSet;

/// Entries by key, which is free again once the entry is removed.
#[derive(Clone, Debug)]
pub struct DenseSlab<T> {
    entries: Vec<Option<T>>,
    /// The free keys among those that were in use before.
    free: BitSet,
}

impl<T> Default for DenseSlab<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), free: BitSet::default() }
    }
}

impl<T> DenseSlab<T> {
    /// The key that the next entry gets.
    #[inline]
    pub fn vacant_key(&self) -> usize {
        self.free.first().unwrap_or(self.entries.len())
    }

    /// Adds an entry, and returns its key.
    #[inline]
    pub fn insert(&mut self, entry: T) -> usize {
        match self.free.pop_first() {
            Some(key) => {
                self.entries[key] = Some(entry);
                key
            }
            None => {
                self.entries.push(Some(entry));
                self.entries.len() - 1
            }
        }
    }

    /// Removes an entry and frees its key.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn remove(&mut self, key: usize) -> T {
        let Some(entry) = self.entries[key].take() else { absent(key) };
        self.free.insert(key);
        entry
    }

    /// The entry of a key.
    #[inline]
    pub fn get(&self, key: usize) -> Option<&T> {
        self.entries.get(key)?.as_ref()
    }

    /// All entries with their keys, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.entries.iter().enumerate().filter_map(|(key, entry)| Some((key, entry.as_ref()?)))
    }
}

impl<T> Index<usize> for DenseSlab<T> {
    type Output = T;

    #[inline]
    fn index(&self, key: usize) -> &T {
        self.entries[key].as_ref().unwrap_or_else(|| absent(key))
    }
}

impl<T> IndexMut<usize> for DenseSlab<T> {
    #[inline]
    fn index_mut(&mut self, key: usize) -> &mut T {
        self.entries[key].as_mut().unwrap_or_else(|| absent(key))
    }
}

#[cold]
#[allow(clippy::panic, reason = "as the index of a vector does")]
fn absent(key: usize) -> ! {
    panic!("there is no entry {key}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// After any sequence of insertions and removals, each entry is under its key, and the next key is the lowest
        /// free one.
        #[test]
        fn keys_are_the_lowest_that_are_free(steps in prop::collection::vec((0..8_usize, 0..2000_usize), 0..60)) {
            let (mut slab, mut model) = (DenseSlab::default(), BTreeMap::new());
            for (many, which) in steps {
                for number in 0..many * many * many {
                    let lowest = (0..).find(|key| !model.contains_key(key)).unwrap_or_default();
                    prop_assert_eq!(slab.vacant_key(), lowest);
                    prop_assert_eq!(slab.insert(number), lowest);
                    model.insert(lowest, number);
                }
                for key in (which..which + 7 * many).step_by(7) {
                    prop_assert_eq!(slab.get(key), model.get(&key));
                    if let Some(entry) = model.remove(&key) {
                        prop_assert_eq!(slab.remove(key), entry);
                    }
                }
            }
            prop_assert_eq!(slab.iter().map(|(key, entry)| (key, *entry)).collect::<BTreeMap<_, _>>(), model);
        }
    }

    #[test]
    fn a_hundred_thousand_keys_are_given_again_in_order() {
        let mut slab = DenseSlab::default();
        (0..100_000_usize).for_each(|key| assert_eq!(slab.insert(key), key));
        (0..100_000).rev().for_each(|key| assert_eq!(slab.remove(key), key));
        (0..100_000_usize).for_each(|key| assert_eq!(slab.insert(key), key));
    }
}
