//! Routes across zones, as SimGrid 3.32 makes them (`NetZoneImpl::get_global_route`).
//!
//! The *common zone* of two points is the smallest that contains both. It knows a route between the two points, or
//! between its child zones that contain them. This route is preceded by the route from the start to its first gateway,
//! and followed by the route from its last gateway to the end, both found in the same way. If the common zone has a
//! bypass for the two points, or for zones that contain them, the bypass replaces all of that.

use rustc_hash::FxHashMap;

use super::{Attachment, PointId, WrittenRoute, Zone, ZoneId, ZoneRouting, Zones};
use crate::topology::{HostId, LinkId};

/// A partial route.
#[derive(Debug, Default)]
pub(super) struct Route {
    /// Its links, in order.
    pub links: Vec<LinkId>,
    /// Latency in seconds, in addition to the latencies of its links.
    pub distance: f64,
    /// The number of routes that this one is a part of.
    depth: u32,
}

impl Route {
    pub(super) fn of(link: LinkId) -> Self {
        Self { links: vec![link], ..Self::default() }
    }
}

/// The gateways of a route, where its ends are zones.
type Gateways = Option<(PointId, PointId)>;

/// Routes within routes at most: a bypass can lead back to where it is taken.
const MAX_DEPTH: u32 = 1 << 10;

impl Zones {
    /// Appends the way from one point to another to `route`; `None`: there is none.
    pub(super) fn find(&self, from: PointId, to: PointId, route: &mut Route) -> Option<()> {
        route.depth += 1;
        if route.depth > MAX_DEPTH {
            return None;
        }
        let (common, start, end) = self.common_zone(from, to);
        if let Some(bypass) = self.bypass(common, from, to) {
            self.take_bypass(bypass, from, to, route)?;
        } else {
            let mut between = Route { depth: route.depth, ..Route::default() };
            let gateways = self.find_in(common, start, end, &mut between)?;
            if start != from {
                let (gateway, _) = gateways?;
                if gateway != from {
                    self.find(from, gateway, route)?;
                }
            }
            route.links.append(&mut between.links);
            route.distance += between.distance;
            if end != to {
                let (_, gateway) = gateways?;
                if gateway != to {
                    self.find(gateway, to, route)?;
                }
            }
        }
        route.depth -= 1;
        Some(())
    }

    /// The smallest zone that holds both points, and for each point itself, or the zone of that zone's that holds it.
    fn common_zone(&self, from: PointId, to: PointId) -> (ZoneId, PointId, PointId) {
        let (mut start, mut end) = (from, to);
        loop {
            let (here, there) = (self.zone_of(start), self.zone_of(end));
            if here == there {
                return (here, start, end);
            }
            let (above, beyond) = (self.zone(here), self.zone(there));
            if above.depth >= beyond.depth {
                start = above.point;
            }
            if beyond.depth >= above.depth {
                end = beyond.point;
            }
        }
    }

    /// The bypass that a common zone has for two points. For points in zones within it the innermost zones are tried first.
    fn bypass(&self, common: ZoneId, from: PointId, to: PointId) -> Option<&WrittenRoute> {
        let bypasses = &self.zone(common).bypasses;
        if bypasses.is_empty() {
            return None;
        }
        if (self.zone_of(from), self.zone_of(to)) == (common, common) {
            return bypasses.get(&(from, to));
        }
        let (starts, ends) = (self.zones_up_to(common, from), self.zones_up_to(common, to));
        let bypass = |start: usize, end: usize| bypasses.get(&(*starts.get(start)?, *ends.get(end)?));
        (0..starts.len().max(ends.len())).find_map(|outer| {
            let uneven = (0..outer).find_map(|inner| bypass(inner, outer).or_else(|| bypass(outer, inner)));
            uneven.or_else(|| bypass(outer, outer))
        })
    }

    /// The zones below `common` that a point is in, as points, from the innermost.
    fn zones_up_to(&self, common: ZoneId, point: PointId) -> Vec<PointId> {
        let mut zones = Vec::new();
        let mut zone = self.zone_of(point);
        while zone != common {
            let Zone { point, parent: Some(parent), .. } = *self.zone(zone) else { break };
            zones.push(point);
            zone = parent;
        }
        zones
    }

