//! Tori and meshes: hosts on a grid of any number of dimensions, each cabled to its neighbours.
//!
//! **Numbering.** Host `x₀ + d₀·(x₁ + d₁·(x₂ + …))` has the coordinates x; the first dimension varies fastest. A cable
//! runs from a host to the next in one dimension (+1). In a torus the last is followed by the first.
//!
//! **Routing** is in dimension order, the first dimension first, the shorter way round each ring. Where both ways are as
//! long — half round a ring of even length d — it goes up, except from d/2 down to 0. That is SimGrid's rule, and it is
//! not symmetric, so that there and back use different cables.

use super::cable::Direction;
use super::limiter::Limiters;
use super::{Cable, HostId, Link, LinkId, Topology};

/// Hosts on a grid.
#[derive(Clone, Debug)]
pub struct Grid {
    dims: Vec<Dim>,
    /// What becomes of the ends of each row.
    closed: bool,
    hosts: u32,
    cable: Cable,
    links: Vec<Link>,
    limiters: Limiters,
}

/// One dimension.
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
        Self::new(sizes, true, cable)
    }

    /// A mesh of these sizes, likewise.
    #[must_use]
    pub fn mesh(sizes: &[u32], cable: Cable) -> Self {
        Self::new(sizes, false, cable)
    }

    fn new(sizes: &[u32], closed: bool, cable: Cable) -> Self {
        let hosts = sizes.iter().product::<u32>();
        let (mut stride, mut first_cable) = (1, 0);
        let mut dims = Vec::with_capacity(sizes.len());
        for &size in sizes {
            // A ring of one host needs no cable.
            let cables = if closed && size > 1 { size } else { size - 1 };
            dims.push(Dim { size, stride, cables, first_cable });
            stride *= size;
            first_cable += hosts / size * cables;
        }
        Self { dims, closed, hosts, cable, links: cable.lay(first_cable), limiters: Limiters::default() }
    }

    /// The same, but no host passes on more than `bandwidth` in all.
    #[must_use]
    pub fn limited(mut self, bandwidth: f64) -> Self {
        self.limiters = Limiters::lay(self.hosts, bandwidth, &mut self.links);
        self
    }

    /// Whether the way from one coordinate to another is up.
    fn goes_up(&self, dim: Dim, from: u32, to: u32) -> bool {
        if !self.closed {
            return to > from;
        }
        let up = (to + dim.size - from) % dim.size;
        let middle = dim.size.is_multiple_of(2) && from == dim.size / 2;
        2 * up < dim.size || 2 * up == dim.size && !middle
    }
}

impl Dim {
    fn coordinate(self, host: u32) -> u32 {
        host / self.stride % self.size
    }

    /// `host`, moved to another coordinate.
    fn at(self, host: u32, coordinate: u32) -> u32 {
        host + coordinate * self.stride - self.coordinate(host) * self.stride
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

    /// The coordinate after this, in a ring.
    fn above(self, coordinate: u32) -> u32 {
        (coordinate + 1) % self.size
    }

    /// The one before.
    fn below(self, coordinate: u32) -> u32 {
        (coordinate + self.size - 1) % self.size
    }
}

impl Topology for Grid {
    fn name(&self) -> String {
        let sizes: Vec<_> = self.dims.iter().map(|dim| dim.size.to_string()).collect();
        format!("{} {}", if self.closed { "torus" } else { "mesh" }, sizes.join("×"))
    }

    fn hosts(&self) -> u32 {
        self.hosts
    }

    fn links(&self) -> &[Link] {
        &self.links
    }

    fn link_name(&self, link: LinkId) -> String {
        if let Some(host) = self.limiters.device(link) {
            return format!("node-{host} limiter");
        }
        let (cable, direction) = self.cable.of_link(link);
        let along = self.dims.iter().rposition(|dim| dim.cables > 0 && dim.first_cable <= cable).unwrap_or_default();
        let Some(&dim) = self.dims.get(along) else {
            return format!("link {}", link.0);
        };
        let below = dim.host_below(cable);
        let above = dim.at(below, dim.above(dim.coordinate(below)));
        let axis = match along {
            0..=2 => ["x", "y", "z"][along].to_owned(),
            _ => format!("d{along}"),
        };
        match direction {
            Some(Direction::Up) => format!("node-{below} +{axis}"),
            Some(Direction::Down) => format!("node-{above} -{axis}"),
            None => format!("node-{below} to node-{above}"),
        }
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Vec<LinkId>) {
        let mut here = from.0;
        for &dim in &self.dims {
            let target = dim.coordinate(to.0);
            let up = self.goes_up(dim, dim.coordinate(here), target);
            while dim.coordinate(here) != target {
                let coordinate = dim.coordinate(here);
                route.extend(self.limiters.of(here));
                if up {
                    route.push(self.cable.link(dim.cable_up(here), Direction::Up));
                    here = dim.at(here, dim.above(coordinate));
                } else {
                    here = dim.at(here, dim.below(coordinate));
                    route.push(self.cable.link(dim.cable_up(here), Direction::Down));
                }
            }
        }
        route.extend(self.limiters.of(to.0));
    }
}
