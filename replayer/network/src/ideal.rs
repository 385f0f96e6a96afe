//! Latency and bandwidth, no contention: a message of *n* bytes takes `Σ latency + n / min bandwidth` over its route,
//! whatever else is under way (Hockney's model; R. Hockney, "The communication challenge for MPP", Parallel Computing
//! 20(3), 1994). What contention costs is the difference to another model.

use std::sync::Arc;

use titr_common::units::Seconds;

use super::indexed_heap::Deadline;
use super::route_cache::RouteCache;
use super::timer_queue::TimerQueue;
use super::{LinkLoad, Network, Transfer, TransferId};
use crate::topology::{LinkId, Topology};
use titr_common::time::Time;

/// A network without contention.
#[derive(Debug)]
pub struct Ideal {
    topology: Arc<dyn Topology>,
    paths: RouteCache<Cost>,
    arrivals: TimerQueue,
    /// Messages under way, by their key in `arrivals`.
    transfers: slab::Slab<TransferId>,
    injected: u64,
}

/// The cost of a route: of a message of no bytes, and of each byte.
#[derive(Clone, Copy, Debug)]
struct Cost {
    latency: f64,
    per_byte: f64,
}

impl Cost {
    fn of(topology: &dyn Topology, route: &[LinkId]) -> Self {
        route.iter().map(|&link| topology.links()[link.index()]).fold(
            Self { latency: 0.0, per_byte: 0.0 },
            |cost, link| Self {
                latency: cost.latency + link.latency.0,
                per_byte: cost.per_byte.max(1.0 / link.bandwidth),
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
            transfers: slab::Slab::new(),
            injected: 0,
        }
    }
}

impl Network for Ideal {
    fn inject(&mut self, now: Time, transfer: Transfer) {
        let topology = &*self.topology;
        let cost = self.paths.carry((transfer.from, transfer.to), transfer.bytes, |route, _| Cost::of(topology, route));
        let at = now + Seconds(cost.latency + cost.per_byte * transfer.bytes.0 as f64);
        let key = self.transfers.insert(transfer.id) as u32;
        self.arrivals.set(key, Deadline { at, sequence: self.injected });
        self.injected += 1;
    }

    fn next_event(&mut self) -> Option<Time> {
        self.arrivals.first().map(|due| due.at)
    }

    fn advance(&mut self, now: Time, delivered: &mut Vec<TransferId>) {
        while let Some(key) = self.arrivals.pop_by(now) {
            delivered.push(self.transfers.remove(key as usize));
        }
    }

    fn link_loads(&self) -> Vec<LinkLoad> {
        self.paths.loads()
    }
}
