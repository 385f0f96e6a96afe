//! The stages of a tree: the cables between two levels, and the devices that they join.

use crate::topology::{Geometry, PortChoice, RouterId};

/// The stages of a tree, from the hosts upwards. Routers are switches, numbered level by level from the lowest. Ports
/// lead first down, child by child, with those to one child in sequence; then up, parent by parent, with those to one
/// parent in sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stages {
    /// The cables between each two levels.
    pub stages: Vec<Stage>,
    /// The choice of ports of messages.
    pub choice: PortChoice,
}

impl Geometry for Stages {
    fn family(&self) -> &'static str {
        "tree"
    }

    fn router_name(&self, router: RouterId) -> String {
        let (mut level, mut position) = (1, router.0);
        while level < self.stages.len() && position >= self.switches(level) {
            position -= self.switches(level);
            level += 1;
        }
        format!("switch-{level}.{position}")
    }
}

impl Stages {
    /// The number of switches of a level, from 1.
    #[must_use]
    pub fn switches(&self, level: usize) -> u32 {
        let (below, above) = self.stages.split_at(level.min(self.stages.len()));
        below.iter().map(|stage| stage.up).product::<u32>() * above.iter().map(|stage| stage.down).product::<u32>()
    }
}

/// The cables between two levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Children of each device of the upper level.
    pub down: u32,
    /// Parents of each device of the lower level.
    pub up: u32,
    /// Parallel cables between a child and a parent.
    pub count: u32,
}

/// A stage and its position in the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Laid {
    pub stage: Stage,
    /// The distance between positions whose digits of this stage differ by one: the product of `up` of the stages below.
    pub stride: u32,
    /// Hosts below each device of the lower level: the product of `down` of the stages below.
    pub hosts: u32,
    /// The cables of this stage are numbered from here, by lower device and port.
    pub first_cable: u32,
    /// The first device of the upper level, where hosts and switches are numbered level by level.
    pub first_upper: u32,
}

impl Laid {
    /// The position of the device that has the label of the device at `position` except for `digit` in this stage. The
    /// stage's digit has `from` values in the old level and `to` in the new one.
    pub(super) fn redigit(self, position: u32, from: u32, to: u32, digit: u32) -> u32 {
        position % self.stride + self.stride * (digit + to * (position / self.stride / from))
    }

    /// The position of the parent that `port` of the device at `position` leads to.
    pub(super) fn parent(self, position: u32, port: u32) -> u32 {
        self.redigit(position, self.stage.down, self.stage.up, port % self.stage.up)
    }

    /// The position of the child of the switch at `position` that is above `host`.
    pub(super) fn child_towards(self, position: u32, host: u32) -> u32 {
        self.redigit(position, self.stage.up, self.stage.down, host / self.hosts % self.stage.down)
    }

    /// The upward port of a child that leads to the switch at `position`, by the first of its parallel cables.
    pub(super) fn port_to(self, position: u32) -> u32 {
        position / self.stride % self.stage.up
    }

    /// The parallel cable downwards that SimGrid takes; updates the port where SimGrid found it. Ports downwards are
    /// numbered by parallel cable and then by child.
    pub(super) fn parallel_after(self, last_port: &mut Option<u32>, from: u32, to: u32) -> u32 {
        let Stage { down, count, .. } = self.stage;
        let child = to / self.hosts % down;
        let at_or_after = |port: u32| port + (child + down - port % down) % down;
        let next = last_port.map(|port| at_or_after(port + 1)).filter(|port| *port < down * count);
        let port = next.unwrap_or(at_or_after(from % count * down));
        *last_port = Some(port);
        port / down
    }

    /// Ports upwards of each device of the lower level.
    pub(super) fn ports(self) -> u32 {
        self.stage.up * self.stage.count
    }

    pub(super) fn cable(self, child: u32, port: u32) -> u32 {
        self.first_cable + child * self.ports() + port
    }

    /// Whether `host` is below the device at `position` of the lower level.
    pub(super) fn is_above(self, position: u32, host: u32) -> bool {
        position / self.stride == host / self.hosts
    }
}
