//! A network that jobs and background loads share: the messages of the loads, and the links on which the jobs'
//! messages meet others.
//!
//! A message is counted on every link of its route from its injection to its delivery. The route is that of the
//! topology, even if packets choose another one. Messages of file accesses are not counted.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use titr_common::time::Time;
use titr_network::topology::{LinkId, Paths, Topology};
use titr_network::traffic::{BackgroundMessage, BackgroundTraffic};
use titr_network::{
    JobOrLoadId, LinkLoad, Network, RailChooser, SharedWith, Stripes, Transfer, TransferId, Unloaded, Unreachable,
};
use titr_platform::Platform;
use titr_platform::job_mix::JobMix;

/// A network with the messages of jobs and of background loads.
pub(crate) struct SharedNetwork {
    network: Box<dyn Network>,
    loads: Vec<BackgroundTraffic>,
    /// The end of the ranks of each job.
    job_ends: Vec<u32>,
    /// The messages in transit that are of jobs or loads.
    in_transit: FxHashMap<TransferId, OwnedMessage>,
    /// The number of transfers in transit that are not of background loads.
    of_ranks: usize,
    /// Whether one of these can never arrive.
    is_unreachable: bool,
    sharing: Sharing,
    rails: RailChooser,
    /// Whether anybody asks whose messages a message has met, and what the messages have met that arrived last.
    watches: bool,
    met: FxHashMap<TransferId, Vec<SharedWith>>,
    now: Time,
    /// Kept to be used again.
    arrived: Vec<TransferId>,
}

/// A message in transit.
struct OwnedMessage {
    owner: Owner,
    passage: Passage,
    /// The times of all messages on its route when it entered, if they are watched.
    before: RouteTimes,
}

/// The names of all jobs and loads of a mix.
pub(crate) fn parties(mix: &JobMix) -> Vec<Arc<str>> {
    let jobs = mix.jobs.iter().map(|job| job.name.as_str());
    jobs.chain(mix.background.iter().map(|load| load.name.as_str())).map(Arc::from).collect()
}

impl SharedNetwork {
    /// The network of `platform` with the loads of a mix, for one of several runs with different chance. If it `watches`,
    /// it knows whose messages each message meets.
    pub(crate) fn new(network: Box<dyn Network>, mix: &JobMix, platform: &Platform, run: u32, watches: bool) -> Self {
        let loads = mix.background.iter().map(|background| BackgroundTraffic::new(background.load.clone(), run));
        Self {
            network,
            loads: loads.collect(),
            job_ends: mix.jobs.iter().map(|job| job.ranks.end).collect(),
            in_transit: FxHashMap::default(),
            of_ranks: 0,
            is_unreachable: false,
            sharing: Sharing::new(&platform.topology, watches),
            rails: RailChooser::new(Arc::clone(&platform.topology)),
            watches,
            met: FxHashMap::default(),
            now: Time::ZERO,
            arrived: Vec::new(),
        }
    }

    /// The network that is shared, and the time for which owners shared links until the last rank ended at `end`, or until a
    /// message arrived after it.
    pub(crate) fn into_parts(mut self, end: Time) -> (Box<dyn Network>, Vec<SharedTime>) {
        let end = end.max(self.now);
        let mut left: Vec<_> = self.in_transit.into_values().collect();
        left.sort_unstable_by_key(|message| (message.owner, message.passage.transfer.id));
        for OwnedMessage { owner, passage, .. } in &left {
            self.sharing.leave(*owner, passage, end);
        }
        (self.network, self.sharing.into_times())
    }

    /// Injects the messages of all loads that are due.
    fn inject_loads(&mut self, now: Time) {
        let mut highest = u32::MAX;
        for (number, load) in self.loads.iter_mut().enumerate() {
            while let Some(BackgroundMessage { sender, from, to, bytes }) = load.take(now) {
                // Transfers of ranks have low numbers.
                let transfer = Transfer::new(TransferId(highest - sender), from, to, bytes);
                let owner = Owner::Background(number, sender);
                let passage = Passage { transfer, entered: now, rails: self.rails.choose(now, &transfer) };
                self.sharing.enter(owner, &passage);
                let message = OwnedMessage { owner, passage, before: RouteTimes::new() };
                self.in_transit.insert(transfer.id, message);
                self.network.inject(now, transfer);
            }
            highest -= load.hosts();
        }
    }

