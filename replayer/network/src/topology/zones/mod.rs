//! Nested zones, each with its own kind of routing: SimGrid's platforms, with the routes that SimGrid takes
//! ([`routes`]).
//!
//! A *point* is a host, a router, or a zone as its parent sees it. A zone knows routes between its points
//! ([`ZoneRouting`]). A route between two zones names, for each end, the host or router through which messages leave or
//! enter that zone: its *gateways*.

mod routes;

use rustc_hash::FxHashMap;
use titr_common::format::counted;
use titr_common::time::Time;
use titr_common::units::Seconds;

use super::shortest::{Piece, ShortestPaths};
use super::{HostId, Link, LinkChange, LinkId, NoRouters, RouterGraph, Sharing, Topology, written_routes};
use crate::ids::ids;
use routes::Route;

ids! {
    /// A zone of a platform, numbered from 0. The first one holds all others.
    ZoneId
    /// A host, a router, or a zone as its parent sees it, numbered from 0.
    PointId
}

/// A network of zones.
#[derive(Debug)]
pub struct Zones {
    zones: Vec<Zone>,
    points: Vec<ZonePoint>,
    hosts: Vec<PointId>,
    links: Vec<Link>,
    changes: Vec<LinkChange>,
    names: Vec<String>,
    /// The link from a host to itself, for zones that do not define one. All hosts use the same one, because it is not
    /// shared.
    loopback: LinkId,
    /// Whether some zone adds latencies to those of links.
    has_distances: bool,
}

#[derive(Debug)]
struct Zone {
    /// `None`: it holds all others.
    parent: Option<ZoneId>,
    /// The zone as its parent sees it.
    point: PointId,
    /// The number of zones that it is within.
    depth: u32,
    points: u32,
    /// Whether it contains zones.
    has_children: bool,
    routing: ZoneRouting,
    /// Routes that are taken in place of those which zones make.
    bypasses: WrittenRoutes,
}

#[derive(Debug)]
struct ZonePoint {
    name: String,
    /// The zone that it is in; of the first zone, that zone itself.
    zone: ZoneId,
    /// Its number in that zone.
    index: u32,
    is_zone: bool,
}

impl Zones {
    /// A zone without hosts, in a network where `loopback` is the default link from a host to itself.
    #[must_use]
    pub fn new(name: &str, loopback: Link) -> Self {
        let mut zones = Self {
            zones: Vec::new(),
            points: Vec::new(),
            hosts: Vec::new(),
            links: Vec::new(),
            changes: Vec::new(),
            names: Vec::new(),
            loopback: LinkId(0),
            has_distances: false,
        };
        let point = zones.add_point(ZoneId(0), name, true);
        zones.push_zone(None, point, 0);
        zones.loopback = zones.add_link("__loopback__", Link { sharing: Sharing::FatPipe, ..loopback });
        zones
    }

    /// Adds a zone within another one.
    pub fn add_zone(&mut self, parent: ZoneId, name: &str) -> ZoneId {
        let point = self.add_point(parent, name, true);
        self.zones[parent.index()].has_children = true;
        let depth = self.zones[parent.index()].depth + 1;
        self.push_zone(Some(parent), point, depth)
    }

    fn push_zone(&mut self, parent: Option<ZoneId>, point: PointId, depth: u32) -> ZoneId {
        let (routing, bypasses) = (ZoneRouting::default(), FxHashMap::default());
        self.zones.push(Zone { parent, point, depth, points: 0, has_children: false, routing, bypasses });
        ZoneId(self.zones.len() as u32 - 1)
    }

    /// Adds a host to a zone: the next host of the network.
    pub fn add_host(&mut self, zone: ZoneId, name: &str) -> PointId {
        let point = self.add_point(zone, name, false);
        self.hosts.push(point);
        point
    }

    /// Adds a router to a zone.
    pub fn add_router(&mut self, zone: ZoneId, name: &str) -> PointId {
        self.add_point(zone, name, false)
    }

    fn add_point(&mut self, zone: ZoneId, name: &str, is_zone: bool) -> PointId {
        let index = self.zones.get_mut(zone.index()).map_or(0, |zone| {
            zone.points += 1;
            zone.points - 1
        });
        self.points.push(ZonePoint { name: name.to_owned(), zone, index, is_zone });
        PointId(self.points.len() as u32 - 1)
    }

