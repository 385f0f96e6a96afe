//! The cost of communication of a placement, without a replay.
//!
//! The cost is the time for which messages occupy links: the sum, over all messages and all links of the route between the hosts of
//! both ranks, of payload / bandwidth + latency. On links that are all alike and without latency, it is proportional to the
//! *hop-bytes* of Agarwal, Sharma and Kale ("Topology-aware task mapping for reducing communication contention on large parallel
//! machines", IPDPS 2006). Contention, overlap and waiting are not part of it: only a replay knows them.
//! Between two parts of a host, the cost is what the level that holds both costs beyond the innermost one.

use titr_analyses::Pair;
use titr_network::topology::{Level, LinkId};
use titr_platform::Platform;

use super::parts::{HostPart, HostParts};

/// The number of parts of hosts for which a table of distances is kept.
const MOST_PARTS: u32 = 1024;

/// The cost of a message between hosts without a route between them.
const NO_ROUTE: f64 = 1e9;

/// The bytes that take as long as the latency of a message, roughly: 1 us at 10 Gbit/s.
const BYTES_OF_A_MESSAGE: f64 = 1250.0;

/// The messages between a rank and one of its partners, in both directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Exchange {
    /// The rank of the partner.
    pub(crate) with: u32,
    messages: f64,
    bytes: f64,
}

impl Exchange {
    /// The weight of the exchange where routes do not matter: its bytes, and some for each message.
    pub(super) fn bytes_and_messages(&self) -> f64 {
        self.bytes + BYTES_OF_A_MESSAGE * self.messages
    }
}

/// The distance of two hosts: the times for which a byte and a message occupy links.
#[derive(Clone, Copy, Debug)]
struct Distance {
    of_byte: f64,
    of_message: f64,
}

impl Distance {
    fn between(platform: &Platform, parts: HostParts, from: HostPart, to: HostPart) -> Self {
        if from == to {
            return Self { of_byte: 0.0, of_message: 0.0 };
        }
        let topology = &*platform.topology;
        let cores = [from, to].map(|part| parts.first_core(part));
        let (from, to) = (parts.host(from), parts.host(to));
        if from == to {
            return Self::within(platform.node.as_ref().map_or(&[][..], |node| &node.levels), cores);
        }
        let mut route: Vec<LinkId> = Vec::with_capacity(16);
        topology.route(from.min(to), from.max(to), &mut route);
        if route.is_empty() {
            return Self { of_byte: 0.0, of_message: NO_ROUTE };
        }
        let links = || route.iter().map(|link| topology.links()[link.index()]);
        let of_byte = links().map(|link| link.bandwidth.recip()).sum();
        Self { of_byte, of_message: links().map(|link| link.latency.0).sum() }
    }

    /// What the innermost level that holds two cores of a host costs beyond the innermost of all.
    fn within(levels: &[Level], [one, other]: [u32; 2]) -> Self {
        let holds = |level: &&Level| one / level.cores == other / level.cores;
        let costs =
            |level: &Level| (level.bandwidth.min(level.shared.unwrap_or(f64::INFINITY)).recip(), level.latency.0);
        let (Some(innermost), Some(level)) = (levels.first(), levels.iter().find(holds).or(levels.last())) else {
            return Self { of_byte: 0.0, of_message: 0.0 };
        };
        let ((byte, message), (least_byte, least_message)) = (costs(level), costs(innermost));
        Self { of_byte: (byte - least_byte).max(0.0), of_message: (message - least_message).max(0.0) }
    }
}

/// Computes the cost of communication. A route is taken to be as long as the route back.
pub(super) struct CommunicationCost<'a> {
    platform: &'a Platform,
    parts: HostParts,
    /// The distance of each two parts of hosts; empty if there are too many of them.
    distances: Vec<Distance>,
    /// The exchanges of each rank with ranks of higher and lower number.
    exchanges: Vec<Vec<Exchange>>,
}

impl<'a> CommunicationCost<'a> {
    /// The cost of these messages between `ranks` ranks.
    pub(super) fn new(platform: &'a Platform, parts: HostParts, ranks: u32, pairs: &[Pair]) -> Self {
        let mut exchanges = vec![Vec::new(); ranks as usize];
        for pair in pairs.iter().filter(|pair| pair.from != pair.to) {
            let (messages, bytes) = (pair.messages as f64, pair.bytes.0 as f64);
            for (rank, with) in [(pair.from, pair.to), (pair.to, pair.from)] {
                exchanges[rank as usize].push(Exchange { with, messages, bytes });
            }
        }
        for of_rank in &mut exchanges {
            of_rank.sort_by_key(|exchange| exchange.with);
            of_rank.dedup_by(|next, first| {
                let is_same = next.with == first.with;
                if is_same {
                    first.messages += next.messages;
                    first.bytes += next.bytes;
                }
                is_same
            });
        }
        let count = parts.count(platform);
        let pairs = || (0..count).flat_map(|from| (0..count).map(move |to| (HostPart(from), HostPart(to))));
        let distances = match count <= MOST_PARTS {
            true => pairs().map(|(from, to)| Distance::between(platform, parts, from, to)).collect(),
            false => Vec::new(),
        };
        Self { platform, parts, distances, exchanges }
    }

    pub(super) fn exchanges(&self, rank: u32) -> &[Exchange] {
        &self.exchanges[rank as usize]
    }

    pub(super) fn ranks(&self) -> u32 {
        self.exchanges.len() as u32
    }

    /// The cost of an exchange between two hosts.
    pub(super) fn of_exchange(&self, exchange: &Exchange, from: HostPart, to: HostPart) -> f64 {
        let place = from.index() * self.parts.count(self.platform) as usize + to.index();
        let known = self.distances.get(place).copied();
        let distance = known.unwrap_or_else(|| Distance::between(self.platform, self.parts, from, to));
        exchange.bytes * distance.of_byte + exchange.messages * distance.of_message
    }

    /// The cost of a rank on a host: of its exchanges with all ranks except `other`.
    pub(super) fn of_rank(&self, rank: u32, host: HostPart, hosts: &[HostPart], other: Option<u32>) -> f64 {
        let exchanges = self.exchanges(rank).iter().filter(|exchange| Some(exchange.with) != other);
        exchanges.map(|exchange| self.of_exchange(exchange, host, hosts[exchange.with as usize])).sum()
    }

    /// The cost of a placement.
    pub(super) fn of(&self, hosts: &[HostPart]) -> f64 {
        (0..).zip(hosts).map(|(rank, &host)| self.of_rank(rank, host, hosts, None)).sum::<f64>() / 2.0
    }
}
