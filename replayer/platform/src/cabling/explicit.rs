//! From links and routes as written to the network they make, as far as each of them and all together make sense.

use rustc_hash::{FxHashMap, FxHashSet};
use toml::Spanned;

use crate::resolve::{Resolved, Resolver};
use crate::schema;
use titr_network::topology::{Explicit, HostId, Link, LinkId, Piece, Routes, Topology};

/// Hosts and routers at most where each pair of them is looked at.
const MAX_NODES: usize = 1 << 12;

/// And where each three of them are.
const MAX_NODES_OF_SHORTEST: usize = 1 << 10;

/// Numbers by name.
type Numbers<'w> = FxHashMap<&'w str, u32>;

impl Resolver<'_> {
    /// A network of which every link and route is written.
    pub(super) fn explicit_network(&self, written: &schema::Explicit, network: &schema::Network) -> Resolved<Explicit> {
        self.refuse_keys_of_cables(network)?;
        let (routes, most) = match written.routing {
            schema::ExplicitRouting::Full => (Routes::Full, MAX_NODES),
            schema::ExplicitRouting::Hub => (Routes::Hub, MAX_NODES),
            schema::ExplicitRouting::Floyd => (Routes::Floyd, MAX_NODES_OF_SHORTEST),
            schema::ExplicitRouting::Dijkstra => (Routes::Dijkstra, MAX_NODES_OF_SHORTEST),
        };
        let hosts = written.hosts.get_ref();
        let count = hosts.len() + written.routers.len();
        if hosts.is_empty() {
            return Err(self.wrong(&written.hosts, "there are no hosts"));
        }
        if count > most {
            let message = format!("{count} hosts and routers: a network with such routes has at most {most}");
            return Err(self.wrong(&written.hosts, message));
        }
        let nodes = self.numbered("host or router", hosts.iter().chain(&written.routers))?;
        let links = self.numbered("link", written.links.iter().map(|link| &link.name))?;
        let pieces = self.pieces(&written.routes, &nodes, &links)?;
        let links = written.links.iter().map(|written| {
            let schema::ExplicitLink { name, bandwidth, latency, sharing } = written;
            let (bandwidth, latency, sharing) = (bandwidth.0.bytes_per_second, latency.0, (*sharing).into());
            (name.get_ref().clone(), Link { bandwidth, latency, sharing })
        });
        Ok(Explicit::new(hosts.len() as u32, written.routers.len() as u32, links.collect(), &pieces, routes))
    }

    /// Keys of `[network]` that describe all cables have nothing to describe here.
    fn refuse_keys_of_cables(&self, network: &schema::Network) -> Resolved<()> {
        let schema::Network { bandwidth, latency, duplex, limiter, .. } = network;
        let places = [
            bandwidth.as_ref().map(Spanned::span),
            latency.as_ref().map(Spanned::span),
            duplex.as_ref().map(Spanned::span),
            limiter.as_ref().map(Spanned::span),
        ];
        match places.into_iter().flatten().next() {
            None => Ok(()),
            Some(place) => {
                let mistake = self.source.mistake(Some(place), "no link would be affected by this");
                Err(mistake.with_help("each link of an explicit topology says what it is like"))
            }
        }
    }

    /// Numbers things by their order, if each has a name of its own.
    fn numbered<'w>(&self, kind: &str, names: impl Iterator<Item = &'w Spanned<String>>) -> Resolved<Numbers<'w>> {
        let mut numbers = Numbers::default();
        for (number, name) in (0..).zip(names) {
            if numbers.insert(name.get_ref(), number).is_some() {
                return Err(self.wrong(name, format!("a second {kind} is called `{}`", name.get_ref())));
            }
        }
        Ok(numbers)
    }

    fn known(&self, kind: &str, name: &Spanned<String>, numbers: &Numbers) -> Resolved<u32> {
        let unknown = || self.wrong(name, format!("no {kind} is called `{}`", name.get_ref()));
        numbers.get(name.get_ref().as_str()).copied().ok_or_else(unknown)
    }

    fn pieces(&self, routes: &[schema::ExplicitRoute], nodes: &Numbers, links: &Numbers) -> Resolved<Vec<Piece>> {
        let mut pieces = Vec::with_capacity(routes.len());
        let mut ends = FxHashSet::default();
        for route in routes {
            let from = self.known("host or router", &route.from, nodes)?;
            let to = self.known("host or router", &route.to, nodes)?;
            let between = || format!("from `{}` to `{}`", route.from.get_ref(), route.to.get_ref());
            if !ends.insert((from, to)) {
                return Err(self.wrong(&route.from, format!("a second route {}", between())));
            }
            if route.links.is_empty() {
                return Err(self.wrong(&route.from, format!("the route {} has no links", between())));
            }
            let taken = route.links.iter().map(|link| self.known("link", link, links).map(LinkId));
            pieces.push(Piece { from, to, links: taken.collect::<Resolved<_>>()? });
        }
        Ok(pieces)
    }

    /// Finds fault with hosts between which there is no route.
    pub(super) fn all_connected(&self, written: &schema::Explicit, topology: &dyn Topology) -> Resolved<()> {
        let mut route = Vec::new();
        for (from, name) in (0..).zip(written.hosts.get_ref()) {
            for (to, other) in (0..).zip(written.hosts.get_ref()) {
                topology.route(HostId(from), HostId(to), &mut route);
                if route.is_empty() {
                    let message = format!("there is no route from `{}` to `{}`", name.get_ref(), other.get_ref());
                    return Err(self.wrong(name, message));
                }
                route.clear();
            }
        }
        Ok(())
    }
}
