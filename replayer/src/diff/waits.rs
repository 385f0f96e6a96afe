//! The difference between the wait states of two results: how the waiting moved.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::Change;
use titr_analyses::{Pattern, ProgramPlace, SegmentKind, WaitFindings};

/// The waiting of all ranks before and after, in total and in parts, the largest changes first. If the results are of
/// different numbers of ranks, it is the waiting of the mean rank.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct WaitChanges {
    /// All waiting.
    pub(crate) waiting: Change,
    /// Waiting by its place in the program and its pattern.
    pub(crate) places: Vec<PlaceChange>,
    /// Waiting by cause.
    pub(crate) causes: Vec<CauseChange>,
    /// The waiting of each rank; none if the results are of different numbers of ranks.
    pub(crate) ranks: Vec<Change>,
}

/// The waiting at a place of the program.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct PlaceChange {
    /// The place.
    #[serde(flatten)]
    pub(crate) place: ProgramPlace,
    /// The pattern.
    pub(crate) pattern: Pattern,
    /// The waiting of all ranks.
    #[serde(flatten)]
    pub(crate) change: Change,
}

/// The waiting that a cause is responsible for, before and after.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct CauseChange {
    /// The place.
    #[serde(flatten)]
    pub(crate) place: ProgramPlace,
    /// The kind of the time of the cause.
    pub(crate) kind: SegmentKind,
    /// The other job or load whose messages shared links with those of the cause; only of contention.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) with: Option<Arc<str>>,
    /// The waiting of all ranks because of it.
    #[serde(flatten)]
    pub(crate) change: Change,
}

impl WaitChanges {
    /// The changes between the wait states of two results of programs with these numbers of ranks.
    pub(super) fn between(before: &WaitFindings, after: &WaitFindings, ranks: [usize; 2]) -> Self {
        let is_alike = ranks[0] == ranks[1];
        let divisors = if is_alike { [1.0; 2] } else { ranks.map(|ranks| ranks.max(1) as f64) };
        let scaled =
            |Change { before, after }: Change| Change { before: before / divisors[0], after: after / divisors[1] };
        let places = both(&before.waits, &after.waits, |wait| ((wait.place.clone(), wait.pattern), wait.seconds.0));
        let causes = both(&before.causes, &after.causes, |cause| {
            ((cause.place.clone(), cause.kind, cause.with.clone()), cause.seconds.0)
        });
        let of_ranks = both(&before.waits, &after.waits, |wait| (wait.rank, wait.seconds.0));
        let mut by_rank = vec![Change::default(); if is_alike { ranks[0] } else { 0 }];
        for (rank, change) in of_ranks {
            if let Some(place) = by_rank.get_mut(rank as usize) {
                *place = change;
            }
        }
        Self {
            waiting: scaled(Change { before: before.waiting.0, after: after.waiting.0 }),
            places: places
                .into_iter()
                .map(|((place, pattern), change)| PlaceChange { place, pattern, change: scaled(change) })
                .collect(),
            causes: causes
                .into_iter()
                .map(|((place, kind, with), change)| CauseChange { place, kind, with, change: scaled(change) })
                .collect(),
            ranks: by_rank,
        }
    }
}

/// The sums of both lists by a key, those first that change most.
fn both<T, K: Ord>(before: &[T], after: &[T], part: impl Fn(&T) -> (K, f64)) -> Vec<(K, Change)> {
    let mut sums: BTreeMap<K, Change> = BTreeMap::new();
    for (key, seconds) in before.iter().map(&part) {
        sums.entry(key).or_default().before += seconds;
    }
    for (key, seconds) in after.iter().map(&part) {
        sums.entry(key).or_default().after += seconds;
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|(_, one), (_, other)| other.gain().abs().total_cmp(&one.gain().abs()));
    sums
}

#[cfg(test)]
mod tests {
    use titr_common::units::Seconds;

    use super::*;
    use titr_analyses::{WaitCause, WaitTime};

    fn findings(waits: &[(u32, &str, Pattern, f64)]) -> WaitFindings {
        let wait = |&(rank, region, pattern, seconds): &(u32, &str, Pattern, f64)| WaitTime {
            rank,
            place: ProgramPlace { region: Some(region.into()), call_site: None },
            communicator: None,
            pattern,
            seconds: Seconds(seconds),
        };
        let waiting = Seconds(waits.iter().map(|&(.., seconds)| seconds).sum());
        let cause = WaitCause {
            rank: 0,
            place: ProgramPlace::default(),
            kind: SegmentKind::Compute,
            with: None,
            seconds: waiting,
            direct: waiting,
            indirect: Seconds(0.0),
        };
        WaitFindings {
            waiting,
            patterns: vec![],
            collectives: vec![],
            ranks: vec![],
            places: vec![],
            waits: waits.iter().map(wait).collect(),
            causes: vec![cause],
        }
    }

    #[test]
    fn waiting_is_followed_from_place_to_place() {
        let before = findings(&[
            (0, "bar", Pattern::LateSender, 3.0),
            (1, "bar", Pattern::LateSender, 1.0),
            (1, "foo", Pattern::Transfer, 0.5),
        ]);
        let after = findings(&[(1, "end", Pattern::WaitAtNxn, 1.0), (0, "foo", Pattern::Transfer, 0.5)]);
        let changes = WaitChanges::between(&before, &after, [2, 2]);
        assert_eq!(changes.waiting, Change { before: 4.5, after: 1.5 });
        let places: Vec<_> =
            changes.places.iter().map(|place| (place.place.region.as_deref(), place.change.gain())).collect();
        assert_eq!(places, [(Some("bar"), -4.0), (Some("end"), 1.0), (Some("foo"), 0.0)]);
        assert_eq!(changes.causes[0].change.gain(), -3.0);
        assert_eq!(changes.ranks, [Change { before: 3.0, after: 0.5 }, Change { before: 1.5, after: 1.0 }]);
    }
}
