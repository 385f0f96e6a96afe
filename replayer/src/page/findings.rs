//! Findings with as many rows as a page has room for.

use std::collections::BTreeMap;

use titr_analyses::{Findings, SegmentShare, WaitCause};
use titr_common::units::Seconds;

/// The rows of a list that a page has room for, without those that stand for several.
const ROWS: usize = 1000;

/// The rank of a row that stands for several.
const OTHERS: u32 = u32::MAX;

/// Keeps the largest rows of the lists that have a row for each rank and place. Of causes and of parts of the critical path, other
/// rows of the same kind and place become one, on the rank [`OTHERS`], so that sums stay what they are; other waits are left out.
/// Returns whether anything changed.
pub(super) fn shorten(findings: &mut Findings) -> bool {
    let mut has_changed = false;
    if let Some(waits) = &mut findings.wait_states {
        has_changed |= waits.waits.len() > ROWS;
        waits.waits.sort_by(|one, other| other.seconds.0.total_cmp(&one.seconds.0));
        waits.waits.truncate(ROWS);
        let key = |cause: &WaitCause| (cause.kind, cause.place.clone(), cause.with.clone());
        has_changed |= join(
            &mut waits.causes,
            |cause| cause.seconds,
            key,
            |sum, cause| {
                sum.seconds.0 += cause.seconds.0;
                sum.direct.0 += cause.direct.0;
                sum.indirect.0 += cause.indirect.0;
                sum.rank = OTHERS;
            },
        );
    }
    if let Some(path) = &mut findings.critical_path {
        let key = |share: &SegmentShare| (share.kind, share.place.clone(), share.with.clone());
        has_changed |= join(
            &mut path.segments,
            |share| share.seconds,
            key,
            |sum, share| {
                sum.seconds.0 += share.seconds.0;
                sum.rank = OTHERS;
            },
        );
    }
    has_changed
}

/// Joins all but the largest rows with those of the same key.
fn join<T, K: Ord>(
    rows: &mut Vec<T>,
    seconds: impl Fn(&T) -> Seconds,
    key: impl Fn(&T) -> K,
    add: impl Fn(&mut T, &T),
) -> bool {
    if rows.len() <= ROWS {
        return false;
    }
    rows.sort_by(|one, other| seconds(other).0.total_cmp(&seconds(one).0));
    let mut joined: BTreeMap<K, T> = BTreeMap::new();
    for row in rows.split_off(ROWS) {
        let key = key(&row);
        match joined.get_mut(&key) {
            Some(sum) => add(sum, &row),
            None => drop(joined.insert(key, row)),
        }
    }
    rows.extend(joined.into_values());
    true
}

#[cfg(test)]
mod tests {
    use titr_analyses::{ByKind, CriticalPath, ProgramPlace, SegmentKind};

    use super::*;

    #[test]
    fn no_time_is_lost() {
        let segment = |number: u32| SegmentShare {
            rank: number,
            place: ProgramPlace { region: Some(format!("{}", number % 3).into()), call_site: None },
            kind: SegmentKind::Compute,
            with: None,
            seconds: Seconds(f64::from(number)),
        };
        let path = CriticalPath {
            length: Seconds(1.0),
            messages: 0,
            by_kind: ByKind::default(),
            visits: Vec::new(),
            sensitivities: Vec::new(),
            ranks: Vec::new(),
            regions: Vec::new(),
            call_sites: Vec::new(),
            segments: (0..1500).map(segment).collect(),
        };
        let mut findings = Findings { critical_path: Some(path), ..Findings::default() };
        assert!(shorten(&mut findings));
        let segments = findings.critical_path.unwrap().segments;
        assert_eq!(segments.len(), 1003);
        let of_region = |region: &str| -> f64 {
            segments.iter().filter(|one| one.place.region.as_deref() == Some(region)).map(|one| one.seconds.0).sum()
        };
        let all: u32 = (0..1500).filter(|number| number % 3 == 1).sum();
        assert_eq!(of_region("1"), f64::from(all));
        assert_eq!(segments[1000].rank, OTHERS);
    }
}
