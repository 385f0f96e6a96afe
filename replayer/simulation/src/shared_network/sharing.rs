//! The time for which the messages of two owners are on one link.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use titr_common::time::Time;
use titr_network::Transfer;
use titr_network::topology::{LinkId, Topology};

/// The owner of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Owner {
    /// A job, by its number.
    Job(usize),
    /// A background load, by its number, and the sender among its hosts.
    Background(usize, u32),
}

impl Owner {
    /// The owner of all messages of a job or a load.
    fn whole(self) -> Self {
        match self {
            Self::Job(job) => Self::Job(job),
            Self::Background(load, _) => Self::Background(load, 0),
        }
    }
}

/// The time for which two owners had messages on a link at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedTime {
    pub owners: (Owner, Owner),
    pub link: LinkId,
    pub time: Time,
}

/// The messages of one owner on a link: how many, and since when there are any.
type Presence = (Owner, u32, Time);

/// Which owners have messages on each link.
pub(super) struct Sharing {
    topology: Arc<dyn Topology>,
    present: FxHashMap<LinkId, SmallVec<[Presence; 2]>>,
    /// The time of each pair of owners on each link, in picoseconds. The first owner is the lower one.
    shared: FxHashMap<(LinkId, Owner, Owner), u64>,
    /// Kept to be used again.
    route: Vec<LinkId>,
}

impl Sharing {
    pub(super) fn new(topology: &Arc<dyn Topology>) -> Self {
        let topology = Arc::clone(topology);
        Self { topology, present: FxHashMap::default(), shared: FxHashMap::default(), route: Vec::new() }
    }

    /// A message enters the links of its route at `now`.
    pub(super) fn enter(&mut self, owner: Owner, transfer: &Transfer, now: Time) {
        let owner = owner.whole();
        self.route.clear();
        self.topology.route(transfer.from, transfer.to, &mut self.route);
        for link in &self.route {
            let present = self.present.entry(*link).or_default();
            match present.iter_mut().find(|(known, ..)| *known == owner) {
                Some((_, messages, _)) => *messages += 1,
                None => present.push((owner, 1, now)),
            }
        }
    }

    /// The message leaves these links at `now`.
    pub(super) fn leave(&mut self, owner: Owner, transfer: &Transfer, now: Time) {
        let owner = owner.whole();
        self.route.clear();
        self.topology.route(transfer.from, transfer.to, &mut self.route);
        for link in &self.route {
            let Some(present) = self.present.get_mut(link) else { continue };
            let Some(at) = present.iter().position(|(known, ..)| *known == owner) else { continue };
            present[at].1 -= 1;
            if present[at].1 > 0 {
                continue;
            }
            let (_, _, since) = present.swap_remove(at);
            for (other, _, other_since) in present.iter() {
                let time = now.0 - since.max(*other_since).0;
                if time > 0 {
                    *self.shared.entry((*link, owner.min(*other), owner.max(*other))).or_default() += time;
                }
            }
        }
    }

    /// The time of each pair of owners on each link that they shared: the longest time first.
    pub(super) fn into_times(self) -> Vec<SharedTime> {
        let times = self.shared.into_iter();
        let mut times: Vec<_> = times
            .map(|((link, one, other), time)| SharedTime { owners: (one, other), link, time: Time(time) })
            .collect();
        times.sort_unstable_by(|one, other| {
            let key = |shared: &SharedTime| (shared.link, shared.owners);
            other.time.cmp(&one.time).then(key(one).cmp(&key(other)))
        });
        times
    }
}
