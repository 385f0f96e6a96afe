//! Lengths of the routes of messages.

use schemars::JsonSchema;
use serde::Serialize;
use titr_common::units::Seconds;

use crate::chance::chance;
use crate::topology::{HostId, Topology};

/// Lengths of routes between different hosts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RouteLengths {
    /// The number of links of the longest route.
    pub longest: u32,
    /// The mean number of links.
    pub mean: f64,
    /// The latency of the route with the largest latency.
    pub longest_latency: Seconds,
    /// The mean latency.
    pub mean_latency: Seconds,
    /// The number of pairs of hosts whose routes were measured.
    pub pairs: u64,
    /// Whether these are all pairs. Otherwise they are a random sample.
    pub is_complete: bool,
    /// Two hosts without a route from one to the other, if there are any among these pairs.
    #[serde(skip)]
    pub without_route: Option<(HostId, HostId)>,
}

/// Pairs of hosts at most whose routes are all looked at.
const MOST_PAIRS: u64 = 1 << 20;

/// Pairs of hosts that are drawn in a larger network.
const DRAWN_PAIRS: u64 = 1 << 16;

/// The routes between all hosts, or in a large network between hosts that are drawn.
#[must_use]
pub fn route_lengths(topology: &dyn Topology) -> RouteLengths {
    let hosts = u64::from(topology.hosts());
    let all = hosts * hosts.saturating_sub(1);
    let is_complete = all <= MOST_PAIRS;
    let pairs = if is_complete { all } else { DRAWN_PAIRS };
    let mut lengths = RouteLengths {
        longest: 0,
        mean: 0.0,
        longest_latency: Seconds(0.0),
        mean_latency: Seconds(0.0),
        pairs,
        is_complete,
        without_route: None,
    };
    let (mut links, mut latencies, mut route) = (0, 0.0, Vec::new());
    for number in 0..pairs {
        let pair = if is_complete { number } else { chance(0, number, 0) % all };
        let (from, other) = (pair / (hosts - 1), pair % (hosts - 1));
        let ends = (HostId(from as u32), HostId((other + u64::from(other >= from)) as u32));
        route.clear();
        topology.route(ends.0, ends.1, &mut route);
        if route.is_empty() {
            lengths.without_route.get_or_insert(ends);
        }
        let latency: f64 = route.iter().map(|link| topology.links()[link.index()].latency.0).sum();
        links += route.len();
        latencies += latency;
        lengths.longest = lengths.longest.max(route.len() as u32);
        lengths.longest_latency = Seconds(lengths.longest_latency.0.max(latency));
    }
    lengths.mean = links as f64 / pairs.max(1) as f64;
    lengths.mean_latency = Seconds(latencies / pairs.max(1) as f64);
    lengths
}
