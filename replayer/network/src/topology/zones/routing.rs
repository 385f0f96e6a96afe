//! The kinds of zones, which define the routes between their points: SimGrid's `FullZone`, `FloydZone`, `DijkstraZone`,
//! `StarZone`, `VivaldiZone`, `TorusZone` and others.

use rustc_hash::FxHashMap;

use super::PointId;
use crate::topology::shortest::{Piece, ShortestPaths};
use crate::topology::{LinkId, Topology};

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
#[derive(Debug, Default)]
pub struct WrittenRoutes(FxHashMap<(PointId, PointId), WrittenRoute>);

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

impl WrittenRoutes {
    fn new(written: Vec<WrittenRoute>) -> Self {
        Self(written.into_iter().map(|route| ((route.from, route.to), route)).collect())
    }

    /// The route with these ends.
    pub(super) fn get(&self, from: PointId, to: PointId) -> Option<&WrittenRoute> {
        self.0.get(&(from, to))
    }
}

impl ShortestRoutes {
    /// The ends of each written route of the way from one point to another, which have these numbers in the zone; none if there
    /// is no way.
    pub(super) fn path(&self, from: u32, to: u32) -> impl Iterator<Item = (PointId, PointId)> {
        let point = |number: u32| self.points[number as usize];
        self.paths.path(from, to).into_iter().map(move |(from, to)| (point(from), point(to)))
    }
}

impl ZoneRouting {
    /// The written routes alone.
    #[must_use]
    pub fn full(written: Vec<WrittenRoute>) -> Self {
        Self::Full(WrittenRoutes::new(written))
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
        Self::Shortest(WrittenRoutes::new(written), ShortestRoutes { paths, points })
    }
}
