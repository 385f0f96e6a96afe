//! The ideal network on links and routes that change: a message has the route of the instant at which it is sent, the
//! latency of its links at this instant, and then at any instant the least bandwidth of its route.

use std::sync::Arc;

use titr_common::step_function::StepFunction;
use titr_common::time::Time;
use titr_common::units::Seconds;

use super::Ideal;
use crate::topology::{Paths, Topology};
use crate::{LinkLoad, Network, Transfer, TransferId, Unloaded, Unreachable};

/// A network without contention, some of whose links or routes change.
#[derive(Debug)]
pub(super) struct ChangingIdeal {
    ideal: Ideal,
    topology: Arc<dyn Topology>,
    now: Time,
}

impl ChangingIdeal {
    pub(crate) fn new(topology: Arc<dyn Topology>) -> Self {
        Self { ideal: Ideal::new(Arc::clone(&topology)), topology, now: Time::ZERO }
    }

    /// The latency of a message that is sent now, and the time at which it is there.
    fn passage(&self, &Transfer { from, to, bytes, stretch, .. }: &Transfer) -> (Seconds, Time) {
        let (links, changes) = (self.topology.links(), self.topology.changes());
        let mut paths = Paths::default();
        paths.find(&*self.topology, self.topology.route_period(self.now), (from, to));
        let (mut latency, mut least) = (self.topology.distance(from, to).0, f64::INFINITY);
        let mut bandwidths: Vec<(&StepFunction, f64)> = Vec::new();
        for (link, part) in paths.parts() {
            let change = changes.binary_search_by_key(&link, |change| change.link).ok().map(|number| &changes[number]);
            let now = change.map_or(links[link.index()], |change| change.at(self.now, links[link.index()]));
            latency += part * now.latency.0;
            match change.and_then(|change| change.bandwidth.as_ref()) {
                Some(bandwidth) => bandwidths.push((bandwidth, part)),
                None => least = least.min(now.bandwidth / part),
            }
        }
        let latency = Seconds(latency * stretch);
        let (mut at, mut left) = (self.now + latency, bytes.0 as f64 * stretch);
        while at < Time::NEVER {
            let rate = bandwidths.iter().map(|(bandwidth, part)| bandwidth.value_at(at) / part).fold(least, f64::min);
            let next = bandwidths.iter().filter_map(|(bandwidth, _)| bandwidth.next_after(at)).min();
            match next.map(|next| (next, rate * (next - at).0)) {
                Some((next, until_then)) if until_then < left => (at, left) = (next, left - until_then),
                _ => return (latency, at + Seconds(left / rate)),
            }
        }
        (latency, at)
    }

    /// Moves on to `now`, and to the routes of this instant.
    fn enter(&mut self, now: Time) {
        self.now = now;
        self.ideal.paths.enter(self.topology.route_period(now), drop);
    }
}

impl Network for ChangingIdeal {
    fn inject(&mut self, now: Time, transfer: Transfer) {
        self.enter(now);
        let (_, at) = self.passage(&transfer);
        self.ideal.send(now, transfer, |cost| if cost.latency == f64::INFINITY { Time::NEVER } else { at });
    }

    fn unloaded(&mut self, transfer: &Transfer) -> Unloaded {
        let (latency, at) = self.passage(transfer);
        match self.ideal.unloaded(transfer) {
            no_route if no_route.latency.0 == f64::INFINITY => no_route,
            _ => Unloaded { latency, transfer: at - (self.now + latency) },
        }
    }

    fn unreachable(&mut self, now: Time, transfer: &Transfer) -> Option<Unreachable> {
        self.enter(now);
        match self.ideal.unreachable(now, transfer) {
            Some(no_route) if no_route != Unreachable::EndOfTime => Some(no_route),
            Some(_) | None => (self.passage(transfer).1 == Time::NEVER).then_some(Unreachable::EndOfTime),
        }
    }

    fn first_unreachable(&self) -> Unreachable {
        self.ideal.first_unreachable()
    }

    fn next_event(&mut self) -> Option<Time> {
        self.ideal.next_event()
    }

    fn advance(&mut self, now: Time, delivered: &mut Vec<TransferId>) {
        self.enter(now);
        self.ideal.advance(now, delivered);
    }

    fn link_loads(&self) -> Vec<LinkLoad> {
        self.ideal.link_loads()
    }
}

#[cfg(test)]
mod tests {
    use titr_common::units::Bytes;

    use super::*;
    use crate::topology::{HostId, Link, LinkChange, Sharing, WrittenRoute, ZoneId, ZoneRouting, Zones};

    /// 3 s of latency until 10 s, then 1 s; 100 B/s, and between 4 s and 5 s half of that.
    #[test]
    fn messages_take_the_latency_of_their_beginning_and_the_bandwidth_of_each_instant() {
        let at = |seconds| Time::from_seconds(Seconds(seconds));
        let link = Link { bandwidth: 100.0, latency: Seconds(3.0), sharing: Sharing::Shared };
        let mut zones = Zones::new("world", link);
        let [from, to] = ["from", "to"].map(|name| zones.add_host(ZoneId(0), name));
        let wire = zones.add_link("wire", link);
        let route = WrittenRoute { from, to, links: vec![wire], gateways: None };
        zones.set_routing(ZoneId(0), ZoneRouting::full(vec![route]));
        let bandwidth = StepFunction::new(100.0, &[(at(4.0), 50.0), (at(5.0), 100.0)], None).unwrap();
        let latency = StepFunction::new(3.0, &[(at(10.0), 1.0)], None).unwrap();
        zones.change_link(LinkChange { link: wire, bandwidth: Some(bandwidth), latency: Some(latency) });
        let mut network = super::super::network(Arc::new(zones));
        let message = |id| Transfer {
            id: TransferId(id),
            from: HostId(0),
            to: HostId(1),
            bytes: Bytes(300),
            connection: None,
            stretch: 1.0,
        };
        network.inject(Time::ZERO, message(0));
        let mut delivered = Vec::new();
        for (id, arrival) in [(0, 6.5), (1, 16.0)] {
            assert_eq!(network.next_event(), Some(at(arrival)));
            network.advance(at(arrival), &mut delivered);
            assert_eq!(std::mem::take(&mut delivered), [TransferId(id)]);
            network.advance(at(12.0), &mut delivered);
            if id == 0 {
                network.inject(at(12.0), message(1));
            }
        }
    }
}
