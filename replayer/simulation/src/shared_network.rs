//! A network that jobs and background loads share: the messages of the loads, and the links on which the jobs'
//! messages meet others.
//!
//! A message is counted on every link of its route from its injection to its delivery. The route is that of the
//! topology, even if packets choose another one. Messages of file accesses are not counted.

mod sharing;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::time::Time;
use titr_job_mix::JobMix;
use titr_network::traffic::{BackgroundMessage, BackgroundTraffic};
use titr_network::{LinkLoad, Met, Network, RailChooser, Transfer, TransferId, Unloaded, Unreachable};
use titr_platform::Platform;

pub(crate) use sharing::{Owner, SharedTime};
use sharing::{Passage, RouteTimes, Sharing};

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
    met: FxHashMap<TransferId, Vec<Met>>,
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
                let transfer =
                    Transfer { id: TransferId(highest - sender), from, to, bytes, connection: None, stretch: 1.0 };
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
                    let met = met.into_iter().map(|(other, time)| Met { party: party(other), time });
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

    fn next_load(&self) -> Option<Time> {
        self.loads.iter().filter_map(BackgroundTraffic::next).min()
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
        self.network.next_event().into_iter().chain(self.next_load().map(|at| at.max(self.now))).min()
    }

    fn advance(&mut self, now: Time, delivered: &mut Vec<TransferId>) {
        self.met.clear();
        loop {
            let load = self.next_load().map(|at| at.max(self.now));
            let Some(next) = self.network.next_event().into_iter().chain(load).min().filter(|next| *next <= now) else {
                break;
            };
            self.network.advance(next, &mut self.arrived);
            self.now = next;
            self.receive(next, delivered);
            self.inject_loads(next);
        }
        self.network.advance(now, &mut self.arrived);
        self.now = now;
        self.receive(now, delivered);
    }

    fn met(&mut self, id: TransferId) -> Vec<Met> {
        self.met.remove(&id).unwrap_or_default()
    }

    fn link_loads(&self) -> Vec<LinkLoad> {
        self.network.link_loads()
    }
}
