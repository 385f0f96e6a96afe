//! A star: each host has a cable to one switch, or to a backbone that joins all cables (SimGrid's flat `<cluster>`).

use super::cable::{Direction, Limiters};
use super::{
    Cable, Duplex, FlowRouting, HostId, HostPort, Link, LinkId, NoRouters, PortChoice, RouterGraph, RouterId, Stage,
    Stages, Topology, written_routes,
};

/// Hosts round a switch.
#[derive(Clone, Debug)]
pub struct Star {
    hosts: u32,
    cable: Cable,
    /// The cables, host by host, then the backbone.
    links: Vec<Link>,
    backbone: Option<LinkId>,
    limiters: Limiters,
}

impl Star {
    /// `hosts` hosts, each at the end of a `cable`. Every message between two hosts crosses the `backbone`; without one, the
    /// switch forwards at any rate and at once.
    #[must_use]
    pub fn new(hosts: u32, cable: Cable, backbone: Option<Link>) -> Self {
        let mut links = cable.lay(hosts);
        let after_cables = LinkId(links.len() as u32);
        links.extend(backbone);
        Self { hosts, cable, links, backbone: backbone.map(|_| after_cables), limiters: Limiters::default() }
    }

    /// The star in which no host sends and receives more than `bandwidth` in all.
    #[must_use]
    pub fn limited(mut self, bandwidth: f64) -> Self {
        self.limiters = Limiters::lay(self.hosts, bandwidth, &mut self.links);
        self
    }
}

impl Topology for Star {
    fn name(&self) -> String {
        match self.backbone {
            Some(_) => format!("star of {} around a backbone", self.hosts),
            None => format!("star of {}", self.hosts),
        }
    }

    fn hosts(&self) -> u32 {
        self.hosts
    }

    fn links(&self) -> &[Link] {
        &self.links
    }

    fn link_name(&self, link: LinkId) -> String {
        if self.backbone == Some(link) {
            return "backbone".to_owned();
        }
        if let Some(host) = self.limiters.device(link) {
            return format!("node-{host} limiter");
        }
        match self.cable.of_link(link) {
            (host, Some(Direction::Up)) => format!("node-{host} up"),
            (host, Some(Direction::Down)) => format!("node-{host} down"),
            (host, None) => format!("node-{host} cable"),
        }
    }

    fn link_class(&self, link: LinkId) -> String {
        match (self.backbone == Some(link), self.limiters.device(link)) {
            (true, _) => "backbone".to_owned(),
            (false, Some(_)) => "limiters".to_owned(),
            (false, None) => "cables".to_owned(),
        }
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        route.extend(self.limiters.of(from.0));
        route.push(self.cable.link(from.0, Direction::Up));
        route.extend(self.backbone);
        // A message to its own host returns on the cable that it left by. A link used in both directions counts once.
        if from != to || self.cable.duplex == Duplex::Full {
            route.push(self.cable.link(to.0, Direction::Down));
        }
        if from != to {
            route.extend(self.limiters.of(to.0));
        }
    }

    fn route_flows(&mut self, routing: FlowRouting) -> bool {
        matches!(routing, FlowRouting::Minimal | FlowRouting::UpDown)
    }

    /// A switch is a tree of one level. A backbone is a channel from a router with all cables up to one with all cables down.
    fn router_graph(&self) -> Result<RouterGraph, NoRouters> {
        if self.backbone.is_some() || self.cable.duplex != Duplex::Full || !self.limiters.is_empty() {
            return written_routes::router_graph(self);
        }
        let cable = |host| Some(self.cable.both_ways(host));
        let hosts = (0..self.hosts).map(|host| HostPort { router: RouterId(0), cable: cable(host) });
        let stages = vec![Stage { down: self.hosts, up: 1, count: 1 }];
        Ok(RouterGraph::new([Vec::new()], hosts, Stages { stages, choice: PortChoice::default() }))
    }
}
