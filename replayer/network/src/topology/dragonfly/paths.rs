//! The paths of messages through a dragonfly.

use super::{Blade, Dragonfly};
use crate::topology::{Direction, HostId, LinkId, RouteVariant};

impl Dragonfly {
    /// Appends the links of a message on the shortest path.
    pub(super) fn shortest(&self, (from, to): (HostId, HostId), route: &mut Vec<LinkId>) {
        route.extend(self.limiters.of(from.0));
        route.push(self.cable.link(from.0, Direction::Up));
        let (mut at, destination) = (self.blade(from), self.blade(to));
        if at.group != destination.group {
            at = self.to_group(at, destination.group, Some(destination), (from, to), route);
        }
        self.within_group(at, destination, route);
        self.leave(destination, self.cable.link(to.0, Direction::Down), route);
        route.extend(self.limiters.of(to.0));
    }

    /// Appends the links of a message to another group an equal part of which passes each of the other groups, as with
    /// Valiant's routing of packets. Nothing for a message within a group, or if there are two groups only.
    pub(super) fn spread_over_groups(&self, (from, to): (HostId, HostId), parts: &mut Vec<(LinkId, f64)>) {
        let (start, destination) = (self.blade(from), self.blade(to));
        let others = (0..self.shape.groups).filter(|&group| group != start.group && group != destination.group);
        let count = others.clone().count();
        if start.group == destination.group || count == 0 {
            return;
        }
        let mut route = Vec::new();
        for group in others {
            let at = self.to_group(start, group, None, (from, to), &mut route);
            let at = self.to_group(at, destination.group, Some(destination), (from, to), &mut route);
            self.within_group(at, destination, &mut route);
        }
        parts.extend(route.drain(..).map(|link| (link, 1.0 / count as f64)));
        route.push(self.cable.link(from.0, Direction::Up));
        self.leave(destination, self.cable.link(to.0, Direction::Down), &mut route);
        route.extend([from, to].iter().filter_map(|host| self.limiters.of(host.0)));
        parts.extend(route.into_iter().map(|link| (link, 1.0)));
    }

    /// Appends the links of a message at `at` to another group, by the link that is the nearest, to `destination` too if it is
    /// there. Returns the router at which the message arrives.
    fn to_group(
        &self,
        mut at: Blade,
        group: u32,
        destination: Option<Blade>,
        (from, to): (HostId, HostId),
        route: &mut Vec<LinkId>,
    ) -> Blade {
        let link = self.shape.exit(at, group, destination, from.0.wrapping_add(to.0));
        if at.blade != link.exit.blade {
            self.leave(at, self.green(at, link.exit.blade), route);
            at.blade = link.exit.blade;
        }
        if at.chassis != link.exit.chassis {
            self.leave(at, self.black(at, link.exit.chassis), route);
            at.chassis = link.exit.chassis;
        }
        self.leave(at, self.blue(at.group, group, link.number), route);
        link.entry
    }

    /// Appends the links of a message at `at` to another router of the group.
    fn within_group(&self, mut at: Blade, destination: Blade, route: &mut Vec<LinkId>) {
        if at.blade != destination.blade {
            self.leave(at, self.green(at, destination.blade), route);
            at.blade = destination.blade;
            if self.variant == RouteVariant::SimGrid {
                at.chassis = 0;
            }
        }
        if at.chassis != destination.chassis {
            self.leave(at, self.black(at, destination.chassis), route);
        }
    }
}
