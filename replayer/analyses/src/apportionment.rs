//! A number of picoseconds, shared out in proportion to weights.

/// The parts of a number of picoseconds that is shared out; kept to be used again.
#[derive(Debug, Default)]
pub(crate) struct Apportionment {
    /// The part of each, and its rounding remainder.
    parts: Vec<(u64, u128)>,
    /// The places of the parts, those that rounding took most from first.
    order: Vec<usize>,
}

impl Apportionment {
    /// Distributes a number of picoseconds in proportion to weights. The rounding remainder goes to those that lost
    /// most by rounding, and of these to the first.
    pub(crate) fn compute(&mut self, total: u64, weights: impl Iterator<Item = u64> + Clone) {
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

    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> + '_ {
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
