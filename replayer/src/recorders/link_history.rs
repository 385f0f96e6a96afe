//! The load of each link over time.
//!
//! A message is assumed to cross every link of its paths at a constant rate from its injection to its delivery; what exceeds
//! the bandwidth of a link that messages share crosses it later. The paths are those of the topology, even if
//! packets choose others, on each rail that the message takes. Time is divided into equal intervals; when there are too many,
//! pairs are merged, so that memory depends on the number of links and not on the duration of the replay.

use std::sync::Arc;

use titr_common::event::Rank;
use titr_common::time::Time;
use titr_common::timeline::Series;
use titr_network::topology::{HostId, LinkId, Paths, Topology, capacity};
use titr_network::{Connection, RailChooser, Stripes, Transfer, TransferId};
use titr_platform::{Model, PlacementError, Platform};
use titr_simulation::observe::{Departure, Observer};

/// Intervals of one link, where the network is small.
const MOST_INTERVALS: usize = 1024;
/// Intervals of one link, where it is large.
const FEWEST_INTERVALS: usize = 64;
/// Intervals of all links.
const ALL_INTERVALS: usize = 1 << 22;

/// The load of the links over time.
#[derive(Debug)]
pub(crate) struct LinkHistory {
    topology: Arc<dyn Topology>,
    /// The host of each rank.
    hosts: Vec<HostId>,
    /// The messages in transit, indexed by transfer id.
    under_way: Vec<Option<InTransit>>,
    rails: RailChooser,
    model: Model,
    /// The length of an interval in picoseconds.
    interval: u64,
    /// The number of intervals.
    intervals: usize,
    /// The bytes that each link carried in each interval; none of a link that carried nothing.
    carried: Vec<Vec<f64>>,
    /// The last delivery.
    end: Time,
    paths: Paths,
}

/// A message in transit.
#[derive(Clone, Debug)]
struct InTransit {
    transfer: Transfer,
    departed: Time,
    rails: Stripes,
}

impl LinkHistory {
    /// The history of a world of `ranks` ranks on `platform`.
    pub(crate) fn new(platform: &Platform, ranks: u32) -> Result<Self, PlacementError> {
        let topology = Arc::clone(&platform.topology);
        let links = topology.links().len();
        Ok(Self {
            hosts: platform.place(ranks)?.0,
            under_way: Vec::new(),
            rails: RailChooser::new(Arc::clone(&topology)),
            model: platform.model.clone(),
            interval: 1000,
            intervals: (ALL_INTERVALS / links.max(1)).clamp(FEWEST_INTERVALS, MOST_INTERVALS),
            carried: vec![Vec::new(); links],
            end: Time::ZERO,
            paths: Paths::default(),
            topology,
        })
    }

    /// The load of the `most` links with the highest use of their bandwidth: a percentage of the bandwidth in each
    /// interval.
    pub(crate) fn busiest(&self, most: usize) -> Vec<Series> {
        let links = self.topology.links();
        let could_carry = |link: usize| match self.topology.changes() {
            [] => links[link].bandwidth,
            _ => capacity(&*self.topology, LinkId(link as u32), Time::ZERO, self.end.max(Time(1))),
        };
        let load = |link: usize| self.carried[link].iter().sum::<f64>() / could_carry(link);
        let mut busy: Vec<(usize, f64)> =
            (0..links.len()).map(|link| (link, load(link))).filter(|(_, load)| *load > 0.0).collect();
        // Stable: links that are as busy stay in the topology's order.
        busy.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        busy.iter().take(most).map(|&(link, _)| self.series(link)).collect()
    }

    fn series(&self, link: usize) -> Series {
        let name = format!("{}, % of bandwidth", self.topology.link_name(LinkId(link as u32)));
        let is_shared = self.model.shares(&self.topology.links()[link]);
        let mut left = 0.0;
        let percent = |(begin, bytes): (u64, &f64)| {
            let end = Time(begin + self.interval.min(self.end.0.saturating_sub(begin)).max(1));
            let capacity = capacity(&*self.topology, LinkId(link as u32), Time(begin), end);
            let all = bytes + left;
            let carried = if is_shared { f64::min(all, capacity) } else { all };
            left = all - carried;
            (Time(begin), 100.0 * carried / capacity)
        };
        let begins = (0..).step_by(self.interval as usize);
        let mut samples: Vec<_> = begins.zip(&self.carried[link]).map(percent).collect();
        samples.retain(|(begin, _)| *begin < self.end);
        samples.push((self.end, 0.0));
        samples.dedup_by_key(|(_, percent)| *percent);
        Series { name, samples }
    }

    /// Makes room for `at`: two intervals become one as often as that takes.
    fn reach(&mut self, at: Time) {
        while at.0 / self.interval >= self.intervals as u64 {
            self.interval *= 2;
            for carried in self.carried.iter_mut().filter(|carried| !carried.is_empty()) {
                let halved = carried.chunks(2).map(|pair| pair.iter().sum());
                *carried = halved.collect();
                carried.resize(self.intervals, 0.0);
            }
        }
    }

    fn host(&self, rank: Rank) -> HostId {
        self.hosts.get(rank.0 as usize).copied().unwrap_or_default()
    }

    fn carry(&mut self, InTransit { transfer, departed: from, rails }: &InTransit, to: Time) {
        let from = *from;
        self.reach(to);
        self.end = self.end.max(to);
        let (first, last) = (from.0 / self.interval, to.0 / self.interval);
        let carry = |link: LinkId, bytes: f64| {
            let carried = &mut self.carried[link.index()];
            if carried.is_empty() {
                carried.resize(self.intervals, 0.0);
            }
            for place in first..=last {
                let (begin, end) = (from.0.max(place * self.interval), to.0.min((place + 1) * self.interval));
                let part = if to > from { (end - begin) as f64 / (to.0 - from.0) as f64 } else { 1.0 };
                carried[place as usize] += part * bytes;
            }
        };
        rails.visit_links(&*self.topology, (from, transfer), &mut self.paths, carry);
    }
}

impl Observer for LinkHistory {
    #[cold]
    fn injected(&mut self, now: Time, message: Departure) {
        let place = message.id.0 as usize;
        if self.under_way.len() <= place {
            self.under_way.resize(place + 1, None);
        }
        let connection = Some(Connection { sender: message.from.0, receiver: message.to.0 });
        let (from, to) = (self.host(message.from), self.host(message.to));
        let transfer = Transfer { connection, ..Transfer::new(message.id, from, to, message.bytes) };
        let rails = self.rails.choose(now, &transfer);
        self.under_way[place] = Some(InTransit { transfer, departed: now, rails });
    }

    #[cold]
    fn delivered(&mut self, now: Time, id: TransferId) {
        if let Some(message) = self.under_way.get_mut(id.0 as usize).and_then(Option::take) {
            self.carry(&message, now);
        }
    }
}
