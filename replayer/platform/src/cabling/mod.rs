//! From what is written of a network to its topology, as far as it is one that can be built.

mod explicit;

use titr_common::units::Seconds;
use toml::Spanned;

use super::resolve::{Resolved, Resolver};
use super::schema::{self, File, Through};
use titr_network::topology::{
    Backbone, Cable, Dragonfly, Duplex, FatTree, Grid, HostId, Link, Routing, Shape, Sharing, Stage, Star, Topology,
    WithLoopback,
};

/// Hosts at most: a mistyped count is refused rather than filling memory with cables.
const MAX_HOSTS: u64 = 1 << 22;

/// Cables at most, likewise.
const MAX_CABLES: u64 = 1 << 24;

impl Resolver<'_> {
    /// The network, and messages within a host too.
    pub(super) fn topology(&self, file: &File) -> Resolved<Box<dyn Topology>> {
        let count = file.hosts.count.as_ref();
        let topology: Box<dyn Topology> = match file.topology.get_ref() {
            schema::Topology::Star(star) => {
                let Some(count) = count else {
                    let mistake = self.wrong(&file.topology, "a star does not say how many hosts are on it");
                    return Err(mistake.with_help("write count = … under [hosts]"));
                };
                self.within_max_hosts(count, &[*count.get_ref()])?;
                let backbone = star.backbone.as_ref().map(Backbone::from);
                let star = Star::new(*count.get_ref(), self.cable(&file.network)?, backbone);
                limited(star, &file.network, Star::limited)
            }
            schema::Topology::Torus(grid) => {
                let torus = Grid::torus(self.dims(grid)?, self.cable(&file.network)?);
                limited(torus, &file.network, Grid::limited)
            }
            schema::Topology::Mesh(grid) => {
                let mesh = Grid::mesh(self.dims(grid)?, self.cable(&file.network)?);
                limited(mesh, &file.network, Grid::limited)
            }
            schema::Topology::TwistedTorus(grid) => {
                let torus = Grid::twisted_torus(self.twisted_dims(grid)?, self.cable(&file.network)?);
                limited(torus, &file.network, Grid::limited)
            }
            schema::Topology::Xgft(tree) => {
                let laid = FatTree::new(&self.xgft(tree)?, self.cable(&file.network)?);
                limited(laid, &file.network, FatTree::limited)
            }
            schema::Topology::FatTree(tree) => {
                let laid = FatTree::new(&self.stages(tree)?, self.cable(&file.network)?);
                limited(laid.routed(tree.routing.into()), &file.network, FatTree::limited)
            }
            schema::Topology::Dragonfly(fly) => {
                let shape = self.shape(&file.topology, fly)?;
                let fly = Dragonfly::new(shape, fly.routing.into(), self.cable(&file.network)?);
                limited(fly, &file.network, Dragonfly::limited)
            }
            schema::Topology::Explicit(network) => Box::new(self.explicit_network(network, file.network.get_ref())?),
        };
        if let Some(count) = count.filter(|count| *count.get_ref() != topology.hosts()) {
            let message = format!("a {} has {} hosts, not {}", topology.name(), topology.hosts(), count.get_ref());
            return Err(self.wrong(count, message).with_help("change the count or the topology"));
        }
        let topology = self.with_loopback(topology, &file.network.get_ref().loopback)?;
        if let schema::Topology::Explicit(network) = file.topology.get_ref() {
            self.all_connected(network, topology.as_ref())?;
        }
        Ok(topology)
    }

    fn cable(&self, network: &Spanned<schema::Network>) -> Resolved<Cable> {
        let missing = |key| self.wrong(network, format!("missing key `{key}`"));
        let schema::Network { bandwidth, latency, duplex, model, .. } = network.get_ref();
        Ok(Cable {
            bandwidth: bandwidth.as_ref().ok_or_else(|| missing("bandwidth"))?.get_ref().0.bytes_per_second,
            latency: match (latency, model) {
                (Some(latency), _) => latency.get_ref().0,
                (None, schema::Model::Packet) => Seconds(0.0),
                (None, schema::Model::Flow | schema::Model::Ideal) => return Err(missing("latency")),
            },
            duplex: duplex.as_ref().map_or(Duplex::Full, |duplex| (*duplex.get_ref()).into()),
        })
    }

    fn dims<'g>(&self, grid: &'g schema::Grid) -> Resolved<&'g [u32]> {
        let dims = grid.dims.get_ref();
        if dims.is_empty() {
            return Err(self.wrong(&grid.dims, "a grid has at least one dimension"));
        }
        let hosts = self.within_max_hosts(&grid.dims, dims)?;
        let cabled = dims.iter().filter(|&&size| size > 1).count();
        self.within_max_cables(&grid.dims, hosts * cabled as u64)?;
        Ok(dims)
    }

    fn twisted_dims<'g>(&self, grid: &'g schema::Grid) -> Resolved<&'g [u32]> {
        let dims = self.dims(grid)?;
        let is_twistable = matches!(dims, [long, rest @ ..]
            if !rest.is_empty() && rest.len() < 16 && rest.iter().all(|&short| short > 1 && u64::from(*long) == 2 * u64::from(short)));
        if !is_twistable {
            let mistake = self
                .wrong(&grid.dims, "a rectangular twisted torus has one dimension that is twice as long as each other");
            return Err(mistake.with_help("write the long one first, as in dims = [8, 4]"));
        }
        Ok(dims)
    }

    fn xgft(&self, tree: &schema::Xgft) -> Resolved<Vec<Stage>> {
        let (m, w) = (tree.m.get_ref(), tree.w.get_ref());
        if w.len() != m.len() {
            return Err(self.wrong(&tree.w, format!("{} numbers for {} levels", w.len(), m.len())));
        }
        for list in [&tree.m, &tree.w] {
            if list.get_ref().is_empty() || list.get_ref().contains(&0) {
                return Err(self.wrong(list, "a tree has at least one level, and none of its numbers is 0"));
            }
        }
        self.within_max_hosts(&tree.m, m)?;
        let stages: Vec<_> = m.iter().zip(w).map(|(&down, &up)| Stage { down, up, count: 1 }).collect();
        self.within_max_cables(&tree.w, FatTree::cables(&stages))?;
        Ok(stages)
    }

    fn stages(&self, tree: &schema::FatTree) -> Resolved<Vec<Stage>> {
        let down = tree.down.get_ref();
        if let Some(levels) = tree.levels.as_ref().filter(|levels| *levels.get_ref() as usize != down.len()) {
            return Err(self.wrong(levels, format!("the lists describe {} levels", down.len())));
        }
        for list in [Some(&tree.down), Some(&tree.up), tree.count.as_ref()].into_iter().flatten() {
            let numbers = list.get_ref();
            if numbers.len() != down.len() {
                return Err(self.wrong(list, format!("{} numbers for {} levels", numbers.len(), down.len())));
            }
            if numbers.is_empty() || numbers.contains(&0) {
                return Err(self.wrong(list, "a fat-tree has at least one level, and none of its numbers is 0"));
            }
        }
        self.within_max_hosts(&tree.down, down)?;
        let count = tree.count.as_ref().map_or(vec![1; down.len()], |count| count.get_ref().clone());
        let numbers = down.iter().zip(tree.up.get_ref()).zip(count);
        let stages: Vec<_> = numbers.map(|((&down, &up), count)| Stage { down, up, count }).collect();
        self.within_max_cables(&tree.up, FatTree::cables(&stages))?;
        Ok(stages)
    }

    fn shape(&self, written: &Spanned<schema::Topology>, fly: &schema::Dragonfly) -> Resolved<Shape> {
        let value = |number: &Spanned<u32>| *number.get_ref();
        let one_or_more = [&fly.groups, &fly.chassis, &fly.blades, &fly.nodes]
            .into_iter()
            .chain([&fly.blue, &fly.black, &fly.green].into_iter().flatten());
        for number in one_or_more {
            if value(number) == 0 {
                return Err(self.wrong(number, "none of a dragonfly's numbers is 0"));
            }
        }
        let cables = |written: &Option<Spanned<u32>>| written.as_ref().map_or(1, value);
        let shape = Shape {
            groups: value(&fly.groups),
            blue: cables(&fly.blue),
            chassis: value(&fly.chassis),
            black: cables(&fly.black),
            blades: value(&fly.blades),
            green: cables(&fly.green),
            nodes: value(&fly.nodes),
        };
        if shape.groups > shape.blades {
            let Shape { groups, blades, .. } = shape;
            let message = format!("{groups} groups need {groups} blades in a chassis, of which there are {blades}");
            let mistake = self.wrong(&fly.groups, message);
            return Err(mistake.with_help("a group reaches another by the blade of the other's number"));
        }
        self.within_max_hosts(written, &[shape.groups, shape.chassis, shape.blades, shape.nodes])?;
        self.within_max_cables(written, shape.cables())?;
        Ok(shape)
    }

    /// The product of sizes, if it is a number of hosts that a platform may have.
    fn within_max_hosts<T>(&self, written: &Spanned<T>, sizes: &[u32]) -> Resolved<u64> {
        match sizes.iter().fold(1_u64, |hosts, &size| hosts.saturating_mul(u64::from(size))) {
            hosts @ 1..=MAX_HOSTS => Ok(hosts),
            hosts => Err(self.wrong(written, format!("{hosts} hosts: a platform has from 1 to {MAX_HOSTS}"))),
        }
    }

    fn within_max_cables<T>(&self, written: &Spanned<T>, cables: u64) -> Resolved<()> {
        match cables {
            0..=MAX_CABLES => Ok(()),
            _ => Err(self.wrong(written, format!("{cables} cables: a platform has at most {MAX_CABLES}"))),
        }
    }

    fn with_loopback(&self, topology: Box<dyn Topology>, loopback: &schema::Loopback) -> Resolved<Box<dyn Topology>> {
        let Some(through) = loopback.through.as_ref().filter(|through| *through.get_ref() == Through::Switch) else {
            let loopback = Link {
                bandwidth: loopback.bandwidth.0.bytes_per_second,
                latency: loopback.latency.0,
                sharing: loopback.sharing.into(),
            };
            return Ok(Box::new(WithLoopback::new(topology, loopback)));
        };
        let mut route = Vec::new();
        topology.route(HostId(0), HostId(0), &mut route);
        if route.is_empty() {
            let message = format!("in a {} there is no switch at which messages could turn round", topology.name());
            return Err(self.wrong(through, message).with_help("use through = \"memory\""));
        }
        Ok(topology)
    }
}

