//! Fabrics: routers that cables join to any graph, with hosts at some of them or at all.
//!
//! A [`Wiring`] lists routers, cables and hosts. It is read from a file, or made for a family of topologies: [`hyperx`],
//! [`slim_fly`], [`jellyfish`], [`dragonfly_plus`]. A route takes a shortest path, and of several that are as short the one
//! that a hash of its hosts selects ([`HopTable`]). It may be required never to go up after it went down ([`UpDownPaths`]).

mod dragonfly_plus;
mod hops;
mod hyperx;
mod jellyfish;
mod slim_fly;
mod up_down;

use thiserror::Error;

use super::{
    Cable, Direction, Duplex, FlowRouting, HostId, HostPort, Link, LinkId, NoRouters, Port, RoutePeriod, RouterGraph,
    RouterId, Topology, written_routes,
};
use crate::topology::cable::Limiters;

pub use dragonfly_plus::DragonflyPlus;
pub(crate) use hops::HopTable;
pub(super) use hops::{Hops, NoHops};
pub use hyperx::HyperX;
pub use jellyfish::{Jellyfish, NoRegularGraph};
pub use slim_fly::SlimFly;
pub(crate) use up_down::{HopsLeft, UpDownOrder, UpDownPaths, UpDownPlace};

/// The routers, cables and hosts of a fabric.
#[derive(Clone, Debug, Default)]
pub struct Wiring {
    /// The name of the fabric in reports.
    pub name: String,
    /// The names of the routers.
    pub routers: Vec<String>,
    /// The router of each host.
    pub hosts: Vec<RouterId>,
    /// The names of the hosts; none if they are only numbered.
    pub host_names: Vec<String>,
    /// The cables between routers. Cables side by side are listed one by one.
    pub cables: Vec<RouterCable>,
    /// The names of the classes of these cables.
    pub classes: Vec<String>,
    /// The cables that are not like the others, by number: the cables of hosts, and then those between routers.
    pub unlike: Vec<(u32, Cable)>,
}

/// A cable between two routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouterCable {
    /// The routers at its ends.
    pub ends: [RouterId; 2],
    /// The place of its class in [`Wiring::classes`].
    pub class: u32,
}

/// Routers that cables join to any graph.
#[derive(Clone, Debug)]
pub struct Fabric {
    wiring: Wiring,
    cable: Cable,
    /// Cables of hosts, then cables between routers.
    links: Vec<Link>,
    limiters: Limiters,
    table: HopTable,
    /// The link that each port leads to, router by router.
    port_links: Vec<LinkId>,
    flow_routing: FlowRouting,
    /// The paths of messages if they are up*/down* paths.
    up_down: Option<UpDownPaths>,
}

/// A reason why a wiring is not a fabric.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct NoFabric(String);

impl Wiring {
    /// Attaches this number of hosts to every router, in the order of the routers.
    fn attach(&mut self, to_each: u32) {
        let routers = (0..self.routers.len() as u32).map(RouterId);
        self.hosts.extend(routers.flat_map(|router| std::iter::repeat_n(router, to_each as usize)));
    }

    /// Adds a cable between two routers.
    fn join(&mut self, one: u32, other: u32, class: u32) {
        self.cables.push(RouterCable { ends: [RouterId(one), RouterId(other)], class });
    }
}

