//! Routers and ports of a topology that only has routes: where one link of a route ends, the next begins, and between them
//! is a router.
//!
//! Each link is a channel from one router to another. A router is all ends of links that some route joins. If each host has
//! one link to a router and one back, which no other host has, these are its cable; else each host is one node with a
//! router of its own, as in a grid.
//!
//! Packets follow the routes of the topology hop by hop, from a table ([`TableRouting`](super::TableRouting)).

use super::dependencies::Layers;
use super::{Geometry, HostId, HostPort, LinkId, NoRouters, Port, PortIndex, RouterGraph, RouterId, Sharing, Topology};

/// The largest number of hosts, because the table has an entry for each two.
const MAX_HOSTS: u32 = 1 << 12;

/// The route between each two hosts, as ports.
#[derive(Clone, Debug)]
pub struct RouteTable {
    hosts: u32,
    /// For each host and each destination of it, the index in `ports` at which the route begins.
    first: Vec<u32>,
    ports: Vec<PortIndex>,
    /// For each host and each destination of it, the layer of the route.
    layer: Vec<u8>,
    layers: u32,
    /// The names of links that form a cycle of dependencies, if there is more than one layer.
    cycle: Vec<String>,
}

impl Geometry for RouteTable {
    fn family(&self) -> &'static str {
        "network of written routes"
    }
}

impl RouteTable {
    /// The index of the first port of a route.
    pub(super) fn first(&self, from: HostId, to: HostId) -> u32 {
        self.first[self.entry(from, to)]
    }

    /// The port at an index.
    pub(super) fn port(&self, index: u32) -> Option<PortIndex> {
        self.ports.get(index as usize).copied()
    }

    /// The layer of a route. The routes of one layer do not have packets wait for each other in a cycle.
    pub(super) fn layer(&self, from: HostId, to: HostId) -> u32 {
        self.layer[self.entry(from, to)].into()
    }

    /// The number of layers.
    pub(super) fn layers(&self) -> u32 {
        self.layers
    }

    /// The names of the links of a cycle, if there is more than one layer.
    pub(super) fn cycle(&self) -> &[String] {
        &self.cycle
    }

    fn entry(&self, from: HostId, to: HostId) -> usize {
        from.index() * self.hosts as usize + to.index()
    }
}

/// The routers that the routes of a topology pass.
///
/// # Errors
/// If its links are no channels from router to router: because they have several bandwidths, carry messages both ways, or
/// are not shared.
pub(super) fn router_graph<T: Topology + ?Sized>(topology: &T) -> Result<RouterGraph, NoRouters> {
    let routes = AllRoutes::of(topology)?;
    routes.check_links(topology)?;
    let ends = Ends::of(topology, &routes);
    ends.check(topology, &routes)?;
    Channels::new(&ends, &routes).router_graph(topology, &routes)
}

/// The routes between each two hosts, one after the other.
struct AllRoutes {
    hosts: u32,
    /// The index in `links` at which each route begins; one entry more than there are routes.
    first: Vec<usize>,
    links: Vec<LinkId>,
    /// The links that some route takes.
    used: Vec<LinkId>,
    /// The link by which each host reaches itself, if it is a link that no other route takes.
    loopback: Vec<Option<LinkId>>,
}

