//! Maps tags to those that the present MPI library permits. Each library has its own `MPI_TAG_UB` (MPI 4.0 §9.1.2):
//! Open MPI allows 2³¹ − 1, MPICH 2²⁸ − 1 or less. Larger tags are replaced by tags that the program does not use, the
//! same on all ranks and communicators, so that every message still matches its receive.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use titr_common::event::{Event, Tag};
use titr_common::format::{count, plural};
use titr_common::terminal::say;

use crate::{Comm, MpiError};

/// Maximum number of different tags of a rank, if some are replaced.
const MOST: usize = 1 << 20;

/// The tags of the messages that a rank sends, receives and looks for.
#[derive(Default)]
pub(crate) struct UsedTags(BTreeSet<u32>);

impl UsedTags {
    pub(crate) fn add(&mut self, event: &Event) {
        let (one, other) = match event {
            Event::Send(_, message, _) => (Some(message.tag), None),
            Event::Recv(message, _) | Event::Probe(message) | Event::Iprobe(message, _) => (message.tag, None),
            Event::Sendrecv(sent, received) => {
                (sent.map(|message| message.tag), received.and_then(|message| message.tag))
            }
            Event::Matched(_, _, tag) => (Some(*tag), None),
            Event::Init | Event::Finalize | Event::Compute(_) | Event::Sleep(_) | Event::Mark(_) => return,
            Event::Annotation(_) | Event::Start(_) | Event::RequestFree(_) | Event::Cancel(_) => return,
            Event::Wait(..) | Event::Test(..) | Event::Collective(..) | Event::Neighborhood(..) => return,
            Event::CommCreate(..) | Event::CommFree(_) | Event::Partitioned(_) | Event::OneSided(_) => return,
            Event::File(_) | Event::Other(_) | Event::Task(_) => return,
        };
        // One more than may be: enough to know.
        if self.0.len() <= MOST {
            self.0.extend(one.into_iter().chain(other).map(|Tag(tag)| tag.unsigned_abs()));
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|tag| tag.to_le_bytes()).collect()
    }
}

/// The tag that each tag of the trace becomes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TagMap(FxHashMap<u32, u32>);

impl TagMap {
    pub(crate) fn of(&self, Tag(tag): Tag) -> u32 {
        let tag = tag.unsigned_abs();
        self.0.get(&tag).copied().unwrap_or(tag)
    }

    /// Agrees with all ranks on the tags; `None` if the library has not enough, which rank 0 says. Collective.
    pub(crate) fn agree(world: Comm<'_>, used: &UsedTags) -> Result<Option<Self>, MpiError> {
        let largest = used.0.last().copied().unwrap_or_default();
        let bound = u32::try_from(-world.max(-i64::from(world.tag_bound()))?).unwrap_or_default();
        if world.max(largest.into())? <= i64::from(bound) {
            return Ok(Some(Self::default()));
        }
        let has_many = world.max((used.0.len() > MOST).into())? != 0;
        let all = if has_many { Vec::new() } else { world.gather(0, &used.to_bytes())? };
        let all: BTreeSet<u32> = all.iter().flat_map(|bytes| numbers(bytes)).collect();
        let found = if has_many { None } else { replacements(&all, bound) };
        if world.rank == 0 {
            tell(found.as_deref(), bound);
        }
        // Nothing: there are not enough.
        let pairs = found.unwrap_or_default();
        let bytes = pairs.iter().flat_map(|(tag, other)| [tag.to_le_bytes(), other.to_le_bytes()]).flatten();
        let mut numbers = numbers(&world.broadcast(0, bytes.collect())?).into_iter();
        let map: FxHashMap<u32, u32> = std::iter::from_fn(|| Some((numbers.next()?, numbers.next()?))).collect();
        Ok((!map.is_empty()).then_some(Self(map)))
    }
}

fn tell(found: Option<&[(u32, u32)]>, bound: u32) {
    match found {
        Some(pairs) => {
            let (number, tags) = (count(pairs.len() as u64), plural(pairs.len() as u64, "tag is", "tags are"));
            say(format_args!(
                "titr-reenact: note: {number} {tags} larger than this MPI library allows ({bound}), and replaced by free ones"
            ));
        }
        None => say(format_args!(
            "titr-reenact: the program uses tags that are larger than this MPI library allows ({bound}), and too many others \
             to replace them: reenact under the library that it was traced with"
        )),
    }
}

/// The tags beyond the bound, each with a tag up to the bound that is not used; `None` if there are too few.
fn replacements(used: &BTreeSet<u32>, bound: u32) -> Option<Vec<(u32, u32)>> {
    let mut free = (0..=bound).rev().filter(|tag| !used.contains(tag));
    used.iter().filter(|&&tag| tag > bound).map(|&tag| Some((tag, free.next()?))).collect()
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_tags_get_free_ones() {
        let used = BTreeSet::from([0, 7, 9, 10, 11, 4_000_000]);
        assert_eq!(replacements(&used, 10), Some(vec![(11, 8), (4_000_000, 6)]));
        assert_eq!(replacements(&BTreeSet::from([0, 1, 2]), 1), None);
        assert_eq!(replacements(&BTreeSet::from([0, 1]), 1), Some(Vec::new()));
    }
}