impl Fabric {
    /// The fabric of a wiring, in which every cable is like `cable` unless the wiring says otherwise. Their number fits a
    /// `u32`.
    ///
    /// # Errors
    /// If hosts cannot reach each other, or there are too many routers.
    pub fn new(wiring: Wiring, cable: Cable) -> Result<Self, NoFabric> {
        let mut links = cable.lay((wiring.hosts.len() + wiring.cables.len()) as u32);
        let links_each = cable.lay(1).len();
        for &(number, Cable { bandwidth, latency, .. }) in &wiring.unlike {
            for link in &mut links[number as usize * links_each..][..links_each] {
                *link = Link { bandwidth, latency, ..*link };
            }
        }
        let first_port = first_ports(&wiring);
        let mut next = first_port.clone();
        let ports = 2 * wiring.cables.len();
        let (mut neighbours, mut port_links) = (vec![RouterId(0); ports], vec![LinkId(0); ports]);
        for (number, RouterCable { ends: [one, other], .. }) in (wiring.hosts.len() as u32..).zip(&wiring.cables) {
            for (from, to, direction) in [(one, other, Direction::Up), (other, one, Direction::Down)] {
                let port = next[from.index()] as usize;
                next[from.index()] += 1;
                (neighbours[port], port_links[port]) = (*to, cable.link(number, direction));
            }
        }
        let mut has_hosts = vec![false; wiring.routers.len()];
        wiring.hosts.iter().for_each(|router| has_hosts[router.index()] = true);
        let table =
            Hops::new(first_port, neighbours, &has_hosts, wiring.routers.clone()).map_err(|why| wiring.explain(why))?;
        let (limiters, flow_routing) = (Limiters::default(), FlowRouting::default());
        Ok(Self { wiring, cable, links, limiters, table, port_links, flow_routing, up_down: None })
    }

    /// The fabric in which no host or router passes on more than `bandwidth` in all.
    #[must_use]
    pub fn limited(mut self, bandwidth: f64) -> Self {
        let devices = self.wiring.hosts.len() + self.wiring.routers.len();
        self.limiters = Limiters::lay(devices as u32, bandwidth, &mut self.links);
        self
    }

    /// The most hops between two routers with hosts.
    #[cfg(test)]
    pub(crate) fn diameter(&self) -> u32 {
        self.table.diameter
    }

    /// The hops between its routers.
    #[cfg(test)]
    fn hop_table(&self) -> &HopTable {
        &self.table
    }

    /// The next hop of a message between two hosts to the router of the second, which it has not reached: its link, and the
    /// place that it leads to.
    fn hop(&self, place: UpDownPlace, to: RouterId, ends: (HostId, HostId)) -> Option<(LinkId, UpDownPlace)> {
        let port = match &self.up_down {
            Some(paths) => paths.port(place, to, ends),
            None => self.table.port_of_flow(place.at, to, ends),
        }?;
        let at = self.table.neighbours(place.at)[port.index()];
        let next = match &self.up_down {
            Some(paths) => paths.next(place, at)?,
            None => UpDownPlace { at, ..place },
        };
        Some((self.link_of(place.at, port.index()), next))
    }

    /// Adds the limiter of a router to a route, if it has one.
    fn pass(&self, at: RouterId, route: &mut Vec<LinkId>) {
        route.extend(self.limiters.of(self.hosts() + at.0));
    }

    /// The link of a port, by the place of the port among those of its router.
    fn link_of(&self, at: RouterId, port: usize) -> LinkId {
        self.port_links[self.table.first_port(at) as usize + port]
    }

    /// The name of a host or router, as link names have it.
    fn device_name(&self, device: u32) -> String {
        match device.checked_sub(self.hosts()) {
            Some(router) => self.wiring.routers[router as usize].clone(),
            None => self.wiring.host_names.get(device as usize).cloned().unwrap_or_else(|| format!("node-{device}")),
        }
    }

    /// The devices at the ends of a cable.
    fn ends(&self, cable: u32) -> [u32; 2] {
        match cable.checked_sub(self.hosts()) {
            Some(between) => self.wiring.cables[between as usize].ends.map(|router| self.hosts() + router.0),
            None => [cable, self.hosts() + self.wiring.hosts[cable as usize].0],
        }
    }

    /// The place of a cable among the cables side by side, if there are several.
    fn place_in_bundle(&self, cable: u32) -> Option<usize> {
        let RouterCable { ends: [from, to], .. } = self.wiring.cables[cable.checked_sub(self.hosts())? as usize];
        let bundle = (0..).zip(self.table.neighbours(from)).filter(|&(_, &neighbour)| neighbour == to);
        let cables: Vec<u32> = bundle.map(|(port, _)| self.cable.of_link(self.link_of(from, port)).0).collect();
        cables.iter().position(|&other| other == cable).filter(|_| cables.len() > 1)
    }
}

