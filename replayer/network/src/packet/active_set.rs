//! The active set: routers to look at in a cycle, each once and in their order, so that what stands side by side in memory
//! is looked at side by side. In large networks, memory accesses are most of the time.

use crate::topology::RouterId;

/// A set of routers: a bit each, and a bit for each word of these that is not zero.
#[derive(Debug)]
pub(super) struct ActiveSet {
    words: Vec<u64>,
    summary: Vec<u64>,
}

impl ActiveSet {
    /// An empty set, for so many routers.
    pub fn new(routers: usize) -> Self {
        let words = routers.div_ceil(64);
        Self { words: vec![0; words], summary: vec![0; words.div_ceil(64)] }
    }

    #[inline]
    pub fn add(&mut self, RouterId(router): RouterId) {
        let word = router as usize / 64;
        self.words[word] |= 1 << (router % 64);
        self.summary[word / 64] |= 1 << (word % 64);
    }

    /// Takes out the first router, with all others of the same 64: returns the first of these 64, and a bit for each that
    /// was in the set. `place` tells where to go on, from 0; nothing is added meanwhile.
    #[inline]
    pub fn take(&mut self, place: &mut usize) -> Option<(RouterId, u64)> {
        loop {
            let summary = self.summary.get_mut(*place)?;
            if *summary != 0 {
                let index = 64 * *place + summary.trailing_zeros() as usize;
                *summary &= *summary - 1;
                return Some((RouterId(64 * index as u32), std::mem::take(&mut self.words[index])));
            }
            *place += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_comes_out_once_and_in_order() {
        let mut active = ActiveSet::new(70_000);
        [69_999, 3, 64, 3, 4096, 0, 63].into_iter().for_each(|router| active.add(RouterId(router)));
        let mut place = 0;
        let taken: Vec<_> =
            std::iter::from_fn(|| active.take(&mut place)).map(|(first, bits)| (first.0, bits)).collect();
        assert_eq!(taken, [(0, 1 | 1 << 3 | 1 << 63), (64, 1), (4096, 1), (69_952, 1 << 47)]);
        assert_eq!(active.take(&mut 0), None);
    }
}
