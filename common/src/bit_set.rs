//! A set of small numbers, whose lowest number is found in a step for each factor of 64.

/// A set of numbers: a bit for each number, a bit for each word of these bits that is not zero, and so on up to one word.
#[derive(Clone, Debug, Default)]
pub struct BitSet {
    /// The words below the top, from the bottom up. Numbers below 64 need none.
    levels: Vec<Vec<u64>>,
    top: u64,
}

impl BitSet {
    /// The lowest number.
    #[inline]
    pub(crate) fn first(&self) -> Option<usize> {
        let top = (self.top != 0).then(|| self.top.trailing_zeros() as usize)?;
        Some(self.levels.iter().rev().fold(top, |word, level| word * 64 + level[word].trailing_zeros() as usize))
    }

    /// Removes the lowest number, and returns it.
    #[inline]
    pub fn pop_first(&mut self) -> Option<usize> {
        let first = self.first()?;
        let mut at = first;
        for level in &mut self.levels {
            let word = &mut level[at / 64];
            *word &= !(1 << (at % 64));
            if *word != 0 {
                return Some(first);
            }
            at /= 64;
        }
        self.top &= !(1 << at);
        Some(first)
    }

    /// Adds a number.
    #[inline]
    pub fn insert(&mut self, number: usize) {
        if number >= self.levels.first().map_or(64, |bottom| 64 * bottom.len()) {
            self.grow(number);
        }
        let mut at = number;
        for level in &mut self.levels {
            let word = &mut level[at / 64];
            let was_empty = *word == 0;
            *word |= 1 << (at % 64);
            if !was_empty {
                return;
            }
            at /= 64;
        }
        self.top |= 1 << at;
    }

    /// Makes room for `number`.
    #[cold]
    fn grow(&mut self, number: usize) {
        let mut words = number / 64 + 1;
        for level in &mut self.levels {
            level.resize(words.max(level.len()), 0);
            words = level.len().div_ceil(64);
        }
        while words > 1 {
            let mut level = vec![0; words];
            level[0] = self.top;
            self.top = u64::from(self.top != 0);
            self.levels.push(level);
            words = words.div_ceil(64);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Insert(usize),
        Remove(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        // The numbers of a set with a top alone, and with one, two and three levels below it.
        let number = prop_oneof![0..64_usize, 0..4096_usize, 0..262_144_usize, 0..1_000_000_usize];
        prop_oneof![number.prop_map(Step::Insert), (1..8_usize).prop_map(Step::Remove)]
    }

    proptest! {
        /// After any sequence of steps, the numbers come out in order, each once.
        #[test]
        fn it_is_as_a_tree(steps in prop::collection::vec(step(), 0..200)) {
            let (mut set, mut tree) = (BitSet::default(), BTreeSet::new());
            for step in steps {
                match step {
                    Step::Insert(number) => {
                        set.insert(number);
                        tree.insert(number);
                    }
                    Step::Remove(many) => (0..many).for_each(|_| assert_eq!(set.pop_first(), tree.pop_first())),
                }
                prop_assert_eq!(set.first(), tree.first().copied());
            }
            let rest: Vec<usize> = std::iter::from_fn(|| set.pop_first()).collect();
            prop_assert_eq!(rest, tree.into_iter().collect::<Vec<_>>());
        }
    }
}
