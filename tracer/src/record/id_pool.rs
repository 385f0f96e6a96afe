//! Ids that are assigned lowest first, so that a loop of the program uses the same ids in each iteration.

/// Numbers in a word.
const WORD: u32 = u64::BITS;

/// Gives out the lowest number that is free.
#[derive(Debug, Default)]
pub(super) struct IdPool {
    /// A bit for each of the first numbers, which are all that most programs need: set where it is taken.
    first: u64,
    /// The numbers from [`WORD`] on: a bit for each, a bit for each word of these that says whether all in it are taken, and
    /// so on up to a single word. A million numbers are four levels.
    levels: Vec<Vec<u64>>,
}

impl IdPool {
    #[inline]
    pub(super) fn take(&mut self) -> u32 {
        if self.first == u64::MAX {
            return WORD + self.take_beyond();
        }
        let number = self.first.trailing_ones();
        self.first |= 1 << number;
        number
    }

    /// Gives back a number that was taken.
    #[inline]
    pub(super) fn give(&mut self, number: u32) {
        match number.checked_sub(WORD) {
            None => self.first &= !(1 << number),
            Some(beyond) => self.give_beyond(beyond),
        }
    }

    #[cold]
    fn take_beyond(&mut self) -> u32 {
        let number = self.lowest();
        let mut index = number;
        for level in &mut self.levels {
            let Some(word) = level.get_mut((index / WORD) as usize) else { break };
            *word |= 1 << (index % WORD);
            if *word != u64::MAX {
                break;
            }
            index /= WORD;
        }
        number
    }

    #[cold]
    fn give_beyond(&mut self, number: u32) {
        let mut index = number;
        for level in &mut self.levels {
            let Some(word) = level.get_mut((index / WORD) as usize) else { break };
            let was_full = *word == u64::MAX;
            *word &= !(1 << (index % WORD));
            if !was_full {
                break;
            }
            index /= WORD;
        }
    }

    /// The number whose bit is the first clear one on the way down; there is room for it afterwards.
    fn lowest(&mut self) -> u32 {
        if self.levels.last().is_none_or(|top| top.first() == Some(&u64::MAX)) {
            // All ids of the levels are taken, as the new top records.
            self.levels.push(vec![u64::from(!self.levels.is_empty())]);
        }
        let mut index = 0;
        for level in self.levels.iter_mut().rev() {
            if level.len() == index as usize {
                level.push(0);
            }
            index = index * WORD + level.get(index as usize).map_or(0, |word| word.trailing_ones());
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn always_gives_the_lowest_that_is_free() {
        let mut numbers = IdPool::default();
        let (mut taken, mut given) = (BTreeSet::new(), BTreeSet::new());
        let mut state = 1_u32;
        for round in 0..30_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // More are taken than given back until there are thousands, then fewer.
            let take = if round < 20_000 { 0xb000_0000 } else { 0x5000_0000 };
            if state < take || taken.is_empty() {
                let lowest = given.pop_first().unwrap_or(taken.len() as u32);
                assert_eq!(numbers.take(), lowest);
                taken.insert(lowest);
            } else {
                let from = (state >> 8) % 10_000;
                let any = *taken.range(from..).next().or(taken.first()).unwrap();
                numbers.give(any);
                taken.remove(&any);
                given.insert(any);
            }
        }
    }

    #[test]
    fn there_are_enough_for_anybody() {
        let mut numbers = IdPool::default();
        assert!((0..1_000_000).all(|number| numbers.take() == number));
        for number in [999_999, 262_208, 262_207, 4160, 64, 0] {
            numbers.give(number);
        }
        let again: Vec<u32> = (0..7).map(|_| numbers.take()).collect();
        assert_eq!(again, [0, 64, 4160, 262_207, 262_208, 999_999, 1_000_000]);
    }
}
