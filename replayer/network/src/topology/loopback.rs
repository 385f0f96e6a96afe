//! Links of each host's own, on any topology: a loopback, or the levels inside the host.

use titr_common::units::Seconds;

use super::{HostId, Link, LinkId, NoRouters, Node, RoutePeriod, RouterGraph, Sharing, Topology};

/// A topology whose hosts reach themselves through links of their own — shared memory, mostly — and not through
/// their network card.
#[derive(Debug)]
pub struct WithLoopback {
    inner: Box<dyn Topology>,
    /// The links of `inner`, then those of each host, and then the bound of a process if there is one.
    links: Vec<Link>,
    /// The names of a host's own links.
    own: Vec<String>,
    /// The place among a host's own links of the one by which it reaches itself.
    itself: u32,
    /// The link that every message between hosts takes, whose bandwidth each has for itself.
    process: Option<LinkId>,
}

impl WithLoopback {
    /// The topology `inner`, with a `loopback` added to each host.
    #[must_use]
    pub fn new(inner: Box<dyn Topology>, loopback: Link) -> Self {
        Self::with_links(inner, vec![("loopback".to_owned(), loopback)], 0)
    }

    /// The topology `inner`, with the links of a `node` added to each host.
    #[must_use]
    pub fn with_node(inner: Box<dyn Topology>, node: &Node) -> Self {
        Self::with_links(inner, node.links(), node.outermost() as u32)
    }

    fn with_links(inner: Box<dyn Topology>, own: Vec<(String, Link)>, itself: u32) -> Self {
        let (own, added): (Vec<_>, Vec<_>) = own.into_iter().unzip();
        let mut links = inner.links().to_vec();
        links.extend((0..inner.hosts()).flat_map(|_| added.iter().copied()));
        Self { inner, links, own, itself, process: None }
    }

    /// The topology in which a message between hosts has at most this many bytes per second.
    #[must_use]
    pub fn with_process_bandwidth(mut self, bandwidth: f64) -> Self {
        self.process = Some(LinkId(self.links.len() as u32));
        self.links.push(Link { bandwidth, latency: Seconds(0.0), sharing: Sharing::FatPipe });
        self
    }

    fn first(&self) -> u32 {
        self.inner.links().len() as u32
    }

    /// The link by which a host reaches itself.
    fn loopback(&self, host: u32) -> LinkId {
        LinkId(self.first() + host * self.own.len() as u32 + self.itself)
    }
}

impl Topology for WithLoopback {
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

    fn link_name(&self, link: LinkId) -> String {
        match link.0.checked_sub(self.first()) {
            Some(_) if self.process == Some(link) => "bandwidth of a process".to_owned(),
            Some(number) => {
                let own = self.own.len() as u32;
                format!("node-{} {}", number / own, self.own[(number % own) as usize])
            }
            None => self.inner.link_name(link),
        }
    }

    fn is_loopback(&self, link: LinkId) -> bool {
        link.0 >= self.first()
    }

    fn link_class(&self, link: LinkId) -> String {
        match link.0.checked_sub(self.first()) {
            None => self.inner.link_class(link),
            Some(_) if self.own.len() == 1 => "loopbacks".to_owned(),
            Some(_) => "links within hosts".to_owned(),
        }
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        self.route_in(RoutePeriod(0), from, to, route);
    }

    fn route_in(&self, period: RoutePeriod, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        match from == to {
            true => route.push(self.loopback(from.0)),
            false => {
                let before = route.len();
                self.inner.route_in(period, from, to, route);
                route.extend(self.process.filter(|_| route.len() > before));
            }
        }
    }

    fn spread(&self, period: RoutePeriod, from: HostId, to: HostId, parts: &mut Vec<(LinkId, f64)>) {
        if from != to {
            let before = parts.len();
            self.inner.spread(period, from, to, parts);
            let process = self.process.filter(|_| parts.len() > before);
            parts.extend(process.map(|process| (process, 1.0)));
        }
    }

    fn router_graph(&self) -> Result<RouterGraph, NoRouters> {
        let mut graph = self.inner.router_graph()?;
        graph.loopback = (0..self.hosts()).map(|host| Some(self.loopback(host))).collect();
        Ok(graph)
    }
}