/// The topology, with the limiters that the network has, if it has any.
fn limited<T: Topology + 'static>(
    topology: T,
    network: &Spanned<schema::Network>,
    limit: fn(T, f64) -> T,
) -> Box<dyn Topology> {
    match &network.get_ref().limiter {
        Some(limiter) => Box::new(limit(topology, limiter.get_ref().0.bytes_per_second)),
        None => Box::new(topology),
    }
}

impl From<&schema::Backbone> for Backbone {
    fn from(written: &schema::Backbone) -> Self {
        Self {
            bandwidth: written.bandwidth.0.bytes_per_second,
            latency: written.latency.0,
            sharing: written.sharing.into(),
        }
    }
}

impl From<schema::Routing> for Routing {
    fn from(written: schema::Routing) -> Self {
        match written {
            schema::Routing::Minimal => Self::Minimal,
            schema::Routing::SimGrid => Self::SimGrid,
        }
    }
}

impl From<schema::Sharing> for Sharing {
    fn from(written: schema::Sharing) -> Self {
        match written {
            schema::Sharing::Shared => Self::Shared,
            schema::Sharing::FatPipe => Self::FatPipe,
        }
    }
}

impl From<schema::Duplex> for Duplex {
    fn from(written: schema::Duplex) -> Self {
        match written {
            schema::Duplex::Full => Self::Full,
            schema::Duplex::Half => Self::Half,
            schema::Duplex::FatPipe => Self::FatPipe,
        }
    }
}
