//! Tori, twisted or not, and meshes: hosts on a grid of any number of dimensions, each cabled to its neighbours.
//!
//! **Numbering.** Host `x₀ + d₀·(x₁ + d₁·(x₂ + …))` has the coordinates x; the first dimension varies fastest. A cable
//! runs from a host to the next in one dimension (+1). In a torus the last is followed by the first.
//!
//! **Routing** is in dimension order, the first dimension first, along the shorter direction of each ring. If both
//! directions are equally long — half way round a ring of even length d — the route goes up, except from d/2 down to 0.
//! This is SimGrid's rule; it is not symmetric, so the two directions of a pair use different cables. In a twisted
//! torus the route is one of the shortest that [`Lattice`] knows, also in dimension order.

use super::cable::{Direction, Limiters};
use super::routing::{BuildRouting, Header, OutputVc, PacketAt, Routing, RoutingOptions, Unroutable, roomiest};
use super::{
    Cable, ChannelIndex, Duplex, Edge, HostId, HostPort, Lattice, Link, LinkId, NoRouters, Port, PortIndex,
    RouterGraph, RouterId, Topology, written_routes,
};

/// Hosts on a grid.
#[derive(Clone, Debug)]
pub struct Grid {
    lattice: Lattice,
    dims: Vec<Dim>,
    cable: Cable,
    links: Vec<Link>,
    limiters: Limiters,
}

/// A dimension of the grid.
#[derive(Clone, Copy, Debug)]
struct Dim {
    /// Hosts in a row.
    size: u32,
    /// The difference between the numbers of neighbours: the product of the sizes before.
    stride: u32,
    /// Cables in a row.
    cables: u32,
    /// The first cable along this dimension. They are numbered row by row.
    first_cable: u32,
}

impl Grid {
    /// A torus of these sizes. Their product must fit a `u32`.
    #[must_use]
    pub fn torus(sizes: &[u32], cable: Cable) -> Self {
        Self::new(sizes, Edge::Closed, cable)
    }

    /// A mesh of these sizes. Their product must fit a `u32`.
    #[must_use]
    pub fn mesh(sizes: &[u32], cable: Cable) -> Self {
        Self::new(sizes, Edge::Open, cable)
    }

    /// A rectangular twisted torus: all sizes but the first are at least 2, and half the first.
    #[must_use]
    pub fn twisted_torus(sizes: &[u32], cable: Cable) -> Self {
        Self::new(sizes, Edge::Twisted, cable)
    }

    fn new(sizes: &[u32], edge: Edge, cable: Cable) -> Self {
        let lattice = Lattice::new(sizes, edge);
        let hosts = lattice.places();
        let (mut stride, mut first_cable) = (1, 0);
        let mut dims = Vec::with_capacity(sizes.len());
        for &size in sizes {
            // A ring of one host needs no cable.
            let cables = if edge != Edge::Open && size > 1 { size } else { size - 1 };
            dims.push(Dim { size, stride, cables, first_cable });
            stride *= size;
            first_cable += hosts / size * cables;
        }
        Self { lattice, dims, cable, links: cable.lay(first_cable), limiters: Limiters::default() }
    }

    /// The grid in which no host passes on more than `bandwidth` in all.
    #[must_use]
    pub fn limited(mut self, bandwidth: f64) -> Self {
        self.limiters = Limiters::lay(self.hosts(), bandwidth, &mut self.links);
        self
    }

    /// The steps of the route from one host to another, dimension by dimension.
    fn steps(&self, from: HostId, to: HostId) -> Vec<i32> {
        let mut steps = vec![0; self.dims.len()];
        let ties = self.dims.iter().rev().fold(0, |ties, dim| {
            let middle = dim.size.is_multiple_of(2) && dim.coordinate(from.0) == dim.size / 2;
            ties << 1 | u64::from(!middle)
        });
        self.lattice.displacement(from.0, to.0, ties, &mut steps);
        steps
    }

    /// The link from a host along a dimension, and where it ends.
    fn hop(&self, from: u32, along: usize, direction: Direction) -> Option<(LinkId, u32)> {
        let to = self.lattice.neighbour(from, along, direction)?;
        let below = match direction {
            Direction::Up => from,
            Direction::Down => to,
        };
        Some((self.cable.link(self.dims[along].cable_up(below), direction), to))
    }
}

impl Dim {
    fn coordinate(self, host: u32) -> u32 {
        host / self.stride % self.size
    }

    /// The cable from `host` to the next.
    fn cable_up(self, host: u32) -> u32 {
        let row = host / (self.stride * self.size) * self.stride + host % self.stride;
        self.first_cable + row * self.cables + self.coordinate(host)
    }

