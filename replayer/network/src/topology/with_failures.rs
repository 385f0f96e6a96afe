//! A topology with failed links and routers.
//!
//! A message whose route meets a failure takes a shortest path through the rest of the network instead, and a message with
//! several paths, one of which meets a failure, takes its route alone; all other messages keep their routes. Packets find their
//! own ways around failures ([`DegradedRouting`](super::DegradedRouting)), or follow these routes from a table where the
//! topology has only routes.
//!
//! A failure may begin and end during a run. The instants at which failures begin or end divide the run into periods, each
//! with its own routes. A message has the route of the period in which it is sent.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use titr_common::time::Time;

use super::shortest::{Piece, ShortestPaths};
use super::{HostId, HostPort, Link, LinkId, NoRouters, RoutePeriod, RouterGraph, RouterId, Topology, written_routes};

/// A failure of links or routers from an instant until another.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Its name in messages, such as `` link `node-0 +x` ``.
    pub name: String,
    /// The links; in a [`Topology`], also those of the routers.
    pub links: BTreeSet<LinkId>,
    /// The routers.
    pub routers: BTreeSet<RouterId>,
    /// Its begin.
    pub at: Time,
    /// Its end; [`Time::NEVER`] if it lasts.
    pub until: Time,
}

impl Failure {
    /// Whether it has begun at an instant, and has not ended.
    pub(crate) fn is_present(&self, at: Time) -> bool {
        self.at <= at && at < self.until
    }
}

/// A topology with failed links and routers.
#[derive(Debug)]
pub struct WithFailures {
    inner: Arc<dyn Topology>,
    failures: Vec<Failure>,
    host_nodes: Vec<u32>,
    /// Whether packets know only its routes.
    is_of_written_routes: bool,
    /// The instants at which failures begin or end, after the start.
    changes: Vec<Time>,
    /// The network in each period; `None` if nothing has failed.
    periods: Vec<Option<SurvivingNetwork>>,
}

/// The network without what has failed. Nodes are the routers, and then the hosts with a cable.
#[derive(Debug)]
struct SurvivingNetwork {
    /// Whether each link has failed.
    is_failed: Vec<bool>,
    /// The links from one node to another.
    links: FxHashMap<(u32, u32), Vec<LinkId>>,
    paths: ShortestPaths,
}

impl WithFailures {
    /// The topology `inner`, whose routers are those of `graph`, with failures.
    #[must_use]
    pub fn new(inner: Arc<dyn Topology>, graph: &RouterGraph, mut failures: Vec<Failure>) -> Self {
        let host_nodes = host_nodes(graph);
        let nodes = graph.routers().count() + host_nodes.len();
        let channels = channels(graph);
        for Failure { links, routers, .. } in &mut failures {
            let fails = |end: u32| routers.contains(&RouterId(end));
            links.extend(channels.iter().filter(|(from, to, _)| fails(*from) || fails(*to)).map(|(.., link)| link));
        }
        let during = |change: &Time| Time::ZERO < *change && *change < Time::NEVER;
        let changes: BTreeSet<Time> =
            failures.iter().flat_map(|failure| [failure.at, failure.until]).filter(during).collect();
        let periods = std::iter::once(&Time::ZERO).chain(&changes).map(|begin| {
            let present: Vec<&Failure> = failures.iter().filter(|failure| failure.is_present(*begin)).collect();
            (!present.is_empty()).then(|| SurvivingNetwork::new(nodes as u32, inner.links().len(), &channels, &present))
        });
        let periods = periods.collect();
        let is_of_written_routes = graph.is_of_written_routes();
        Self { host_nodes, is_of_written_routes, changes: changes.into_iter().collect(), periods, failures, inner }
    }

    /// A host from which there is no path to another at the start, and that other, if there are such hosts.
    #[must_use]
    pub fn separated(&self) -> Option<(HostId, HostId)> {
        self.periods.first()?.as_ref()?.separated(&self.host_nodes)
    }
}

