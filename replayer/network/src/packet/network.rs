//! The packet model as a [`Network`]: converts messages and times to packets and cycles, and back.

use std::any::Any;
use std::sync::Arc;

use titr_common::time::Time;
use titr_common::units::Seconds;

use super::parameters::MOST_PACKETS;
use super::{Batch, Delays, Delivery, Engine, Message, Observation, PacketCount, PacketSpec, engine};
use crate::indexed_heap::{Deadline, IndexedHeap};
use crate::network::{LinkLoad, Network, Transfer, TransferId, Unloaded, Unreachable, no_route};
use crate::statistics::Histogram;
use crate::topology::{HostId, Link, LinkId, RoutePeriod, Topology};

/// Cycles after which no message is injected, so that sums of cycles never overflow.
const LAST_CYCLE: u64 = 1 << 62;

/// Routers under a workload.
///
/// A message is offered in the first cycle that begins no earlier than its injection, and delivered at the beginning of
/// the cycle after the one in which the last phit of its last packet is consumed. Its packets take the route that is used
/// at its injection, even those that leave their host when a link of this route has failed. Messages from a host to itself take
/// the host's own link, if it has one, as if alone.
#[derive(Debug)]
pub struct PacketNetwork {
    spec: Arc<PacketSpec>,
    engine: Box<dyn Engine>,
    clock: Clock,
    topology: Arc<dyn Topology>,
    /// Kept to be used again.
    route: Vec<LinkId>,
    /// The times at which messages that stay within their hosts arrive.
    local_arrivals: IndexedHeap,
    /// The messages that stay within their hosts, by their key in `local_arrivals`.
    local: slab::Slab<PendingDelivery>,
    /// The loads of the hosts' own links.
    local_loads: Vec<LinkLoad>,
    /// The error of the first message that can never arrive.
    unreachable: Option<Unreachable>,
    injected: u32,
    /// The cycle that the engine is at.
    cycle: u64,
    /// The time advanced to.
    now: Time,
    deliveries: Vec<Delivery>,
    arrivals: Vec<PendingDelivery>,
    /// Counts of the packets and messages that have arrived through routers.
    arrived: Batch,
    latencies: Histogram,
}

/// Statistics of a packet network under a workload.
#[derive(Clone, Debug)]
pub struct PacketStatistics {
    /// Observations of messages, packets and channels.
    pub observation: Observation,
    /// Phits carried, times the channels that each took.
    pub phit_hops: u64,
}

impl PacketStatistics {
    /// The statistics of a network from the start until `until`, if it is a packet network.
    #[must_use]
    pub fn of(network: &dyn Network, until: Time) -> Option<Self> {
        let network: &PacketNetwork = (network as &dyn Any).downcast_ref()?;
        let usage = network.engine.usage().clone();
        let phit_hops = usage.carried.phits(network.spec.parameters().packet_phits);
        let PacketCount { packets, missing_phits } = usage.consumed;
        let (cycles, packet_latency) = (network.clock.cycle(until), usage.latency);
        let batch = Batch { cycles, packets, missing_phits, packet_latency, ..network.arrived };
        let observation = Observation { batches: vec![batch], latencies: network.latencies.clone(), usage };
        Some(Self { observation, phit_hops })
    }

    /// The statistics of the rails of a machine, each of which has this number of links.
    pub(crate) fn of_rails(rails: Vec<Self>, links: u32) -> Self {
        let phit_hops = rails.iter().map(|rail| rail.phit_hops).sum();
        let observations: Vec<Observation> = rails.into_iter().map(|rail| rail.observation).collect();
        Self { observation: Observation::of_rails(&observations, links), phit_hops }
    }
}

/// A message whose delivery is to be reported, in the order of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PendingDelivery {
    sequence: u32,
    id: TransferId,
}

impl PendingDelivery {
    /// The tag by which the engine knows the message.
    fn tag(self) -> u64 {
        u64::from(self.sequence) << 32 | u64::from(self.id.0)
    }

    fn of_tag(tag: u64) -> Self {
        Self { sequence: (tag >> 32) as u32, id: TransferId(tag as u32) }
    }
}

impl PacketNetwork {
    /// An idle network of these routers, which belong to `topology`.
    #[must_use]
    pub fn new(spec: Arc<PacketSpec>, topology: Arc<dyn Topology>) -> Self {
        Self {
            engine: engine(&spec),
            clock: Clock::new(spec.cycle()),
            topology,
            route: Vec::new(),
            local_arrivals: IndexedHeap::default(),
            local: slab::Slab::new(),
            local_loads: vec![LinkLoad::default(); spec.graph().hosts().len()],
            unreachable: None,
            spec,
            injected: 0,
            cycle: 0,
            now: Time::ZERO,
            deliveries: Vec::new(),
            arrivals: Vec::new(),
            arrived: Batch::default(),
            latencies: Histogram::default(),
        }
    }

