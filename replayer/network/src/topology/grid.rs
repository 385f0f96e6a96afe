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
use super::{
    Cable, Duplex, Edge, HostId, HostPort, Lattice, Link, LinkId, NoRouters, Port, RouterGraph, RouterId, Topology,
    written_routes,
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
        let kind = match self.lattice.edge() {
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
