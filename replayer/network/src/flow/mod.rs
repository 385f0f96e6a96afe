//! Messages as flows that share links: SimGrid's network model (CM02, with the corrections of LV08 and SMPI).
//!
//! **A message** of *n* bytes, with its envelope *s = n + e* bytes, goes through two phases.
//!
//! 1. *Latency*: `L = Σ latency × latency_factor(s)` over its route. It uses no bandwidth meanwhile.
//! 2. *Transfer*: *s* bytes at the rate `r × bandwidth_factor(s)`, where r is its share of the links it takes. The factor
//!    is what protocols leave of a share; it does not change what others get.
//!
//! **Shares** are [max-min fair](max_min), with, for each flow,
//!
//! * the penalty `P = Σ (latency + S / bandwidth)` over its route: TCP divides a bottleneck by round-trip time, and the
//!   term in *S* (`weight_s`) is the part of that time spent in queues (Velho and Legrand 2009, eq. 4);
//! * the bound `min(min bandwidth, γ / (2 Σ latency))`: no more than a window of γ bytes in a round trip (Casanova and
//!   Marchal 2002);
//! * the weight 1 on each link of its route, and `crosstraffic` more on each link of the way back: acknowledgements
//!   (Velho, Schnorr, Casanova and Legrand, "On the validity of flow-level TCP network models", TOMACS 23(4), 2013);
//! * on links that are not shared (FATPIPE), only a bound: their bandwidth;
//! * on [InfiniBand](infiniband), a lower bound while other messages leave or arrive at the same adapters.
//!
//! **Time** moves from one event to the next: a latency paid, or a transfer complete. Shares change only then, and only
//! for some flows. Messages between the same two hosts are one flow to the solver, and a [stream] here, whose messages
//! need no looking at when their share changes; nor do the streams that get on with a [shared level](max_min). All that happens at
//! one instant is solved once, when the network is next asked for its next event.

mod infiniband;
mod max_min;
mod parameters;
#[cfg(test)]
mod reference;
mod route_cost;
mod stream;
mod transfers;

use std::sync::Arc;

use slab::Slab;
use titr_common::units::Seconds;

use infiniband::Contention;
pub use infiniband::Penalties;
use max_min::{FlowId, MaxMinSolver};
pub use parameters::{Factor, FlowParameters, Preset};
use route_cost::RouteCost;
use transfers::Transfers;

use super::indexed_heap::Deadline;
use super::route_cache::RouteCache;
use super::timer_queue::TimerQueue;
use super::{LinkLoad, Network, Transfer, TransferId};
use crate::topology::Topology;
use titr_common::time::Time;

/// A network whose messages are flows.
#[derive(Debug)]
pub struct Flow {
    topology: Arc<dyn Topology>,
    parameters: FlowParameters,
    paths: RouteCache<CachedRoute>,
    solver: MaxMinSolver,
    contention: Option<Contention>,
    /// Messages under way. A message's key here is its key in `latencies`.
    messages: Slab<InTransit>,
    latencies: TimerQueue,
    transfers: Transfers,
    /// By the number of their flow.
    streams: Vec<StreamUsers>,
    /// Numbers that no stream has.
    idle: Vec<FlowId>,
    injected: u64,
    now: Time,
    /// Streams whose next completion is to be found out again.
    changed: Vec<FlowId>,
    /// Kept to be used again.
    cost: RouteCost,
    /// Messages delivered at one instant; kept to be used again.
    complete: Vec<(u64, TransferId)>,
}

/// A route between two hosts, as far as the model needs to know it.
#[derive(Debug)]
struct CachedRoute {
    /// In seconds, before the factor for a message's size.
    latency: f64,
    /// The bound on a flow's rate, in bytes per second.
    bound: f64,
    /// The stream of the messages that take it.
    flow: FlowId,
}

#[derive(Debug)]
struct InTransit {
    id: TransferId,
    sequence: u64,
    flow: FlowId,
    /// The service that it needs until it is complete, in bytes.
    need: f64,
}

/// The messages that use the number of a stream.
#[derive(Debug, Default)]
struct StreamUsers {
    /// Messages that are in the stream or will enter it.
    messages: u32,
    /// Whether none will follow: its number is free after the last.
    forgotten: bool,
}

