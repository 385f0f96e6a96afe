//! What readers of foreign traces could not translate, or had to assume: counted while ranks are read.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use titr_common::event::Rank;
use titr_common::format::count;

/// The notes on one rank.
#[derive(Default, PartialEq)]
pub(crate) struct Notes {
    counts: BTreeMap<Cow<'static, str>, u64>,
}

impl Notes {
    /// Counts a case of `what`: a plural, which follows its number in a sentence.
    pub(crate) fn add(&mut self, what: impl Into<Cow<'static, str>>) {
        *self.counts.entry(what.into()).or_default() += 1;
    }
}

/// The notes on all ranks that were read. A rank that is read again does not count twice.
#[derive(Default)]
pub(crate) struct NotesOfRanks<N = Notes> {
    ranks: Mutex<BTreeMap<Rank, N>>,
}

impl<N: Default + PartialEq> NotesOfRanks<N> {
    /// Keeps the notes on a rank, once it was read.
    pub(crate) fn keep(&self, rank: Rank, notes: N) {
        let mut ranks = self.ranks.lock().unwrap_or_else(PoisonError::into_inner);
        if notes == N::default() {
            ranks.remove(&rank)
        } else {
            ranks.insert(rank, notes)
        };
    }

    /// The notes on all ranks, joined by `add`.
    pub(crate) fn sum(&self, add: impl Fn(&mut N, &N)) -> N {
        let ranks = self.ranks.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sum = N::default();
        ranks.values().for_each(|notes| add(&mut sum, notes));
        sum
    }
}

impl NotesOfRanks {
    /// A sentence for each kind of note.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let sum = self.sum(|sum, notes| {
            for (what, number) in &notes.counts {
                *sum.counts.entry(what.clone()).or_default() += number;
            }
        });
        sum.counts.into_iter().map(|(what, number)| format!("{} {what}", count(number))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_that_is_read_again_does_not_count_twice() {
        let all = NotesOfRanks::default();
        for (rank, times) in [(0, 2), (1, 1), (0, 2)] {
            let mut notes = Notes::default();
            (0..times).for_each(|_| notes.add("calls of nothing"));
            all.keep(Rank(rank), notes);
        }
        assert_eq!(all.sentences(), ["3 calls of nothing"]);
    }
}
