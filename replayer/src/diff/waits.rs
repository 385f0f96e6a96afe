//! The difference between the wait states of two results: where the waiting moved to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Change;

/// The findings of `wait-states` that are compared. Times are in seconds.
#[derive(Clone, Debug, Deserialize)]
pub struct WaitFindings {
    waiting: f64,
    waits: Vec<Wait>,
    causes: Vec<FoundCause>,
}

/// A place in the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProgramPlace {
    /// The region; `None`: outside of all.
    pub region: Option<String>,
    /// The call site; `None`: it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_site: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Wait {
    rank: usize,
    #[serde(flatten)]
    place: ProgramPlace,
    pattern: String,
    seconds: f64,
}

#[derive(Clone, Debug, Deserialize)]
struct FoundCause {
    #[serde(flatten)]
    place: ProgramPlace,
    kind: String,
    seconds: f64,
}

/// The waiting of all ranks before and after, and of parts of it, those first that change most.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaitChanges {
    /// All waiting.
    pub waiting: Change,
    /// Waiting by its place in the program and its pattern.
    pub places: Vec<PlaceChange>,
    /// Waiting by what it is caused by.
    pub causes: Vec<CauseChange>,
    /// The waiting of each rank.
    pub ranks: Vec<Change>,
}

/// The waiting at a place of the program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlaceChange {
    /// The place.
    #[serde(flatten)]
    pub place: ProgramPlace,
    /// The pattern, such as `late-sender`.
    pub pattern: String,
    /// The waiting of all ranks.
    #[serde(flatten)]
    pub change: Change,
}

/// The waiting that something causes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CauseChange {
    /// The place.
    #[serde(flatten)]
    pub place: ProgramPlace,
    /// The kind of time, such as `compute`.
    pub kind: String,
    /// The waiting of all ranks because of it.
    #[serde(flatten)]
    pub change: Change,
}

impl WaitFindings {
    /// The difference to findings that came `after`, of a program with so many ranks.
    pub(super) fn to(&self, after: &Self, ranks: usize) -> WaitChanges {
        let places = both(&self.waits, &after.waits, |wait| ((wait.place.clone(), wait.pattern.clone()), wait.seconds));
        let causes =
            both(&self.causes, &after.causes, |cause| ((cause.place.clone(), cause.kind.clone()), cause.seconds));
        let of_ranks = both(&self.waits, &after.waits, |wait| (wait.rank, wait.seconds));
        let mut by_rank = vec![Change::default(); ranks];
        for (rank, change) in of_ranks {
            if let Some(place) = by_rank.get_mut(rank) {
                *place = change;
            }
        }
        WaitChanges {
            waiting: Change { before: self.waiting, after: after.waiting },
            places: places
                .into_iter()
                .map(|((place, pattern), change)| PlaceChange { place, pattern, change })
                .collect(),
            causes: causes.into_iter().map(|((place, kind), change)| CauseChange { place, kind, change }).collect(),
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
    use super::*;

    fn findings(waits: &[(usize, &str, &str, f64)]) -> WaitFindings {
        let wait = |&(rank, region, pattern, seconds): &(usize, &str, &str, f64)| Wait {
            rank,
            place: ProgramPlace { region: Some(region.to_owned()), call_site: None },
            pattern: pattern.to_owned(),
            seconds,
        };
        let waiting = waits.iter().map(|&(.., seconds)| seconds).sum();
        let cause = FoundCause { place: ProgramPlace::default(), kind: "compute".to_owned(), seconds: waiting };
        WaitFindings { waiting, waits: waits.iter().map(wait).collect(), causes: vec![cause] }
    }

    #[test]
    fn waiting_is_followed_from_place_to_place() {
        let before =
            findings(&[(0, "bar", "late-sender", 3.0), (1, "bar", "late-sender", 1.0), (1, "foo", "transfer", 0.5)]);
        let after = findings(&[(1, "end", "wait-at-nxn", 1.0), (0, "foo", "transfer", 0.5)]);
        let changes = before.to(&after, 2);
        assert_eq!(changes.waiting, Change { before: 4.5, after: 1.5 });
        let places: Vec<_> =
            changes.places.iter().map(|place| (place.place.region.as_deref(), place.change.gain())).collect();
        assert_eq!(places, [(Some("bar"), -4.0), (Some("end"), 1.0), (Some("foo"), 0.0)]);
        assert_eq!(changes.causes[0].change.gain(), -3.0);
        assert_eq!(changes.ranks, [Change { before: 3.0, after: 0.5 }, Change { before: 1.5, after: 1.0 }]);
    }
}
