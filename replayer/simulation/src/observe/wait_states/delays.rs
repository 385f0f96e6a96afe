//! The causes of waits: whose work and messages made others wait, directly or by making somebody else late.
//!
//! A wait ends with the chain of its cause, and would not have been if that chain had been as short as the waiter's own. Both
//! begin at the same fork, and neither has waiting in it, so the difference of their sums is the time waited, exactly. Each
//! kind of time in each region that the cause's chain has more of than the waiter's gets a share of the wait in proportion to
//! the excess, and of that each rank that the chain leads through, in proportion to its part.
//!
//! The waiter and the rank that it waits for cause a wait **directly**; all others **indirectly**: that rank was late because
//! of them. The terms are those of Böhme, Geimer, Wolf and Arnold, "Identifying the root causes of wait states in large-scale
//! parallel applications" (ICPP 2010). They follow delays backwards through a trace; here chains of causes take the place of
//! that, so time that a late rank has waited itself is never a cause: the work that made it wait is.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use titr_common::event::Rank;

use crate::observe::causes::{RegionName, Segment, SegmentKind, SegmentSums};

/// Picoseconds that others have waited because of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Delay {
    pub direct: u64,
    pub indirect: u64,
}

/// The causes of all waits.
#[derive(Debug, Default)]
pub(super) struct Delays(FxHashMap<Segment, Delay>);

impl Delays {
    /// Adds a wait: the chains of the waiter and of the cause, as far as they are not the same, and the ranks that cause it
    /// directly.
    pub fn add(&mut self, waited: u64, own: &SegmentSums, cause: &SegmentSums, direct: [Option<Rank>; 2]) {
        let mut excess = BTreeMap::<(SegmentKind, RegionName), i64>::new();
        for (Segment { kind, region, .. }, sum) in cause.iter() {
            *excess.entry((kind, region)).or_default() += sum as i64;
        }
        for (Segment { kind, region, .. }, sum) in own.iter() {
            *excess.entry((kind, region)).or_default() -= sum as i64;
        }
        excess.retain(|_, sum| *sum > 0);
        let sums: Vec<u64> = excess.values().map(|sum| sum.cast_unsigned()).collect();
        let parts: BTreeMap<_, _> = excess.into_keys().zip(share(waited, &sums)).collect();
        let mut segments: BTreeMap<(SegmentKind, RegionName), Vec<(Segment, u64)>> = BTreeMap::new();
        for (segment, sum) in cause.sorted() {
            segments.entry((segment.kind, segment.region)).or_default().push((segment, sum));
        }
        for (activity, part) in parts {
            let Some(of_ranks) = segments.get(&activity) else { continue };
            let sums: Vec<u64> = of_ranks.iter().map(|(_, sum)| *sum).collect();
            for ((segment, _), time) in of_ranks.iter().zip(share(part, &sums)) {
                self.add_part(*segment, time, direct.contains(&Some(segment.rank)));
            }
        }
    }

    /// Adds a wait, or a part of one, of one cause.
    pub fn add_part(&mut self, segment: Segment, waited: u64, is_direct: bool) {
        let delay = self.0.entry(segment).or_default();
        *(if is_direct { &mut delay.direct } else { &mut delay.indirect }) += waited;
    }

    /// All causes, those of most waiting first.
    pub fn sorted(&self) -> Vec<(Segment, Delay)> {
        let mut all: Vec<_> = self.0.iter().map(|(&segment, &delay)| (segment, delay)).collect();
        all.retain(|(_, delay)| delay.direct + delay.indirect > 0);
        all.sort_unstable_by_key(|&(segment, delay)| (u64::MAX - (delay.direct + delay.indirect), segment));
        all
    }
}

/// Shares out a number of picoseconds in proportion to weights. What rounding leaves goes to those that it took most from, and
/// of these to the first.
fn share(total: u64, weights: &[u64]) -> Vec<u64> {
    let sum: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
    if sum == 0 {
        return vec![0; weights.len()];
    }
    let exact = |weight: u64| u128::from(total) * u128::from(weight);
    let mut shares: Vec<u64> = weights.iter().map(|&weight| (exact(weight) / sum) as u64).collect();
    let left = (total - shares.iter().sum::<u64>()) as usize;
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|&at| u128::MAX - exact(weights[at]) % sum);
    order.into_iter().take(left).for_each(|at| shares[at] += 1);
    shares
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