    /// The host that `cable_up` is the cable of.
    fn host_below(self, cable: u32) -> u32 {
        let (row, coordinate) = ((cable - self.first_cable) / self.cables, (cable - self.first_cable) % self.cables);
        row / self.stride * self.stride * self.size + coordinate * self.stride + row % self.stride
    }
}

/// The name of a dimension.
fn axis(along: usize) -> String {
    match along {
        0..=2 => ["x", "y", "z"][along].to_owned(),
        _ => format!("d{along}"),
    }
}

impl Grid {
    /// The dimension that a cable is along.
    fn dimension(&self, cable: u32) -> usize {
        self.dims.iter().rposition(|dim| dim.cables > 0 && dim.first_cable <= cable).unwrap_or_default()
    }
}

impl Topology for Grid {
    fn name(&self) -> String {
        let sizes: Vec<_> = self.dims.iter().map(|dim| dim.size.to_string()).collect();
        let kind = match self.lattice.edge {
            Edge::Open => "mesh",
            Edge::Closed => "torus",
            Edge::Twisted => "twisted torus",
        };
        format!("{kind} {}", sizes.join("×"))
    }

    fn hosts(&self) -> u32 {
        self.lattice.places()
    }

    fn links(&self) -> &[Link] {
        &self.links
    }

    fn link_name(&self, link: LinkId) -> String {
        if let Some(host) = self.limiters.device(link) {
            return format!("node-{host} limiter");
        }
        let (cable, direction) = self.cable.of_link(link);
        let along = self.dimension(cable);
        let Some(&dim) = self.dims.get(along) else {
            return format!("link {}", link.0);
        };
        let below = dim.host_below(cable);
        let above = self.lattice.neighbour(below, along, Direction::Up).unwrap_or(below);
        let axis = axis(along);
        match direction {
            Some(Direction::Up) => format!("node-{below} +{axis}"),
            Some(Direction::Down) => format!("node-{above} -{axis}"),
            None => format!("node-{below} to node-{above}"),
        }
    }

    fn link_class(&self, link: LinkId) -> String {
        match self.limiters.device(link) {
            Some(_) => "limiters".to_owned(),
            None => axis(self.dimension(self.cable.of_link(link).0)),
        }
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        let mut here = from.0;
        for (along, steps) in self.steps(from, to).into_iter().enumerate() {
            let direction = if steps > 0 { Direction::Up } else { Direction::Down };
            for _ in 0..steps.abs() {
                let Some((link, next)) = self.hop(here, along, direction) else { return };
                route.extend(self.limiters.of(here));
                route.push(link);
                here = next;
            }
        }
        route.extend(self.limiters.of(to.0));
    }

    fn router_graph(&self) -> Result<RouterGraph, NoRouters> {
        if self.cable.duplex != Duplex::Full || !self.limiters.is_empty() {
            return written_routes::router_graph(self);
        }
        let port = |host, along, direction| match self.hop(host, along, direction) {
            Some((link, to)) => Port { to: Some(RouterId(to)), link },
            None => Port { to: None, link: LinkId::default() },
        };
        let ports = |host| {
            let along = 0..self.dims.len();
            along.flat_map(|along| [Direction::Up, Direction::Down].map(|way| port(host, along, way))).collect()
        };
        let hosts = (0..self.hosts()).map(|router| HostPort { router: RouterId(router), cable: None });
        Ok(RouterGraph::new((0..self.hosts()).map(ports), hosts, self.lattice.clone()))
    }
}

// Routing in tori and meshes.
//
// At its host, a packet is given the number of steps along each dimension, of a shortest path; if two are shortest, it
// is a random one of them. Port 2d leads up dimension d and port 2d + 1 down.
//
// **Dimension order** (`dor`): all steps of one dimension before those of the next, on any virtual channel. Each
// direction of each channel of a ring is a cycle of queues, which deadlocks if packets may fill it. The **bubble** (V.
// Puente, C. Izu, R. Beivide, J. A. Gregorio, F. Vallejo, J. M. Prellezo, "The Adaptive Bubble Router", J. Parallel
// and Distributed Computing 61(9), 2001) keeps one place in it free: a packet that continues in its ring requests a
// queue with room for one packet, and a packet that enters — from its host, from another dimension or channel — a
// queue with room for two. Meshes have no rings, and no bubbles.
//
// **Adaptive** (`adaptive`, ibid.): channel 0 is the escape channel, which is routed as above; the others serve any
// dimension with steps left, without restriction. A packet requests the one of these with most room; among equals, the
// dimension in which it has most steps left, because this preserves its choice for longest. Only if none has room, it
// requests the escape channel, which it may leave again.

/// Dimension order and adaptive routing. The state of a packet is the steps left along each dimension.
#[derive(Clone, Debug)]
pub(crate) struct GridRouting {
    lattice: Lattice,
    /// The coordinates of each router, one after the other: looking them up is faster than division.
    coordinates: Vec<i32>,
    adaptive: bool,
    channels: u32,
    /// Room that a packet needs to enter a ring.
    entry: u32,
}