impl Flow {
    /// An idle network on `topology`.
    #[must_use]
    pub fn new(topology: Arc<dyn Topology>, parameters: FlowParameters) -> Self {
        Self {
            paths: RouteCache::new(Arc::clone(&topology)),
            solver: MaxMinSolver::new(topology.links().iter().map(|link| link.bandwidth)),
            topology,
            contention: parameters.contention.map(Contention::new),
            parameters,
            messages: Slab::new(),
            latencies: TimerQueue::default(),
            transfers: Transfers::default(),
            streams: Vec::new(),
            idle: Vec::new(),
            injected: 0,
            now: Time::ZERO,
            changed: Vec::new(),
            cost: RouteCost::default(),
            complete: Vec::new(),
        }
    }

    /// Updates shares, and when transfers end, after all that happened at this instant.
    fn update_rates(&mut self) {
        self.solver.solve(&mut self.changed);
        if let Some(contention) = &mut self.contention {
            // After those that entered have a share: only then may they ask for less.
            contention.update_bounds(|flow, bound| self.solver.set_bound(flow, bound));
            self.solver.solve(&mut self.changed);
        }
        for flow in self.changed.drain(..) {
            self.transfers.set_pace(flow, self.solver.pace(flow));
        }
        self.transfers.set_shared_level(self.solver.shared_level());
    }
}

impl Network for Flow {
    fn inject(&mut self, now: Time, transfer: Transfer) {
        debug_assert_eq!(now, self.now, "messages are injected at the time advanced to");
        let ends = (transfer.from, transfer.to);
        let Self { topology, parameters, streams, idle, solver, cost, .. } = self;
        let &mut CachedRoute { latency, bound, flow } = self.paths.carry(ends, transfer.bytes, |route, other| {
            if let Some(CachedRoute { flow, .. }) = other {
                let users = &mut streams[flow.0 as usize];
                users.forgotten = true;
                idle.extend((users.messages == 0).then_some(flow));
            }
            cost.compute(&**topology, parameters, ends, route);
            let RouteCost { latency, demand, .. } = cost;
            let flow = idle.pop().unwrap_or(FlowId(streams.len() as u32));
            if streams.len() == flow.0 as usize {
                streams.push(StreamUsers::default());
            }
            streams[flow.0 as usize].forgotten = false;
            solver.define(flow, demand);
            CachedRoute { latency: *latency, bound: demand.bound, flow }
        });
        self.streams[flow.0 as usize].messages += 1;

        let size = transfer.bytes + parameters.envelope;
        let sequence = self.injected;
        self.injected += 1;
        let need = size.0 as f64 / parameters.bandwidth_factor.at(size);
        let key = self.messages.insert(InTransit { id: transfer.id, sequence, flow, need }) as u32;
        if let Some(contention) = &mut self.contention {
            contention.start(flow, ends, bound);
        }
        let at = now + Seconds(latency * parameters.latency_factor.at(size));
        self.latencies.set(key, Deadline { at, sequence });
    }

    fn next_event(&mut self) -> Option<Time> {
        self.update_rates();
        let latency = self.latencies.first().map(|due| due.at);
        [latency, self.transfers.next()].into_iter().flatten().min()
    }

    fn advance(&mut self, now: Time, delivered: &mut Vec<TransferId>) {
        self.update_rates();
        self.now = now;
        self.transfers.advance(now);
        while let Some((flow, by)) = self.transfers.next_complete() {
            let users = &mut self.streams[flow.0 as usize];
            while let Some(member) = self.transfers.leave(flow, by) {
                let message = self.messages.remove(member.message as usize);
                self.complete.push((member.sequence, message.id));
                self.solver.leave(flow);
                users.messages -= 1;
                if let Some(contention) = &mut self.contention {
                    contention.finish(flow);
                }
            }
            if users.messages == 0 && users.forgotten {
                self.idle.push(flow);
            }
            self.changed.push(flow);
        }
        while let Some(key) = self.latencies.pop_by(now) {
            let &InTransit { sequence, flow, need, .. } = &self.messages[key as usize];
            self.transfers.enter(flow, need, sequence, key);
            self.solver.enter(flow);
            self.changed.push(flow);
        }
        self.complete.sort_unstable();
        delivered.extend(self.complete.drain(..).map(|(_, id)| id));
    }