impl Wiring {
    /// A reason why there is no table, with the names of routers.
    fn explain(&self, why: NoHops) -> NoFabric {
        let name = |router: RouterId| &self.routers[router.index()];
        NoFabric(match why {
            NoHops::Unconnected(from, to) => format!("there is no way from `{}` to `{}`", name(from), name(to)),
            NoHops::TooFar | NoHops::TooMany { .. } => why.to_string(),
        })
    }
}

/// The number of the first port of each router, and of all ports.
fn first_ports(wiring: &Wiring) -> Vec<u32> {
    let mut first = vec![0; wiring.routers.len() + 1];
    for router in wiring.cables.iter().flat_map(|cable| cable.ends) {
        first[router.index() + 1] += 1;
    }
    for router in 0..wiring.routers.len() {
        first[router + 1] += first[router];
    }
    first
}

impl Topology for Fabric {
    fn name(&self) -> String {
        self.wiring.name.clone()
    }

    fn hosts(&self) -> u32 {
        self.wiring.hosts.len() as u32
    }

    fn host_name(&self, host: HostId) -> String {
        self.wiring.host_names.get(host.index()).cloned().unwrap_or_else(|| format!("host {}", host.0))
    }

    fn links(&self) -> &[Link] {
        &self.links
    }

    fn link_name(&self, link: LinkId) -> String {
        if let Some(device) = self.limiters.device(link) {
            return format!("{} limiter", self.device_name(device));
        }
        let (cable, direction) = self.cable.of_link(link);
        let [lower, upper] = self.ends(cable).map(|device| self.device_name(device));
        let which = self.place_in_bundle(cable).map(|place| format!(" cable {place}")).unwrap_or_default();
        let (from, to) = Direction::in_order(direction, lower, upper);
        format!("{from} to {to}{which}")
    }

    fn link_class(&self, link: LinkId) -> String {
        if self.limiters.device(link).is_some() {
            return "limiters".to_owned();
        }
        match self.cable.of_link(link).0.checked_sub(self.hosts()) {
            Some(between) => self.wiring.classes[self.wiring.cables[between as usize].class as usize].clone(),
            None => "to hosts".to_owned(),
        }
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        let destination = self.wiring.hosts[to.index()];
        let mut place = UpDownPlace { at: self.wiring.hosts[from.index()], is_descending: false };
        route.extend(self.limiters.of(from.0));
        route.push(self.cable.link(from.0, Direction::Up));
        while let Some((link, next)) = self.hop(place, destination, (from, to)).filter(|_| place.at != destination) {
            self.pass(place.at, route);
            route.push(link);
            place = next;
        }
        self.pass(destination, route);
        // A message to its own host returns on the cable that it left by. A link used in both directions counts once.
        if from != to || self.cable.duplex == Duplex::Full {
            route.push(self.cable.link(to.0, Direction::Down));
        }
        if from != to {
            route.extend(self.limiters.of(to.0));
        }
    }

    fn spread(&self, _: RoutePeriod, from: HostId, to: HostId, parts: &mut Vec<(LinkId, f64)>) {
        // A message to its own host has one path.
        if from == to {
            return;
        }
        match self.flow_routing {
            FlowRouting::Minimal | FlowRouting::UpDown => {}
            FlowRouting::Adaptive => self.spread_over_shortest((from, to), parts),
            FlowRouting::Valiant => self.spread_over_intermediates((from, to), parts),
        }
    }

    fn route_flows(&mut self, routing: FlowRouting) -> bool {
        self.up_down = (routing == FlowRouting::UpDown).then(|| UpDownPaths::new(&self.table));
        self.flow_routing = routing;
        true
    }

