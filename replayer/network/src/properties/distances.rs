//! Distances between routers, by breadth-first search.

use schemars::JsonSchema;
use serde::Serialize;

use super::DeviceGraph;
use crate::topology::{LinkId, RouterId};

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