const ADAPTIVE: &str = "adaptive";

impl BuildRouting for GridRouting {
    type Structure = Lattice;

    const NAMES: &'static [&'static str] = &["dor", ADAPTIVE];

    fn new(lattice: &Lattice, options: &RoutingOptions) -> Result<Self, Unroutable> {
        let adaptive = options.is_named(ADAPTIVE);
        let channels = options.virtual_channels.unwrap_or(if adaptive { 3 } else { 1 });
        if adaptive && channels < 2 {
            return Err(Unroutable::Impossible(
                "adaptive routing needs a virtual channel beside the escape channel".to_owned(),
            ));
        }
        let entry = if lattice.edge == Edge::Open { 1 } else { 2 };
        let mut coordinates = Vec::with_capacity(lattice.places() as usize * lattice.sizes.len());
        for mut place in 0..lattice.places() {
            for &size in &lattice.sizes {
                coordinates.push((place % size) as i32);
                place /= size;
            }
        }
        Ok(Self { lattice: lattice.clone(), coordinates, adaptive, channels, entry })
    }
}

impl Routing for GridRouting {
    fn virtual_channels(&self) -> u32 {
        self.channels
    }

    fn state_words(&self) -> usize {
        self.lattice.sizes.len()
    }

    fn has_rings(&self) -> bool {
        self.lattice.edge != Edge::Open
    }

    fn has_alternatives(&self) -> bool {
        self.adaptive
    }

    fn depart(&self, from: RouterId, header: &Header, steps: &mut [i32]) {
        let of = |router: RouterId| &self.coordinates[router.index() * steps.len()..];
        let differences = of(header.destination).iter().zip(of(from)).map(|(to, from)| to - from);
        steps.iter_mut().zip(differences).for_each(|(step, difference)| *step = difference);
        self.lattice.shorten(header.random, steps);
    }

    fn fixed_output(&self, _at: RouterId, _header: &Header, steps: &[i32]) -> Option<PortIndex> {
        if self.adaptive { None } else { next_in_order(steps) }
    }

    fn choose_channel(
        &self,
        port: PortIndex,
        arrival: Option<OutputVc>,
        room: impl Fn(PortIndex, ChannelIndex) -> u32,
    ) -> Option<OutputVc> {
        self.in_order(port, arrival, self.channels, room)
    }

    fn choose(&self, packet: PacketAt, room: impl Fn(PortIndex, ChannelIndex) -> u32) -> Option<OutputVc> {
        let PacketAt { state: steps, arrival, .. } = packet;
        if !self.adaptive {
            return self.in_order(next_in_order(steps)?, arrival, self.channels, room);
        }
        let (mut most, mut best) = ((0, 0), None);
        for (port, left) in open_ports(steps) {
            let Some(vc) = roomiest(std::iter::once(port), 1..self.channels, &room) else { continue };
            let worth = (room(port, vc.channel), left);
            if worth > most {
                (most, best) = (worth, Some(vc));
            }
        }
        best.or_else(|| self.in_order(next_in_order(steps)?, arrival, 1, room))
    }

    fn hop(&self, OutputVc { port, .. }: OutputVc, _to: RouterId, steps: &mut [i32]) {
        let taken = if port.0.is_multiple_of(2) { 1 } else { -1 };
        steps[port.index() / 2] -= taken;
    }
}

impl GridRouting {
    /// The channel with most room among the first `channels` channels of a port, if it has enough.
    fn in_order(
        &self,
        port: PortIndex,
        arrival: Option<OutputVc>,
        channels: u32,
        room: impl Fn(PortIndex, ChannelIndex) -> u32,
    ) -> Option<OutputVc> {
        let (mut most, mut best) = (0, None);
        for channel in (0..channels).map(ChannelIndex) {
            let (room, vc) = (room(port, channel), OutputVc { port, channel });
            let enough = if arrival == Some(vc) { 1 } else { self.entry };
            if room >= enough && room > most {
                (most, best) = (room, Some(vc));
            }
        }
        best
    }
}

/// The ports that take a step of those left, and how many such steps there are.
fn open_ports(steps: &[i32]) -> impl Iterator<Item = (PortIndex, u32)> {
    let ports = (0..)
        .zip(steps)
        .map(|(dimension, &left)| (PortIndex(2 * dimension + u32::from(left < 0)), left.unsigned_abs()));
    ports.filter(|&(_, left)| left > 0)
}

/// The port in the first dimension in which there are steps left.
fn next_in_order(steps: &[i32]) -> Option<PortIndex> {
    let (dimension, left) = (0..).zip(steps).find(|&(_, &left)| left != 0)?;
    Some(PortIndex(2 * dimension + u32::from(*left < 0)))
}
