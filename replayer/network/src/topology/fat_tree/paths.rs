//! The paths of messages through a tree.

use super::FatTree;
use crate::topology::{Direction, HostId, LinkId, RouteVariant};

impl FatTree {
    /// Appends the links of the path of a message that takes one path.
    pub(super) fn single_path(&self, ends: (HostId, HostId), route: &mut Vec<LinkId>) {
        let (from, to) = (ends.0.0, ends.1.0);
        let mut here = from;
        let mut first_device = 0;
        let mut level = 0;
        for stage in &self.stages {
            // A message to the own host turns round at the first switch, like one to a neighbour.
            if level > 0 && stage.is_above(here, to) {
                break;
            }
            let port = self.choice.upwards(ends, level, stage.stride) % stage.ports();
            route.extend(self.limiters.of(first_device + here));
            route.push(self.cable.link(stage.cable(here, port), Direction::Up));
            here = stage.parent(here, port);
            first_device = stage.first_upper;
            level += 1;
        }
        let mut last_port = None;
        for (level, stage) in self.stages[..level].iter().enumerate().rev() {
            let child = stage.child_towards(here, to);
            let parallel = match self.variant {
                RouteVariant::Minimal => self.choice.downwards(ends, level) % stage.stage.count,
                RouteVariant::SimGrid => stage.parallel_after(&mut last_port, from, to),
            };
            let port = stage.port_to(here) + parallel * stage.stage.up;
            route.extend(self.limiters.of(stage.first_upper + here));
            route.push(self.cable.link(stage.cable(child, port), Direction::Down));
            here = child;
        }
        route.extend(self.limiters.of(to));
    }
}
