//! Bisection bandwidth: the least bandwidth from one half of the hosts to the other, over all divisions into halves.
//!
//! **Closed forms.** A torus whose largest dimension k is even has 2N/k cables between halves of its N hosts, and a mesh
//! N/k (M. Azizoğlu, Ö. Eğecioğlu, "The bisection width and the isoperimetric number of arrays", Discrete Applied
//! Mathematics 138, 2004, and "Extremal sets minimizing dimension-normalized boundary in Hamming graphs", 2003). In a tree
//! whose highest level joins an even number of subtrees, a half of the subtrees has a half of the cables of each level,
//! and the level with the fewest cables is the bottleneck.
//!
//! **Estimate.** Otherwise the smallest of several divisions is an upper bound. Each begins with routers in the order of
//! their numbers, or of their distance from a router, and is improved by moves of routers (C. Fiduccia, R. Mattheyses, "A
//! linear-time heuristic for improving network partitions", DAC 1982).

use std::collections::BinaryHeap;

use super::distances::nearest_first;
use super::{Device, DeviceGraph};
use crate::topology::{Edge, Lattice, Link, RouterGraph, RouterId, Stages, Topology, merge};

/// The bisection of a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bisection {
    /// Bytes per second from one half to the other.
    pub bandwidth: f64,
    /// Whether the bandwidth is exact, and not only an upper bound.
    pub is_exact: bool,
    /// The divisions that were tried for an upper bound.
    pub divisions: u32,
    /// Bytes per second that half the hosts can send, if hosts have cables of their own.
    pub injection: Option<f64>,
}

/// Divisions that are tried in a network of few routers, and in one of many.
const DIVISIONS: [usize; 2] = [16, 4];

/// The number of routers up to which a network has few of them.
const FEW_ROUTERS: u32 = 2048;

/// Passes of improvement at most.
const PASSES: usize = 8;

/// The bisection of a topology, whose routers and channels are those of `graph`. `None` if there are fewer than two hosts.
#[must_use]
pub fn bisection(topology: &dyn Topology, graph: &RouterGraph, devices: &DeviceGraph) -> Option<Bisection> {
    let half = devices.hosts.len() / 2;
    if half == 0 {
        return None;
    }
    let cables = devices.channels.iter().filter(|channel| matches!(channel.from, Device::Host(_)));
    let slowest = cables.map(|channel| topology.links()[channel.link.index()].bandwidth).min_by(f64::total_cmp);
    let injection = slowest.map(|slowest| slowest * half as f64);
    if let Some(bandwidth) = closed_form(topology, graph) {
        return Some(Bisection { bandwidth, is_exact: true, divisions: 0, injection });
    }
    let network = WeightedRouters::new(topology, devices);
    let starts = network.starts(devices);
    let divisions = starts.len() as u32;
    let cut = starts.into_iter().filter_map(|order| network.division(&order)).min_by(f64::total_cmp);
    // The hosts of one half can also be divided from their routers.
    let bandwidth = [cut, injection].into_iter().flatten().min_by(f64::total_cmp)?;
    Some(Bisection { bandwidth, is_exact: false, divisions, injection })
}

/// The exact bandwidth, if the definition of the topology gives it, all links are equal and none has failed.
fn closed_form(topology: &dyn Topology, graph: &RouterGraph) -> Option<f64> {
    let mut links = graph.links().map(|link| topology.links()[link.index()]);
    let first: Link = links.next()?;
    if graph.starts_with_failures() || links.any(|link| link.bandwidth != first.bandwidth) {
        return None;
    }
    let cables = match (graph.geometry::<Lattice>(), graph.geometry::<Stages>()) {
        (Some(lattice), _) => of_lattice(lattice)?,
        (_, Some(stages)) => of_tree(stages)?,
        (None, None) => return None,
    };
    Some(first.bandwidth * cables as f64)
}

fn of_lattice(lattice: &Lattice) -> Option<u64> {
    let largest = lattice.sizes.iter().copied().max().filter(|largest| largest.is_multiple_of(2))?;
    let rows = u64::from(lattice.places() / largest);
    match lattice.edge {
        Edge::Open => Some(rows),
        Edge::Closed => Some(2 * rows),
        Edge::Twisted => None,
    }
}

fn of_tree(Stages { stages, .. }: &Stages) -> Option<u64> {
    let levels = stages.iter().rposition(|stage| stage.down > 1)? + 1;
    let subtrees = stages[levels - 1].down;
    if levels == 1 {
        // A host of an odd number is left over.
        return Some(u64::from(subtrees / 2 * stages[0].up * stages[0].count));
    }
    let cables_of = |level: usize| {
        let switches = stages[..level].iter().map(|stage| u64::from(stage.up)).product::<u64>();
        let subtrees = stages[level..].iter().map(|stage| u64::from(stage.down)).product::<u64>();
        switches * subtrees * u64::from(stages[level].up) * u64::from(stages[level].count)
    };
    (0..levels).map(cables_of).min().map(|cables| cables / 2).filter(|_| subtrees.is_multiple_of(2))
}

/// Routers with the bandwidths between them.
struct WeightedRouters {
    hosts: Vec<u32>,
    /// For each router, its neighbours, with the bytes per second in both directions.
    neighbours: Vec<Vec<(RouterId, i128)>>,
    all_hosts: u32,
}

