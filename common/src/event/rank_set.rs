//! Sets of ranks in the users' notation: `0-31,40`.

use super::Rank;

/// A set of ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankSet(Vec<(u32, u32)>);

impl RankSet {
    /// The set that `0-31,40` says; `None` if `text` is no such list, or empty.
    #[must_use]
    pub fn written(text: &str) -> Option<Self> {
        ranges_written(text).map(Self)
    }

    /// Whether the set contains `rank`.
    pub fn contains(&self, Rank(rank): Rank) -> bool {
        self.0.iter().any(|&(first, last)| (first..=last).contains(&rank))
    }

    /// The last rank.
    pub fn last(&self) -> Rank {
        Rank(self.0.iter().map(|&(_, last)| last).max().unwrap_or(0))
    }

    /// Whether the set contains exactly these ranks.
    pub fn is(&self, ranks: &[Rank]) -> bool {
        let sizes: u64 = self.0.iter().map(|&(first, last)| u64::from(last - first) + 1).sum();
        sizes == ranks.len() as u64 && ranks.iter().all(|rank| self.contains(*rank))
    }
}

/// The ranges of numbers that `0-31,40` says, each with its first and its last number; `None` if `text` is no such list, or
/// empty.
#[must_use]
pub fn ranges_written(text: &str) -> Option<Vec<(u32, u32)>> {
    let range = |item: &str| {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (first <= last).then_some((first, last))
    };
    text.split(',').map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_ranks_is_a_list_of_ranges() {
        let set = RankSet::written("0-3, 7,9 - 10").unwrap();
        let has: Vec<u32> = (0..12).filter(|rank| set.contains(Rank(*rank))).collect();
        assert_eq!(has, [0, 1, 2, 3, 7, 9, 10]);
        assert_eq!(set.last(), Rank(10));
        assert!(set.is(&[0, 1, 2, 3, 7, 9, 10].map(Rank)) && !set.is(&[0, 1, 2, 3, 7, 9, 11].map(Rank)));
        for text in ["", "1-", "3-1", "a", "-1", "1,,2"] {
            assert_eq!(RankSet::written(text), None, "{text}");
        }
    }
}
