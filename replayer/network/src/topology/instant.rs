//! A topology whose links take no time.

use std::sync::Arc;

use titr_common::units::Seconds;

use super::{HostId, Link, LinkId, NoRouters, RouterGraph, Topology};

/// Another topology, on whose links a message of any size takes no time.
#[derive(Debug)]
pub struct InstantTopology {
    inner: Arc<dyn Topology>,
    links: Vec<Link>,
}

impl InstantTopology {
    /// The hosts and links of `inner`.
    #[must_use]
    pub fn new(inner: Arc<dyn Topology>) -> Self {
        let instant = |link: &Link| Link { bandwidth: f64::INFINITY, latency: Seconds(0.0), ..*link };
        Self { links: inner.links().iter().map(instant).collect(), inner }
    }
}

impl Topology for InstantTopology {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn hosts(&self) -> u32 {
        self.inner.hosts()
    }

    fn links(&self) -> &[Link] {
        &self.links
    }

    fn link_name(&self, link: LinkId) -> String {
        self.inner.link_name(link)
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        self.inner.route(from, to, route);
    }

    fn router_graph(&self) -> Result<RouterGraph, NoRouters> {
        self.inner.router_graph()
    }
}
