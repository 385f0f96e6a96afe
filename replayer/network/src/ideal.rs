//! Latency and bandwidth without contention: a message of *n* bytes takes `Σ latency + n / min bandwidth` over its
//! route, or paths ([`Paths`]), independent of all other messages (Hockney's model; R. Hockney, "The communication challenge for MPP",
//! Parallel Computing 20(3), 1994). The difference from another model is the cost of contention.

mod changing;

use std::sync::Arc;

use titr_common::dense_slab::DenseSlab;
use titr_common::units::Seconds;

use changing::ChangingIdeal;

use super::indexed_heap::Deadline;
use super::route_cache::RouteCache;
use super::timer_queue::TimerQueue;
use super::{LinkLoad, Network, Transfer, TransferId, Unloaded, Unreachable};
use crate::network::{no_route, unreachable};
use crate::topology::{HostId, Paths, Topology};
use titr_common::time::Time;

/// A network on `topology` without contention.
#[must_use]
pub fn network(topology: Arc<dyn Topology>) -> Box<dyn Network> {
    if topology.is_constant() { Box::new(Ideal::new(topology)) } else { Box::new(ChangingIdeal::new(topology)) }
}

/// A network without contention, whose links and routes stay as they are at the start.
#[derive(Debug)]
pub struct Ideal {
    topology: Arc<dyn Topology>,
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

    /// Sends a message at `now`, which arrives when `arrival` says for the cost of its route.
    #[inline]
    fn send(&mut self, now: Time, transfer: Transfer, arrival: impl FnOnce(Cost) -> Time) {
        let cost = self.cost(&transfer, LinkLoad { bytes: transfer.bytes, messages: 1 });
        if cost.latency == f64::INFINITY {
            let topology = &*self.topology;
            self.unreachable.get_or_insert_with(|| no_route(topology, now, (transfer.from, transfer.to)));
        }
        let key = self.transfers.insert(transfer.id) as u32;
        self.arrivals.set(key, Deadline { at: arrival(cost), sequence: self.injected });
        self.injected += 1;
    }
}

impl Network for Ideal {
    fn inject(&mut self, now: Time, transfer: Transfer) {
        self.send(now, transfer, |cost| {
            now + Seconds((cost.latency + cost.per_byte * transfer.bytes.0 as f64) * transfer.stretch)
        });
    }

    fn unloaded(&mut self, transfer: &Transfer) -> Unloaded {
        let cost = self.cost(transfer, LinkLoad::default());
        let [latency, bytes] =
            [cost.latency, cost.per_byte * transfer.bytes.0 as f64].map(|time| time * transfer.stretch);
        Unloaded { latency: Seconds(latency), transfer: Seconds(bytes) }
    }

    fn next_event(&mut self) -> Option<Time> {
        self.arrivals.first().map(|due| due.at)
    }

    fn advance(&mut self, now: Time, delivered: &mut Vec<TransferId>) {
        while let Some(key) = self.arrivals.pop_by(now) {
            delivered.push(self.transfers.remove(key as usize));
        }
    }

    fn unreachable(&mut self, now: Time, transfer: &Transfer) -> Option<Unreachable> {
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
    use crate::topology::{Cable, Duplex, HostId, Star};

    /// Two cables of 1 µs, then 5000 bytes at 1 GB/s.
    #[test]
    fn a_message_takes_its_unloaded_time() {
        let cable = Cable { bandwidth: 1e9, latency: Seconds(1e-6), duplex: Duplex::Full };
        let mut network = Ideal::new(Arc::new(Star::new(2, cable, None)));
        let (from, to, bytes) = (HostId(0), HostId(1), Bytes(5000));
        let transfer = Transfer { id: TransferId(0), from, to, bytes, connection: None, stretch: 1.0 };
        assert_eq!(network.unloaded(&transfer), Unloaded { latency: Seconds(2e-6), transfer: Seconds(5e-6) });
        assert!(network.link_loads().iter().all(|load| load.messages == 0), "to ask is no load");
        network.inject(Time::ZERO, transfer);
        assert_eq!(network.next_event(), Some(Time(7_000_000)));
    }
}
