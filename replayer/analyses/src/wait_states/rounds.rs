//! Collectives in progress: which members have entered, and when.

use rustc_hash::FxHashMap;
use slab::Slab;
use titr_common::event::Rank;
use titr_common::time::Time;

use super::Explanation;
use crate::findings::Pattern;
use titr_simulation::observe::{CollectiveCall, CollectiveFlow, CommunicatorId};

/// Collectives that not all members have left.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    all: Slab<CollectiveRound>,
    /// Collectives that members may still enter, by communicator and number.
    open: FxHashMap<(CommunicatorId, u64), usize>,
}

/// A collective of some members, each of which enters and leaves it once.
#[derive(Debug)]
struct CollectiveRound {
    name: &'static str,
    flow: CollectiveFlow,
    members: u32,
    entered: u32,
    left: u32,
    /// The last to enter.
    last: (Time, Rank),
    root: Option<Rank>,
    root_entered: Time,
    /// The first to enter that is not the root.
    first_other: Option<(Time, Rank)>,
    /// All that have entered, by their places, of collectives in which each depends on those before it.
    by_place: Vec<(u32, Time, Rank)>,
}

/// A member's part in a collective.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    round: usize,
    rank: Rank,
    member: u32,
    communicator: CommunicatorId,
}

impl Rounds {
    pub(crate) fn enter(&mut self, now: Time, call: &CollectiveCall) -> Place {
        let &CollectiveCall { name, rank, member, communicator, number, flow, root, members, .. } = call;
        let key = (communicator, number);
        let round = *self.open.entry(key).or_insert_with(|| {
            self.all.insert(CollectiveRound {
                name,
                flow,
                members,
                entered: 0,
                left: 0,
                last: (now, rank),
                root,
                root_entered: Time::ZERO,
                first_other: None,
                by_place: Vec::new(),
            })
        });
        let entry = &mut self.all[round];
        entry.entered += 1;
        if entry.last.0 <= now {
            entry.last = (now, rank);
        }
        if root == Some(rank) {
            entry.root_entered = now;
        } else {
            entry.first_other.get_or_insert((now, rank));
        }
        if flow == CollectiveFlow::Prefix {
            entry.by_place.push((member, now, rank));
        }
        if entry.entered == members {
            self.open.remove(&key);
        }
        Place { round, rank, member, communicator }
    }

    /// A member leaves a collective; the explanation of a wait for its end.
    pub(crate) fn leave(&mut self, place: Place) -> Explanation {
        let Place { round, rank, member, communicator } = place;
        let entry = &mut self.all[round];
        entry.left += 1;
        let explanation = entry.explanation(rank, member, communicator);
        if entry.left == entry.members {
            self.all.remove(round);
        }
        explanation
    }
}

impl CollectiveRound {
    fn explanation(&self, rank: Rank, member: u32, communicator: CommunicatorId) -> Explanation {
        let is_root = self.root == Some(rank);
        let (first, rest, delayer) = match self.flow {
            CollectiveFlow::Barrier => {
                ((Pattern::WaitAtBarrier, self.last.0), Pattern::BarrierCompletion, Some(self.last.1))
            }
            CollectiveFlow::AllToAll => ((Pattern::WaitAtNxn, self.last.0), Pattern::NxnCompletion, Some(self.last.1)),
            CollectiveFlow::OneToAll if !is_root => {
                ((Pattern::LateBroadcast, self.root_entered), Pattern::CollectiveCompletion, self.root)
            }
            CollectiveFlow::AllToOne if is_root => {
                let first = self.first_other.unwrap_or_default();
                ((Pattern::EarlyReduce, first.0), Pattern::CollectiveCompletion, Some(first.1))
            }
            CollectiveFlow::Prefix => {
                let before = self.by_place.iter().filter(|(place, ..)| *place < member);
                let last = before.max_by_key(|(_, entered, _)| *entered);
                let (time, delayer) = last.map_or((Time::ZERO, None), |&(_, time, rank)| (time, Some(rank)));
                ((Pattern::EarlyScan, time), Pattern::CollectiveCompletion, delayer)
            }
            CollectiveFlow::OneToAll | CollectiveFlow::AllToOne | CollectiveFlow::Neighborhood => {
                ((Pattern::CollectiveCompletion, Time::ZERO), Pattern::CollectiveCompletion, None)
            }
        };
        let second = (rest, Time::ZERO);
        Explanation { first, second, rest, communicator: Some(communicator), delayer, collective: Some(self.name) }
    }
}
