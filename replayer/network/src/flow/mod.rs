//! The flow model: messages are flows that share links, as in SimGrid's network model (CM02, with the corrections of
//! LV08 and SMPI).
//!
//! **A message** of *n* bytes, with its envelope *s = n + e* bytes, goes through two phases.
//!
//! 1. *Latency*: `L = Σ latency × latency_factor(s)` over its route. The message uses no bandwidth in this phase.
//! 2. *Transfer*: *s* bytes at the rate `r × bandwidth_factor(s)`, where *r* is its share of the links of its route.
//!    The factor accounts for protocol overhead; it does not change the shares of other messages.
//!
//! **Shares** are [max-min fair](max_min). Each flow has
//!
//! * the penalty `P = Σ (latency + S / bandwidth)` over its route: TCP shares a bottleneck in inverse proportion to
//!   round-trip times, and the term with *S* (`weight_s`) is the part of that time spent in queues (Velho and Legrand
//!   2009, eq. 4);
//! * the bound `min(min bandwidth, γ / (2 Σ latency))`: at most a window of γ bytes per round trip (Casanova and
//!   Marchal 2002);
//! * the weight 1 on each link of its route, and the further weight `crosstraffic` on each link of the return route,
//!   for acknowledgements (Velho, Schnorr, Casanova and Legrand, "On the validity of flow-level TCP network models",
//!   TOMACS 23(4), 2013);
//! * on links that are not shared (FATPIPE), only a bound: their bandwidth;
//! * on [InfiniBand](infiniband), a lower bound while other messages leave or arrive at the same adapters.
//!
//! **Bursts**: links with [token buckets](token_buckets) pass the first bytes of a message at once after a pause.
//!
//! **Messages of one [connection](Connection)** go through the second phase one after another if `in_order` is set.
//! Otherwise they share the links, as in SimGrid.
//!
//! **Time** advances from event to event: the end of a latency, or the end of a transfer. Only events change shares,
//! and only those of some flows. Messages between the same two hosts are a single flow in the solver and a [stream]
//! here, so a change of the share costs the same for any number of messages. Streams with a [shared level](max_min)
//! cost nothing at all. The solver runs once for all events of an instant, when the network is next asked for its next
//! event.
//!
//! **[Links that change](changing)** over time are implemented as a network around this one, so that other networks do
//! not pay for them.
//!
//! # Connections
//!
//! Messages from one process to another that travel one after the other.
//!
//! A TCP connection or an InfiniBand queue pair carries bytes in the order in which they are written: a message waits
//! until the messages before it have been sent, so the first of many arrives early. The whole connection has the share
//! of one flow.

mod changing;
mod infiniband;
mod max_min;
mod parameters;
mod route_cost;
mod stream;
mod token_buckets;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::dense_slab::DenseSlab;
use titr_common::time::Time;
use titr_common::units::{Bytes, Seconds};

use super::indexed_heap::{Deadline, TimerQueue};
use super::route_cache::RouteCache;
use super::{Connection, LinkLoad, Network, Transfer, TransferId, Unloaded, Unreachable};
use crate::flow::parameters::SizeCost;
use crate::network::{no_route, unreachable};
use crate::topology::{HostId, LinkId, Topology};
use changing::ChangingLinks;
use infiniband::Contention;
use max_min::{FlowId, MaxMinSolver};
use route_cost::{NetworkState, RouteCost};
use stream::{Transfers, earlier};
use token_buckets::TokenBuckets;

pub use infiniband::Penalties;
pub use parameters::{Factor, FlowParameters, Preset};

