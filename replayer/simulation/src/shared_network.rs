//! A network that jobs and background loads share: the messages of the loads, and the links on which the jobs'
//! messages meet others.
//!
//! A message is counted on every link of its route from its injection to its delivery. The route is that of the
//! topology, even if packets choose another one. Messages of file accesses are not counted.

mod sharing;

use rustc_hash::FxHashMap;
use titr_common::time::Time;
use titr_job_mix::JobMix;
use titr_network::traffic::{BackgroundMessage, BackgroundTraffic};
use titr_network::{LinkLoad, Network, Transfer, TransferId, Unloaded, Unreachable};
use titr_platform::Platform;

use sharing::Sharing;
pub(crate) use sharing::{Owner, SharedTime};

/// A network with the messages of jobs and of background loads.
pub(crate) struct SharedNetwork {
    network: Box<dyn Network>,
    loads: Vec<BackgroundTraffic>,
    /// The end of the ranks of each job.
    job_ends: Vec<u32>,
    /// The messages in transit that are of jobs or loads, with their owners.
    in_transit: FxHashMap<TransferId, (Owner, Transfer)>,
    /// The number of transfers in transit that are not of background loads.
    of_ranks: usize,
    /// Whether one of these can never arrive.
    is_unreachable: bool,
    sharing: Sharing,
    now: Time,
    /// Kept to be used again.
    arrived: Vec<TransferId>,
}

impl SharedNetwork {
    /// The network of `platform` with the loads of a mix, for one of several runs with different chance.
    pub(crate) fn new(network: Box<dyn Network>, mix: &JobMix, platform: &Platform, run: u32) -> Self {
        let loads = mix.background.iter().map(|background| BackgroundTraffic::new(background.load.clone(), run));
        Self {
            network,
            loads: loads.collect(),
            job_ends: mix.jobs.iter().map(|job| job.ranks.end).collect(),
            in_transit: FxHashMap::default(),
            of_ranks: 0,
            is_unreachable: false,
            sharing: Sharing::new(&platform.topology),
            now: Time::ZERO,
            arrived: Vec::new(),
        }
    }

    /// The network that is shared, and the time for which owners shared links until `end`.
    pub(crate) fn into_parts(mut self, end: Time) -> (Box<dyn Network>, Vec<SharedTime>) {
        let mut left: Vec<_> = self.in_transit.into_values().collect();
        left.sort_unstable_by_key(|(owner, transfer)| (*owner, transfer.id));
        left.iter().for_each(|(owner, transfer)| self.sharing.leave(*owner, transfer, end));
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
                self.sharing.enter(owner, &transfer, now);
                self.in_transit.insert(transfer.id, (owner, transfer));
                self.network.inject(now, transfer);
            }
            highest -= load.hosts();
        }
    }

    /// The messages that have arrived at `now`: those of ranks are appended to `delivered`.
    fn receive(&mut self, now: Time, delivered: &mut Vec<TransferId>) {
        for id in self.arrived.drain(..) {
            let found = self.in_transit.remove(&id);
            if let Some((owner, transfer)) = &found {
                self.sharing.leave(*owner, transfer, now);
            }
            match found {
                Some((Owner::Background(load, sender), _)) => self.loads[load].arrived(sender, now),
                Some((Owner::Job(_), _)) | None => {
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
        if let Some(connection) = transfer.connection {
            let owner = Owner::Job(self.job_ends.partition_point(|end| *end <= connection.sender));
            self.sharing.enter(owner, &transfer, now);
            self.in_transit.insert(transfer.id, (owner, transfer));
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

    fn link_loads(&self) -> Vec<LinkLoad> {
        self.network.link_loads()
    }
}