    /// The link of its host's own that a message takes which stays within its host.
    fn loopback(&self, transfer: Transfer) -> Option<Link> {
        let link = self.spec.graph().loopback(transfer.from).filter(|_| transfer.from == transfer.to)?;
        self.topology.links().get(link.index()).copied()
    }

    /// A message that does not take routers arrives at `at`.
    fn arrive_at(&mut self, at: Time, arrival: PendingDelivery) {
        let key = self.local.insert(arrival) as u32;
        self.local_arrivals.set(key, Deadline { at, sequence: arrival.sequence.into() });
    }

    /// The number of packets of a message.
    fn packets(&self, transfer: &Transfer) -> u64 {
        match self.spec.parameters().packets(transfer.bytes) {
            packets if transfer.stretch.to_bits() == 1.0_f64.to_bits() => packets,
            packets => (packets as f64 * transfer.stretch).round().max(1.0) as u64,
        }
    }

    /// Whether failures leave a route between two hosts in a period.
    fn has_route(&self, period: RoutePeriod, (from, to): (HostId, HostId)) -> bool {
        let mut route = Vec::new();
        self.topology.route_in(period, from, to, &mut route);
        from == to || !route.is_empty()
    }

    /// The error of a message that enters the routers at `cycle` and can never arrive; `None` if it can.
    fn unreachable_by_packets(&self, now: Time, cycle: u64, transfer: &Transfer) -> Option<Unreachable> {
        let parameters = self.spec.parameters();
        let (bytes, packets) = (transfer.bytes, self.packets(transfer));
        if packets > MOST_PACKETS {
            // No host sends faster than with all its injection ports.
            let cycles = packets as f64 * f64::from(parameters.packet_phits) / f64::from(parameters.injection_ports);
            let is_late = now + Seconds(cycles * self.spec.cycle()) == Time::NEVER;
            let too_many = Unreachable::Packets { bytes, packets, most: MOST_PACKETS };
            return Some(if is_late { Unreachable::EndOfTime } else { too_many });
        }
        if cycle > LAST_CYCLE {
            return Some(Unreachable::Cycles { cycle: self.spec.cycle(), now });
        }
        let period = self.topology.route_period(now);
        let ends = (transfer.from, transfer.to);
        let is_cut_off = !self.topology.failures().is_empty() && !self.has_route(period, ends);
        is_cut_off.then(|| no_route(&*self.topology, now, ends))
    }
}

impl Network for PacketNetwork {
    fn inject(&mut self, now: Time, transfer: Transfer) {
        let arrival = PendingDelivery { sequence: self.injected, id: transfer.id };
        // The number wraps after four billion messages; it is only compared between messages that arrive at the same
        // instant.
        self.injected = self.injected.wrapping_add(1);
        if let Some(link) = self.loopback(transfer) {
            let at = now + Seconds((link.latency.0 + transfer.bytes.0 as f64 / link.bandwidth) * transfer.stretch);
            self.arrive_at(at, arrival);
            let load = &mut self.local_loads[transfer.from.index()];
            load.bytes += transfer.bytes;
            load.messages += 1;
            return;
        }
        let cycle = self.clock.cycle(now).max(self.cycle);
        let packets = self.packets(&transfer);
        if let Some(why) = self.unreachable_by_packets(now, cycle, &transfer) {
            self.unreachable.get_or_insert(why);
            return self.arrive_at(Time::NEVER, arrival);
        }
        let message = Message {
            tag: arrival.tag(),
            from: transfer.from,
            to: transfer.to,
            packets,
            last_phits: self.spec.parameters().last_phits(transfer.bytes),
            connection: transfer.connection,
            period: self.topology.route_period(now),
        };
        self.engine.offer(cycle, message);
    }

    /// For the present route of the topology, which is a shortest one.
    fn unloaded(&mut self, transfer: &Transfer) -> Unloaded {
        if let Some(link) = self.loopback(*transfer) {
            let [latency, bytes] =
                [link.latency.0, transfer.bytes.0 as f64 / link.bandwidth].map(|time| Seconds(time * transfer.stretch));
            return Unloaded { latency, transfer: bytes };
        }
        self.route.clear();
        self.topology.route_in(self.topology.route_period(self.now), transfer.from, transfer.to, &mut self.route);
        let (packets, last_phits) = (self.packets(transfer), self.spec.parameters().last_phits(transfer.bytes));
        let (latency, transfer) = Delays::of(&self.spec).unloaded(&self.spec, &self.route, packets, last_phits);
        Unloaded { latency: Seconds(latency * self.spec.cycle()), transfer: Seconds(transfer * self.spec.cycle()) }
    }

