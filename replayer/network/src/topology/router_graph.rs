//! Router graphs: topologies as packets see them.
//!
//! A **router** has numbered **ports**; from each, a channel leads to another router, or to nothing at the end of a
//! mesh. A **host** is attached to one router: in a grid it shares a node with the router, under a switch it has a
//! cable.

use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use thiserror::Error;

use super::fabric::{Hops, NoHops};
use super::{HopTable, Link, LinkId, PortIndex, RouteTable, RouterId};
use titr_common::units::Seconds;

/// Routers, the channels between them, and the hosts attached to them.
#[derive(Clone, Debug)]
pub struct RouterGraph {
    /// The first port of each router; one entry more than there are routers.
    first_port: Vec<u32>,
    ports: Vec<Port>,
    hosts: Vec<HostPort>,
    geometry: Arc<dyn Geometry>,
    /// The link by which each host reaches itself, if it has one.
    pub(super) loopback: Vec<Option<LinkId>>,
    /// The links by number, if packets take each at its own bandwidth and latency; none if all cables are equal.
    pub(super) links: Arc<[Link]>,
    /// For each period of routes, whether each port has failed; none if no port ever fails.
    pub(super) failed: Arc<[Vec<bool>]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Port {
    /// The router that its channel leads to, if it leads anywhere.
    pub to: Option<RouterId>,
    /// The link that the channel is, or is part of.
    pub link: LinkId,
}

/// The attachment of a host to the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostPort {
    /// The router that it is attached to.
    pub router: RouterId,
    /// The links from it to the router and back, unless router and host are one node.
    pub cable: Option<(LinkId, LinkId)>,
}

/// The structure of a router graph: the numbering of routers and ports that a routing has to know. A routing for one
/// structure requests its type ([`RouterGraph::geometry`]).
pub trait Geometry: Any + Debug + Send + Sync {
    /// The name of the family of networks in messages, such as `grid`.
    fn family(&self) -> &'static str;

    /// The name of a router, as in the names of links.
    fn router_name(&self, router: RouterId) -> String {
        format!("router-{}", router.0)
    }
}

/// An error of a topology that the packet model cannot simulate.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct NoRouters(pub String);

impl RouterGraph {
    /// A graph of routers with these ports, and of these hosts.
    pub(crate) fn new(
        routers: impl IntoIterator<Item = Vec<Port>>,
        hosts: impl IntoIterator<Item = HostPort>,
        geometry: impl Geometry,
    ) -> Self {
        let (mut first_port, mut ports) = (vec![0], Vec::new());
        for of_one in routers {
            ports.extend(of_one);
            first_port.push(ports.len() as u32);
        }
        let hosts: Vec<HostPort> = hosts.into_iter().collect();
        let loopback = vec![None; hosts.len()];
        let (geometry, links, failed) = (Arc::new(geometry), Arc::new([]), Arc::new([]));
        Self { first_port, ports, hosts, geometry, loopback, links, failed }
    }

