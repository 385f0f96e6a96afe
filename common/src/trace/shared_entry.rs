//! The entry of several ranks in a manifest.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::manifest::RankEntry;
use super::process_time::ProcessTime;
use super::template::{Column, ColumnBuilder, RankList};

/// The entry of ranks that share a stream. Their entries are equal, except for the columns here.
#[derive(Serialize, Deserialize)]
pub(super) struct SharedEntry {
    /// The column of a [`RankList`], which takes no more memory than the text.
    ranks: Column,
    /// The number of each rank's process.
    pid: Column,
    /// The times of each rank's process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    process_time: Vec<Option<Box<ProcessTime>>>,
    /// The entry of the first rank.
    entry: RankEntry,
}

impl SharedEntry {
    /// The number of ranks.
    pub(super) fn ranks(&self) -> usize {
        self.ranks.len()
    }

    /// The entry of each rank, or what is wrong. There may be at most [`RankList::MOST`].
    pub(super) fn entries(self) -> Result<Vec<RankEntry>, String> {
        let Self { ranks, pid, mut process_time, entry } = self;
        let ranks = RankList::of(&ranks).map_err(|what| format!("`ranks` in `shared`: {what}"))?;
        let first = ranks.first().0;
        if process_time.is_empty() {
            process_time.resize(ranks.len(), None);
        }
        let lengths = [("pid", pid.len()), ("process_time", process_time.len())];
        if let Some((name, length)) = lengths.into_iter().find(|&(_, length)| length != ranks.len()) {
            let ranks = ranks.len();
            return Err(format!(
                "`{name}` of the {ranks} ranks from rank {first} on has {length} numbers: one for each rank is expected"
            ));
        }
        let of = |((index, rank), process_time)| {
            let pid = pid.get(index, rank).and_then(|pid| u32::try_from(pid).ok());
            let pid =
                pid.ok_or_else(|| format!("`pid` of rank {rank} is no number from 0 to {}: correct it", u32::MAX))?;
            Ok(RankEntry { rank, pid, process_time, ..entry.clone() })
        };
        ranks.iter().enumerate().zip(process_time).map(of).collect()
    }
}

/// The entries that ranks with a common stream share, and all other entries.
pub(super) fn shared(per_rank: &[RankEntry]) -> (Vec<SharedEntry>, Vec<RankEntry>) {
    // The ranks whose entries are equal but for the columns, by the entry without these.
    let mut alike: Vec<(RankEntry, Vec<&RankEntry>)> = Vec::new();
    let mut by_stream: HashMap<(Option<u32>, &str), Vec<usize>> = HashMap::new();
    let (mut shared, mut own) = (Vec::new(), Vec::new());
    for entry in per_rank {
        if entry.crc32.is_none() {
            own.push(entry.clone());
            continue;
        }
        let common = RankEntry { rank: 0, pid: 0, process_time: None, ..entry.clone() };
        let places = by_stream.entry((entry.crc32, &entry.host)).or_default();
        match places.iter().copied().find(|&place| alike[place].0 == common) {
            Some(place) => alike[place].1.push(entry),
            None => {
                places.push(alike.len());
                alike.push((common, vec![entry]));
            }
        }
    }
    for entries in alike.iter().flat_map(|(_, entries)| entries.chunks(RankList::MOST)) {
        match entries {
            [first, _, ..] => shared.push(of(first, entries)),
            _ => own.extend(entries.iter().copied().cloned()),
        }
    }
    own.sort_by_key(|entry: &RankEntry| entry.rank);
    (shared, own)
}

/// The common entry of ranks whose entries are equal but for the columns.
fn of(first: &RankEntry, entries: &[&RankEntry]) -> SharedEntry {
    let (mut ranks, mut pid) = (RankList::default(), ColumnBuilder::default());
    for entry in entries {
        ranks.push(entry.rank);
        pid.push(entry.rank, entry.pid.into());
    }
    let mut process_time: Vec<_> = entries.iter().map(|entry| entry.process_time.clone()).collect();
    if process_time.iter().all(Option::is_none) {
        process_time.clear();
    }
    let entry = RankEntry { process_time: None, ..first.clone() };
    SharedEntry { ranks: Column::from(&ranks), pid: pid.build(), process_time, entry }
}
