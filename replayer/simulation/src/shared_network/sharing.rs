//! The time for which the messages of two owners are on one link.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use titr_common::time::Time;
use titr_network::topology::{LinkId, Paths, Topology};
use titr_network::{PartyId, Stripes, Transfer};

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

    /// Its place in the list of all `jobs` jobs, followed by the loads.
    pub(super) fn party(self, jobs: usize) -> PartyId {
        PartyId::at(match self {
            Self::Job(job) => job,
            Self::Background(load, _) => jobs + load,
        })
    }
}

/// The time for which two owners had messages on a link at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedTime {
    pub owners: (Owner, Owner),
    pub link: LinkId,
    pub time: Time,
}

/// The messages of one owner on a link.
struct Presence {
    owner: Owner,
    /// How many there are now, and since when there are any.
    messages: u32,
    since: Time,
    /// The picoseconds that they were on the link before `until`, summed over messages.
    time: u64,
    until: Time,
}

impl Presence {
    fn catch_up(&mut self, now: Time) {
        self.time = self.time.wrapping_add(u64::from(self.messages).wrapping_mul(now.0 - self.until.0));
        self.until = now;
    }
}

/// A message on the links of its route.
pub(super) struct Passage {
    pub transfer: Transfer,
    /// The time at which it entered the links.
    pub entered: Time,
    /// The rails that it takes.
    pub rails: Stripes,
}

/// The picoseconds that messages of each owner were on each link of a route until now, summed over messages.
pub(super) type RouteTimes = Vec<(LinkId, Owner, u64)>;

/// Which owners have messages on each link.
pub(super) struct Sharing {
    topology: Arc<dyn Topology>,
    watches: bool,
    /// The owners that have messages on a link; if they are watched, all that have had some.
    on_link: FxHashMap<LinkId, SmallVec<[Presence; 2]>>,
    /// The time of each pair of owners on each link, in picoseconds. The first owner is the lower one.
    shared: FxHashMap<(LinkId, Owner, Owner), u64>,
    /// The links of the message that was looked at last; kept to be used again, as its paths are.
    links: Vec<LinkId>,
    paths: Paths,
}

impl Sharing {
    pub(super) fn new(topology: &Arc<dyn Topology>, watches: bool) -> Self {
        let topology = Arc::clone(topology);
        let (links, paths) = (Vec::new(), Paths::default());
        Self { topology, watches, on_link: FxHashMap::default(), shared: FxHashMap::default(), links, paths }
    }

    /// A message enters the links of its route.
    pub(super) fn enter(&mut self, owner: Owner, message: &Passage) {
        let (owner, now) = (owner.whole(), message.entered);
        self.find_links(message);
        for link in &self.links {
            let owners = self.on_link.entry(*link).or_default();
            match owners.iter_mut().rev().find(|known| known.owner == owner) {
                Some(presence) => {
                    presence.catch_up(now);
                    presence.since = if presence.messages == 0 { now } else { presence.since };
                    presence.messages += 1;
                }
                None => owners.push(Presence { owner, messages: 1, since: now, time: 0, until: now }),
            }
        }
    }

    /// The message leaves these links at `now`.
    pub(super) fn leave(&mut self, owner: Owner, message: &Passage, now: Time) {
        let owner = owner.whole();
        self.find_links(message);
        for link in &self.links {
            let Some(owners) = self.on_link.get_mut(link) else { continue };
            let Some(at) = owners.iter().rposition(|known| known.owner == owner) else { continue };
            let presence = &mut owners[at];
            presence.catch_up(now);
            presence.messages -= 1;
            if presence.messages > 0 {
                continue;
            }
            let since = presence.since;
            for other in owners.iter().filter(|other| other.messages > 0) {
                let time = now.0 - since.max(other.since).0;
                if time > 0 {
                    *self.shared.entry((*link, owner.min(other.owner), owner.max(other.owner))).or_default() += time;
                }
            }
            if !self.watches {
                owners.swap_remove(at);
            }
        }
    }

    /// The times of all messages on the route of a message until `now`.
    pub(super) fn times(&mut self, message: &Passage, now: Time) -> RouteTimes {
        self.find_links(message);
        let mut times = RouteTimes::new();
        for link in &self.links {
            for presence in self.on_link.get_mut(link).into_iter().flatten() {
                presence.catch_up(now);
                times.push((*link, presence.owner, presence.time));
            }
        }
        times
    }

    /// The time that other messages of each owner were on the links of a message of `owner` since it entered them, when the
    /// times on its route were `before`: on the link where this time is the longest.
    pub(super) fn met(
        &mut self,
        owner: Owner,
        message: &Passage,
        before: &RouteTimes,
        now: Time,
    ) -> SmallVec<[(Owner, Time); 2]> {
        let mut met = SmallVec::<[(Owner, Time); 2]>::new();
        let mut before = before.iter().peekable();
        for (link, other, time) in self.times(message, now) {
            // The owners that a link had then are the first that it has now.
            let earlier =
                before.next_if(|(known, whose, _)| (*known, *whose) == (link, other)).map_or(0, |(.., time)| *time);
            let own = if other == owner { now.0 - message.entered.0 } else { 0 };
            let time = Time(time.wrapping_sub(earlier).wrapping_sub(own));
            match met.iter_mut().find(|(known, _)| *known == other) {
                Some((_, longest)) => *longest = time.max(*longest),
                None => met.push((other, time)),
            }
        }
        met.retain(|(_, time)| *time > Time::ZERO);
        met
    }

    /// Finds the links of a message, which remain until the next message's are found.
    fn find_links(&mut self, Passage { transfer, entered, rails }: &Passage) {
        self.links.clear();
        let links = &mut self.links;
        rails.visit_links(&*self.topology, (*entered, transfer), &mut self.paths, |link, _| links.push(link));
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