    /// The messages that have arrived at `now`: those of ranks are appended to `delivered`.
    fn receive(&mut self, now: Time, delivered: &mut Vec<TransferId>) {
        for id in self.arrived.drain(..) {
            let found = self.in_transit.remove(&id);
            if let Some(OwnedMessage { owner, passage, before }) = &found {
                if self.watches && matches!(owner, Owner::Job(_)) {
                    let met = self.sharing.met(*owner, passage, before, now);
                    let jobs = self.job_ends.len();
                    let party = |other: Owner| (other != *owner).then(|| other.party(jobs));
                    let met = met.into_iter().map(|(other, time)| SharedWith { party: party(other), time });
                    self.met.insert(id, met.collect());
                }
                self.sharing.leave(*owner, passage, now);
            }
            match found.map(|message| message.owner) {
                Some(Owner::Background(load, sender)) => self.loads[load].arrived(sender, now),
                Some(Owner::Job(_)) | None => {
                    self.of_ranks -= 1;
                    delivered.push(id);
                }
            }
        }
    }

    /// The next event of the network or of a load.
    fn next(&mut self) -> Option<Time> {
        let loads = self.loads.iter().filter_map(BackgroundTraffic::next).map(|at| at.max(self.now));
        self.network.next_event().into_iter().chain(loads).min()
    }
}

impl Network for SharedNetwork {
    fn inject(&mut self, now: Time, transfer: Transfer) {
        self.of_ranks += 1;
        self.is_unreachable |= !self.loads.is_empty() && self.network.unreachable(now, &transfer).is_some();
        let passage = Passage { transfer, entered: now, rails: self.rails.choose(now, &transfer) };
        if let Some(connection) = transfer.connection {
            let owner = Owner::Job(self.job_ends.partition_point(|end| *end <= connection.sender));
            let before = if self.watches { self.sharing.times(&passage, now) } else { RouteTimes::new() };
            self.sharing.enter(owner, &passage);
            self.in_transit.insert(transfer.id, OwnedMessage { owner, passage, before });
        }
        self.network.inject(now, transfer);
    }

    fn unloaded(&mut self, transfer: &Transfer) -> Unloaded {
        self.network.unloaded(transfer)
    }

    fn unreachable(&mut self, now: Time, transfer: &Transfer) -> Option<Unreachable> {
        self.network.unreachable(now, transfer)
    }

    fn first_unreachable(&self) -> Unreachable {
        self.network.first_unreachable()
    }

    /// `None` while only loads have messages in transit: nothing that the ranks wait for will happen.
    fn next_event(&mut self) -> Option<Time> {
        if self.of_ranks == 0 {
            return None;
        }
        if self.is_unreachable {
            // Otherwise, the loads would have events for ever.
            return Some(Time::NEVER);
        }
        self.next()
    }

    fn advance(&mut self, now: Time, delivered: &mut Vec<TransferId>) {
        self.met.clear();
        while let Some(next) = self.next().filter(|next| *next <= now) {
            self.network.advance(next, &mut self.arrived);
            self.now = next;
            self.receive(next, delivered);
            self.inject_loads(next);
        }
        self.network.advance(now, &mut self.arrived);
        self.now = now;
        self.receive(now, delivered);
    }

    fn met(&mut self, id: TransferId) -> Vec<SharedWith> {
        self.met.remove(&id).unwrap_or_default()
    }

    fn link_loads(&self) -> Vec<LinkLoad> {
        self.network.link_loads()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Owner {
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
    pub(super) fn party(self, jobs: usize) -> JobOrLoadId {
        JobOrLoadId::at(match self {
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
struct InTransitCount {
    owner: Owner,
    /// How many there are now, and since when there are any.
    messages: u32,
    since: Time,
    /// The picoseconds that they were on the link before `until`, summed over messages.
    time: u64,
    until: Time,
}

impl InTransitCount {
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
    pub rails: Stripes,
}

/// The picoseconds that messages of each owner were on each link of a route until now, summed over messages.
pub(super) type RouteTimes = Vec<(LinkId, Owner, u64)>;

/// Which owners have messages on each link.
pub(super) struct Sharing {
    topology: Arc<dyn Topology>,
    watches: bool,
    /// The owners that have messages on a link; if they are watched, all that have had some.
    on_link: FxHashMap<LinkId, SmallVec<[InTransitCount; 2]>>,
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
                None => owners.push(InTransitCount { owner, messages: 1, since: now, time: 0, until: now }),
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
