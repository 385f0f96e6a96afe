//! Topologies: links and the route between two hosts for all network models, and router graphs with their routings for
//! the packet model.
//!
//! **To add a topology** of routers and cables, write a `Wiring` in `fabric/`: routes, routings and limiters come by
//! themselves. For any other, implement [`Topology`] in a new file, and name the file here. Packets then follow its routes.
//! For packets that choose their way, the topology provides a [`RouterGraph`]; a routing for the graph may be in the
//! topology's folder, and is a line in `routings!`.

mod cable;
mod changed_links;
mod dragonfly;
mod explicit;
mod fabric;
mod fat_tree;
mod grid;
mod lattice;
mod loopback;
mod multi_rail;
mod node;
mod router_graph;
mod routing;
mod shortest;
mod star;
mod with_failures;
mod written_routes;
mod zones;

use std::fmt::Debug;
use std::ops::AddAssign;

use serde::Deserialize;
use titr_common::format::volume;
use titr_common::time::Time;
use titr_common::units::{Bytes, Seconds};

use crate::ids::ids;

pub use cable::{Cable, Direction, Duplex};
pub use changed_links::{ChangedLinks, LinkChange, capacity};
pub(crate) use dragonfly::{Blade, DragonflyRouting, GlobalLink};
pub use dragonfly::{Dragonfly, GlobalLinks, Shape};
pub use explicit::{Explicit, Routes};
pub use fabric::{DragonflyPlus, Fabric, HyperX, Jellyfish, NoFabric, NoRegularGraph, RouterCable, SlimFly, Wiring};
pub(crate) use fabric::{HopTable, HopsLeft, UpDownOrder, UpDownPaths, UpDownPlace};
pub(crate) use fat_tree::TreeRouting;
pub use fat_tree::{Ascent, FatTree, PortChoice, Stage, Stages};
pub use grid::Grid;
pub(crate) use grid::GridRouting;
pub use lattice::{Edge, Lattice};
pub use loopback::WithLoopback;
pub(crate) use multi_rail::links_of_rail;
pub use multi_rail::{MultiRail, OneRail, RailChoice, Rails};
pub(crate) use node::NodeTopology;
pub use node::{Inside, Level, Node};
pub use router_graph::{Geometry, NoRouters, RouterGraph};
pub(crate) use router_graph::{HostPort, Port};
pub(crate) use routing::{
    BuildRouting, DegradedRouting, FabricRouting, NonminimalRouting, OutputVc, PacketAt, Routing, RoutingVisitor,
    TableRouting, UpDownRouting, ValiantRouting,
};
pub use routing::{Header, RoutingName, RoutingOptions, UnknownRouting, Unroutable};
pub use shortest::Piece;
pub use star::Star;
pub use with_failures::{Failure, WithFailures};
pub use written_routes::RouteTable;
pub use zones::{Attachment, PointId, WrittenRoute, ZoneId, ZoneRouting, Zones};

routing::routings! {
    Grid(GridRouting),
    Tree(TreeRouting),
    Dragonfly(DragonflyRouting),
    Nonminimal(NonminimalRouting),
    Fabric(FabricRouting),
    Valiant(ValiantRouting),
    UpDown(UpDownRouting),
    Table(TableRouting),
}

ids! {
    /// A host, numbered from 0.
    #[derive(Deserialize)]
    HostId
    /// A link of a topology, numbered from 0. A cable used in both directions at full rate is two links.
    LinkId
    /// A router or switch, numbered from 0.
    RouterId
    /// A port of a router, numbered from 0 at each router.
    PortIndex
    /// A virtual channel of a link, numbered from 0 at each link.
    ChannelIndex
    /// A period of time in which all routes stay the same, numbered from 0.
    RoutePeriod
}

/// The sharing of a link's bandwidth among flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// The rates of all flows sum to at most the bandwidth.
    #[default]
    Shared,
    /// Each flow has at most the bandwidth (SimGrid's FATPIPE): an ideal backbone.
    FatPipe,
}