    /// Adds a link, which routes of any zone may take.
    pub fn add_link(&mut self, name: &str, link: Link) -> LinkId {
        self.links.push(link);
        self.names.push(name.to_owned());
        LinkId(self.links.len() as u32 - 1)
    }

    /// Lets a link change over time, which none of its routes depends on. Links are to be given in the order of their numbers.
    pub fn change_link(&mut self, change: LinkChange) {
        let link = &mut self.links[change.link.index()];
        *link = change.at(Time::ZERO, *link);
        self.changes.extend(change.of_what_changes());
    }

    /// Adds the links of a topology, under the name of its zone, and returns the first of them.
    pub fn add_links_of(&mut self, name: &str, topology: &dyn Topology) -> LinkId {
        let first = LinkId(self.links.len() as u32);
        for (number, link) in (0..).map(LinkId).zip(topology.links()) {
            self.add_link(&format!("{name} {}", topology.link_name(number)), *link);
        }
        first
    }

    /// Sets the rule by which a zone makes routes, when all its points are there.
    pub fn set_routing(&mut self, zone: ZoneId, routing: ZoneRouting) {
        self.has_distances |= matches!(routing, ZoneRouting::Vivaldi { .. });
        self.zones[zone.index()].routing = routing;
    }

    /// Makes messages between two points of a zone, or in two zones within it, take this route instead of the one that
    /// the zones define. Returns whether it is the first such route.
    pub fn add_bypass(&mut self, zone: ZoneId, route: WrittenRoute) -> bool {
        self.zones[zone.index()].bypasses.insert((route.from, route.to), route).is_none()
    }

    /// A zone as its parent sees it.
    #[must_use]
    pub fn point_of(&self, zone: ZoneId) -> PointId {
        self.zone(zone).point
    }

    /// The name of a point.
    #[must_use]
    pub fn point_name(&self, point: PointId) -> &str {
        &self.points[point.index()].name
    }

    /// The zone that a point is in.
    #[must_use]
    pub fn zone_of(&self, point: PointId) -> ZoneId {
        self.points[point.index()].zone
    }

    /// Whether a point is a zone.
    #[must_use]
    pub fn is_zone(&self, point: PointId) -> bool {
        self.points[point.index()].is_zone
    }

    /// Whether a point is in the zone that another point denotes, directly or in a nested zone.
    #[must_use]
    pub fn is_within(&self, point: PointId, zone: PointId) -> bool {
        let mut above = point;
        while let Some(next) = self.above(above) {
            if next == zone {
                return true;
            }
            above = next;
        }
        false
    }

    /// The zone that a point is in, as a point.
    fn above(&self, point: PointId) -> Option<PointId> {
        let zone = self.zone(self.points[point.index()].zone);
        (zone.point != point).then_some(zone.point)
    }

    fn zone(&self, zone: ZoneId) -> &Zone {
        &self.zones[zone.index()]
    }

    fn found(&self, from: HostId, to: HostId) -> Option<Route> {
        let mut route = Route::default();
        let (start, end) = (self.hosts[from.index()], self.hosts[to.index()]);
        let found = self.find(start, end, &mut route).filter(|()| !route.links.is_empty() || route.distance > 0.0);
        if from == to && found.is_none() {
            return Some(Route::of(self.loopback));
        }
        found.map(|()| route)
    }
}

impl Topology for Zones {
    fn name(&self) -> String {
        let hosts = counted(self.hosts.len(), "host", "hosts");
        let links = counted(self.links.len(), "link", "links");
        match self.zones.len() {
            1 => format!("network of {hosts} and {links} as written"),
            zones => format!("network of {hosts} and {links} in {zones} zones as written"),
        }
    }

    fn hosts(&self) -> u32 {
        self.hosts.len() as u32
    }

    fn host_name(&self, host: HostId) -> String {
        self.hosts.get(host.index()).map_or_else(String::new, |point| self.points[point.index()].name.clone())
    }

    fn links(&self) -> &[Link] {
        &self.links
    }

    fn changes(&self) -> &[LinkChange] {
        &self.changes
    }

    fn link_name(&self, link: LinkId) -> String {
        self.names.get(link.index()).cloned().unwrap_or_default()
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        route.extend(self.found(from, to).into_iter().flat_map(|found| found.links));
    }

    fn distance(&self, from: HostId, to: HostId) -> Seconds {
        let distance = if self.has_distances { self.found(from, to).map(|found| found.distance) } else { None };
        Seconds(distance.unwrap_or(0.0))
    }

