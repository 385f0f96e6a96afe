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

    /// Appends the links of all shortest paths of a message that takes them in equal parts, with the part on each link.
    pub(super) fn all_paths(&self, ends: (HostId, HostId), parts: &mut Vec<(LinkId, f64)>) {
        let (from, to) = (ends.0.0, ends.1.0);
        // The devices of a level that the message passes: an equal part of it passes each.
        let mut here = vec![from];
        let mut first_device = 0;
        let mut level = 0;
        for stage in &self.stages {
            if level > 0 && here.iter().all(|&device| stage.is_above(device, to)) {
                break;
            }
            let part = 1.0 / here.len() as f64;
            for &device in &here {
                parts.extend(self.limiters.of(first_device + device).map(|link| (link, part)));
                let cables = (0..stage.ports()).map(|port| stage.cable(device, port));
                let links = cables.map(|cable| self.cable.link(cable, Direction::Up));
                parts.extend(links.map(|link| (link, part / f64::from(stage.ports()))));
            }
            let parents = |device| (0..stage.stage.up).map(move |port| stage.parent(device, port));
            here = here.into_iter().flat_map(parents).collect();
            first_device = stage.first_upper;
            level += 1;
        }
        for stage in self.stages[..level].iter().rev() {
            let part = 1.0 / here.len() as f64;
            for device in &mut here {
                let (parent, count) = (*device, stage.stage.count);
                *device = stage.child_towards(parent, to);
                parts.extend(self.limiters.of(stage.first_upper + parent).map(|link| (link, part)));
                let ports = (0..count).map(|parallel| stage.port_to(parent) + parallel * stage.stage.up);
                let links = ports.map(|port| self.cable.link(stage.cable(*device, port), Direction::Down));
                parts.extend(links.map(|link| (link, part / f64::from(count))));
            }
            // Parents of one child follow each other: their positions differ in the stage's digit only.
            here.dedup();
        }
        parts.extend(self.limiters.of(to).map(|link| (link, 1.0)));
    }
}