    fn unreachable(&mut self, now: Time, transfer: &Transfer) -> Option<Unreachable> {
        let why = match self.loopback(*transfer) {
            Some(_) => None,
            None => self.unreachable_by_packets(now, self.clock.cycle(now).max(self.cycle), transfer),
        };
        why.or_else(|| {
            let Unloaded { latency, transfer } = self.unloaded(transfer);
            (now + latency + transfer == Time::NEVER).then_some(Unreachable::EndOfTime)
        })
    }

    fn first_unreachable(&self) -> Unreachable {
        self.unreachable.clone().unwrap_or(Unreachable::EndOfTime)
    }

    fn next_event(&mut self) -> Option<Time> {
        let cycle = self.engine.next_cycle().map(|cycle| self.clock.time(cycle));
        let local = self.local_arrivals.first().map(|(due, _)| due.at);
        cycle.into_iter().chain(local).min()
    }

    fn advance(&mut self, now: Time, delivered: &mut Vec<TransferId>) {
        self.now = now;
        while let Some(cycle) = self.engine.next_cycle().filter(|&cycle| self.clock.time(cycle) <= now) {
            self.cycle = cycle;
            self.engine.advance(cycle, &mut self.deliveries);
        }
        for delivery in self.deliveries.drain(..) {
            self.arrived.count(&delivery);
            self.latencies.add(delivery.at - delivery.created);
            self.arrivals.push(PendingDelivery::of_tag(delivery.message.tag));
        }
        while let Some((_, key)) = self.local_arrivals.pop_by(now) {
            self.arrivals.extend(self.local.try_remove(key as usize));
        }
        self.arrivals.sort_unstable();
        delivered.extend(self.arrivals.drain(..).map(|arrival| arrival.id));
    }

    /// The bytes and the number of the packets that took each link, instead of messages.
    fn link_loads(&self) -> Vec<LinkLoad> {
        let mut loads = vec![LinkLoad::default(); self.topology.links().len()];
        let parameters = self.spec.parameters();
        for (link, carried) in self.engine.carried(self.spec.graph()) {
            let load = &mut loads[link.index()];
            load.bytes += parameters.phit.times(carried.phits(parameters.packet_phits));
            load.messages += carried.packets;
        }
        for (host, &load) in (0..).map(HostId).zip(&self.local_loads) {
            if let Some(link) = self.spec.graph().loopback(host) {
                loads[link.index()].bytes += load.bytes;
                loads[link.index()].messages += load.messages;
            }
        }
        loads
    }
}

/// A clock that ticks once a cycle, from the start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    picoseconds: f64,
}

impl Clock {
    /// A clock with cycles of this many seconds, which must be positive.
    pub(crate) fn new(cycle: f64) -> Self {
        Self { picoseconds: cycle * 1e12 }
    }

    /// The time at which a cycle begins.
    pub(crate) fn time(self, cycle: u64) -> Time {
        // `as` saturates.
        Time((cycle as f64 * self.picoseconds).round() as u64)
    }

    /// The first cycle that does not begin before `time`.
    pub(crate) fn cycle(self, time: Time) -> u64 {
        let begins = |cycle: u64| self.time(cycle) >= time;
        let is_first = |&cycle: &u64| begins(cycle) && cycle.checked_sub(1).is_none_or(|before| !begins(before));
        // Rounding is off by less than a cycle, unless there are more cycles than a float has digits for.
        let about = (time.0 as f64 / self.picoseconds) as u64;
        (about.saturating_sub(1)..=about.saturating_add(1)).find(is_first).unwrap_or_else(|| {
            let (mut after, mut first) = (0, u64::MAX);
            while after < first {
                let middle = after + (first - after) / 2;
                if begins(middle) { first = middle } else { after = middle + 1 }
            }
            first
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cycles so short that their number is not exact in a float, or that there are too many of them.
    #[test]
    fn the_cycle_of_a_time_is_found_however_short_cycles_are() {
        for cycle in [1e-15, 1e-20, 3e-28, 1e-300] {
            for time in [0, 1, 999, 1 << 40, u64::MAX - 1, u64::MAX].map(Time) {
                let clock = Clock::new(cycle);
                let found = clock.cycle(time);
                assert!(found == u64::MAX || clock.time(found) >= time, "{cycle}: {time:?} became {found}");
                assert!(found == 0 || clock.time(found - 1) < time, "{cycle}: {time:?} became {found}");
            }
        }
    }

    /// Cycles of 3.2 ns; of a third of a nanosecond, which is no whole number of picoseconds; and of less than one.
    #[test]
    fn a_cycle_begins_when_it_says() {
        for cycle in [3.2e-9, 1e-9 / 3.0, 0.3e-12] {
            let clock = Clock::new(cycle);
            for number in (0..2000).chain((1 << 40)..(1 << 40) + 100) {
                let begins = clock.time(number);
                let found = clock.cycle(begins);
                assert!(found <= number && clock.time(found) == begins, "{number} became {found}");
                assert!(clock.time(clock.cycle(Time(begins.0 + 1))) > begins);
            }
        }
    }
}
