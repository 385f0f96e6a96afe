//! Derives routers and ports for a topology that only has routes: the end of one link of a route is the start of the
//! next, and between them is a router.
//!
//! Each link is a channel from one router to another, or one for each direction in which routes take it
//! ([`directions`]). A router is the set of channel ends that some route joins. If all links are equal, and each host
//! has one link to a router and one back that no other host has, these links are its cable; otherwise each host is one
//! node with its own router, as in a grid.
//!
//! Packets follow the routes of the topology hop by hop, from a table ([`TableRouting`](super::TableRouting)). Where routes
//! change over time, the table has those of each period, and a packet follows the one of its message's period. Packets of
//! several periods can be in the network at the same time.

mod dependencies;
mod directions;

use super::{
    Geometry, HostId, HostPort, LinkId, NoRouters, Port, PortIndex, RoutePeriod, RouterGraph, RouterId, Sharing,
    Topology,
};
use titr_common::format::count;

use dependencies::Layers;
use directions::{ChannelId, Channels};

/// The largest number of hosts, because the table has an entry for each two.
const MAX_HOSTS: u32 = 1 << 12;

/// The largest number of entries of the table.
const MAX_ENTRIES: u64 = (MAX_HOSTS as u64).pow(2);

/// The largest number of hops of all routes. Their order takes about a microsecond each.
const MAX_HOPS: usize = 1 << 26;

/// The route between each two hosts in each period, as ports.
#[derive(Clone, Debug)]
pub struct RouteTable {
    hosts: u32,
    /// For each period, each host and each of its destinations, the index in `ports` at which the route begins.
    first: Vec<u32>,
    ports: Vec<PortIndex>,
    /// For each period, each host and each of its destinations, the layer of the route.
    layer: Vec<u8>,
    pub(super) layers: u32,
    /// The names of links that form a cycle of dependencies, if there is more than one layer.
    pub(super) cycle: Vec<String>,
}

impl Geometry for RouteTable {
    fn family(&self) -> &'static str {
        "network of written routes"
    }
}

impl RouteTable {
    /// The index of the first port of a route in a period.
    pub(super) fn first(&self, period: RoutePeriod, from: HostId, to: HostId) -> u32 {
        self.first[self.entry(period, from, to)]
    }

    pub(super) fn port(&self, index: u32) -> Option<PortIndex> {
        self.ports.get(index as usize).copied()
    }

    /// The layer of a route in a period. The routes of one layer do not have packets wait for each other in a cycle.
    pub(super) fn layer(&self, period: RoutePeriod, from: HostId, to: HostId) -> u32 {
        self.layer[self.entry(period, from, to)].into()
    }

    fn entry(&self, period: RoutePeriod, from: HostId, to: HostId) -> usize {
        (period.index() * self.hosts as usize + from.index()) * self.hosts as usize + to.index()
    }
}

/// The routers on the routes of a topology.
pub(super) fn router_graph<T: Topology + ?Sized>(topology: &T) -> Result<RouterGraph, NoRouters> {
    let routes = AllRoutes::of(topology)?;
    for &link in &routes.used {
        if topology.links()[link.index()].sharing == Sharing::FatPipe {
            let name = topology.link_name(link);
            return Err(NoRouters(format!("packets share a link, and `{name}` is a fat pipe")));
        }
    }
    let channels = Channels::of(&routes);
    channels.check(topology, &routes)?;
    let mut graph = Routers::new(topology, &channels, &routes).graph(topology, &channels, &routes)?;
    graph.loopback.clone_from(&routes.loopback);
    graph.links = topology.links().into();
    Ok(graph)
}

/// The routes between each two hosts in each period, one after the other.
struct AllRoutes {
    hosts: u32,
    /// The index in `links` at which each route begins; one entry more than there are routes.
    first: Vec<usize>,
    links: Vec<LinkId>,
    used: Vec<LinkId>,
    /// The link by which each host reaches itself, if it is a link that no other route takes.
    loopback: Vec<Option<LinkId>>,
}

impl AllRoutes {
    fn of<T: Topology + ?Sized>(topology: &T) -> Result<Self, NoRouters> {
        let hosts = topology.hosts();
        if hosts > MAX_HOSTS {
            return Err(NoRouters(full(&format!("{} hosts", count(MAX_HOSTS.into())))));
        }
        let periods = topology.route_changes().len() as u32 + 1;
        if u64::from(hosts).pow(2) * u64::from(periods) > MAX_ENTRIES {
            let alike = full(&format!("{} routes", count(MAX_ENTRIES)));
            return Err(NoRouters(format!(
                "{alike}, not for {periods} between each two of {} hosts",
                count(hosts.into())
            )));
        }
        let (mut first, mut links) = (vec![0], Vec::new());
        let mut is_used = vec![false; topology.links().len()];
        let periods = (0..periods).map(RoutePeriod);
        for (period, (from, to)) in periods.flat_map(|period| pairs(hosts).map(move |ends| (period, ends))) {
            let start = links.len();
            if from != to {
                topology.route_in(period, from, to, &mut links);
                if links.len() == start && topology.failures().is_empty() {
                    let [from, to] = [from, to].map(|host| topology.host_name(host));
                    return Err(NoRouters(format!("there is no route from {from} to {to}")));
                }
            }
            links[start..].iter().for_each(|link| is_used[link.index()] = true);
            first.push(links.len());
            if links.len() > MAX_HOPS {
                return Err(NoRouters(full(&format!("{} hops of all routes", count(MAX_HOPS as u64)))));
            }
        }
        let mut own = Vec::new();
        let loopback = (0..hosts).map(HostId).map(|host| {
            own.clear();
            topology.route(host, host, &mut own);
            match own[..] {
                [link] if !is_used[link.index()] => Some(link),
                _ => None,
            }
        });
        let loopback = loopback.collect();
        let used = (0..).map(LinkId).zip(&is_used).filter(|&(_, &used)| used).map(|(link, _)| link).collect();
        Ok(Self { hosts, first, links, used, loopback })
    }