impl SurvivingNetwork {
    fn new(nodes: u32, links: usize, channels: &BTreeSet<(u32, u32, LinkId)>, failures: &[&Failure]) -> Self {
        let mut is_failed = vec![false; links];
        for (.., link) in channels {
            is_failed[link.index()] |= failures.iter().any(|failure| failure.links.contains(link));
        }
        let mut links: FxHashMap<(u32, u32), Vec<LinkId>> = FxHashMap::default();
        for &(from, to, link) in channels {
            if !is_failed[link.index()] {
                links.entry((from, to)).or_default().push(link);
            }
        }
        let mut ends: Vec<_> = links.keys().copied().collect();
        ends.sort_unstable();
        let piece = |(from, to)| Piece { from, to, links: vec![LinkId::default()] };
        let pieces: Vec<Piece> = ends.into_iter().map(piece).collect();
        Self { is_failed, links, paths: ShortestPaths::dijkstra(nodes, &pieces) }
    }

    /// The first host and another one that does not reach it or that it does not reach.
    fn separated(&self, host_nodes: &[u32]) -> Option<(HostId, HostId)> {
        let &first = host_nodes.first()?;
        let lost = |reached: FxHashSet<u32>| {
            host_nodes.iter().position(|node| !reached.contains(node)).map(|host| HostId(host as u32))
        };
        let forwards = reached(first, self.links.keys().copied());
        let backwards = reached(first, self.links.keys().map(|&(from, to)| (to, from)));
        match (lost(forwards), lost(backwards)) {
            (Some(to), _) => Some((HostId(0), to)),
            (None, Some(from)) => Some((from, HostId(0))),
            (None, None) => None,
        }
    }
}

fn host_nodes(graph: &RouterGraph) -> Vec<u32> {
    let routers = graph.routers().count() as u32;
    let node = |(host, attachment): (u32, &HostPort)| match attachment.cable {
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

/// The nodes that a node reaches over links with these ends.
fn reached(first: u32, ends: impl Iterator<Item = (u32, u32)>) -> FxHashSet<u32> {
    let mut next: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for (from, to) in ends {
        next.entry(from).or_default().push(to);
    }
    let mut reached = FxHashSet::from_iter([first]);
    let mut waiting = vec![first];
    while let Some(node) = waiting.pop() {
        waiting.extend(next.get(&node).into_iter().flatten().filter(|&&to| reached.insert(to)));
    }
    reached
}

impl Topology for WithFailures {
    fn inner(&self) -> Option<&dyn Topology> {
        Some(&*self.inner)
    }

    fn name(&self) -> String {
        format!("{} with failures", self.inner.name())
    }

    fn hosts(&self) -> u32 {
        self.inner.hosts()
    }

    fn links(&self) -> &[Link] {
        self.inner.links()
    }

    fn link_name(&self, link: LinkId) -> String {
        self.inner.link_name(link)
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        self.route_in(RoutePeriod(0), from, to, route);
    }

    fn route_changes(&self) -> &[Time] {
        &self.changes
    }

    fn route_in(&self, period: RoutePeriod, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        let start = route.len();
        self.inner.route(from, to, route);
        let Some(Some(SurvivingNetwork { is_failed, links, paths, .. })) = self.periods.get(period.index()) else {
            return;
        };
        if from == to || !route[start..].iter().any(|link| is_failed[link.index()]) {
            return;
        }
        route.truncate(start);
        for ends in paths.path(self.host_nodes[from.index()], self.host_nodes[to.index()]) {
            // Different senders take different cables of several.
            let parallel = links.get(&ends).map_or(&[][..], Vec::as_slice);
            route.extend(parallel.get(from.index() % parallel.len().max(1)));
        }
    }

    fn spread(&self, period: RoutePeriod, from: HostId, to: HostId, parts: &mut Vec<(LinkId, f64)>) {
        let start = parts.len();
        self.inner.spread(period, from, to, parts);
        if let Some(Some(SurvivingNetwork { is_failed, .. })) = self.periods.get(period.index())
            && parts[start..].iter().any(|(link, _)| is_failed[link.index()])
        {
            parts.truncate(start);
        }
    }

    fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// The routers of the topology, some of whose ports have failed, unless packets only know written routes.
    fn router_graph(&self) -> Result<RouterGraph, NoRouters> {
        let graph = (!self.is_of_written_routes).then(|| self.inner.router_graph()).transpose()?;
        match graph.filter(|graph| !graph.is_of_written_routes()) {
            Some(graph) => graph.with_failures(self.periods.iter().map(|period| Some(&*period.as_ref()?.is_failed))),
            None => written_routes::router_graph(self),
        }
    }
}
