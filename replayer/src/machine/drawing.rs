//! The places of devices in the picture of a machine: a grid for a torus or mesh, rows for the levels of a tree, circles for
//! the groups of a dragonfly, a circle for everything else.

use std::f64::consts::TAU;

use titr_network::properties::{Device, DeviceGraph};
use titr_network::topology::{Lattice, RouterGraph, Shape, Stages};

/// Places of devices, in the unit of the picture.
pub(super) struct Drawing {
    /// The place of each router.
    pub(super) routers: Vec<Point>,
    /// The place of each host: that of its router if they are one node.
    pub(super) hosts: Vec<Point>,
    /// Whether long cables are bent, so that they do not cover the devices between their ends.
    pub(super) is_bent: bool,
    /// The distance of neighbours.
    pub(super) spacing: f64,
}

/// A place in the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// The distance of neighbours in a grid, and of hosts in a row.
const STEP: f64 = 40.0;
const HOST_STEP: f64 = 14.0;

/// The distance of the levels of a tree.
const LEVEL: f64 = 130.0;

impl Point {
    /// The place at an angle and a distance from here.
    fn towards(self, angle: f64, distance: f64) -> Self {
        Self { x: self.x + distance * angle.cos(), y: self.y + distance * angle.sin() }
    }
}

impl Drawing {
    /// The places of the devices of a graph.
    pub(super) fn of(graph: &RouterGraph, devices: &DeviceGraph) -> Self {
        let has_cables = devices.channels.iter().any(|channel| matches!(channel.from, Device::Host(_)));
        if let Some(lattice) = graph.geometry::<Lattice>() {
            let routers: Vec<Point> = (0..lattice.places()).map(|place| of_place(lattice, place)).collect();
            return Self { hosts: routers.clone(), routers, is_bent: true, spacing: STEP };
        }
        match graph.geometry::<Stages>() {
            Some(stages) if devices.routers > 1 => Self::tree(stages, devices),
            Some(_) | None => {
                let shape = graph.geometry::<Shape>();
                let size = shape.map_or(1, |shape| shape.chassis * shape.blades);
                Self::circles(size, devices, has_cables)
            }
        }
    }

    /// Hosts in a row, and above them the levels of switches.
    fn tree(stages: &Stages, devices: &DeviceGraph) -> Self {
        let levels = stages.stages.len();
        let width = HOST_STEP * devices.hosts.len().max(24) as f64;
        let row = |count: u32, height: f64| {
            let step = width / f64::from(count);
            (0..count).map(move |place| Point { x: step * (f64::from(place) + 0.5), y: height })
        };
        let height = |level: usize| LEVEL * (levels - level) as f64;
        let routers = (1..=levels).flat_map(|level| row(stages.switches(level), height(level))).collect();
        let hosts = row(devices.hosts.len() as u32, LEVEL * (levels as f64 - 0.4)).collect();
        Self { routers, hosts, is_bent: false, spacing: HOST_STEP }
    }

    /// Groups of `size` routers, each group in a circle, on a large circle; hosts outside of their routers.
    fn circles(size: u32, devices: &DeviceGraph, has_cables: bool) -> Self {
        let groups = devices.routers.div_ceil(size.max(1)).max(1);
        let most_hosts = devices.hosts_of_routers().into_iter().max().unwrap_or_default();
        let host_radius = if has_cables { 16.0 + 4.0 * f64::from(most_hosts).sqrt() } else { 0.0 };
        let fan = HOST_STEP * f64::from(most_hosts) / TAU;
        let radius = if size == 1 { 0.0 } else { (1.3 * STEP * f64::from(size) / TAU).max(22.0) };
        let room = 2.0 * (radius + host_radius) + 16.0;
        let large = if groups == 1 { 0.0 } else { (room * f64::from(groups) / TAU).max(60.0) };
        let mut angles = Vec::new();
        let routers: Vec<Point> = (0..devices.routers)
            .map(|router| {
                let of_group = TAU * f64::from(router / size) / f64::from(groups) - TAU / 4.0;
                let of_router = TAU * f64::from(router % size) / f64::from(size) + of_group;
                angles.push(if size == 1 { of_group } else { of_router });
                Point::default().towards(of_group, large).towards(of_router, radius)
            })
            .collect();
        let hosts_of_routers = devices.hosts_of_routers();
        let mut drawn = vec![0; routers.len()];
        let place = |router: &titr_network::topology::RouterId| {
            let (number, count) = (f64::from(drawn[router.index()]), f64::from(hosts_of_routers[router.index()]));
            drawn[router.index()] += 1;
            let at = routers[router.index()];
            if !has_cables {
                return at;
            }
            if devices.routers == 1 {
                return at.towards(TAU * number / count - TAU / 4.0, fan.max(60.0));
            }
            let spread = (0.5 * count).min(2.6);
            at.towards(angles[router.index()] + spread * ((number + 0.5) / count - 0.5), host_radius)
        };
        let hosts = devices.hosts.iter().map(place).collect();
        Self { routers, hosts, is_bent: false, spacing: STEP }
    }

    /// The place of a device.
    pub(super) fn at(&self, device: Device) -> Point {
        let place = match device {
            Device::Router(router) => self.routers.get(router.index()),
            Device::Host(host) => self.hosts.get(host.index()),
        };
        place.copied().unwrap_or_default()
    }
}

/// The place of a node of a grid: dimensions in turn go to the right and down, and from the third on in larger steps.
fn of_place(lattice: &Lattice, place: u32) -> Point {
    let mut rest = place;
    let (mut at, mut steps) = ([0.0, 0.0], [STEP, STEP]);
    for (dimension, &size) in lattice.sizes().iter().enumerate() {
        let axis = dimension % 2;
        at[axis] += steps[axis] * f64::from(rest % size);
        // Planes are not quite level, so that the cables between them do not cover each other.
        at[1 - axis] += if dimension > 1 { 0.4 * STEP * f64::from(rest % size) } else { 0.0 };
        steps[axis] = steps[axis] * f64::from(size) + STEP;
        rest /= size;
    }
    Point { x: at[0], y: at[1] }
}
