//! The parts of a message that is spread over several paths of a fabric.

use super::Fabric;
use crate::topology::{Direction, HostId, LinkId, RouterId};

impl Fabric {
    /// Appends the links of a message that takes all shortest paths between its routers: at each router, an equal part takes
    /// each port.
    pub(super) fn spread_over_shortest(&self, (from, to): (HostId, HostId), parts: &mut Vec<(LinkId, f64)>) {
        let [first, last] = [from, to].map(|host| self.wiring.hosts[host.index()]);
        self.spread_between(first, last, 1.0, parts);
        self.spread_at_hosts((from, to), parts);
    }

    /// Appends the links of a message an equal part of which passes each router with hosts, except for its first and last
    /// routers (Valiant's routing). To this router and from there, the part takes all shortest paths.
    pub(super) fn spread_over_intermediates(&self, (from, to): (HostId, HostId), parts: &mut Vec<(LinkId, f64)>) {
        let [first, last] = [from, to].map(|host| self.wiring.hosts[host.index()]);
        let others = self.table.ends().iter().filter(|&&router| router != first && router != last);
        let part = 1.0 / others.clone().count() as f64;
        if first == last || part.is_infinite() {
            return self.spread_over_shortest((from, to), parts);
        }
        for &intermediate in others {
            self.spread_between(first, intermediate, part, parts);
            self.spread_between(intermediate, last, part, parts);
        }
        self.spread_at_hosts((from, to), parts);
    }

    /// The links of hosts, and the limiters of hosts and of the last router.
    fn spread_at_hosts(&self, (from, to): (HostId, HostId), parts: &mut Vec<(LinkId, f64)>) {
        let mut links = vec![self.cable.link(from.0, Direction::Up), self.cable.link(to.0, Direction::Down)];
        self.pass(self.wiring.hosts[to.index()], &mut links);
        links.extend([from, to].iter().filter_map(|host| self.limiters.of(host.0)));
        parts.extend(links.into_iter().map(|link| (link, 1.0)));
    }

    /// The links and limiters from one router to another one, without the limiter of the second.
    fn spread_between(&self, from: RouterId, to: RouterId, part: f64, parts: &mut Vec<(LinkId, f64)>) {
        // The routers that are as far from `to`, with the part of the message that passes each.
        let mut here = vec![(from, part)];
        let mut next: Vec<(RouterId, f64)> = Vec::new();
        for _ in 0..self.table.hops(from, to) {
            for (at, part) in here.drain(..) {
                parts.extend(self.limiters.of(self.wiring.hosts.len() as u32 + at.0).map(|link| (link, part)));
                let ports = self.table.ports_towards(at, to, 0);
                let each = part / ports.clone().count() as f64;
                for port in ports {
                    parts.push((self.link_of(at, port.index()), each));
                    next.push((self.table.neighbours(at)[port.index()], each));
                }
            }
            next.sort_unstable_by_key(|&(router, _)| router);
            next.dedup_by(|(router, part), (kept, sum)| {
                let is_same = router == kept;
                *sum += if is_same { *part } else { 0.0 };
                is_same
            });
            std::mem::swap(&mut here, &mut next);
        }
    }
}
