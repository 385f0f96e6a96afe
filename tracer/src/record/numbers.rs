//! Numbers that are given out lowest first, so that a program that goes round a loop writes the same ones each time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Gives out the lowest number that is free, in O(log n).
#[derive(Debug, Default)]
pub(super) struct LowestFree {
    /// All from here on are free.
    next: u32,
    /// Those below that are.
    freed: BinaryHeap<Reverse<u32>>,
}

impl LowestFree {
    pub(super) fn take(&mut self) -> u32 {
        self.freed.pop().map_or_else(
            || {
                self.next += 1;
                self.next - 1
            },
            |Reverse(number)| number,
        )
    }

    /// Gives back a number that was taken.
    pub(super) fn give(&mut self, number: u32) {
        if number + 1 == self.next && self.freed.is_empty() {
            self.next = number;
            return;
        }
        self.freed.push(Reverse(number));
        if self.freed.len() == self.next as usize {
            self.freed.clear();
            self.next = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn always_gives_the_lowest_that_is_free() {
        let mut numbers = LowestFree::default();
        let mut taken = BTreeSet::new();
        let mut state = 1_u32;
        for _ in 0..10_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if state >> 31 == 0 || taken.is_empty() {
                let lowest = (0..).find(|number| !taken.contains(number)).unwrap();
                assert_eq!(numbers.take(), lowest);
                taken.insert(lowest);
            } else {
                let any = *taken.iter().nth((state >> 8) as usize % taken.len()).unwrap();
                numbers.give(any);
                taken.remove(&any);
            }
        }
    }
}
