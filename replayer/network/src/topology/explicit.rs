//! Hosts and routers with explicitly specified links and routes.
//!
//! A *piece* is a path from one host or router to another: a list of links. [`Routes`] selects how routes between hosts
//! are composed of pieces, by SimGrid's kinds of zone (`FullZone`, `StarZone`, `FloydZone`, `DijkstraZone`).

use rustc_hash::FxHashMap;
use serde::Deserialize;
use titr_common::format::counted;

use super::shortest::{Piece, ShortestPaths};
use super::{HostId, Link, LinkId, Topology};

/// A network as written.
#[derive(Clone, Debug)]
pub struct Explicit {
    hosts: u32,
    links: Vec<Link>,
    names: Vec<String>,
    pieces: FxHashMap<(u32, u32), Box<[LinkId]>>,
    routes: Routes,
    /// The paths, for routes that are the shortest.
    shortest: Option<ShortestPaths>,
}

/// The composition of routes between hosts from pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Routes {
    /// Each route is one piece.
    #[default]
    Full,
    /// A piece to the first router and one from there, without links that the route has already taken. A host's piece to
    /// itself is its whole route.
    Hub,
    /// The pieces with fewest links, found by Floyd and Warshall's algorithm.
    Floyd,
    /// The pieces with fewest links, found by Dijkstra's algorithm, which of several that are as short may find another.
    Dijkstra,
}

impl Explicit {
    /// The network of these links, with their names, and these pieces, all with different ends.
    #[must_use]
    pub fn new(hosts: u32, routers: u32, links: Vec<(String, Link)>, pieces: &[Piece], routes: Routes) -> Self {
        let (names, links) = links.into_iter().unzip();
        let shortest = match routes {
            Routes::Full | Routes::Hub => None,
            Routes::Floyd => Some(ShortestPaths::floyd(hosts + routers, pieces)),
            Routes::Dijkstra => Some(ShortestPaths::dijkstra(hosts + routers, pieces)),
        };
        let pieces = pieces.iter().map(|piece| ((piece.from, piece.to), piece.links.clone().into())).collect();
        Self { hosts, links, names, pieces, routes, shortest }
    }

    fn piece(&self, from: u32, to: u32) -> &[LinkId] {
        self.pieces.get(&(from, to)).map_or(&[], |links| links)
    }
}

impl Topology for Explicit {
    fn name(&self) -> String {
        format!(
            "network of {} and {} as written",
            counted(self.hosts, "host", "hosts"),
            counted(self.links.len(), "link", "links")
        )
    }

    fn hosts(&self) -> u32 {
        self.hosts
    }

    fn links(&self) -> &[Link] {
        &self.links
    }

    fn link_name(&self, link: LinkId) -> String {
        self.names.get(link.index()).cloned().unwrap_or_default()
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        match (self.routes, &self.shortest) {
            (Routes::Hub, _) if self.pieces.contains_key(&(from.0, to.0)) => route.extend(self.piece(from.0, to.0)),
            (Routes::Hub, _) => {
                let start = route.len();
                for link in self.piece(from.0, self.hosts).iter().chain(self.piece(self.hosts, to.0)) {
                    if !route[start..].contains(link) {
                        route.push(*link);
                    }
                }
            }
            (_, Some(paths)) => {
                for (from, to) in paths.path(from.0, to.0) {
                    route.extend(self.piece(from, to));
                }
            }
            (_, None) => route.extend(self.piece(from.0, to.0)),
        }
    }
}
