//! Ids that are assigned lowest first, so that a loop of the program uses the same ids in each iteration.

use titr_common::bit_set::BitSet;

/// Gives out the lowest number that is free.
#[derive(Debug, Default)]
pub(super) struct IdPool {
    /// The numbers that were given back.
    free: BitSet,
    /// The lowest number that was never taken.
    next: u32,
}

impl IdPool {
    #[inline]
    pub(super) fn take(&mut self) -> u32 {
        match self.free.pop_first() {
            Some(number) => number as u32,
            None => {
                self.next += 1;
                self.next - 1
            }
        }
    }

    /// Gives back a number that was taken.
    #[inline]
    pub(super) fn give(&mut self, number: u32) {
        self.free.insert(number as usize);
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
