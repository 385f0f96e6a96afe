//! `[topology.explicit]`

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use titr_common::units::{Bandwidth, Quantity, Seconds};
use titr_document::{Checked, Source};
use titr_network::topology::{Explicit, HostId, Link, LinkId, Piece, Routes, Sharing, Topology};
use toml::Spanned;

use super::Site;

/// Hosts and routers at most, as each pair of them is looked at.
const MAX_NODES: usize = 1 << 12;

/// Hosts and routers at most where each three of them are looked at.
const MAX_NODES_OF_SHORTEST: usize = 1 << 10;

/// `[topology.explicit]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplicitTable {
    /// Names of the hosts.
    hosts: Spanned<Vec<Spanned<String>>>,
    /// Names of the routers. Default: there are none.
    #[serde(default)]
    routers: Vec<Spanned<String>>,
    #[serde(default)]
    links: Vec<LinkTable>,
    #[serde(default)]
    routes: Vec<RouteTable>,
    /// The composition of routes between hosts from the given ones. Default: `"full"`.
    #[serde(default)]
    routing: Routes,
}

/// `[[topology.explicit.links]]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkTable {
    name: Spanned<String>,
    bandwidth: Quantity<Bandwidth>,
    latency: Quantity<Seconds>,
    #[serde(default)]
    sharing: Sharing,
}

/// `[[topology.explicit.routes]]`: one way only.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RouteTable {
    /// A host or router.
    from: Spanned<String>,
    /// A host or router.
    to: Spanned<String>,
    links: Vec<Spanned<String>>,
}

/// Numbers by name.
type Numbers<'w> = FxHashMap<&'w str, u32>;

/// A network with individually specified links and routes.
pub(crate) fn explicit(table: &ExplicitTable, site: &Site) -> Checked<Box<dyn Topology>> {
    let source = site.source;
    if let Some(place) = &site.cable_key {
        let mistake = source.mistake(Some(place.clone()), "no link would be affected by this");
        return Err(mistake.with_help("each link of an explicit topology says what it is like"));
    }
    let most = match table.routing {
        Routes::Full | Routes::Hub => MAX_NODES,
        Routes::Floyd | Routes::Dijkstra => MAX_NODES_OF_SHORTEST,
    };
    let hosts = table.hosts.get_ref();
    let count = hosts.len() + table.routers.len();
    if hosts.is_empty() {
        return Err(source.wrong(&table.hosts, "there are no hosts"));
    }
    if count > most {
        let message = format!("{count} hosts and routers: a network with such routes has at most {most}");
        return Err(source.wrong(&table.hosts, message));
    }
    let nodes = numbered(source, "host or router", hosts.iter().chain(&table.routers))?;
    let links = numbered(source, "link", table.links.iter().map(|link| &link.name))?;
    let pieces = pieces(source, &table.routes, &nodes, &links)?;
    let links = table.links.iter().map(|LinkTable { name, bandwidth, latency, sharing }| {
        let link = Link { bandwidth: bandwidth.0.bytes_per_second, latency: latency.0, sharing: *sharing };
        (name.get_ref().clone(), link)
    });
    let network =
        Explicit::new(hosts.len() as u32, table.routers.len() as u32, links.collect(), &pieces, table.routing);
    all_connected(source, hosts, &network, site.turns_round)?;
    Ok(Box::new(network))
}

/// Numbers elements by their order, and rejects duplicate names.
fn numbered<'w>(source: &Source, kind: &str, names: impl Iterator<Item = &'w Spanned<String>>) -> Checked<Numbers<'w>> {
    let mut numbers = Numbers::default();
    for (number, name) in (0..).zip(names) {
        if numbers.insert(name.get_ref(), number).is_some() {
            return Err(source.wrong(name, format!("a second {kind} is called `{}`", name.get_ref())));
        }
    }
    Ok(numbers)
}

fn known(source: &Source, kind: &str, name: &Spanned<String>, numbers: &Numbers) -> Checked<u32> {
    let unknown = || source.wrong(name, format!("no {kind} is called `{}`", name.get_ref()));
    numbers.get(name.get_ref().as_str()).copied().ok_or_else(unknown)
}

fn pieces(source: &Source, routes: &[RouteTable], nodes: &Numbers, links: &Numbers) -> Checked<Vec<Piece>> {
    let mut pieces = Vec::with_capacity(routes.len());
    let mut ends = FxHashSet::default();
    for route in routes {
        let from = known(source, "host or router", &route.from, nodes)?;
        let to = known(source, "host or router", &route.to, nodes)?;
        let between = || format!("from `{}` to `{}`", route.from.get_ref(), route.to.get_ref());
        if !ends.insert((from, to)) {
            return Err(source.wrong(&route.from, format!("a second route {}", between())));
        }
        if route.links.is_empty() {
            return Err(source.wrong(&route.from, format!("the route {} has no links", between())));
        }
        let taken = route.links.iter().map(|link| known(source, "link", link, links).map(LinkId));
        pieces.push(Piece { from, to, links: taken.collect::<Checked<_>>()? });
    }
    Ok(pieces)
}

/// Rejects hosts without a route between them and, if messages within a host travel through the network, hosts without
/// a route to themselves.
fn all_connected(source: &Source, hosts: &[Spanned<String>], network: &dyn Topology, turns_round: bool) -> Checked<()> {
    let mut route = Vec::new();
    for (from, name) in (0..).zip(hosts) {
        for (to, other) in (0..).zip(hosts).filter(|&(to, _)| to != from || turns_round) {
            network.route(HostId(from), HostId(to), &mut route);
            if route.is_empty() {
                let message = format!("there is no route from `{}` to `{}`", name.get_ref(), other.get_ref());
                return Err(source.wrong(name, message));
            }
            route.clear();
        }
    }
    Ok(())
}