/// A network whose messages are flows.
#[derive(Debug)]
pub struct Flow {
    topology: Arc<dyn Topology>,
    parameters: FlowParameters,
    paths: RouteCache<CachedRoute>,
    solver: MaxMinSolver,
    contention: Option<Contention>,
    /// `None`: no link has one.
    buckets: Option<TokenBuckets>,
    connections: Connections,
    /// The links that change; `None` if neither links nor routes do.
    changing: Option<Box<ChangingLinks>>,
    /// The messages in transit. A message has the same key here and in `latencies`.
    messages: DenseSlab<InTransit>,
    latencies: TimerQueue,
    transfers: Transfers,
    /// By the number of their flow.
    streams: Vec<StreamUsers>,
    /// Numbers that no stream has.
    idle: Vec<FlowId>,
    injected: u64,
    /// The error of the first message without a route.
    unreachable: Option<Unreachable>,
    /// The cost of the size of the message injected last: the next is often of the same.
    size: SizeCost,
    now: Time,
    /// Whether anything happened since rates were last found.
    has_changed: bool,
    /// Streams whose next completion is to be found out again.
    changed: Vec<FlowId>,
    /// Kept to be used again.
    cost: RouteCost,
    /// Messages whose turn has come at this instant; kept to be used again.
    next: Vec<u32>,
    /// Messages delivered at one instant; kept to be used again.
    complete: Vec<(u64, TransferId)>,
}

/// A route between two hosts, as far as the model needs to know it.
#[derive(Clone, Copy, Debug)]
struct CachedRoute {
    /// In seconds, before the factor for a message's size. Infinite where there is no route.
    latency: f64,
    /// The bound on a flow's rate, in bytes per second.
    bound: f64,
    /// The rate of a flow that shares its links with no other, in bytes per second.
    alone: f64,
    /// The stream of the messages that take it.
    flow: FlowId,
}

#[derive(Debug)]
struct InTransit {
    id: TransferId,
    sequence: u64,
    flow: FlowId,
    /// `None`: it waits for no other message.
    connection: Option<Connection>,
    turn: Turn,
    /// Whether its latency is paid.
    is_ready: bool,
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
        let changing = (!topology.is_constant()).then(|| Box::new(ChangingLinks::new(Arc::clone(&topology))));
        Self {
            paths: RouteCache::new(Arc::clone(&topology)),
            solver: MaxMinSolver::new(topology.links().iter().map(|link| link.bandwidth)),
            contention: parameters.contention.map(Contention::new),
            buckets: TokenBuckets::new(parameters.burst, topology.links().len()),
            topology,
            connections: Connections::default(),
            changing,
            messages: DenseSlab::default(),
            latencies: TimerQueue::default(),
            transfers: Transfers::default(),
            streams: Vec::new(),
            idle: Vec::new(),
            injected: 0,
            unreachable: None,
            size: SizeCost::of(Bytes(0), &parameters),
            now: Time::ZERO,
            has_changed: false,
            changed: Vec::new(),
            cost: RouteCost::default(),
            next: Vec::new(),
            complete: Vec::new(),
            parameters,
        }
    }

    /// The route between two hosts, to whose load `load` is added.
    fn route(&mut self, ends: (HostId, HostId), load: LinkLoad) -> CachedRoute {
        let Self { topology, parameters, streams, idle, solver, buckets, cost, changing, .. } = self;
        let period = self.paths.period;
        *self.paths.carry(ends, load, |paths, other| {
            if let Some(other) = other {
                forget(other.flow, streams, idle);
            }
            let links = changing.as_ref().map_or(topology.links(), |changing| &changing.links);
            let network = NetworkState { topology: &**topology, links, period };
            cost.compute(&network, parameters, ends, paths, None);
            let RouteCost { latency, demand, .. } = &*cost;
            let flow = idle.pop().unwrap_or(FlowId(streams.len() as u32));
            if streams.len() == flow.0 as usize {
                streams.push(StreamUsers::default());
            }
            streams[flow.0 as usize].forgotten = false;
            solver.define(flow, demand);
            if let Some(buckets) = buckets.as_mut().filter(|_| ends.0 != ends.1) {
                buckets.define(flow, paths, links);
            }
            let share = |&(link, weight): &(LinkId, f64)| links[link.index()].bandwidth / weight;
            let alone = demand.uses.iter().map(share).fold(demand.bound, f64::min);
            if let Some(changing) = changing {
                changing.follow(flow, ends, period, paths, cost);
            }
            CachedRoute { latency: *latency, bound: demand.bound, alone, flow }
        })
    }

    /// The time of a message in an otherwise idle network, on the present routes.
    fn alone(&mut self, transfer: &Transfer) -> Unloaded {
        let ends = (transfer.from, transfer.to);
        let CachedRoute { latency, alone, flow, .. } = self.route(ends, LinkLoad::default());
        let SizeCost { mut need, latency_factor, .. } =
            SizeCost::of(transfer.bytes, &self.parameters).stretched(transfer.stretch);
        if let Some(buckets) = self.buckets.as_ref().filter(|_| ends.0 != ends.1) {
            need -= buckets.at_most(flow, need);
        }
        Unloaded { latency: latency_of(latency, latency_factor), transfer: Seconds(need / alone) }
    }

    /// Updates shares, and when transfers end, after all that happened at this instant.
    #[inline]
    fn update_rates(&mut self) {
        if self.has_changed {
            self.has_changed = false;
            self.find_rates();
        }
    }

    fn find_rates(&mut self) {
        self.solver.solve(&mut self.changed);
        if let Some(contention) = &mut self.contention {
            // After the new messages have a share: only then may they demand less.
            contention.update_bounds(|flow, bound| self.solver.set_bound(flow, bound));
            self.solver.solve(&mut self.changed);
        }
        for flow in self.changed.drain(..) {
            self.transfers.set_pace(flow, self.solver.pace(flow));
        }
        self.transfers.shared_level = self.solver.shared_level();
    }
}

