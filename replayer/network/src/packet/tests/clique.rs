//! A topology that brings a routing of its own, with state that packets carry: routers that are all joined, and Valiant's
//! routing (L. G. Valiant, "A scheme for fast parallel communication", SIAM J. Computing 11(2), 1982).

use titr_common::units::Seconds;

use crate::topology::{
    ChannelIndex, Geometry, Header, HostId, HostPort, Link, LinkId, NoRouters, OutputVc, Port, PortIndex, RouterGraph,
    RouterId, Routing, Sharing, Topology, roomiest,
};

/// Routers that are all joined, with a host each.
#[derive(Clone, Debug)]
pub struct Clique {
    links: Vec<Link>,
    routers: u32,
}

impl Clique {
    pub fn new(routers: u32) -> Self {
        let link = Link { bandwidth: 1e9, latency: Seconds(0.0), sharing: Sharing::Shared };
        Self { links: vec![link; (routers * (routers - 1)) as usize], routers }
    }

    fn link(&self, from: u32, to: u32) -> LinkId {
        LinkId(from * (self.routers - 1) + port(RouterId(from), RouterId(to)).0)
    }
}

/// The port of a router that leads to another.
fn port(at: RouterId, to: RouterId) -> PortIndex {
    PortIndex(if to < at { to.0 } else { to.0 - 1 })
}

impl Geometry for Clique {
    fn family(&self) -> &'static str {
        "clique"
    }
}

impl Topology for Clique {
    fn name(&self) -> String {
        format!("clique of {}", self.routers)
    }

    fn hosts(&self) -> u32 {
        self.routers
    }

    fn links(&self) -> &[Link] {
        &self.links
    }

    fn link_name(&self, link: LinkId) -> String {
        format!("link {}", link.0)
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        route.extend((from != to).then(|| self.link(from.0, to.0)));
    }

    fn router_graph(&self) -> Result<RouterGraph, NoRouters> {
        let others = |from: u32| (0..self.routers).filter(move |&to| to != from);
        let ports = |from| others(from).map(|to| Port { to: Some(RouterId(to)), link: self.link(from, to) }).collect();
        let hosts = (0..self.routers).map(|router| HostPort { router: RouterId(router), cable: None });
        let valiant = Valiant { routers: self.routers };
        Ok(RouterGraph::new((0..self.routers).map(ports), hosts, self.clone())
            .with_routing(move |_| Ok(valiant.clone())))
    }
}

/// First over channel 0 to a router that chance decides, and from there over channel 1 to the destination. The state of a
/// packet is the router that it has to pass, or −1 once it has.
#[derive(Clone, Debug)]
struct Valiant {
    routers: u32,
}

const PASSED: i32 = -1;

impl Routing for Valiant {
    fn virtual_channels(&self) -> u32 {
        2
    }

    fn state_words(&self) -> usize {
        1
    }

    fn has_alternatives(&self) -> bool {
        false
    }

    fn depart(&self, from: RouterId, header: &Header, state: &mut [i32]) {
        let through = (header.random >> 32) as u32 % self.routers;
        state[0] = if through == from.0 { PASSED } else { through as i32 };
    }

    fn choose(
        &self,
        at: RouterId,
        header: &Header,
        state: &[i32],
        _arrival: Option<OutputVc>,
        room: impl Fn(PortIndex, ChannelIndex) -> u32,
    ) -> Option<OutputVc> {
        let (next, channel) = if state[0] == PASSED { (header.destination, 1) } else { (RouterId(state[0] as u32), 0) };
        roomiest(std::iter::once(port(at, next)), channel..channel + 1, room)
    }

    fn hop(&self, _port: PortIndex, to: RouterId, state: &mut [i32]) {
        if state[0] == to.0 as i32 {
            state[0] = PASSED;
        }
    }
}
