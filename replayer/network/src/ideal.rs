//! Latency and bandwidth without contention: a message of *n* bytes takes `Σ latency + n / min bandwidth` over its
//! route, or paths ([`Paths`]), independent of all other messages (Hockney's model; R. Hockney, "The communication challenge for MPP",
//! Parallel Computing 20(3), 1994). The difference from another model is the cost of contention.
//!
//! Where links or routes change, a message has the route of the instant at which it is sent, the latency of its links at
//! this instant, and then at any instant the least bandwidth of its route.

use std::sync::Arc;

use titr_common::dense_slab::DenseSlab;
use titr_common::step_function::StepFunction;
use titr_common::time::Time;
use titr_common::units::Seconds;

use super::indexed_heap::{Deadline, TimerQueue};
use super::route_cache::RouteCache;
use super::{LinkLoad, Network, Transfer, TransferId, Unloaded, Unreachable};
use crate::network::{no_route, unreachable};
use crate::topology::{HostId, Paths, Topology};

/// A network without contention.
#[derive(Debug)]
pub struct Ideal {
    topology: Arc<dyn Topology>,
    /// Whether links and routes stay as they are at the start.
    is_constant: bool,
    now: Time,
    paths: RouteCache<Cost>,
    arrivals: TimerQueue,
    /// Messages in transit, by their key in `arrivals`.
    transfers: DenseSlab<TransferId>,
    injected: u64,
    /// The error of the first message without a route.
    unreachable: Option<Unreachable>,
}

/// The cost of a route: of a message of no bytes, which is infinite where there is no route, and of each byte.
#[derive(Clone, Copy, Debug)]
struct Cost {
    latency: f64,
    per_byte: f64,
}

impl Cost {
    fn of(topology: &dyn Topology, ends: (HostId, HostId), paths: &Paths) -> Self {
        let distance = topology.distance(ends.0, ends.1).0;
        if paths.is_empty() && distance == 0.0 {
            return Self { latency: f64::INFINITY, per_byte: 0.0 };
        }
        paths.parts().map(|(link, part)| (topology.links()[link.index()], part)).fold(
            Self { latency: distance, per_byte: 0.0 },
            |cost, (link, part)| Self {
                latency: cost.latency + part * link.latency.0,
                per_byte: cost.per_byte.max(part / link.bandwidth),
            },
        )
    }
}

impl Ideal {
    /// An idle network on `topology`.
    #[must_use]
    pub fn new(topology: Arc<dyn Topology>) -> Self {
        Self {
            is_constant: topology.is_constant(),
            now: Time::ZERO,
            paths: RouteCache::new(Arc::clone(&topology)),
            topology,
            arrivals: TimerQueue::default(),
            transfers: DenseSlab::default(),
            injected: 0,
            unreachable: None,
        }
    }

    /// The cost of the route of a message, to whose load `load` is added.
    fn cost(&mut self, transfer: &Transfer, load: LinkLoad) -> Cost {
        let topology = &*self.topology;
        let ends = (transfer.from, transfer.to);
        *self.paths.carry(ends, load, |paths, _| Cost::of(topology, ends, paths))
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
        if !self.is_constant {
            self.paths.enter(self.topology.route_period(now), drop);
        }
    }
}

impl Network for Ideal {
    fn inject(&mut self, now: Time, transfer: Transfer) {
        self.enter(now);
        let cost = self.cost(&transfer, LinkLoad { bytes: transfer.bytes, messages: 1 });
        let at = if cost.latency == f64::INFINITY {
            let topology = &*self.topology;
            self.unreachable.get_or_insert_with(|| no_route(topology, now, (transfer.from, transfer.to)));
            Time::NEVER
        } else if self.is_constant {
            now + Seconds((cost.latency + cost.per_byte * transfer.bytes.0 as f64) * transfer.stretch)
        } else {
            self.passage(&transfer).1
        };
        let key = self.transfers.insert(transfer.id) as u32;
        self.arrivals.set(key, Deadline { at, sequence: self.injected });
        self.injected += 1;
    }

    fn unloaded(&mut self, transfer: &Transfer) -> Unloaded {
        let cost = self.cost(transfer, LinkLoad::default());
        if !self.is_constant && cost.latency < f64::INFINITY {
            let (latency, at) = self.passage(transfer);
            let transfer = if at == Time::NEVER { Seconds(f64::INFINITY) } else { at - (self.now + latency) };
            return Unloaded { latency, transfer };
        }
        let [latency, bytes] =
            [cost.latency, cost.per_byte * transfer.bytes.0 as f64].map(|time| time * transfer.stretch);
        Unloaded { latency: Seconds(latency), transfer: Seconds(bytes) }
    }

    fn next_event(&mut self) -> Option<Time> {
        self.arrivals.first().map(|due| due.at)
    }

    fn advance(&mut self, now: Time, delivered: &mut Vec<TransferId>) {
        self.enter(now);
        while let Some(key) = self.arrivals.pop_by(now) {
            delivered.push(self.transfers.remove(key as usize));
        }
    }

    fn unreachable(&mut self, now: Time, transfer: &Transfer) -> Option<Unreachable> {
        self.enter(now);
        let unloaded = self.unloaded(transfer);
        unreachable(&*self.topology, now, transfer, unloaded)
    }

    fn first_unreachable(&self) -> Unreachable {
        self.unreachable.clone().unwrap_or(Unreachable::EndOfTime)
    }

    fn link_loads(&self) -> Vec<LinkLoad> {
        self.paths.loads()
    }
}

#[cfg(test)]
mod tests {
    use titr_common::units::Bytes;

    use super::*;
    use crate::topology::{
        Cable, Duplex, HostId, Link, LinkChange, Sharing, Star, WrittenRoute, ZoneId, ZoneRouting, Zones,
    };

    /// Two cables of 1 µs, then 5000 bytes at 1 GB/s.
    #[test]
    fn a_message_takes_its_unloaded_time() {
        let cable = Cable { bandwidth: 1e9, latency: Seconds(1e-6), duplex: Duplex::Full };
        let mut network = Ideal::new(Arc::new(Star::new(2, cable, None)));
        let (from, to, bytes) = (HostId(0), HostId(1), Bytes(5000));
        let transfer = Transfer::new(TransferId(0), from, to, bytes);
        assert_eq!(network.unloaded(&transfer), Unloaded { latency: Seconds(2e-6), transfer: Seconds(5e-6) });
        assert!(network.link_loads().iter().all(|load| load.messages == 0), "to ask is no load");
        network.inject(Time::ZERO, transfer);
        assert_eq!(network.next_event(), Some(Time(7_000_000)));
    }

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
        let mut network = Ideal::new(Arc::new(zones));
        let message = |id| Transfer::new(TransferId(id), HostId(0), HostId(1), Bytes(300));
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
