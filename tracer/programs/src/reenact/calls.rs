//! The times of a rank's calls, and of the computation between them, in the trace and in the reenactment.

use serde::Serialize;
use titr_common::event::{Activity, Span};

use crate::{Comm, MpiError};

/// All activities with the names that a report gives them.
const ACTIVITIES: [(Activity, &str); 6] = [
    (Activity::Compute, "computing"),
    (Activity::Send, "sending"),
    (Activity::Recv, "receiving"),
    (Activity::Wait, "waiting"),
    (Activity::Collective, "collectives"),
    (Activity::File, "files"),
];

/// The time of an activity, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Times {
    pub recorded: f64,
    pub reenacted: f64,
}

impl Times {
    fn difference(self) -> f64 {
        (self.reenacted - self.recorded).abs()
    }
}

/// The time of each activity of a rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CallTimes([Times; ACTIVITIES.len()]);

impl CallTimes {
    /// Adds a call, or a computation, whose time is in the trace.
    pub(crate) fn add(&mut self, activity: Activity, times: Times) {
        let place = ACTIVITIES.iter().position(|(known, _)| *known == activity);
        if let Some(sum) = place.and_then(|place| self.0.get_mut(place)) {
            sum.recorded += times.recorded;
            sum.reenacted += times.reenacted;
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|times| [times.recorded, times.reenacted]).flat_map(f64::to_le_bytes).collect()
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let mut numbers = bytes.chunks_exact(8).map(|chunk| f64::from_le_bytes(chunk.try_into().unwrap_or_default()));
        let mut times =
            || Times { recorded: numbers.next().unwrap_or_default(), reenacted: numbers.next().unwrap_or_default() };
        Self(std::array::from_fn(|_| times()))
    }
}

/// The seconds of a recorded call.
pub(crate) fn seconds(call: Span) -> f64 {
    call.end.0.saturating_sub(call.begin.0) as f64 * 1e-9
}

/// The times of all ranks, at rank 0; at others none. Collective.
pub(crate) fn of_all(world: Comm<'_>, own: &CallTimes) -> Result<Vec<CallTimes>, MpiError> {
    Ok(world.gather(0, &own.to_bytes())?.iter().map(|bytes| CallTimes::from_bytes(bytes)).collect())
}

/// An activity of all ranks.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct ActivityOfAll {
    #[serde(rename = "activity")]
    pub name: &'static str,
    /// The sums over ranks.
    #[serde(flatten)]
    pub times: Times,
    /// The differences of ranks, each without its sign, as a part of the recorded time of all activities.
    pub error: f64,
}

/// The activities on which ranks spend time.
pub(crate) fn activities(ranks: &[CallTimes]) -> Vec<ActivityOfAll> {
    let whole: f64 = ranks.iter().flat_map(|rank| rank.0).map(|times| times.recorded).sum();
    let of_all = |(place, &(_, name)): (usize, &(Activity, &'static str))| {
        let mut all = ActivityOfAll { name, times: Times::default(), error: 0.0 };
        for times in ranks.iter().filter_map(|rank| rank.0.get(place)) {
            all.times.recorded += times.recorded;
            all.times.reenacted += times.reenacted;
            all.error += times.difference() / whole;
        }
        (all.times != Times::default()).then_some(all)
    };
    ACTIVITIES.iter().enumerate().filter_map(of_all).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_ranks_do_not_cancel() {
        let rank = |computing: [f64; 2], sending: [f64; 2]| {
            let mut calls = CallTimes::default();
            for (activity, [recorded, reenacted]) in [(Activity::Compute, computing), (Activity::Send, sending)] {
                calls.add(activity, Times { recorded, reenacted });
            }
            CallTimes::from_bytes(&calls.to_bytes())
        };
        let found = activities(&[rank([2.0, 3.0], [1.0, 1.0]), rank([3.0, 2.0], [2.0, 1.0])]);
        let all = |name, recorded, reenacted, error| {
            let times = Times { recorded, reenacted };
            ActivityOfAll { name, times, error }
        };
        assert_eq!(found, [all("computing", 5.0, 5.0, 0.25), all("sending", 3.0, 2.0, 0.125)]);
    }
}
