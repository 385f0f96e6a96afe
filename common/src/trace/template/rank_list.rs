//! The ranks that share a text.

use super::column::Column;
use crate::event::Rank;

/// Ranks in ascending order. Their text is one of a [`Column`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::trace) struct RankList(Vec<u32>);

impl RankList {
    /// The most ranks of all lists of a trace: a short text may list millions.
    pub(in crate::trace) const MOST: usize = 1 << 19;

    /// The list of the text; or the byte at which it is wrong, and how.
    pub(super) fn parse(text: &str) -> Result<Self, (usize, String)> {
        Self::of(&Column::parse(text, Self::MOST)?).map_err(|what| (0, what))
    }

    /// The list of a column that has at most [`MOST`](Self::MOST) numbers; or what is wrong with it.
    pub(in crate::trace) fn of(column: &Column) -> Result<Self, String> {
        let rank = |index| column.get(index, 0).and_then(|rank| u32::try_from(rank).ok());
        let ranks: Option<Vec<u32>> = (0..column.len()).map(rank).collect();
        let ranks = ranks.filter(|ranks| !ranks.is_empty()).ok_or("ranks are expected, such as 0*32+1")?;
        match ranks.windows(2).find(|pair| pair[0] >= pair[1]) {
            Some(pair) if pair[0] == pair[1] => Err(format!("rank {} is named twice", pair[0])),
            Some(pair) => {
                Err(format!("rank {} after rank {}: ranks are expected in ascending order", pair[1], pair[0]))
            }
            None => Ok(Self(ranks)),
        }
    }

    /// Adds a rank that comes after all others; false if there are too many.
    pub(in crate::trace) fn push(&mut self, rank: u32) -> bool {
        let has_room = self.0.len() < Self::MOST;
        if has_room {
            self.0.push(rank);
        }
        has_room
    }

    /// The number of ranks.
    pub(in crate::trace) fn len(&self) -> usize {
        self.0.len()
    }

    /// The first rank.
    pub(in crate::trace) fn first(&self) -> Rank {
        Rank(self.0.first().copied().unwrap_or_default())
    }

    /// The place of `rank` in the list.
    pub(in crate::trace) fn index(&self, Rank(rank): Rank) -> Option<usize> {
        self.0.binary_search(&rank).ok()
    }

    pub(in crate::trace) fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().copied()
    }
}

impl From<&RankList> for Column {
    fn from(ranks: &RankList) -> Self {
        Self::absolute(ranks.iter().map(i64::from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_each_rank_once() {
        let ranks = RankList::parse("1*2+3 6 8").unwrap();
        assert_eq!((ranks.iter().collect(), ranks.index(Rank(6))), (vec![1, 4, 6, 8], Some(2)));
        assert_eq!(Column::from(&ranks).to_string(), "1*2+3 6*2+2");
        for text in
            ["", "rank", "1*2", "0*4+1 2", "3*4-1", "x", "-1*4+1", "0*2000000+1", "0*4294967295+1", "4294967296"]
        {
            assert!(RankList::parse(text).is_err(), "{text}");
        }
    }
}