/// A link between hosts, switches or routers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Bytes per second.
    pub bandwidth: f64,
    /// Time for the first bit to cross.
    pub latency: Seconds,
    /// The sharing of bandwidth among flows.
    pub sharing: Sharing,
}

/// The route of a message, where SimGrid takes another one than the topology's definition says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RouteVariant {
    /// The shortest route that the topology's definition says.
    #[default]
    Minimal,
    /// The route that SimGrid 3.32 takes.
    SimGrid,
}

/// Hosts and the links between them.
pub trait Topology: Debug + Send + Sync {
    /// The name of the topology in reports: `torus 4×4×4`.
    fn name(&self) -> String;

    /// The number of hosts.
    fn hosts(&self) -> u32;

    /// The topology that this one is, but for some properties: what it does not say itself is as there.
    fn inner(&self) -> Option<&dyn Topology> {
        None
    }

    /// The name of a host in messages about it.
    fn host_name(&self, host: HostId) -> String {
        self.inner().map_or_else(|| format!("host {}", host.0), |inner| inner.host_name(host))
    }

    /// The links, by number, as they are at the start.
    fn links(&self) -> &[Link];

    /// The links that change over time, each once, in the order of their numbers.
    fn changes(&self) -> &[LinkChange] {
        self.inner().map_or(&[], |inner| inner.changes())
    }

    /// The name of a link in reports: `node-3 up`, `node-5 +x`.
    fn link_name(&self, link: LinkId) -> String;

    /// The class of a link, such as a dimension or a level, whose links are of one kind in a real machine. If a
    /// topology has no such classes, links with equal bandwidth and latency are a class.
    fn link_class(&self, link: LinkId) -> String {
        if let Some(inner) = self.inner() {
            return inner.link_class(link);
        }
        self.links().get(link.index()).map_or_else(String::new, |&Link { bandwidth, latency, .. }| {
            format!("links of {} a second and {} us", volume(Bytes(bandwidth as u64)), latency.0 * 1e6)
        })
    }

    /// Whether a link is within a host, for messages between its ranks.
    fn is_loopback(&self, link: LinkId) -> bool {
        self.inner().is_some_and(|inner| inner.is_loopback(link))
    }

    /// Whether hosts reach only themselves.
    fn is_within_hosts(&self) -> bool {
        false
    }

    /// Appends to `route` the links of a message from one host to another, in order; if it takes several paths, of one of them. A host has a route to itself if
    /// messages can return at the first switch; if there is no such switch, nothing is appended.
    fn route(&self, from: HostId, to: HostId, route: &mut Vec<LinkId>);

    /// Appends the links of a message that takes several equally short paths, each with the part of the message that takes it.
    /// Appends nothing if a message takes its [route](Self::route_in) alone. A link may come more than once. [`Paths`] asks
    /// both.
    fn spread(&self, period: RoutePeriod, from: HostId, to: HostId, parts: &mut Vec<(LinkId, f64)>) {
        if let Some(inner) = self.inner() {
            inner.spread(period, from, to, parts);
        }
    }

    /// Selects the paths of flows. Returns whether the topology has such paths; if not, nothing changes.
    fn route_flows(&mut self, routing: FlowRouting) -> bool {
        routing == FlowRouting::Minimal
    }

    /// The instants at which routes change, in order. Each ends a period of routes and begins the next;
    /// [`route`](Self::route) has those of the first period.
    fn route_changes(&self) -> &[Time] {
        self.inner().map_or(&[], |inner| inner.route_changes())
    }

    /// The period of routes that an instant is in.
    fn route_period(&self, at: Time) -> RoutePeriod {
        RoutePeriod(self.route_changes().partition_point(|change| *change <= at) as u32)
    }

    /// Appends to `route` the links of a message that is sent in a period, like [`route`](Self::route). Nothing is
    /// appended if failures leave no route.
    fn route_in(&self, period: RoutePeriod, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        match self.inner() {
            Some(inner) => inner.route_in(period, from, to, route),
            None => self.route(from, to, route),
        }
    }

