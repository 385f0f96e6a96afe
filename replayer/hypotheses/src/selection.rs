//! The part of a program that a change is about.

use std::sync::Arc;

use titr_common::event::Rank;
use toml::Spanned;

use crate::source::{Mistake, Place, Source};

/// Ranks, a region and a communicator; each of them all, where the file names none.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The ranks; of messages, those of their senders.
    pub ranks: Option<Spanned<RankSet>>,
    /// The name of the region; of messages, the region that their senders are in.
    pub region: Option<Spanned<String>>,
    /// The communicator of messages.
    pub communicator: Option<Spanned<CommunicatorName>>,
    /// The file.
    pub source: Arc<Source>,
    /// The change in the file.
    pub place: Place,
}

/// A set of ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankSet(Vec<(u32, u32)>);

/// A communicator as a file of hypotheses names it. Numbers of communicators are each rank's own and mean nothing across
/// ranks, so members name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommunicatorName {
    /// `MPI_COMM_WORLD`.
    World,
    /// All communicators but the world whose members are these.
    Members(RankSet),
}

impl RankSet {
    /// The set that `0-31,40` says; `None` if `text` is no such list, or empty.
    pub fn written(text: &str) -> Option<Self> {
        let range = |item: &str| {
            let (first, last) = item.split_once('-').unwrap_or((item, item));
            let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            (first <= last).then_some((first, last))
        };
        text.split(',').map(range).collect::<Option<Vec<_>>>().map(Self)
    }

    /// Whether the set has `rank`.
    #[must_use]
    pub fn contains(&self, Rank(rank): Rank) -> bool {
        self.0.iter().any(|&(first, last)| (first..=last).contains(&rank))
    }

    /// The last rank.
    #[must_use]
    pub fn last(&self) -> Rank {
        Rank(self.0.iter().map(|&(_, last)| last).max().unwrap_or(0))
    }

    /// Whether these ranks and no others are in the set.
    pub fn is(&self, ranks: &[Rank]) -> bool {
        let sizes: u64 = self.0.iter().map(|&(first, last)| u64::from(last - first) + 1).sum();
        sizes == ranks.len() as u64 && ranks.iter().all(|rank| self.contains(*rank))
    }
}

impl CommunicatorName {
    /// The communicator that `text` names; `None` if it names none.
    pub fn written(text: &str) -> Option<Self> {
        if text == "world" { Some(Self::World) } else { RankSet::written(text).map(Self::Members) }
    }
}

impl Selection {
    /// Whether the selection has `rank`.
    #[must_use]
    pub fn has_rank(&self, rank: Rank) -> bool {
        self.ranks.as_ref().is_none_or(|ranks| ranks.get_ref().contains(rank))
    }

    /// A mistake of the change as a whole.
    pub fn mistake(&self, message: impl Into<String>) -> Mistake {
        self.source.mistake(&self.place, message)
    }

    /// Finds fault with ranks that the world of `ranks` ranks does not have.
    ///
    /// # Errors
    /// If there are any.
    pub fn fits(&self, ranks: u32) -> Result<(), Mistake> {
        self.ranks.as_ref().map_or(Ok(()), |set| self.has_ranks(set, ranks))
    }

    /// Finds fault with a set of ranks that the world of `ranks` ranks does not have.
    ///
    /// # Errors
    /// If there are any.
    pub fn has_ranks(&self, set: &Spanned<RankSet>, ranks: u32) -> Result<(), Mistake> {
        let last = set.get_ref().last();
        if last.0 < ranks {
            return Ok(());
        }
        let message =
            format!("there is no rank {} in this trace, whose ranks are 0 to {}", last.0, ranks.saturating_sub(1));
        Err(self.source.mistake(&set.span(), message))
    }
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
