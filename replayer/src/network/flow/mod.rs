//! Messages as flows that share links: SimGrid's network model (CM02, with the corrections of LV08 and SMPI).
//!
//! **A message** of *n* bytes, with its envelope *s = n + e* bytes, goes through two phases.
//!
//! 1. *Latency*: `L = Σ latency × latency_factor(s)` over its route. It uses no bandwidth meanwhile.
//! 2. *Transfer*: *s* bytes at the rate `r × bandwidth_factor(s)`, where r is its share of the links it takes. The factor
//!    is what protocols leave of a share; it does not change what others get.
//!
//! **Shares** are [max-min fair](sharing), with, for each flow,
//!
//! * the penalty `P = Σ (latency + S / bandwidth)` over its route: TCP divides a bottleneck by round-trip time, and the
//!   term in *S* (`weight_s`) is the part of that time spent in queues (Velho and Legrand 2009, eq. 4);
//! * the bound `min(min bandwidth, γ / (2 Σ latency))`: no more than a window of γ bytes in a round trip (Casanova and
//!   Marchal 2002);
//! * the weight 1 on each link of its route, and `crosstraffic` more on each link of the way back: acknowledgements
//!   (Velho, Schnorr, Casanova and Legrand, "On the validity of flow-level TCP network models", TOMACS 23(4), 2013);
//! * on links that are not shared (FATPIPE), only a bound: their bandwidth.
//!
//! **Time** moves from one event to the next: a latency paid, or a transfer complete. Shares change only then, and only
//! for some flows; what a flow has left to transfer is brought up to date only when its own share changes. All that
//! happens at one instant is settled once, when the network is next asked for its next event.

mod parameters;
pub mod sharing;

use std::sync::Arc;

use slab::Slab;
use titr_common::units::Seconds;

pub use parameters::{Factor, Parameters, Preset};
use sharing::{Demand, FlowId};

use super::agenda::{Agenda, Due};
use super::paths::Paths;
use super::{LinkLoad, Network, Transfer, TransferId};
use crate::time::Time;
use crate::topology::{HostId, LinkId, Sharing, Topology};

/// A network whose messages are flows.
#[derive(Debug)]
pub struct Flow {
    topology: Arc<dyn Topology>,
    parameters: Parameters,
    paths: Paths<Terms>,
    sharing: sharing::Sharing,
    agenda: Agenda,
    /// What is under way. A message's key here is its flow's number, and its key in the agenda.
    messages: Slab<Message>,
    injected: u64,
    now: Time,
    /// Flows whose rate has changed, while the agenda is brought up to date.
    changed: Vec<FlowId>,
}

/// What a message meets on its route, whatever its size.
#[derive(Debug)]
struct Terms {
    latency: f64,
    demand: Demand,
}

#[derive(Debug)]
struct Message {
    id: TransferId,
    sequence: u64,
    phase: Phase,
    /// Bytes left to transfer at `since`.
    left: f64,
    since: Time,
    /// Bytes per second from then on.
    speed: f64,
    bandwidth_factor: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Latency,
    Transfer,
}

impl Flow {
    /// An idle network on `topology`.
    #[must_use]
    pub fn new(topology: Arc<dyn Topology>, parameters: Parameters) -> Self {
        Self {
            paths: Paths::new(Arc::clone(&topology)),
            sharing: sharing::Sharing::new(topology.links().iter().map(|link| link.bandwidth)),
            topology,
            parameters,
            agenda: Agenda::default(),
            messages: Slab::new(),
            injected: 0,
            now: Time::ZERO,
            changed: Vec::new(),
        }
    }

    /// Brings shares, and when transfers end, up to date with what happened at this instant.
    fn settle(&mut self) {
        self.sharing.settle(&mut self.changed);
        for flow in self.changed.drain(..) {
            let message = &mut self.messages[flow.0 as usize];
            let transferred = message.speed * (self.now - message.since).0;
            message.left = (message.left - transferred).max(0.0);
            message.since = self.now;
            message.speed = self.sharing.rate(flow) * message.bandwidth_factor;
            let at = self.now + Seconds(message.left / message.speed);
            self.agenda.set(flow.0, Due { at, sequence: message.sequence });
        }
    }
}

impl Network for Flow {
    fn inject(&mut self, now: Time, transfer: Transfer) {
        debug_assert_eq!(now, self.now, "messages are injected at the time advanced to");
        let ends = (transfer.from, transfer.to);
        let (topology, parameters) = (&*self.topology, &self.parameters);
        let terms = self.paths.carry(ends, transfer.bytes, |route| Terms::of(topology, parameters, ends, route));

        let size = transfer.bytes + parameters.envelope;
        let sequence = self.injected;
        self.injected += 1;
        let key = self.messages.insert(Message {
            id: transfer.id,
            sequence,
            phase: Phase::Latency,
            left: size.0 as f64,
            since: now,
            speed: 0.0,
            bandwidth_factor: parameters.bandwidth_factor.at(size),
        }) as u32;
        self.sharing.announce(FlowId(key), &terms.demand);
        let at = now + Seconds(terms.latency * parameters.latency_factor.at(size));
        self.agenda.set(key, Due { at, sequence });
    }

