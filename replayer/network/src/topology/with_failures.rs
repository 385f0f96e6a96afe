//! A topology with failed links and routers.
//!
//! A message whose route meets a failure takes a shortest path through the rest of the network instead, and a message with
//! several paths, one of which meets a failure, takes its route alone; all other messages keep their routes. Packets follow these routes from a table.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use titr_common::units::Seconds;

use super::shortest::{Piece, ShortestPaths};
use super::{HostId, Link, LinkChange, LinkId, RouterGraph, RouterId, Topology};

/// Links and routers that have failed.
#[derive(Clone, Debug, Default)]
pub struct Failures {
    /// The links.
    pub links: BTreeSet<LinkId>,
    /// The routers, whose links have failed, too.
    pub routers: BTreeSet<RouterId>,
}

/// Two hosts between which there is no path around the failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Separated {
    /// The host that cannot send.
    pub from: HostId,
    /// The host that it cannot send to.
    pub to: HostId,
}

/// A topology with failed links and routers.
#[derive(Debug)]
pub struct WithFailures {
    inner: Box<dyn Topology>,
    /// Whether each link has failed.
    is_failed: Vec<bool>,
    rest: Rest,
}

/// The network without the failures. Nodes are the routers, and then the hosts with a cable.
#[derive(Debug)]
struct Rest {
    /// The node of each host.
    host_nodes: Vec<u32>,
    /// The links from one node to another.
    links: FxHashMap<(u32, u32), Vec<LinkId>>,
    paths: ShortestPaths,
}

impl WithFailures {
    /// The topology `inner`, whose routers are those of `graph`, with failures.
    ///
    /// # Errors
    /// If a host does not reach another one any more.
    pub fn new(inner: Box<dyn Topology>, graph: &RouterGraph, failures: &Failures) -> Result<Self, Separated> {
        let mut is_failed = vec![false; inner.links().len()];
        let channels = channels(graph);
        for &(from, to, link) in &channels {
            is_failed[link.index()] |= failures.links.contains(&link)
                || failures.routers.contains(&RouterId(from))
                || failures.routers.contains(&RouterId(to));
        }
        let mut links: FxHashMap<(u32, u32), Vec<LinkId>> = FxHashMap::default();
        for (from, to, link) in channels {
            if !is_failed[link.index()] {
                links.entry((from, to)).or_default().push(link);
            }
        }
        let mut ends: Vec<_> = links.keys().copied().collect();
        ends.sort_unstable();
        let host_nodes = host_nodes(graph);
        all_reached(&host_nodes, &ends)?;
        let nodes = graph.routers().count() + host_nodes.len();
        let piece = |(from, to)| Piece { from, to, links: vec![LinkId::default()] };
        let pieces: Vec<Piece> = ends.into_iter().map(piece).collect();
        let paths = ShortestPaths::dijkstra(nodes as u32, &pieces);
        Ok(Self { inner, is_failed, rest: Rest { host_nodes, links, paths } })
    }
}

/// The node of each host.
fn host_nodes(graph: &RouterGraph) -> Vec<u32> {
    let routers = graph.routers().count() as u32;
    let node = |(host, attachment): (u32, &super::HostPort)| match attachment.cable {
        Some(_) => routers + host,
        None => attachment.router.0,
    };
    (0..).zip(graph.hosts()).map(node).collect()
}

/// The links between two nodes, each once.
fn channels(graph: &RouterGraph) -> BTreeSet<(u32, u32, LinkId)> {
    let of_router =
        |from: RouterId| graph.ports(from).iter().filter_map(move |port| port.to.map(|to| (from.0, to.0, port.link)));
    let mut channels: BTreeSet<_> = graph.routers().flat_map(of_router).collect();
    for (node, attachment) in host_nodes(graph).into_iter().zip(graph.hosts()) {
        if let Some((up, down)) = attachment.cable {
            channels.extend([(node, attachment.router.0, up), (attachment.router.0, node, down)]);
        }
    }
    channels
}

/// Checks that the first host reaches all others, and all others reach it.
fn all_reached(host_nodes: &[u32], ends: &[(u32, u32)]) -> Result<(), Separated> {
    let Some(&first) = host_nodes.first() else { return Ok(()) };
    let backwards: Vec<_> = ends.iter().map(|&(from, to)| (to, from)).collect();
    let lost = |ends: &[(u32, u32)]| {
        let reached = reached(first, ends);
        host_nodes.iter().position(|node| !reached.contains(node)).map(|host| HostId(host as u32))
    };
    match (lost(ends), lost(&backwards)) {
        (Some(to), _) => Err(Separated { from: HostId(0), to }),
        (None, Some(from)) => Err(Separated { from, to: HostId(0) }),
        (None, None) => Ok(()),
    }
}

/// The nodes that a node reaches.
fn reached(first: u32, ends: &[(u32, u32)]) -> rustc_hash::FxHashSet<u32> {
    let mut next: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for &(from, to) in ends {
        next.entry(from).or_default().push(to);
    }
    let mut reached = rustc_hash::FxHashSet::from_iter([first]);
    let mut waiting = vec![first];
    while let Some(node) = waiting.pop() {
        waiting.extend(next.get(&node).into_iter().flatten().filter(|&&to| reached.insert(to)));
    }
    reached
}

impl Topology for WithFailures {
    fn name(&self) -> String {
        format!("{} with failures", self.inner.name())
    }

    fn hosts(&self) -> u32 {
        self.inner.hosts()
    }

    fn host_name(&self, host: HostId) -> String {
        self.inner.host_name(host)
    }

    fn links(&self) -> &[Link] {
        self.inner.links()
    }

    fn changes(&self) -> &[LinkChange] {
        self.inner.changes()
    }

    fn link_name(&self, link: LinkId) -> String {
        self.inner.link_name(link)
    }

    fn link_class(&self, link: LinkId) -> String {
        self.inner.link_class(link)
    }

    fn is_loopback(&self, link: LinkId) -> bool {
        self.inner.is_loopback(link)
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        let start = route.len();
        self.inner.route(from, to, route);
        if from == to || !route[start..].iter().any(|link| self.is_failed[link.index()]) {
            return;
        }
        route.truncate(start);
        let Rest { host_nodes, links, paths } = &self.rest;
        for ends in paths.path(host_nodes[from.index()], host_nodes[to.index()]) {
            // Different senders take different cables of several.
            let parallel = links.get(&ends).map_or(&[][..], Vec::as_slice);
            route.extend(parallel.get(from.index() % parallel.len().max(1)));
        }
    }

    fn spread(&self, from: HostId, to: HostId, parts: &mut Vec<(LinkId, f64)>) {
        let start = parts.len();
        self.inner.spread(from, to, parts);
        if parts[start..].iter().any(|(link, _)| self.is_failed[link.index()]) {
            parts.truncate(start);
        }
    }

    fn distance(&self, from: HostId, to: HostId) -> Seconds {
        self.inner.distance(from, to)
    }
}