    /// The failures of links and routers during the run.
    fn failures(&self) -> &[Failure] {
        self.inner().map_or(&[], |inner| inner.failures())
    }

    /// Whether links and routes always stay as they are at the start.
    fn is_constant(&self) -> bool {
        self.changes().is_empty() && self.route_changes().is_empty()
    }

    /// Time that a message between two hosts takes besides the latencies of its links: their distance by coordinates.
    fn distance(&self, from: HostId, to: HostId) -> Seconds {
        self.inner().map_or(Seconds(0.0), |inner| inner.distance(from, to))
    }

    /// The rails of the machine. The links of each rail are numbered after those of the rail before, and routes are those on
    /// the first rail.
    fn rails(&self) -> Rails {
        self.inner().map_or(Rails::ONE, |inner| inner.rails())
    }

    /// A rail by its number, with its links numbered from 0; `None` if there is only one rail. The properties of links are
    /// those of [`links`](Self::links).
    fn rail(&self, number: u32) -> Option<&dyn Topology> {
        self.inner()?.rail(number)
    }

    /// Whether rails differ in the properties of links or in failures.
    fn rails_differ(&self) -> bool {
        false
    }

    /// The graph of routers for packets. If a topology does not describe its routers, they are the routers between the
    /// links of its routes, and packets follow these routes.
    ///
    /// # Errors
    /// If packets cannot use the topology.
    fn router_graph(&self) -> Result<RouterGraph, NoRouters> {
        written_routes::router_graph(self)
    }
}

/// The paths of flows, where packets can take several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowRouting {
    /// As the topology says: one path, except in trees that spread messages.
    #[default]
    Minimal,
    /// All shortest paths, evenly: the limit of packets that choose among ports that are equally full.
    Adaptive,
    /// Paths through all intermediate groups or routers, evenly (Valiant's routing).
    Valiant,
    /// A shortest path among those that never go up after they went down (up*/down* routing). In trees, as the topology says.
    UpDown,
}

/// The paths of a message from one host to another. Kept to be used again.
///
/// **Flows over several paths.** Where switches choose a port for each packet, the packets of a message take all paths. In
/// the limit of many packets, each path has an equal part of the message, so a rate r uses part · r of a link.
#[derive(Debug, Default)]
pub struct Paths {
    /// The links of a single path; empty if there are several.
    route: Vec<LinkId>,
    /// The links of several paths, each with the part of the message that takes it.
    parts: Vec<(LinkId, f64)>,
}

impl Paths {
    /// Becomes the paths between two hosts in a period.
    pub fn find(&mut self, topology: &dyn Topology, period: RoutePeriod, (from, to): (HostId, HostId)) {
        self.clear();
        topology.spread(period, from, to, &mut self.parts);
        merge(&mut self.parts);
        if self.parts.is_empty() {
            topology.route_in(period, from, to, &mut self.route);
        }
    }

    /// Becomes no path.
    pub(crate) fn clear(&mut self) {
        self.route.clear();
        self.parts.clear();
    }

    /// The links with the part of the message that takes each. If there are several paths, each link comes once.
    pub fn parts(&self) -> impl Iterator<Item = (LinkId, f64)> {
        self.route.iter().map(|&link| (link, 1.0)).chain(self.parts.iter().copied())
    }

    /// Whether the message takes no link.
    pub(crate) fn is_empty(&self) -> bool {
        self.route.is_empty() && self.parts.is_empty()
    }

    pub(crate) fn are_several(&self) -> bool {
        !self.parts.is_empty()
    }
}

/// Adds the parts of each link, or what else there is several times.
pub(crate) fn merge<K: Copy + Ord, P: Copy + AddAssign>(parts: &mut Vec<(K, P)>) {
    parts.sort_by_key(|&(key, _)| key);
    parts.dedup_by(|(key, part), (kept, sum)| {
        let is_same = key == kept;
        if is_same {
            *sum += *part;
        }
        is_same
    });
}