impl AllRoutes {
    fn of<T: Topology + ?Sized>(topology: &T) -> Result<Self, NoRouters> {
        let hosts = topology.hosts();
        if hosts > MAX_HOSTS {
            return Err(NoRouters(format!("packets find their ways in a table, which has room for {MAX_HOSTS} hosts")));
        }
        let (mut first, mut links) = (vec![0], Vec::new());
        let mut is_used = vec![false; topology.links().len()];
        for (from, to) in pairs(hosts) {
            let start = links.len();
            if from != to {
                topology.route(from, to, &mut links);
                if links.len() == start {
                    return Err(NoRouters(format!("there is no route from host {} to host {}", from.0, to.0)));
                }
            }
            links[start..].iter().for_each(|link| is_used[link.index()] = true);
            first.push(links.len());
        }
        if i32::try_from(links.len()).is_err() {
            return Err(NoRouters("its routes are too long for a table".to_owned()));
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

    /// The routes between each two hosts. Those from a host to itself are empty.
    fn all(&self) -> impl Iterator<Item = (HostId, HostId, &[LinkId])> {
        let routes = self.first.windows(2).map(|ends| &self.links[ends[0]..ends[1]]);
        pairs(self.hosts).zip(routes).map(|((from, to), route)| (from, to, route))
    }

    /// Finds fault with links that are no channels of one and the same clock.
    fn check_links<T: Topology + ?Sized>(&self, topology: &T) -> Result<(), NoRouters> {
        let Some(&first) = self.used.first() else { return Ok(()) };
        let of = |link: LinkId| topology.links()[link.index()];
        let name = |link| topology.link_name(link);
        for &link in &self.used {
            let bandwidth = of(link).bandwidth;
            if of(link).sharing == Sharing::FatPipe {
                return Err(NoRouters(format!("packets share a link, and `{}` is a fat pipe", name(link))));
            }
            if bandwidth != of(first).bandwidth {
                return Err(NoRouters(format!(
                    "a channel carries a phit in each cycle, so that links have one bandwidth, but `{}` has {} B/s and \
                     `{}` {bandwidth} B/s",
                    name(first),
                    of(first).bandwidth,
                    name(link),
                )));
            }
        }
        Ok(())
    }
}

/// Each two hosts, and each host with itself.
fn pairs(hosts: u32) -> impl Iterator<Item = (HostId, HostId)> {
    (0..hosts).flat_map(move |from| (0..hosts).map(move |to| (HostId(from), HostId(to))))
}

/// The hosts and the ends of links, in sets of those that are at one place.
struct Ends {
    hosts: u32,
    parent: Vec<u32>,
}

impl Ends {
    fn of<T: Topology + ?Sized>(topology: &T, routes: &AllRoutes) -> Self {
        let hosts = routes.hosts;
        let mut ends = Self { hosts, parent: (0..hosts + 2 * topology.links().len() as u32).collect() };
        for (from, to, route) in routes.all() {
            let (Some(&first), Some(&last)) = (route.first(), route.last()) else { continue };
            ends.join(from.0, ends.begin(first));
            route.windows(2).for_each(|links| ends.join(ends.end(links[0]), ends.begin(links[1])));
            ends.join(ends.end(last), to.0);
        }
        ends
    }

    fn begin(&self, link: LinkId) -> u32 {
        self.hosts + 2 * link.0
    }

    fn end(&self, link: LinkId) -> u32 {
        self.hosts + 2 * link.0 + 1
    }

    /// The one that stands for all that are at the same place.
    fn place(&self, mut element: u32) -> u32 {
        while self.parent[element as usize] != element {
            element = self.parent[element as usize];
        }
        element
    }

    /// Notes that two are at the same place. Hosts have the smallest numbers, so that a host stands for its place.
    fn join(&mut self, one: u32, other: u32) {
        let (one_place, other_place) = (self.place(one), self.place(other));
        let place = one_place.min(other_place);
        for joined in [one, other, one_place, other_place] {
            self.parent[joined as usize] = place;
        }
    }

    /// Finds fault with links that begin where they end, hosts at one place, and routes that pass a place twice.
    fn check<T: Topology + ?Sized>(&self, topology: &T, routes: &AllRoutes) -> Result<(), NoRouters> {
        for &link in &routes.used {
            if self.place(self.begin(link)) == self.place(self.end(link)) {
                return Err(NoRouters(format!(
                    "by its routes, `{}` begins where it ends: packets need a link for each direction of a cable, and \
                     pass no limiters",
                    topology.link_name(link)
                )));
            }
        }
        if let Some(host) = (0..self.hosts).find(|&host| self.place(host) != host) {
            let other = self.place(host);
            return Err(NoRouters(format!("by its routes, hosts {other} and {host} are one and the same")));
        }
        let mut places = Vec::new();
        for (from, to, route) in routes.all() {
            places.clear();
            places.extend(route.iter().map(|&link| self.place(self.end(link))));
            places.push(from.0);
            places.sort_unstable();
            if from != to && places.windows(2).any(|places| places[0] == places[1]) {
                return Err(NoRouters(format!(
                    "the route from host {} to host {} passes a router twice",
                    from.0, to.0
                )));
            }
        }
        Ok(())
    }
}

/// The channels between routers, and how hosts are attached.
struct Channels {
    routers: Vec<Vec<Port>>,
    hosts: Vec<HostPort>,
    /// For each link that is a port, its number at its router.
    port: Vec<PortIndex>,
}

impl Channels {
    fn new(ends: &Ends, routes: &AllRoutes) -> Self {
        let cables = host_cables(ends, routes);
        let is_cable = |link: LinkId| {
            let [begin, end] = [ends.begin(link), ends.end(link)].map(|end| ends.place(end));
            cables.is_some() && begin.min(end) < ends.hosts
        };
        let mut number = vec![None; ends.parent.len()];
        let mut routers: Vec<Vec<Port>> = Vec::new();
        let mut router = |place: u32| {
            *number[place as usize].get_or_insert_with(|| {
                routers.push(Vec::new());
                RouterId(routers.len() as u32 - 1)
            })
        };
        let hosts = match &cables {
            Some(cables) => {
                let attached = |&(up, down): &(LinkId, LinkId)| (router(ends.place(ends.end(up))), Some((up, down)));
                cables.iter().map(attached).map(|(router, cable)| HostPort { router, cable }).collect()
            }
            None => (0..ends.hosts).map(|host| HostPort { router: router(host), cable: None }).collect(),
        };
        let channels: Vec<(RouterId, Port)> = routes
            .used
            .iter()
            .filter(|&&link| !is_cable(link))
            .map(|&link| {
                let to = router(ends.place(ends.end(link)));
                (router(ends.place(ends.begin(link))), Port { to: Some(to), link })
            })
            .collect();
        let mut port = vec![PortIndex(0); routes.used.last().map_or(0, |last| last.index() + 1)];
        for (from, channel) in channels {
            let ports = &mut routers[from.index()];
            port[channel.link.index()] = PortIndex(ports.len() as u32);
            ports.push(channel);
        }
        Self { routers, hosts, port }
    }

    fn router_graph<T: Topology + ?Sized>(self, topology: &T, routes: &AllRoutes) -> Result<RouterGraph, NoRouters> {
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
        for (_, _, route) in routes.all() {
            let channels = route.get(cable..route.len().saturating_sub(cable)).unwrap_or_default();
            table.first.push(table.ports.len() as u32);
            table.ports.extend(channels.iter().map(|link| self.port[link.index()]));
            let Ok(layer) = layers.add(channels).try_into() else {
                return Err(NoRouters("its routes need more than 256 virtual channels".to_owned()));
            };
            table.layer.push(layer);
        }
        table.layers = layers.count();
        table.cycle = layers.cycle().iter().map(|&link| topology.link_name(link)).collect();
        let mut graph = RouterGraph::new(self.routers, self.hosts, table);
        graph.loopback.clone_from(&routes.loopback);
        Ok(graph)
    }
}

/// For each host its link to a router and the link back, if each host has one of each and they are no other host's.
fn host_cables(ends: &Ends, routes: &AllRoutes) -> Option<Vec<(LinkId, LinkId)>> {
    let (mut up, mut down) = (vec![Vec::new(); ends.hosts as usize], vec![Vec::new(); ends.hosts as usize]);
    for &link in &routes.used {
        let [begin, end] = [ends.begin(link), ends.end(link)].map(|end| ends.place(end));
        match (begin < ends.hosts, end < ends.hosts) {
            (true, true) => return None,
            (true, false) => up[begin as usize].push(link),
            (false, true) => down[end as usize].push(link),
            (false, false) => {}
        }
    }
    let cable = |(up, down): (&Vec<LinkId>, &Vec<LinkId>)| match (&up[..], &down[..]) {
        (&[up], &[down]) if ends.place(ends.end(up)) == ends.place(ends.begin(down)) => Some((up, down)),
        _ => None,
    };
    up.iter().zip(&down).map(cable).collect()
}
