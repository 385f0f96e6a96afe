//! Costs of messages by size: as results show them, between measured sizes, and as steps of a platform file.

use std::collections::BTreeMap;

use super::row::Row;
use crate::robust::median;

/// Messages with fewer bytes are eager.
pub(super) const EAGER_THRESHOLD: u64 = 16_384;

/// The costs of a message for a processor, by its size: between measured sizes they are interpolated.
pub(super) type Costs = BTreeMap<u64, f64>;

/// Costs as steps of a platform file, linear between two sizes.
pub(super) fn steps(costs: &Costs) -> String {
    let sizes: Vec<(u64, f64)> = costs.iter().map(|(&size, &cost)| (size, cost)).collect();
    let mut steps = Vec::new();
    for window in sizes.windows(2) {
        let &[(from, low), (to, high)] = window else { continue };
        let slope = (high - low) / (to - from) as f64;
        let constant = low - slope * from as f64;
        if slope >= 0.0 && constant >= 0.0 {
            steps.push((from, constant, slope));
            continue;
        }
        // Costs that fall, or rise faster than the size: a few steps that are constant, or in proportion to the size.
        let part =
            |number: i32| (from.max(1) as f64 * (to as f64 / from.max(1) as f64).powf(f64::from(number) / 4.0)) as u64;
        for size in [from].into_iter().chain((1..4).map(part)) {
            let cost = at(costs, size).unwrap_or(low);
            steps.push(if slope < 0.0 { (size, cost, 0.0) } else { (size, 0.0, cost / size.max(1) as f64) });
        }
    }
    // Beyond the largest, costs are in proportion to the size if that is large.
    match sizes.last() {
        Some(&(size, cost)) if size < EAGER_THRESHOLD => steps.push((size, cost, 0.0)),
        Some(&(size, cost)) => steps.push((size, 0.0, cost / size as f64)),
        None => {}
    }
    steps.dedup_by_key(|(from, ..)| from.saturating_sub(1));
    let step =
        |(from, constant, slope): (u64, f64, f64)| format!("[{}, {constant:.4e}, {slope:.4e}]", from.saturating_sub(1));
    format!("[{}]", steps.into_iter().map(step).collect::<Vec<_>>().join(", "))
}

/// Measured times by size of some rows, as their median.
pub(super) fn times<'r>(rows: impl IntoIterator<Item = &'r Row>) -> Costs {
    let mut all: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for row in rows {
        if let Some(time) = row.measured().filter(|time| time.0 > 0.0) {
            all.entry(row.bytes.0).or_default().push(time.0);
        }
    }
    all.into_iter().filter_map(|(size, times)| Some((size, median(&times)?))).collect()
}

/// The value at a size, between two known ones.
pub(super) fn at(costs: &Costs, size: u64) -> Option<f64> {
    let below = costs.range(..=size).next_back();
    let above = costs.range(size..).next();
    match (below, above) {
        (Some((&low, &value)), Some((&high, &other))) if high > low => {
            Some(value + (other - value) * (size - low) as f64 / (high - low) as f64)
        }
        (Some((_, &value)), _) | (None, Some((_, &value))) => Some(value),
        (None, None) => None,
    }
}