    /// The graph whose ports fail when these links do: `is_failed` tells it of each link in each period of routes. A port has
    /// also failed if no port leads back. Routers joined to any graph by cables that have failed from the start are another such
    /// graph.
    ///
    /// # Errors
    /// If routers with hosts do not reach each other.
    pub(super) fn with_failures<'a>(
        mut self,
        is_failed: impl Iterator<Item = Option<&'a [bool]>>,
    ) -> Result<Self, NoRouters> {
        let failed = is_failed.map(|is_failed| {
            let fails = |port: &Port| is_failed.is_some_and(|is_failed| is_failed[port.link.index()]);
            let mut failed: Vec<bool> = self.ports.iter().map(fails).collect();
            let leads = |failed: &[bool], from: RouterId, to| {
                self.port_numbers(from).any(|port| !failed[port] && self.ports[port].to == Some(to))
            };
            for at in self.routers() {
                for port in self.port_numbers(at).filter(|&port| fails(&self.ports[port])) {
                    let Some(to) = self.ports[port].to.filter(|&to| !leads(&failed, at, to)) else { continue };
                    self.port_numbers(to)
                        .filter(|&back| self.ports[back].to == Some(at))
                        .for_each(|back| failed[back] = true);
                }
            }
            failed
        });
        self.failed = failed.collect();
        if let (Some(_), [failed]) = (self.geometry::<HopTable>(), &*self.failed) {
            self.geometry = Arc::new(self.hops(failed).map_err(|why| NoRouters(why.to_string()))?);
            self.ports.iter_mut().zip(failed).filter(|(_, failed)| **failed).for_each(|(port, _)| port.to = None);
            self.failed = Arc::new([]);
        }
        Ok(self)
    }

    /// The hops between its routers, without the ports that have failed.
    pub(super) fn hops(&self, failed: &[bool]) -> Result<HopTable, NoHops> {
        let to = |at: RouterId| {
            self.port_numbers(at).map(move |port| self.ports[port].to.filter(|_| !failed[port]).unwrap_or(at))
        };
        let mut has_hosts = vec![false; self.routers().count()];
        self.hosts.iter().for_each(|host| has_hosts[host.router.index()] = true);
        let names = self.routers().map(|router| self.router_name(router)).collect();
        Hops::new(self.first_port.clone(), self.routers().flat_map(to).collect(), &has_hosts, names)
    }

    /// The numbers of the ports of a router among those of all routers.
    pub(super) fn port_numbers(&self, router: RouterId) -> Range<usize> {
        self.first_port[router.index()] as usize..self.first_port[router.index() + 1] as usize
    }

    /// Whether packets find their way by routes from a table.
    pub(crate) fn is_of_written_routes(&self) -> bool {
        self.geometry::<RouteTable>().is_some()
    }

    /// All routers.
    pub fn routers(&self) -> impl Iterator<Item = RouterId> + Clone + use<> {
        (0..self.first_port.len() as u32 - 1).map(RouterId)
    }

    pub(crate) fn ports(&self, router: RouterId) -> &[Port] {
        &self.ports[self.port_numbers(router)]
    }

    /// The routers that the ports of a router lead to at the start of a run, and the links there.
    pub(crate) fn working_ports(&self, router: RouterId) -> impl Iterator<Item = (RouterId, LinkId)> {
        let numbers = self.port_numbers(router);
        let failed = self.failed.first().map_or(&[][..], |failed| &failed[numbers.clone()]);
        let works = move |at: usize| !failed.get(at).copied().unwrap_or_default();
        let ports = self.ports[numbers].iter().enumerate().filter(move |(at, _)| works(*at));
        ports.filter_map(|(_, port)| Some((port.to?, port.link)))
    }

    /// Whether a port has failed at the start of a run.
    pub(crate) fn starts_with_failures(&self) -> bool {
        self.failed.first().is_some_and(|failed| failed.contains(&true))
    }

    /// The ports of all routers, one router after another.
    pub(crate) fn all_ports(&self) -> &[Port] {
        &self.ports
    }

    /// A port of a router, if it is one that leads to a router.
    pub(crate) fn port(&self, router: RouterId, port: PortIndex) -> Option<&Port> {
        self.ports(router).get(port.index())
    }

    /// The attachment of each host.
    pub(crate) fn hosts(&self) -> &[HostPort] {
        &self.hosts
    }

    /// The links that packets take: the channels between routers and the cables of hosts.
    pub fn links(&self) -> impl Iterator<Item = LinkId> {
        let channels = self.ports.iter().filter(|port| port.to.is_some()).map(|port| port.link);
        let cables = self.hosts.iter().filter_map(|host| host.cable).flat_map(|(up, down)| [up, down]);
        channels.chain(cables)
    }

    /// The links by number, if packets take each at its own bandwidth and latency; none if all cables are equal.
    #[must_use]
    pub fn own_links(&self) -> &[Link] {
        &self.links
    }

    /// The graph whose links have no latency.
    #[must_use]
    pub fn without_latencies(mut self) -> Self {
        self.links = self.links.iter().map(|link| Link { latency: Seconds(0.0), ..*link }).collect();
        self
    }

    /// Whether hosts have cables.
    #[must_use]
    pub fn has_host_cables(&self) -> bool {
        self.hosts.iter().any(|host| host.cable.is_some())
    }

    /// The link by which a host reaches itself, if it has one.
    pub(crate) fn loopback(&self, host: super::HostId) -> Option<LinkId> {
        self.loopback.get(host.index()).copied().flatten()
    }

    /// The structure, if it is of type `G`.
    #[must_use]
    pub fn geometry<G: Geometry>(&self) -> Option<&G> {
        (&*self.geometry as &dyn Any).downcast_ref()
    }

    /// The name of a router, as in the names of links.
    #[must_use]
    pub fn router_name(&self, router: RouterId) -> String {
        self.geometry.router_name(router)
    }

    /// The name of the family of networks in messages, such as `grid`.
    pub(crate) fn family(&self) -> &'static str {
        self.geometry.family()
    }
}