    /// The routes between each two hosts in each period. Those from a host to itself, and those that failures leave no way
    /// for, are empty.
    fn all(&self) -> impl Iterator<Item = (HostId, HostId, &[LinkId])> {
        let routes = self.first.windows(2).map(|ends| &self.links[ends[0]..ends[1]]);
        pairs(self.hosts).cycle().zip(routes).map(|((from, to), route)| (from, to, route))
    }
}

/// Says that there is no room for more in the table of routes, and who needs that table.
fn full(room: &str) -> String {
    format!(
        "with half-duplex links, limiters, cables that differ, or the routes of a file, packets find their ways in a table, \
         which has room for {room}"
    )
}

/// Each two hosts, and each host with itself.
fn pairs(hosts: u32) -> impl Iterator<Item = (HostId, HostId)> + Clone {
    (0..hosts).flat_map(move |from| (0..hosts).map(move |to| (HostId(from), HostId(to))))
}

/// The routers at the ends of channels, and how hosts are attached.
struct Routers {
    ports: Vec<Vec<Port>>,
    hosts: Vec<HostPort>,
    /// For each channel that is a port, its number at its router.
    port: Vec<PortIndex>,
}

impl Routers {
    fn new<T: Topology + ?Sized>(topology: &T, channels: &Channels, routes: &AllRoutes) -> Self {
        let link = |link: LinkId| topology.links()[link.index()];
        let are_alike = routes.used.windows(2).all(|two| link(two[0]) == link(two[1]));
        let cables = if are_alike && !channels.is_half_duplex { host_cables(channels) } else { None };
        let mut number = vec![None; channels.places as usize];
        let mut ports: Vec<Vec<Port>> = Vec::new();
        let mut router = |place: u32| {
            *number[place as usize].get_or_insert_with(|| {
                ports.push(Vec::new());
                RouterId(ports.len() as u32 - 1)
            })
        };
        let channel = |id: ChannelId| channels.all[id.index()];
        let hosts = match &cables {
            Some(cables) => cables
                .iter()
                .map(|&(up, down)| HostPort {
                    router: router(channel(up).end),
                    cable: Some((channel(up).link, channel(down).link)),
                })
                .collect(),
            None => (0..channels.hosts).map(|host| HostPort { router: router(host), cable: None }).collect(),
        };
        let is_cable = |begin: u32, end: u32| cables.is_some() && begin.min(end) < channels.hosts;
        let ends: Vec<Option<(RouterId, Port)>> = channels
            .all
            .iter()
            .map(|channel| {
                (!is_cable(channel.begin, channel.end)).then(|| {
                    let to = router(channel.end);
                    (router(channel.begin), Port { to: Some(to), link: channel.link })
                })
            })
            .collect();
        let port = ends.into_iter().map(|end| {
            let Some((from, port)) = end else { return PortIndex(0) };
            ports[from.index()].push(port);
            PortIndex(ports[from.index()].len() as u32 - 1)
        });
        Self { port: port.collect(), ports, hosts }
    }

    fn graph<T: Topology + ?Sized>(
        self,
        topology: &T,
        channels: &Channels,
        routes: &AllRoutes,
    ) -> Result<RouterGraph, NoRouters> {
        let cable = usize::from(self.hosts.iter().any(|host| host.cable.is_some()));
        let mut layers = Layers::default();
        let mut table = RouteTable {
            hosts: routes.hosts,
            first: Vec::new(),
            ports: Vec::new(),
            layer: Vec::new(),
            layers: 1,
            cycle: Vec::new(),
        };
        for (_, _, route) in channels.routes(routes) {
            let between = route.get(cable..route.len().saturating_sub(cable)).unwrap_or_default();
            table.first.push(table.ports.len() as u32);
            table.ports.extend(between.iter().map(|id| self.port[id.index()]));
            let Ok(layer) = layers.add(between).try_into() else {
                return Err(NoRouters("its routes need more than 256 virtual channels".to_owned()));
            };
            table.layer.push(layer);
        }
        table.layers = layers.count();
        table.cycle = layers.cycle.iter().map(|id| topology.link_name(channels.all[id.index()].link)).collect();
        Ok(RouterGraph::new(self.ports, self.hosts, table))
    }
}

/// For each host, its channel to a router and the channel back, if each host has one of each for itself.
fn host_cables(channels: &Channels) -> Option<Vec<(ChannelId, ChannelId)>> {
    let hosts = channels.hosts;
    let (mut up, mut down) = (vec![Vec::new(); hosts as usize], vec![Vec::new(); hosts as usize]);
    for (id, channel) in (0..).map(ChannelId).zip(&channels.all) {
        match (channel.begin < hosts, channel.end < hosts) {
            (true, true) => return None,
            (true, false) => up[channel.begin as usize].push(id),
            (false, true) => down[channel.end as usize].push(id),
            (false, false) => {}
        }
    }
    let channel = |id: ChannelId| channels.all[id.index()];
    let cable = |(up, down): (&Vec<ChannelId>, &Vec<ChannelId>)| match (&up[..], &down[..]) {
        (&[up], &[down]) if channel(up).end == channel(down).begin => Some((up, down)),
        _ => None,
    };
    up.iter().zip(&down).map(cable).collect()
}
