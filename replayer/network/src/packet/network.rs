//! The packet model behind [`Network`]: messages in time become packets in cycles, and back.

use std::sync::Arc;

use titr_common::units::Seconds;

use super::clock::Clock;
use super::{Batch, Delivery, Design, Engine, Message, Observation};
use crate::agenda::{Agenda, Due};
use crate::network::{LinkLoad, Network, Transfer, TransferId};
use crate::statistics::Histogram;
use crate::topology::{Link, LinkId};
use titr_common::time::Time;

/// Routers under a workload.
///
/// A message is offered in the first cycle that begins no earlier than it is injected, and delivered at the beginning of the
/// cycle after that in which the last phit of its last packet to arrive is consumed. Messages that a host has for itself
/// take its own link, if it has one, as if alone.
#[derive(Debug)]
pub struct PacketNetwork {
    design: Arc<Design>,
    engine: Engine,
    clock: Clock,
    /// The links of the topology.
    links: Vec<Link>,
    /// When messages that stay within a host arrive, and which, by their key in the agenda.
    staying: Agenda,
    stays: slab::Slab<Arrival>,
    /// What hosts' own links carried.
    stayed: Vec<LinkLoad>,
    injected: u32,
    /// The cycle that the engine is at.
    cycle: u64,
    deliveries: Vec<Delivery>,
    arrivals: Vec<Arrival>,
    /// What has arrived through routers.
    arrived: Batch,
    latencies: Histogram,
}

/// A message that arrives, in the order in which such are to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrival {
    sequence: u32,
    id: TransferId,
}

impl Arrival {
    /// As the engine carries it.
    fn tag(self) -> u64 {
        u64::from(self.sequence) << 32 | u64::from(self.id.0)
    }

    fn of_tag(tag: u64) -> Self {
        Self { sequence: (tag >> 32) as u32, id: TransferId(tag as u32) }
    }
}

impl PacketNetwork {
    /// An idle network of these routers, whose channels are these links.
    #[must_use]
    pub fn new(design: Arc<Design>, links: &[Link]) -> Self {
        Self {
            engine: Engine::new(&design),
            clock: Clock::new(design.cycle()),
            links: links.to_vec(),
            staying: Agenda::default(),
            stays: slab::Slab::new(),
            stayed: vec![LinkLoad::default(); design.fabric().sockets.len()],
            design,
            injected: 0,
            cycle: 0,
            deliveries: Vec::new(),
            arrivals: Vec::new(),
            arrived: Batch::default(),
            latencies: Histogram::default(),
        }
    }

    /// The routers and what they did.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The link that a message takes that stays within its host.
    fn own_link(&self, transfer: Transfer) -> Option<Link> {
        let first = self.design.fabric().loopback.filter(|_| transfer.from == transfer.to)?;
        self.links.get((first.0 + transfer.from.0) as usize).copied()
    }
}

impl Network for PacketNetwork {
    fn inject(&mut self, now: Time, transfer: Transfer) {
        let arrival = Arrival { sequence: self.injected, id: transfer.id };
        // Counts anew after four billion messages, of which only those that arrive at one instant are compared.
        self.injected = self.injected.wrapping_add(1);
        if let Some(link) = self.own_link(transfer) {
            let at = now + Seconds(link.latency.0 + transfer.bytes.0 as f64 / link.bandwidth);
            let key = self.stays.insert(arrival) as u32;
            self.staying.set(key, Due { at, sequence: arrival.sequence.into() });
            let load = &mut self.stayed[transfer.from.0 as usize];
            load.bytes += transfer.bytes;
            load.messages += 1;
            return;
        }
        let packets = self.design.parameters().packets(transfer.bytes);
        let message = Message { tag: arrival.tag(), from: transfer.from.0, to: transfer.to.0, packets };
        self.engine.offer(self.clock.cycle(now).max(self.cycle), message);
    }

    fn next_event(&mut self) -> Option<Time> {
        let cycle = self.engine.next_cycle().map(|cycle| self.clock.time(cycle));
        let stays = self.staying.first().map(|(due, _)| due.at);
        cycle.into_iter().chain(stays).min()
    }

    fn advance(&mut self, now: Time, delivered: &mut Vec<TransferId>) {
        while let Some(cycle) = self.engine.next_cycle().filter(|&cycle| self.clock.time(cycle) <= now) {
            self.cycle = cycle;
            self.engine.advance(cycle, &mut self.deliveries);
        }
        for delivery in self.deliveries.drain(..) {
            self.arrived.count(&delivery);
            self.latencies.add(delivery.at - delivery.created);
            self.arrivals.push(Arrival::of_tag(delivery.message.tag));
        }
        while let Some((_, key)) = self.staying.pop_by(now) {
            self.arrivals.extend(self.stays.try_remove(key as usize));
        }
        self.arrivals.sort_unstable();
        delivered.extend(self.arrivals.drain(..).map(|arrival| arrival.id));
    }

    /// Of the packet model: what packets occupied, and how many they were.
    fn link_loads(&self) -> Vec<LinkLoad> {
        let mut loads = vec![LinkLoad::default(); self.links.len()];
        let bytes = self.design.parameters().packet_bytes();
        let mut carried = |link: LinkId, packets: u64| {
            let load = &mut loads[link.index()];
            load.bytes += bytes.times(packets);
            load.messages += packets;
        };
        for (link, packets) in self.engine.carried(self.design.fabric()) {
            carried(link, packets);
        }
        if let Some(first) = self.design.fabric().loopback {
            let own = loads.iter_mut().skip(first.index());
            own.zip(&self.stayed).for_each(|(load, stayed)| *load = *stayed);
        }
        loads
    }

    fn observation(&self, until: Time) -> Option<Observation> {
        let usage = self.engine.usage().clone();
        let (packets, packet_latency) = (usage.consumed(), usage.latency());
        let batch = Batch { cycles: self.clock.cycle(until), packets, packet_latency, ..self.arrived };
        Some(Observation { batches: vec![batch], latencies: self.latencies.clone(), usage })
    }

    fn phit_hops(&self) -> Option<u64> {
        Some(self.engine.usage().packet_hops() * u64::from(self.design.parameters().packet_phits))
    }
}