    fn router_graph(&self) -> Result<RouterGraph, NoRouters> {
        if self.has_distances {
            return Err(NoRouters(
                "packets pass links, and hosts with coordinates have latencies without links".into(),
            ));
        }
        written_routes::router_graph(self)
    }
}

/// A route between two points of a zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenRoute {
    /// The point at which it begins.
    pub from: PointId,
    /// The point at which it ends.
    pub to: PointId,
    /// The links that it takes, in order.
    pub links: Vec<LinkId>,
    /// The hosts or routers at which it begins and ends, where its ends are zones.
    pub gateways: Option<(PointId, PointId)>,
}

/// The way from a point to the middle of a star and back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attachment {
    /// The links to the middle.
    pub up: Vec<LinkId>,
    /// The links from the middle.
    pub down: Vec<LinkId>,
    /// The links by which the point reaches itself, if it does not by the middle.
    pub loopback: Option<Vec<LinkId>>,
}

/// Routes by their ends.
type WrittenRoutes = FxHashMap<(PointId, PointId), WrittenRoute>;

/// The rule by which a zone makes routes between its points.
#[derive(Debug, Default)]
pub enum ZoneRouting {
    /// A zone without routes.
    #[default]
    None,
    /// The written ones alone. Where there is none, a message passes from one point to the other without a link.
    Full(WrittenRoutes),
    /// Written ones one after the other, with fewest links.
    Shortest(WrittenRoutes, ShortestRoutes),
    /// To the centre of a star and back. A link in both parts is taken once.
    Star(FxHashMap<PointId, Attachment>),
    /// A star, with latencies derived from the distances between the points.
    Vivaldi {
        /// The ways to the middle.
        star: FxHashMap<PointId, Attachment>,
        /// For each point, its position in a plane and its height above it, in milliseconds.
        coordinates: FxHashMap<PointId, [f64; 3]>,
    },
    /// The routes of a topology, whose hosts are the zone's points, in order.
    Regular {
        /// The topology.
        topology: Box<dyn Topology>,
        /// The number that the topology's first link has in the network.
        first: LinkId,
    },
}

/// The choice among the written routes.
#[derive(Debug)]
pub struct ShortestRoutes {
    /// Indexed by the numbers of the points in the zone.
    paths: ShortestPaths,
    /// The points, by these numbers.
    points: Vec<PointId>,
}

impl ShortestRoutes {
    /// The ends of each written route of the way from one point to another, which have these numbers in the zone; none if there
    /// is no way.
    fn path(&self, from: u32, to: u32) -> impl Iterator<Item = (PointId, PointId)> {
        let point = |number: u32| self.points[number as usize];
        self.paths.path(from, to).into_iter().map(move |(from, to)| (point(from), point(to)))
    }
}

fn by_ends(written: Vec<WrittenRoute>) -> WrittenRoutes {
    written.into_iter().map(|route| ((route.from, route.to), route)).collect()
}

impl ZoneRouting {
    /// The written routes alone.
    #[must_use]
    pub fn full(written: Vec<WrittenRoute>) -> Self {
        Self::Full(by_ends(written))
    }

    /// The routes with fewest links among `points`, all points of a zone, found by Floyd and Warshall's algorithm.
    #[must_use]
    pub fn floyd(points: Vec<PointId>, written: Vec<WrittenRoute>) -> Self {
        Self::shortest(points, written, ShortestPaths::floyd)
    }

    /// As [`floyd`](Self::floyd), but found by Dijkstra's algorithm. Among equally short routes, the order of the
    /// description decides.
    #[must_use]
    pub fn dijkstra(points: Vec<PointId>, written: Vec<WrittenRoute>) -> Self {
        Self::shortest(points, written, ShortestPaths::dijkstra)
    }

    fn shortest(
        points: Vec<PointId>,
        written: Vec<WrittenRoute>,
        paths: impl FnOnce(u32, &[Piece]) -> ShortestPaths,
    ) -> Self {
        let number: FxHashMap<PointId, u32> = points.iter().copied().zip(0..).collect();
        let pieces: Vec<Piece> = written
            .iter()
            .map(|route| Piece { from: number[&route.from], to: number[&route.to], links: route.links.clone() })
            .collect();
        let paths = paths(points.len() as u32, &pieces);
        Self::Shortest(by_ends(written), ShortestRoutes { paths, points })
    }
}