/// Takes note that no message will follow in the stream of a number.
fn forget(flow: FlowId, streams: &mut [StreamUsers], idle: &mut Vec<FlowId>) {
    let users = &mut streams[flow.0 as usize];
    users.forgotten = true;
    idle.extend((users.messages == 0).then_some(flow));
}

/// A route's latency after its factor. No factor makes a route of none.
fn latency_of(latency: f64, factor: f64) -> Seconds {
    Seconds(if latency == f64::INFINITY { latency } else { latency * factor })
}

impl Network for Flow {
    fn inject(&mut self, now: Time, transfer: Transfer) {
        debug_assert_eq!(now, self.now, "messages are injected at the time advanced to");
        self.change_routes(now);
        let ends = (transfer.from, transfer.to);
        let load = LinkLoad { bytes: transfer.bytes, messages: 1 };
        let CachedRoute { latency, bound, flow, .. } = self.route(ends, load);
        if latency == f64::INFINITY {
            let topology = &*self.topology;
            self.unreachable.get_or_insert_with(|| no_route(topology, now, ends));
        }
        self.streams[flow.0 as usize].messages += 1;

        let sequence = self.injected;
        self.injected += 1;
        if self.size.bytes != transfer.bytes {
            self.size = SizeCost::of(transfer.bytes, &self.parameters);
        }
        let SizeCost { mut need, latency_factor, .. } = self.size.stretched(transfer.stretch);
        if let Some(buckets) = self.buckets.as_mut().filter(|_| ends.0 != ends.1) {
            need -= buckets.pass(flow, need, now);
        }
        let connection = transfer.connection.filter(|_| self.parameters.in_order);
        let turn = Turn::FIRST;
        let in_transit = InTransit { id: transfer.id, sequence, flow, connection, turn, is_ready: false, need };
        let key = self.messages.insert(in_transit) as u32;
        if let Some(connection) = connection
            && let Some(before) = self.connections.send(connection, key)
        {
            self.messages[before as usize].turn.next = Some(key);
            self.messages[key as usize].turn.is_first = false;
        }
        if let Some(contention) = &mut self.contention {
            contention.start(flow, ends, bound);
            self.has_changed = true;
        }
        let at = now + latency_of(latency, latency_factor);
        self.latencies.set(key, Deadline { at, sequence });
    }

    fn unloaded(&mut self, transfer: &Transfer) -> Unloaded {
        self.change_routes(self.now);
        self.alone(transfer)
    }

    fn next_event(&mut self) -> Option<Time> {
        self.update_rates();
        let next = earlier(self.latencies.first().map(|due| due.at), self.transfers.next());
        match &self.changing {
            // Changes are no events while nothing is under way, or nothing that can arrive.
            Some(changing) if next.is_some_and(|at| at < Time::NEVER || self.unreachable.is_none()) => {
                earlier(next, changing.next())
            }
            Some(_) | None => next,
        }
    }

