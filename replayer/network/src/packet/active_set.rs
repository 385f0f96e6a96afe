//! The active set: ports or routers to visit in a cycle, each once and in order, so that accesses to memory are
//! sequential. In large networks, memory accesses take most of the time.

/// A set of numbers of type `I`: a bit each, and a bit for each word of these that is not zero.
#[derive(Debug)]
pub(super) struct ActiveSet<I> {
    words: Vec<u64>,
    summary: Vec<u64>,
    /// Memory to be used again.
    spare: Vec<I>,
}

impl<I: Into<usize> + From<u32>> ActiveSet<I> {
    /// An empty set of numbers below `end`.
    pub(crate) fn new(end: usize) -> Self {
        let words = end.div_ceil(64);
        Self { words: vec![0; words], summary: vec![0; words.div_ceil(64)], spare: Vec::new() }
    }

    #[inline]
    pub(crate) fn add(&mut self, number: I) {
        let number = number.into();
        let word = number / 64;
        self.words[word] |= 1 << (number % 64);
        self.summary[word / 64] |= 1 << (word % 64);
    }

    /// Removes all numbers and returns them in order. Return the list with [`recycle`](Self::recycle).
    #[inline]
    pub(crate) fn take(&mut self) -> Vec<I> {
        let mut taken = std::mem::take(&mut self.spare);
        for (place, summary) in self.summary.iter_mut().enumerate() {
            for word in ones(std::mem::take(summary)).map(|bit| 64 * place + bit as usize) {
                let numbers = ones(std::mem::take(&mut self.words[word]));
                taken.extend(numbers.map(|bit| I::from(64 * word as u32 + bit)));
            }
        }
        taken
    }

    /// Gives back the memory of numbers that were taken out.
    #[inline]
    pub(crate) fn recycle(&mut self, mut numbers: Vec<I>) {
        numbers.clear();
        self.spare = numbers;
    }
}

/// The places of the bits that are one.
#[inline]
pub(super) fn ones(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let one = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(one)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::RouterId;

    #[test]
    fn each_comes_out_once_and_in_order() {
        let mut active = ActiveSet::new(70_000);
        [69_999, 3, 64, 3, 4096, 0, 63].into_iter().for_each(|router| active.add(RouterId(router)));
        let routers = active.take();
        assert_eq!(routers, [0, 3, 63, 64, 4096, 69_999].map(RouterId));
        active.recycle(routers);
        assert_eq!(active.take(), []);
    }
}
