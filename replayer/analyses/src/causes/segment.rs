//! Segments of a chain of causes: time of a rank, at a place in the program, of one kind.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use titr_common::event::Rank;
use titr_network::JobOrLoadId;

use crate::findings::SegmentKind;

/// A place in the program, a region and a call site, by its number; 0 is outside of all regions, at no known call site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PlaceId(pub u32);

/// A segment of a chain of causes. The segment of a message belongs to its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Segment {
    pub rank: Rank,
    pub place: PlaceId,
    pub kind: SegmentKind,
    /// The other program or load whose messages took the time; only of [`SegmentKind::Contention`].
    pub party: Option<JobOrLoadId>,
}

impl Segment {
    /// Time that the messages of no other program took.
    pub(crate) fn new(rank: Rank, place: PlaceId, kind: SegmentKind) -> Self {
        Self { rank, place, kind, party: None }
    }
}

/// Sums of time by segment, in picoseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct SegmentSums {
    by_segment: Table,
    /// The number of messages in the segment.
    pub messages: u64,
}

/// Few segments in a list, many by their hash.
#[derive(Clone, Debug)]
enum Table {
    Few(SmallVec<[(Segment, u64); HANDFUL]>),
    Many(FxHashMap<Segment, u64>),
}

/// Number of segments that a list stores without a heap allocation.
const FEW: usize = 16;
const HANDFUL: usize = 4;

impl Default for Table {
    fn default() -> Self {
        Self::Few(SmallVec::new())
    }
}

impl SegmentSums {
    pub(crate) fn add(&mut self, segment: Segment, picoseconds: u64) {
        match &mut self.by_segment {
            Table::Few(list) => match list.iter().position(|(known, _)| *known == segment) {
                Some(at) => list[at].1 += picoseconds,
                None if list.len() < FEW => list.push((segment, picoseconds)),
                None => {
                    let mut map: FxHashMap<Segment, u64> = list.drain(..).collect();
                    map.insert(segment, picoseconds);
                    self.by_segment = Table::Many(map);
                }
            },
            Table::Many(map) => *map.entry(segment).or_default() += picoseconds,
        }
    }

    /// Adds all of `other`, in a time that grows with the smaller of the two.
    pub(crate) fn merge(&mut self, mut other: Self) {
        if self.len() < other.len() {
            std::mem::swap(self, &mut other);
        }
        self.add_all(&other);
    }

    pub(crate) fn add_all(&mut self, other: &Self) {
        match &other.by_segment {
            Table::Few(list) => list.iter().for_each(|&(segment, sum)| self.add(segment, sum)),
            Table::Many(map) => map.iter().for_each(|(&segment, &sum)| self.add(segment, sum)),
        }
        self.messages += other.messages;
    }

    /// Appends all sums to a list, in no order.
    pub(crate) fn append_to(&self, all: &mut Vec<(Segment, u64)>) {
        match &self.by_segment {
            Table::Few(list) => all.extend_from_slice(list),
            Table::Many(map) => all.extend(map.iter().map(|(&segment, &sum)| (segment, sum))),
        }
    }

    /// The sums in the order of their segments.
    pub(crate) fn sorted(&self) -> Vec<(Segment, u64)> {
        let mut all = Vec::with_capacity(self.len());
        self.append_to(&mut all);
        all.sort_unstable();
        all
    }

    fn len(&self) -> usize {
        match &self.by_segment {
            Table::Few(list) => list.len(),
            Table::Many(map) => map.len(),
        }
    }
}