    fn advance(&mut self, now: Time, delivered: &mut Vec<TransferId>) {
        self.update_rates();
        self.now = now;
        self.transfers.advance(now);
        while let Some((flow, by)) = self.transfers.next_complete() {
            self.has_changed = true;
            let users = &mut self.streams[flow.0 as usize];
            while let Some(member) = self.transfers.leave(flow, by) {
                let message = self.messages.remove(member.message as usize);
                self.complete.push((member.sequence, message.id));
                let next = match (message.turn.next, message.connection) {
                    (Some(next), _) => {
                        let next_message = &mut self.messages[next as usize];
                        next_message.turn.is_first = true;
                        next_message.is_ready.then_some(next)
                    }
                    (None, Some(connection)) => {
                        self.connections.end(connection);
                        None
                    }
                    (None, None) => None,
                };
                // The next message takes over the share, unless it has been given another route.
                let its_flow = next.map(|next| self.messages[next as usize].flow);
                if its_flow != Some(flow) {
                    self.solver.leave(flow);
                    its_flow.into_iter().for_each(|flow| self.solver.enter(flow));
                }
                self.next.extend(next);
                users.messages -= 1;
                if let Some(contention) = &mut self.contention {
                    contention.finish(flow);
                }
            }
            if users.messages == 0 && users.forgotten {
                self.idle.push(flow);
            }
            for key in self.next.drain(..) {
                let &InTransit { sequence, flow, need, .. } = &self.messages[key as usize];
                self.transfers.enter(flow, need, sequence, key);
                self.changed.push(flow);
            }
            self.changed.push(flow);
        }
        while let Some(key) = self.latencies.pop_by(now) {
            let message = &mut self.messages[key as usize];
            message.is_ready = true;
            let &mut InTransit { sequence, flow, turn, need, .. } = message;
            if turn.is_first {
                self.transfers.enter(flow, need, sequence, key);
                self.solver.enter(flow);
                self.changed.push(flow);
                self.has_changed = true;
            }
        }
        self.complete.sort_unstable();
        delivered.extend(self.complete.drain(..).map(|(_, id)| id));
        if self.changing.as_ref().and_then(|changing| changing.next()).is_some_and(|change| change <= now) {
            self.change_links(now);
        }
    }

    fn unreachable(&mut self, now: Time, transfer: &Transfer) -> Option<Unreachable> {
        self.change_routes(now);
        let unloaded = self.alone(transfer);
        // On links that change, a message that would take too long now may get on later.
        unreachable(&*self.topology, now, transfer, unloaded)
            .filter(|why| self.changing.is_none() || *why != Unreachable::EndOfTime)
    }

    fn first_unreachable(&self) -> Unreachable {
        self.unreachable.clone().unwrap_or(Unreachable::EndOfTime)
    }

    fn link_loads(&self) -> Vec<LinkLoad> {
        self.paths.loads()
    }
}

/// The last message in transit on each connection. The messages themselves know their successors: see [`Turn`].
#[derive(Debug, Default)]
pub(super) struct Connections(FxHashMap<Connection, u32>);

/// The place of a message in its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// Whether no message is before it: it is in its transfer phase or its latency phase.
    pub is_first: bool,
    /// The message that was sent after it.
    pub next: Option<u32>,
}

impl Turn {
    /// The place of a message that no other precedes.
    pub(crate) const FIRST: Self = Self { is_first: true, next: None };
}

impl Connections {
    /// `message` is sent. Returns the one before it, which it follows.
    pub(crate) fn send(&mut self, connection: Connection, message: u32) -> Option<u32> {
        self.0.insert(connection, message)
    }

    /// The first message of a connection, which none follows, is complete.
    pub(crate) fn end(&mut self, connection: Connection) {
        self.0.remove(&connection);
    }
}

#[cfg(test)]
mod connections_tests {
    use super::*;

    #[test]
    fn a_message_follows_the_last_one_of_its_connection() {
        let mut connections = Connections::default();
        let [there, back] = [(0, 1), (1, 0)].map(|(sender, receiver)| Connection { sender, receiver });
        let sent = [(there, 1), (there, 2), (back, 3), (there, 4)];
        assert_eq!(
            sent.map(|(connection, message)| connections.send(connection, message)),
            [None, Some(1), None, Some(2)]
        );
        connections.end(there);
        assert_eq!([there, back].map(|connection| connections.send(connection, 5)), [None, Some(3)]);
    }
}

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