impl WeightedRouters {
    fn new(topology: &dyn Topology, devices: &DeviceGraph) -> Self {
        let mut neighbours: Vec<Vec<(RouterId, i128)>> = vec![Vec::new(); devices.routers as usize];
        for channel in &devices.channels {
            if let (Device::Router(from), Device::Router(to)) = (channel.from, channel.to) {
                let bandwidth = topology.links()[channel.link.index()].bandwidth.round() as i128;
                neighbours[from.index()].push((to, bandwidth));
                neighbours[to.index()].push((from, bandwidth));
            }
        }
        // Parallel cables count as one, so that the time does not grow with the square of their number.
        neighbours.iter_mut().for_each(merge);
        Self { hosts: devices.hosts_of_routers(), neighbours, all_hosts: devices.hosts.len() as u32 }
    }

    /// Orders of routers whose first part is one half.
    fn starts(&self, devices: &DeviceGraph) -> Vec<Vec<RouterId>> {
        let [few, many] = DIVISIONS;
        let count = if devices.routers <= FEW_ROUTERS { few } else { many };
        let neighbours = devices.neighbours();
        let step = (devices.routers as usize).div_ceil(count).max(1);
        let from_one = (0..devices.routers).step_by(step).map(|source| nearest_first(RouterId(source), &neighbours));
        std::iter::once((0..devices.routers).map(RouterId).collect()).chain(from_one).collect()
    }

    /// The bandwidth between the halves that begin with an order of routers, after improvement; `None` if one is empty.
    fn division(&self, order: &[RouterId]) -> Option<f64> {
        let mut is_first = vec![false; self.hosts.len()];
        let mut hosts = 0;
        for router in order {
            let here = self.hosts[router.index()];
            if 2 * (hosts + here) > self.all_hosts {
                break;
            }
            is_first[router.index()] = true;
            hosts += here;
        }
        if hosts == 0 || hosts == self.all_hosts {
            return None;
        }
        let most_uneven = self.uneven(hosts);
        let mut division = Division { network: self, is_first, hosts };
        let mut cut = division.cut();
        for _ in 0..PASSES {
            let improved = division.improve(cut, most_uneven);
            if improved >= cut {
                break;
            }
            cut = improved;
        }
        // Each pair of neighbours counts once for each direction.
        Some(cut as f64 / 2.0)
    }

    /// The hosts by which the parts of a division differ.
    fn uneven(&self, hosts: u32) -> u32 {
        self.all_hosts.abs_diff(2 * hosts)
    }
}

struct Division<'a> {
    network: &'a WeightedRouters,
    /// Whether each router is in the first part.
    is_first: Vec<bool>,
    /// The hosts of the first part.
    hosts: u32,
}

/// Routers of one part, by the bandwidth by which the cut becomes smaller if they leave it.
type Candidates = BinaryHeap<(i128, usize)>;

impl Division<'_> {
    /// The bandwidth between the parts, of both directions.
    fn cut(&self) -> i128 {
        let of_router = |(router, neighbours): (usize, &Vec<(RouterId, i128)>)| -> i128 {
            let others = neighbours.iter().filter(|(to, _)| self.is_first[router] != self.is_first[to.index()]);
            others.map(|(_, bandwidth)| bandwidth).sum()
        };
        self.network.neighbours.iter().enumerate().map(of_router).sum::<i128>() / 2
    }

    /// The bandwidth by which the cut becomes smaller if a router changes its part.
    fn gain(&self, router: usize) -> i128 {
        let signed = |(to, bandwidth): &(RouterId, i128)| {
            if self.is_first[to.index()] == self.is_first[router] { -bandwidth } else { *bandwidth }
        };
        self.network.neighbours[router].iter().map(signed).sum()
    }

    /// Moves each router once, the one with the largest gain first, and returns to the best division on the way.
    fn improve(&mut self, cut: i128, most_uneven: u32) -> i128 {
        let routers = self.is_first.len();
        let heaviest = self.network.hosts.iter().copied().max().unwrap_or_default();
        let mut gains: Vec<i128> = (0..routers).map(|router| self.gain(router)).collect();
        let mut candidates = [Candidates::new(), Candidates::new()];
        for (router, gain) in gains.iter().enumerate() {
            candidates[usize::from(self.is_first[router])].push((*gain, router));
        }
        let (mut is_moved, mut moves) = (vec![false; routers], Vec::new());
        let (mut now, mut best, mut best_moves) = (cut, cut, 0);
        loop {
            let mut allowed = Vec::new();
            for part in &mut candidates {
                // Entries with an earlier gain of a router are out of date.
                while part.peek().is_some_and(|&(gain, router)| is_moved[router] || gain != gains[router]) {
                    part.pop();
                }
                let next = part.peek().copied();
                allowed.extend(next.filter(|&(_, router)| {
                    self.network.uneven(self.hosts_after(router)) <= most_uneven + 2 * heaviest
                }));
            }
            let Some((gain, router)) = allowed.into_iter().max() else { break };
            self.move_router(router);
            is_moved[router] = true;
            now -= gain;
            moves.push(router);
            if now < best && self.network.uneven(self.hosts) <= most_uneven {
                (best, best_moves) = (now, moves.len());
            }
            for (to, bandwidth) in &self.network.neighbours[router] {
                let to = to.index();
                if !is_moved[to] {
                    gains[to] += 2 * if self.is_first[to] == self.is_first[router] { -bandwidth } else { *bandwidth };
                    candidates[usize::from(self.is_first[to])].push((gains[to], to));
                }
            }
        }
        moves[best_moves..].iter().for_each(|&router| self.move_router(router));
        best
    }

    fn move_router(&mut self, router: usize) {
        self.hosts = self.hosts_after(router);
        self.is_first[router] = !self.is_first[router];
    }

    /// The hosts of the first part after a router changes its part.
    fn hosts_after(&self, router: usize) -> u32 {
        let here = self.network.hosts[router];
        if self.is_first[router] { self.hosts - here } else { self.hosts + here }
    }
}