    /// Packets choose their way if all cables are alike.
    fn router_graph(&self) -> Result<RouterGraph, NoRouters> {
        if self.cable.duplex != Duplex::Full || !self.limiters.is_empty() || !self.are_alike() {
            return written_routes::router_graph(self);
        }
        let hosts = (0..)
            .zip(&self.wiring.hosts)
            .map(|(host, &router)| HostPort { router, cable: Some(self.cable.both_ways(host)) });
        let ports = (0..self.wiring.routers.len() as u32).map(RouterId).map(|at| {
            let to = (0..).zip(self.table.neighbours(at));
            to.map(|(port, &to)| Port { to: Some(to), link: self.link_of(at, port) }).collect()
        });
        Ok(RouterGraph::new(ports, hosts, self.table.clone()))
    }
}

impl Fabric {
    /// Whether all links have the same bandwidth and latency.
    fn are_alike(&self) -> bool {
        self.links.windows(2).all(|two| two[0] == two[1])
    }

    /// Appends the links of a message that takes all shortest paths between its routers: at each router, an equal part takes
    /// each port.
    pub(super) fn spread_over_shortest(&self, (from, to): (HostId, HostId), parts: &mut Vec<(LinkId, f64)>) {
        let [first, last] = [from, to].map(|host| self.wiring.hosts[host.index()]);
        self.spread_between(first, last, 1.0, parts);
        self.spread_at_hosts((from, to), parts);
    }

    /// Appends the links of a message an equal part of which passes each router with hosts, except for its first and last
    /// routers (Valiant's routing). To this router and from there, the part takes all shortest paths.
    pub(super) fn spread_over_intermediates(&self, (from, to): (HostId, HostId), parts: &mut Vec<(LinkId, f64)>) {
        let [first, last] = [from, to].map(|host| self.wiring.hosts[host.index()]);
        let others = self.table.ends.iter().filter(|&&router| router != first && router != last);
        let part = 1.0 / others.clone().count() as f64;
        if first == last || part.is_infinite() {
            return self.spread_over_shortest((from, to), parts);
        }
        for &intermediate in others {
            self.spread_between(first, intermediate, part, parts);
            self.spread_between(intermediate, last, part, parts);
        }
        self.spread_at_hosts((from, to), parts);
    }

    /// The links of hosts, and the limiters of hosts and of the last router.
    fn spread_at_hosts(&self, (from, to): (HostId, HostId), parts: &mut Vec<(LinkId, f64)>) {
        let mut links = vec![self.cable.link(from.0, Direction::Up), self.cable.link(to.0, Direction::Down)];
        self.pass(self.wiring.hosts[to.index()], &mut links);
        links.extend([from, to].iter().filter_map(|host| self.limiters.of(host.0)));
        parts.extend(links.into_iter().map(|link| (link, 1.0)));
    }

    /// The links and limiters from one router to another one, without the limiter of the second.
    fn spread_between(&self, from: RouterId, to: RouterId, part: f64, parts: &mut Vec<(LinkId, f64)>) {
        // The routers that are as far from `to`, with the part of the message that passes each.
        let mut here = vec![(from, part)];
        let mut next: Vec<(RouterId, f64)> = Vec::new();
        for _ in 0..self.table.hops(from, to) {
            for (at, part) in here.drain(..) {
                parts.extend(self.limiters.of(self.wiring.hosts.len() as u32 + at.0).map(|link| (link, part)));
                let ports = self.table.ports_towards(at, to, 0);
                let each = part / ports.clone().count() as f64;
                for port in ports {
                    parts.push((self.link_of(at, port.index()), each));
                    next.push((self.table.neighbours(at)[port.index()], each));
                }
            }
            next.sort_unstable_by_key(|&(router, _)| router);
            next.dedup_by(|(router, part), (kept, sum)| {
                let is_same = router == kept;
                *sum += if is_same { *part } else { 0.0 };
                is_same
            });
            std::mem::swap(&mut here, &mut next);
        }
    }
}

#[cfg(test)]
mod tests;
