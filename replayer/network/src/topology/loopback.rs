//! Messages within a host: a separate link for each host, on any topology.

use titr_common::time::Time;
use titr_common::units::Seconds;

use super::{Failure, HostId, Link, LinkChange, LinkId, NoRouters, RoutePeriod, RouterGraph, Topology};

/// A topology whose hosts reach themselves through a link of their own — shared memory, mostly — and not through
/// their network card.
#[derive(Debug)]
pub struct WithLoopback {
    inner: Box<dyn Topology>,
    /// The links of `inner`, then a loopback for each host.
    links: Vec<Link>,
}

impl WithLoopback {
    /// The topology `inner`, with a `loopback` added to each host.
    #[must_use]
    pub fn new(inner: Box<dyn Topology>, loopback: Link) -> Self {
        let mut links = inner.links().to_vec();
        links.extend((0..inner.hosts()).map(|_| loopback));
        Self { inner, links }
    }

    fn first(&self) -> u32 {
        self.inner.links().len() as u32
    }
}

impl Topology for WithLoopback {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn hosts(&self) -> u32 {
        self.inner.hosts()
    }

    fn host_name(&self, host: HostId) -> String {
        self.inner.host_name(host)
    }

    fn links(&self) -> &[Link] {
        &self.links
    }

    fn changes(&self) -> &[LinkChange] {
        self.inner.changes()
    }

    fn link_name(&self, link: LinkId) -> String {
        match link.0.checked_sub(self.first()) {
            Some(host) => format!("node-{host} loopback"),
            None => self.inner.link_name(link),
        }
    }

    fn is_loopback(&self, link: LinkId) -> bool {
        link.0 >= self.first()
    }

    fn link_class(&self, link: LinkId) -> String {
        if link.0 < self.first() { self.inner.link_class(link) } else { "loopbacks".to_owned() }
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        self.route_in(RoutePeriod(0), from, to, route);
    }

    fn route_changes(&self) -> &[Time] {
        self.inner.route_changes()
    }

    fn route_in(&self, period: RoutePeriod, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        match from == to {
            true => route.push(LinkId(self.first() + from.0)),
            false => self.inner.route_in(period, from, to, route),
        }
    }

    fn spread(&self, period: RoutePeriod, from: HostId, to: HostId, parts: &mut Vec<(LinkId, f64)>) {
        if from != to {
            self.inner.spread(period, from, to, parts);
        }
    }

    fn failures(&self) -> &[Failure] {
        self.inner.failures()
    }

    fn distance(&self, from: HostId, to: HostId) -> Seconds {
        self.inner.distance(from, to)
    }

    fn router_graph(&self) -> Result<RouterGraph, NoRouters> {
        let mut graph = self.inner.router_graph()?;
        graph.loopback = (0..self.hosts()).map(|host| Some(LinkId(self.first() + host))).collect();
        Ok(graph)
    }
}