    fn link_loads(&self) -> Vec<LinkLoad> {
        self.paths.loads()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use titr_common::units::Bytes;

    use super::*;
    use crate::topology::{Cable, Duplex, FatTree, Grid, HostId, Link, LinkId, Sharing, Stage, Star};

    const CABLE: Cable = Cable { bandwidth: 1.25e8, latency: Seconds(15e-6), duplex: Duplex::Full };

    /// SimGrid's `cluster16.xml`: 16 hosts, 1 Gbit/s and 15 µs to a backbone of 10 Gbit/s and 15 µs.
    fn cluster16(parameters: impl Into<FlowParameters>) -> Flow {
        let backbone = Link { bandwidth: 1.25e9, latency: Seconds(15e-6), sharing: Sharing::Shared };
        Flow::new(Arc::new(Star::new(16, CABLE, Some(backbone))), parameters.into())
    }

    /// Messages (from, to, bytes) that are injected at these times, and when each is delivered.
    fn run(network: &mut Flow, messages: &[(f64, u32, u32, u64)]) -> Vec<f64> {
        let mut waiting: Vec<_> = messages.iter().zip(0..).map(|(&message, id)| (message, TransferId(id))).collect();
        waiting.sort_by(|a, b| b.0.0.total_cmp(&a.0.0).then(b.1.cmp(&a.1)));
        let mut deliveries = vec![f64::NAN; messages.len()];
        let mut delivered = Vec::new();
        loop {
            let injection = waiting.last().map(|((start, ..), _)| Time::from_seconds(Seconds(*start)));
            let Some(now) = [injection, network.next_event()].into_iter().flatten().min() else {
                return deliveries;
            };
            network.advance(now, &mut delivered);
            for id in delivered.drain(..) {
                assert!(deliveries[id.0 as usize].is_nan(), "delivered twice");
                deliveries[id.0 as usize] = now.seconds().0;
            }
            while injection == Some(now)
                && let Some(((_, from, to, bytes), id)) =
                    waiting.pop_if(|((start, ..), _)| Time::from_seconds(Seconds(*start)) <= now)
            {
                network.inject(now, Transfer { id, from: HostId(from), to: HostId(to), bytes: Bytes(bytes) });
            }
        }
    }

    #[track_caller]
    fn assert_close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-6, "{found} instead of {expected}");
    }

    /// `oneway`, `duplex` and `twoflows` of SimGrid 3.32, whose numbers follow from the model by hand: 45 µs of latency
    /// times 11.6436, then 1,000,016 bytes at 125 MB/s, of which 0.940694 are left; in both directions at once, at
    /// 125/1.05 MB/s; two into one host, at half the rate until the first is there.
    #[test]
    fn agrees_with_simgrid() {
        let alone = run(&mut cluster16(Preset::Smpi), &[(0.0, 0, 1, 1_000_000)]);
        assert_close(alone[0], 0.009_028_457_617);
        let duplex = run(&mut cluster16(Preset::Smpi), &[(0.0, 0, 1, 1_000_000), (0.0, 1, 0, 1_000_000)]);
        assert_close(duplex[0], 0.009_453_682_398);
        let two = run(&mut cluster16(Preset::Smpi), &[(0.0, 0, 2, 1_000_000), (0.0, 1, 2, 3_000_000)]);
        assert_close(two[1], 0.034_541_672_329);
        let plain = run(&mut cluster16(Preset::Cm02), &[(0.0, 0, 2, 1_000_000), (0.0, 1, 2, 3_000_000)]);
        assert_close(plain[1], 0.032_045_256);
        let bulk = run(&mut cluster16(Preset::Lv08), &[(0.0, 0, 2, 1_000_000), (0.0, 1, 2, 3_000_000)]);
        assert_close(bulk[1], 0.033_575_404_639);
    }

    /// Two cables of 15 µs and a backbone of 15 µs, then a megabyte at 125 MB/s, whatever comes back.
    #[test]
    fn plain_is_bandwidth_and_latency() {
        let both = run(&mut cluster16(Preset::Plain), &[(0.0, 0, 1, 1_000_000), (0.0, 1, 0, 1_000_000)]);
        assert_eq!(both, [0.008_045, 0.008_045]);
        let small = run(&mut cluster16(Preset::Plain), &[(0.0, 0, 1, 1)]);
        assert_eq!(small, [0.000_045_008]);
    }

    /// γ = 4 MiB in a round trip of 2 × 0.1 s is 20,971,520 B/s, below the link's 125 MB/s.
    #[test]
    fn a_window_bounds_a_long_route() {
        let cable = Cable { latency: Seconds(0.05), ..CABLE };
        let mut network = Flow::new(Arc::new(Star::new(2, cable, None)), Preset::Cm02.into());
        assert_close(run(&mut network, &[(0.0, 0, 1, 20_971_504)])[0], 1.1);
    }

    /// Messages that end at one instant are delivered in the order of injection.
    #[test]
    fn ties_go_by_injection() {
        let mut network = cluster16(Preset::Smpi);
        for (id, from) in [(7, 3), (5, 1), (6, 2)] {
            let transfer = Transfer { id: TransferId(id), from: HostId(from), to: HostId(0), bytes: Bytes(1000) };
            network.inject(Time::ZERO, transfer);
        }
        let mut delivered = Vec::new();
        while let Some(now) = network.next_event() {
            network.advance(now, &mut delivered);
        }
        assert_eq!(delivered, [7, 5, 6].map(TransferId));
    }

    #[test]
    fn links_know_what_they_carried() {
        let mut network = cluster16(Preset::Smpi);
        run(&mut network, &[(0.0, 0, 2, 10), (0.0, 1, 2, 20), (1.0, 0, 2, 30)]);
        let star = Star::new(16, CABLE, None);
        let loads = network.link_loads();
        let load = |name: &str| {
            let link = (0..32).map(LinkId).find(|&link| star.link_name(link) == name).unwrap();
            (loads[link.index()].bytes.0, loads[link.index()].messages)
        };
        assert_eq!([load("node-0 up"), load("node-1 up"), load("node-2 down")], [(40, 2), (20, 1), (60, 3)]);
        assert_eq!(load("node-2 up"), (0, 0), "acknowledgements are no payload");
    }

    fn any_topology() -> impl Strategy<Value = Arc<dyn Topology>> {
        let backbone = Link { bandwidth: 2.5e8, latency: Seconds(15e-6), sharing: Sharing::Shared };
        let stages = [Stage { down: 3, up: 1, count: 1 }, Stage { down: 3, up: 2, count: 2 }];
        prop::sample::select(vec![
            Arc::new(Star::new(9, CABLE, Some(backbone))) as Arc<dyn Topology>,
            Arc::new(Star::new(9, Cable { duplex: Duplex::Half, ..CABLE }, None)),
            Arc::new(Grid::torus(&[3, 3], CABLE)),
            Arc::new(Grid::mesh(&[3, 3], CABLE)),
            Arc::new(FatTree::new(&stages, CABLE)),
        ])
    }

    proptest! {
        /// Every message is delivered, once, when the reference says so; and the same again to the last bit.
        #[test]
        fn agrees_with_the_reference(
            topology in any_topology(),
            preset in prop::sample::select(vec![Preset::Smpi, Preset::Cm02, Preset::Lv08]),
            messages in prop::collection::vec(
                (prop_oneof![Just(0.0), 0.0..0.01], 0_u32..9, 1_u32..9, prop_oneof![Just(100_000), 0_u64..1_000_000]), 1..30),
        ) {
            let parameters = FlowParameters::from(preset);
            let messages: Vec<_> = messages
                .into_iter()
                .map(|(start, from, hop, bytes)| (Time::from_seconds(Seconds(start)).seconds().0, from, (from + hop) % 9, bytes))
                .collect();
            let found = run(&mut Flow::new(Arc::clone(&topology), parameters.clone()), &messages);
            let again = run(&mut Flow::new(Arc::clone(&topology), parameters.clone()), &messages);
            prop_assert_eq!(&found, &again);

            let capacities: Vec<f64> = topology.links().iter().map(|link| link.bandwidth).collect();
            let reference: Vec<_> = messages
                .iter()
                .map(|&(start, from, to, bytes)| {
                    let mut route = Vec::new();
                    topology.route(HostId(from), HostId(to), &mut route);
                    let mut cost = RouteCost::default();
                    cost.compute(&*topology, &parameters, (HostId(from), HostId(to)), &route);
                    let size = Bytes(bytes + 16);
                    reference::ReferenceMessage {
                        start,
                        latency: cost.latency * parameters.latency_factor.at(size),
                        demand: cost.demand,
                        bytes: size.0 as f64,
                        factor: parameters.bandwidth_factor.at(size),
                    }
                })
                .collect();
            for (found, expected) in found.into_iter().zip(reference::deliveries(&capacities, &reference)) {
                prop_assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
            }
        }
    }
}
