//! Distances between routers, by breadth-first search.

use schemars::JsonSchema;
use serde::Serialize;
use titr_common::units::Seconds;

use super::DeviceGraph;
use crate::chance::chance;
use crate::topology::{HostId, LinkId, RouterId, Topology};

/// Distances between routers with hosts, in cables between routers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Distances {
    /// The largest distance.
    pub diameter: u32,
    /// The mean distance of the routers of two different hosts.
    pub mean: f64,
    /// The number of routers from which distances were measured.
    pub sources: u32,
    /// Whether these are all routers with hosts. Otherwise the diameter may be larger.
    pub is_complete: bool,
    /// Whether each of these routers reaches all routers with hosts.
    #[serde(skip)]
    pub all_reached: bool,
}

/// Channels that a search looks at, in all.
const MOST_CHANNELS: usize = 20_000_000;

/// No distance.
const UNREACHED: u32 = u32::MAX;

/// Distances from all routers with hosts, or in a large network from some that are evenly spaced.
#[must_use]
pub fn distances(devices: &DeviceGraph) -> Distances {
    let (hosts, neighbours) = (devices.hosts_of_routers(), devices.neighbours());
    let with_hosts: Vec<u32> = (0..devices.routers).filter(|&router| hosts[router as usize] > 0).collect();
    let most = (MOST_CHANNELS / (devices.channels.len() + hosts.len()).max(1)).max(1);
    let step = with_hosts.len().div_ceil(most).max(1);
    let (mut diameter, mut sum, mut pairs, mut sources, mut all_reached) = (0, 0.0, 0.0, 0, true);
    for &source in with_hosts.iter().step_by(step) {
        sources += 1;
        let here = f64::from(hosts[source as usize]);
        let lengths = from_router(RouterId(source), &neighbours);
        for &other in &with_hosts {
            match lengths[other as usize] {
                UNREACHED => all_reached = false,
                length => {
                    diameter = diameter.max(length);
                    let there = f64::from(hosts[other as usize]);
                    let of_routers = here * if other == source { there - 1.0 } else { there };
                    sum += of_routers * f64::from(length);
                    pairs += of_routers;
                }
            }
        }
    }
    let mean = if pairs > 0.0 { sum / pairs } else { 0.0 };
    Distances { diameter, mean, sources, is_complete: step == 1, all_reached }
}

/// The distance of each router from one.
fn from_router(source: RouterId, neighbours: &[Vec<(RouterId, LinkId)>]) -> Vec<u32> {
    let mut lengths = vec![UNREACHED; neighbours.len()];
    lengths[source.index()] = 0;
    let (mut reached, mut next) = (vec![source], 0);
    while let Some(&router) = reached.get(next) {
        next += 1;
        for &(to, _) in &neighbours[router.index()] {
            if lengths[to.index()] == UNREACHED {
                lengths[to.index()] = lengths[router.index()] + 1;
                reached.push(to);
            }
        }
    }
    lengths
}

/// The routers in the order of their distance from one, unreachable routers last
pub(super) fn nearest_first(source: RouterId, neighbours: &[Vec<(RouterId, LinkId)>]) -> Vec<RouterId> {
    let lengths = from_router(source, neighbours);
    let mut routers: Vec<RouterId> = (0..neighbours.len() as u32).map(RouterId).collect();
    routers.sort_by_key(|router| lengths[router.index()]);
    routers
}

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
