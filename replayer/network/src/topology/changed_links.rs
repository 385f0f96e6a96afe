//! A topology with changed links.

use std::sync::Arc;

use titr_common::time::Time;
use titr_common::units::Seconds;

use super::{
    Failure, HostId, Link, LinkChange, LinkId, NoRouters, Rails, RoutePeriod, RouterGraph, Topology, written_routes,
};

/// Another topology with links of other latencies and bandwidths.
#[derive(Debug)]
pub struct ChangedLinks {
    inner: Arc<dyn Topology>,
    links: Vec<Link>,
    changes: Vec<LinkChange>,
    /// Whether packets take each link at its own bandwidth and latency.
    are_own: bool,
}

impl ChangedLinks {
    /// The topology `inner`, on whose links a message of any size takes no time.
    #[must_use]
    pub fn instant(inner: Arc<dyn Topology>) -> Self {
        let instant = |link: &Link| Link { bandwidth: f64::INFINITY, latency: Seconds(0.0), ..*link };
        Self { links: inner.links().iter().map(instant).collect(), changes: Vec::new(), inner, are_own: false }
    }

    /// The topology `inner` with these links, by number.
    #[must_use]
    pub fn one_by_one(inner: Arc<dyn Topology>, links: Vec<Link>) -> Self {
        Self { links, changes: inner.changes().to_vec(), inner, are_own: true }
    }

    /// The topology `inner`, with the latency and bandwidth of its links multiplied: of all links, or of one class.
    #[must_use]
    pub fn scaled(inner: Arc<dyn Topology>, class: Option<&str>, latency: f64, bandwidth: f64) -> Self {
        let is_in = |link| class.is_none_or(|class| inner.link_class(link) == class);
        Self::scaled_where(&inner, is_in, latency, bandwidth)
    }

    /// The topology `inner`, with the latency and bandwidth of all links between hosts multiplied, but not of links within hosts.
    #[must_use]
    pub fn scaled_between_hosts(inner: &Arc<dyn Topology>, latency: f64, bandwidth: f64) -> Self {
        Self::scaled_where(inner, |link| !inner.is_loopback(link), latency, bandwidth)
    }

    fn scaled_where(inner: &Arc<dyn Topology>, is_in: impl Fn(LinkId) -> bool, latency: f64, bandwidth: f64) -> Self {
        let scaled = |(number, link): (u32, &Link)| match is_in(LinkId(number)) {
            true => Link { bandwidth: link.bandwidth * bandwidth, latency: Seconds(link.latency.0 * latency), ..*link },
            false => *link,
        };
        let changing = |change: &LinkChange| match is_in(change.link) {
            true => change.scaled(latency, bandwidth),
            false => change.clone(),
        };
        let changes = inner.changes().iter().map(changing).collect();
        let links = (0..).zip(inner.links()).map(scaled).collect();
        Self { links, changes, inner: Arc::clone(inner), are_own: false }
    }
}

impl Topology for ChangedLinks {
    fn is_loopback(&self, link: LinkId) -> bool {
        self.inner.is_loopback(link)
    }

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
        &self.changes
    }

    fn link_name(&self, link: LinkId) -> String {
        self.inner.link_name(link)
    }

    fn link_class(&self, link: LinkId) -> String {
        self.inner.link_class(link)
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        self.inner.route(from, to, route);
    }

    fn spread(&self, period: RoutePeriod, from: HostId, to: HostId, parts: &mut Vec<(LinkId, f64)>) {
        self.inner.spread(period, from, to, parts);
    }

    fn route_changes(&self) -> &[Time] {
        self.inner.route_changes()
    }

    fn route_in(&self, period: RoutePeriod, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        self.inner.route_in(period, from, to, route);
    }

    fn failures(&self) -> &[Failure] {
        self.inner.failures()
    }

    fn distance(&self, from: HostId, to: HostId) -> Seconds {
        self.inner.distance(from, to)
    }

    fn rails(&self) -> Rails {
        self.inner.rails()
    }

    fn rail(&self, number: u32) -> Option<&dyn Topology> {
        self.inner.rail(number)
    }

    fn router_graph(&self) -> Result<RouterGraph, NoRouters> {
        // The routing by a table is the one that knows the properties of each link.
        if self.are_own { written_routes::router_graph(self) } else { self.inner.router_graph() }
    }
}
