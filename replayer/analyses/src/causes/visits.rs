//! The ranks that a chain of causes visits, in order of time. A chain is on one rank until a message leads to another.

use std::cmp::Reverse;

use titr_common::event::Rank;

/// The number of visits that remain when there are twice as many.
const MOST: usize = 512;

/// The visits of a chain: the rank of each, and its beginning in picoseconds. If there are many, short visits are left
/// out, so that the memory of a chain does not grow with the length of the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Visits(Vec<(Rank, u64)>);

impl Visits {
    /// The chain is on `rank` from `begin` on.
    pub(crate) fn push(&mut self, rank: Rank, begin: u64) {
        if self.0.last().is_some_and(|(last, _)| *last == rank) {
            return;
        }
        self.0.push((rank, begin));
        self.limit();
    }

    /// Adds the visits of a later part of the chain.
    pub(crate) fn append(&mut self, later: &Self) {
        let is_same = self.0.last().zip(later.0.first()).is_some_and(|((last, _), (first, _))| last == first);
        self.0.extend_from_slice(&later.0[usize::from(is_same)..]);
        self.limit();
    }

    /// The visits, in order of time.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Rank, u64)> {
        self.0.iter().copied()
    }

    /// Leaves short visits out if there are too many.
    fn limit(&mut self) {
        if self.0.len() < 2 * MOST {
            return;
        }
        // The end of the last visit is not known; it stays.
        let ends = self.0.iter().skip(1).map(|(_, begin)| *begin).chain([u64::MAX]);
        let mut lengths: Vec<(u64, usize)> =
            self.0.iter().zip(ends).map(|((_, begin), end)| end - begin).zip(0..).collect();
        lengths.sort_unstable_by_key(|&(length, place)| (Reverse(length), place));
        let mut places: Vec<usize> = lengths.iter().take(MOST).map(|&(_, place)| place).collect();
        places.sort_unstable();
        self.0 = places.into_iter().map(|place| self.0[place]).collect();
        self.0.dedup_by_key(|(rank, _)| *rank);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_begins_where_the_rank_changes() {
        let mut visits = Visits::default();
        [(3, 0), (3, 5), (4, 7), (3, 9)].into_iter().for_each(|(rank, begin)| visits.push(Rank(rank), begin));
        let mut later = Visits::default();
        [(3, 10), (1, 12)].into_iter().for_each(|(rank, begin)| later.push(Rank(rank), begin));
        visits.append(&later);
        let all: Vec<_> = visits.iter().map(|(rank, begin)| (rank.0, begin)).collect();
        assert_eq!(all, [(3, 0), (4, 7), (3, 9), (1, 12)]);
    }

    #[test]
    fn of_many_visits_the_long_ones_remain() {
        let mut visits = Visits::default();
        let mut now = 0;
        for visit in 0..20_000_u32 {
            visits.push(Rank(visit), now);
            now += if visit == 500 { 1_000_000 } else { 10 };
        }
        let all: Vec<_> = visits.iter().collect();
        assert!((MOST / 2..=2 * MOST).contains(&all.len()), "{}", all.len());
        assert!(all.contains(&(Rank(500), 5000)));
        assert!(all.is_sorted_by_key(|(_, begin)| *begin));
    }
}