    fn next_event(&mut self) -> Option<Time> {
        self.settle();
        self.agenda.first().map(|(due, _)| due.at)
    }

    fn advance(&mut self, now: Time, delivered: &mut Vec<TransferId>) {
        self.settle();
        self.now = now;
        while let Some((_, key)) = self.agenda.first().filter(|(due, _)| due.at <= now) {
            self.agenda.pop();
            let message = &mut self.messages[key as usize];
            match message.phase {
                Phase::Latency => {
                    message.phase = Phase::Transfer;
                    message.since = now;
                    self.sharing.enter(FlowId(key));
                }
                Phase::Transfer => {
                    delivered.push(message.id);
                    self.messages.remove(key as usize);
                    self.sharing.leave(FlowId(key));
                }
            }
        }
    }

    fn link_loads(&self) -> Vec<LinkLoad> {
        self.paths.loads()
    }
}

impl Terms {
    fn of(topology: &dyn Topology, parameters: &Parameters, ends: (HostId, HostId), route: &[LinkId]) -> Self {
        let links = topology.links();
        let latency: f64 = route.iter().map(|link| links[link.index()].latency.0).sum();
        let queueing: f64 = route.iter().map(|link| parameters.weight_s / links[link.index()].bandwidth).sum();
        let window = if latency > 0.0 && parameters.tcp_gamma > 0.0 {
            parameters.tcp_gamma / (2.0 * latency)
        } else {
            f64::INFINITY
        };
        let mut demand = Demand {
            bound: window,
            // Without latency there is no round trip to divide by, and all flows are alike (as in SimGrid).
            penalty: if latency > 0.0 { latency + queueing } else { 1.0 },
            uses: Vec::new(),
        };
        let mut back = Vec::new();
        if parameters.crosstraffic > 0.0 {
            topology.route(ends.1, ends.0, &mut back);
        }
        let there = route.iter().map(|&link| (link, 1.0));
        for (link, weight) in there.chain(back.into_iter().map(|link| (link, parameters.crosstraffic))) {
            let Sharing::Shared = links[link.index()].sharing else {
                demand.bound = demand.bound.min(links[link.index()].bandwidth / weight);
                continue;
            };
            match demand.uses.iter_mut().find(|(used, _)| *used == link) {
                Some((_, used)) => *used += weight,
                None => demand.uses.push((link, weight)),
            }
        }
        for link in route {
            demand.bound = demand.bound.min(links[link.index()].bandwidth);
        }
        Self { latency, demand }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Backbone, Cable, Duplex, Star};
    use titr_common::units::Bytes;

    /// SimGrid's `cluster16.xml`: 16 hosts, 1 Gbit/s and 15 µs to a backbone of 10 Gbit/s and 15 µs.
    fn cluster16(parameters: impl Into<Parameters>) -> Flow {
        let latency = Seconds(15e-6);
        let cable = Cable { bandwidth: 1.25e8, latency, duplex: Duplex::Full };
        let backbone = Backbone { bandwidth: 1.25e9, latency, sharing: Sharing::Shared };
        Flow::new(Arc::new(Star::new(16, cable, Some(backbone))), parameters.into())
    }

    /// Messages (from, to, bytes) that start at 0, and when each arrives.
    fn run(network: &mut Flow, messages: &[(u32, u32, u64)]) -> Vec<f64> {
        for (id, &(from, to, bytes)) in (0..).zip(messages) {
            let transfer = Transfer { id: TransferId(id), from: HostId(from), to: HostId(to), bytes: Bytes(bytes) };
            network.inject(Time::ZERO, transfer);
        }
        let mut arrivals = vec![f64::NAN; messages.len()];
        let mut delivered = Vec::new();
        while let Some(now) = network.next_event() {
            network.advance(now, &mut delivered);
            for id in delivered.drain(..) {
                arrivals[id.0 as usize] = now.seconds().0;
            }
        }
        arrivals
    }

    fn assert_close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-6, "{found} instead of {expected}");
    }

    #[test]
    fn agrees_with_simgrid() {
        let alone = run(&mut cluster16(Preset::Smpi), &[(0, 1, 1_000_000)]);
        assert_close(alone[0], 0.009_028_457_617);
        let duplex = run(&mut cluster16(Preset::Smpi), &[(0, 1, 1_000_000), (1, 0, 1_000_000)]);
        assert_close(duplex[0], 0.009_453_682_398);
        let two = run(&mut cluster16(Preset::Smpi), &[(0, 2, 1_000_000), (1, 2, 3_000_000)]);
        assert_close(two[1], 0.034_541_672_329);
    }
}
