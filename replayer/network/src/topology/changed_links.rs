//! A topology with changed links.

use std::sync::Arc;

use titr_common::step_function::StepFunction;
use titr_common::time::Time;
use titr_common::units::Seconds;

use super::{HostId, Link, LinkId, NoRouters, RouterGraph, Topology, written_routes};

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
    fn inner(&self) -> Option<&dyn Topology> {
        Some(&*self.inner)
    }

    fn name(&self) -> String {
        self.inner.name()
    }

    fn hosts(&self) -> u32 {
        self.inner.hosts()
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

    fn route(&self, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        self.inner.route(from, to, route);
    }

    fn router_graph(&self) -> Result<RouterGraph, NoRouters> {
        let mut graph = self.inner.router_graph()?;
        if self.are_own {
            // Only channels between routers have timings of their own.
            let cables = || graph.hosts().iter().filter_map(|host| host.cable).flat_map(|(up, down)| [up, down]);
            let link = |link: LinkId| self.links[link.index()];
            let is_fastest = |cable: Link| graph.links().all(|other| link(other).bandwidth <= cable.bandwidth);
            let are_alike = cables()
                .next()
                .map(link)
                .is_none_or(|first| is_fastest(first) && cables().all(|cable| link(cable) == first));
            if graph.is_of_written_routes() || !are_alike {
                return written_routes::router_graph(self);
            }
            graph.links = self.links.as_slice().into();
        }
        Ok(graph)
    }
}

/// The changes of a link over time. [`Topology::links`] has its properties at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkChange {
    /// The link.
    pub link: LinkId,
    /// Bytes per second; `None`: always as at the start.
    pub bandwidth: Option<StepFunction>,
    /// Seconds; `None`: always as at the start.
    pub latency: Option<StepFunction>,
}

impl LinkChange {
    /// The link as it is at an instant; `link` is what it is like at any other.
    pub(crate) fn at(&self, now: Time, link: Link) -> Link {
        let value = |function: &Option<StepFunction>, always| {
            function.as_ref().map_or(always, |function: &StepFunction| function.value_at(now))
        };
        let latency = Seconds(value(&self.latency, link.latency.0));
        Link { bandwidth: value(&self.bandwidth, link.bandwidth), latency, ..link }
    }

    /// The next instant after `now` at which the link may become another.
    pub(crate) fn next_after(&self, now: Time) -> Option<Time> {
        let next = |function: &Option<StepFunction>| function.as_ref().and_then(|function| function.next_after(now));
        [next(&self.bandwidth), next(&self.latency)].into_iter().flatten().min()
    }

    /// The change without what is always the same; `None` if the link does not change.
    pub(super) fn of_what_changes(self) -> Option<Self> {
        let changes = |function: &StepFunction| function.constant().is_none();
        let (bandwidth, latency) = (self.bandwidth.filter(changes), self.latency.filter(changes));
        (bandwidth.is_some() || latency.is_some()).then_some(Self { link: self.link, bandwidth, latency })
    }

    /// This change with the latency and the bandwidth multiplied by these factors at all times.
    pub(super) fn scaled(&self, latency: f64, bandwidth: f64) -> Self {
        let scaled = |function: &Option<StepFunction>, factor| {
            function.as_ref().map(|function: &StepFunction| function.scaled(factor))
        };
        Self { link: self.link, bandwidth: scaled(&self.bandwidth, bandwidth), latency: scaled(&self.latency, latency) }
    }
}

/// The bytes that a link can carry from one instant to another.
#[must_use]
pub fn capacity(topology: &dyn Topology, link: LinkId, from: Time, to: Time) -> f64 {
    let bandwidth = topology.links()[link.index()].bandwidth;
    let changes = topology.changes();
    let change = changes.binary_search_by_key(&link, |change| change.link).ok().map(|number| &changes[number]);
    match change.and_then(|change| change.bandwidth.as_ref()) {
        Some(changing) => changing.integral(from, to),
        None => bandwidth * (to - from).0,
    }
}
