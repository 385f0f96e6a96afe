//! The causes of waits: the ranks, and their work and messages, that made others wait, directly or by delaying a third
//! rank.
//!
//! A wait ends with the chain of its cause, and would not have occurred if that chain had been as short as the waiter's
//! own. Both begin at the same fork and contain no waiting, so the difference of their sums is exactly the waiting
//! time. Each kind of time in each place that takes longer on the cause's chain than on the waiter's gets a share of
//! the wait in proportion to the excess. Within it, each rank on the chain gets a share in proportion to its part.
//!
//! The waiter and the rank that it waits for cause a wait **directly**; all others **indirectly**: they delayed that
//! rank. The terms are those of Böhme, Geimer, Wolf and Arnold, "Identifying the root causes of wait states in
//! large-scale parallel applications" (ICPP 2010). They follow delays backwards through a trace; here chains of causes
//! serve this purpose, so the waiting time of a late rank is never a cause: the work that made it wait is.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use titr_common::event::Rank;
use titr_network::JobOrLoadId;

use crate::apportionment::Apportionment;
use crate::causes::{PlaceId, Segment, SegmentSums};
use crate::findings::SegmentKind;

/// Picoseconds that others have waited because of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Delay {
    pub direct: u64,
    pub indirect: u64,
}

/// The causes of all waits.
#[derive(Debug, Default)]
pub(super) struct Delays {
    by_segment: FxHashMap<Segment, Delay>,
    /// Kept to be used again.
    cause: Vec<(Segment, u64)>,
    own: Vec<(Segment, u64)>,
    kinds: Vec<KindAtPlace>,
    shares: Apportionment,
}

/// One kind of time in one place, because of one party: a part of the segments of a cause, which are in this order.
#[derive(Debug)]
struct KindAtPlace {
    key: (SegmentKind, PlaceId, Option<JobOrLoadId>),
    /// The end of its segments.
    end: usize,
    /// The picoseconds that the cause's chain has more of than the waiter's.
    excess: i64,
}

impl Delays {
    /// Adds a wait: the chains of the waiter and of the cause after their common beginning, and the ranks that cause it
    /// directly.
    pub(crate) fn add(&mut self, waited: u64, own: &SegmentSums, cause: &SegmentSums, direct: [Option<Rank>; 2]) {
        self.order(cause);
        self.own.clear();
        own.append_to(&mut self.own);
        for &(Segment { kind, place, party, .. }, sum) in &self.own {
            if let Ok(at) = self.kinds.binary_search_by_key(&(kind, place, party), |kind| kind.key) {
                self.kinds[at].excess -= sum as i64;
            }
        }
        let excesses = self.kinds.iter().map(|kind| kind.excess.max(0).cast_unsigned());
        self.shares.compute(waited, excesses);
        let parts: SmallVec<[u64; 8]> = self.shares.iter().collect();
        let mut begin = 0;
        for (at, part) in parts.into_iter().enumerate() {
            let of_ranks = begin..self.kinds[at].end;
            begin = of_ranks.end;
            if part == 0 {
                continue;
            }
            self.shares.compute(part, self.cause[of_ranks.clone()].iter().map(|&(_, sum)| sum));
            for (&(segment, _), time) in self.cause[of_ranks].iter().zip(self.shares.iter()) {
                let delay = self.by_segment.entry(segment).or_default();
                delay.add(time, direct.contains(&Some(segment.rank)));
            }
        }
    }

    /// Puts the segments of a cause in the order of kinds.
    fn order(&mut self, cause: &SegmentSums) {
        let Self { cause: segments, kinds, .. } = self;
        segments.clear();
        cause.append_to(segments);
        segments.sort_unstable_by_key(|&(Segment { rank, place, kind, party }, _)| (kind, place, party, rank));
        kinds.clear();
        for (at, &(Segment { kind, place, party, .. }, sum)) in segments.iter().enumerate() {
            match kinds.last_mut().filter(|last| last.key == (kind, place, party)) {
                Some(last) => (last.end, last.excess) = (at + 1, last.excess + sum as i64),
                None => kinds.push(KindAtPlace { key: (kind, place, party), end: at + 1, excess: sum as i64 }),
            }
        }
    }

    /// Adds a wait, or a part of one, of one cause.
    pub(crate) fn add_part(&mut self, segment: Segment, waited: u64, is_direct: bool) {
        self.by_segment.entry(segment).or_default().add(waited, is_direct);
    }

    /// All causes, in decreasing order of waiting.
    pub(crate) fn sorted(&self) -> Vec<(Segment, Delay)> {
        let mut all: Vec<_> = self.by_segment.iter().map(|(&segment, &delay)| (segment, delay)).collect();
        all.retain(|(_, delay)| delay.direct + delay.indirect > 0);
        all.sort_unstable_by_key(|&(segment, delay)| (u64::MAX - (delay.direct + delay.indirect), segment));
        all
    }
}

impl Delay {
    fn add(&mut self, waited: u64, is_direct: bool) {
        *(if is_direct { &mut self.direct } else { &mut self.indirect }) += waited;
    }
}
