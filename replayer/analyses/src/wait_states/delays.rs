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

/// One kind of time in one place: a part of the segments of a cause, which are in this order.
#[derive(Debug)]
struct KindAtPlace {
    key: (SegmentKind, PlaceId),
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
        for &(Segment { kind, place, .. }, sum) in &self.own {
            if let Ok(at) = self.kinds.binary_search_by_key(&(kind, place), |kind| kind.key) {
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
        segments.sort_unstable_by_key(|&(Segment { rank, place, kind }, _)| (kind, place, rank));
        kinds.clear();
        for (at, &(Segment { kind, place, .. }, sum)) in segments.iter().enumerate() {
            match kinds.last_mut().filter(|last| last.key == (kind, place)) {
                Some(last) => (last.end, last.excess) = (at + 1, last.excess + sum as i64),
                None => kinds.push(KindAtPlace { key: (kind, place), end: at + 1, excess: sum as i64 }),
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

/// The parts of a number of picoseconds that is shared out; kept to be used again.
#[derive(Debug, Default)]
struct Apportionment {
    /// The part of each, and its rounding remainder.
    parts: Vec<(u64, u128)>,
    /// The places of the parts, those that rounding took most from first.
    order: Vec<usize>,
}

impl Apportionment {
    /// Distributes a number of picoseconds in proportion to weights. The rounding remainder goes to those that lost
    /// most by rounding, and of these to the first.
    fn compute(&mut self, total: u64, weights: impl Iterator<Item = u64> + Clone) {
        let Self { parts, order } = self;
        parts.clear();
        let sum: u128 = weights.clone().map(u128::from).sum();
        let mut left = total;
        parts.extend(weights.map(|weight| {
            let (part, rest) = divide(u128::from(total) * u128::from(weight), sum.max(1));
            left -= part;
            (part, rest)
        }));
        if sum == 0 || left == 0 {
            return;
        }
        order.clear();
        order.extend(0..parts.len());
        order.sort_by_key(|&at| u128::MAX - parts[at].1);
        order.iter().take(left as usize).for_each(|&at| parts[at].0 += 1);
    }

    fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.parts.iter().map(|&(part, _)| part)
    }
}

/// The quotient, of at most 64 bits, and the remainder. Most numbers here fit into 64 bits, and dividing those takes a
/// tenth of the time.
fn divide(number: u128, by: u128) -> (u64, u128) {
    match (u64::try_from(number), u64::try_from(by)) {
        (Ok(number), Ok(by)) => (number / by, u128::from(number % by)),
        _ => ((number / by) as u64, number % by),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn share(total: u64, weights: &[u64]) -> Vec<u64> {
        let mut shares = Apportionment::default();
        shares.compute(total, weights.iter().copied());
        shares.iter().collect()
    }

    #[test]
    fn shares_are_in_proportion() {
        assert_eq!(share(10, &[1, 1, 1]), [4, 3, 3]);
        assert_eq!(share(11, &[7, 4]), [7, 4]);
        assert_eq!(share(5, &[0, 2, 0]), [0, 5, 0]);
    }

    proptest! {
        #[test]
        fn shares_add_up(total: u64, weights in prop::collection::vec(any::<u64>(), 1..20)) {
            prop_assume!(weights.iter().any(|&weight| weight > 0));
            prop_assert_eq!(share(total, &weights).iter().map(|&part| u128::from(part)).sum::<u128>(), u128::from(total));
        }
    }
}