    fn take_bypass(&self, bypass: &WrittenRoute, from: PointId, to: PointId, route: &mut Route) -> Option<()> {
        if from != bypass.from {
            self.find(from, bypass.gateways?.0, route)?;
        }
        route.links.extend(&bypass.links);
        if to != bypass.to {
            self.find(bypass.gateways?.1, to, route)?;
        }
        Some(())
    }

    /// Appends the route that a zone makes between two of its points to `route`, and returns its gateways.
    fn find_in(&self, zone: ZoneId, from: PointId, to: PointId, route: &mut Route) -> Option<Gateways> {
        let zone = self.zone(zone);
        match &zone.routing {
            ZoneRouting::None => None,
            ZoneRouting::Full(routes) => match routes.get(&(from, to)) {
                Some(written) => {
                    route.links.extend(&written.links);
                    Some(written.gateways)
                }
                None => {
                    self.take_loopback(zone, from, to, route);
                    Some(None)
                }
            },
            ZoneRouting::Shortest(routes, _) if from == to => {
                match routes.get(&(from, to)) {
                    Some(written) => route.links.extend(&written.links),
                    None => self.take_loopback(zone, from, to, route),
                }
                Some(None)
            }
            ZoneRouting::Shortest(routes, shortest) => {
                let numbers = [from, to].map(|point| self.points[point.index()].index);
                let path = shortest.path(numbers[0], numbers[1]).map(|ends| routes.get(&ends));
                self.take_path(path.collect::<Option<Vec<_>>>()?, route)
            }
            ZoneRouting::Star(star) => take_star(star, from, to, route),
            ZoneRouting::Vivaldi { star, coordinates } => {
                let gateways = take_star(star, from, to, route)?;
                let [x, y, z] = *coordinates.get(&from)?;
                let [other_x, other_y, other_z] = *coordinates.get(&to)?;
                let milliseconds = (x - other_x).hypot(y - other_y) + z.abs() + other_z.abs();
                route.distance += milliseconds / 1000.0;
                Some(gateways)
            }
            ZoneRouting::Regular { topology, first } => {
                let start = route.links.len();
                let [from, to] = [from, to].map(|point| HostId(self.points[point.index()].index));
                topology.route(from, to, &mut route.links);
                route.links[start..].iter_mut().for_each(|link| link.0 += first.0);
                Some(None)
            }
        }
    }

    /// Appends a host's loopback, which SimGrid has in zones of hosts alone.
    fn take_loopback(&self, zone: &Zone, from: PointId, to: PointId, route: &mut Route) {
        if from == to && !zone.has_children {
            route.links.push(self.loopback);
        }
    }

    /// Appends written routes one after the other. Between two routes of zones, messages pass the zone between their gateways.
    fn take_path(&self, path: Vec<&WrittenRoute>, route: &mut Route) -> Option<Gateways> {
        let (first, last) = (path.first()?, path.last()?);
        let gateways = first.gateways.zip(last.gateways).map(|(first, last)| (first.0, last.1));
        let mut before = None;
        for written in path {
            if let (Some((_, end)), Some((start, _))) = (before, written.gateways)
                && end != start
            {
                self.find(end, start, route)?;
            }
            route.links.extend(&written.links);
            before = written.gateways;
        }
        Some(gateways)
    }
}

/// Appends the way to the middle of a star and from there, without links that it has already taken.
fn take_star(star: &FxHashMap<PointId, Attachment>, from: PointId, to: PointId, route: &mut Route) -> Option<Gateways> {
    let start = route.links.len();
    let (up, down) = (star.get(&from), star.get(&to));
    let loopback = up.and_then(|own| own.loopback.as_ref()).filter(|_| from == to);
    let [first, second] = match loopback {
        Some(loopback) => [loopback.as_slice(), &[]],
        None => [up.map_or(&[][..], |own| &own.up), down.map_or(&[][..], |own| &own.down)],
    };
    for link in first.iter().chain(second) {
        if !route.links[start..].contains(link) {
            route.links.push(*link);
        }
    }
    Some(None)
}
