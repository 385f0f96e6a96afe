//! Penalties of messages that share an InfiniBand adapter.
//!
//! An InfiniBand switch stops senders that it cannot serve, so messages slow each other down before their links are
//! full. Vienne ("Prédiction de performances d'applications de calcul haute performance sur réseau InfiniBand", PhD
//! thesis, Grenoble 2010) measured this effect. With, of the messages in transit,
//!
//! * *o(i)* that leave host *i*,
//! * *n(j)* that arrive at host *j*, from *s(j)* hosts, *n(i,j)* of them from *i*,
//!
//! a message from *i* to *j* is *p = max(p_in, p_out)* times slower than without contention:
//!
//! * *p_in = β_e · n(i,j) · s(j)*, and 1 if n(j) = 1;
//! * *p_out = β_s · o(i)*, and *γ_s* times that if one of the *o(i)* goes to a host where more than two arrive; 1 if
//!   o(i) = 1.
//!
//! A message counts as in transit from its start, including its latency phase. The reduced bound of a flow applies
//! before links are shared (SimGrid 3.32's model `IB`).

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::max_min::FlowId;
use crate::topology::HostId;

/// The penalty factors of a network, as measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penalties {
    /// β_e: the penalty of messages that arrive together.
    pub arriving: f64,
    /// β_s: the penalty of messages that leave together.
    pub leaving: f64,
    /// γ_s: the factor on β_s if one of the messages that leave together goes to a crowd.
    pub crossing: f64,
}

/// Vienne's factors, as SimGrid 3.32 has them by default (`smpi/IB-penalty-factors`).
impl Default for Penalties {
    fn default() -> Self {
        Self { arriving: 0.965, leaving: 0.925, crossing: 1.35 }
    }
}

/// More messages than this arrive at one host: a crowd.
const CROWD: usize = 2;

/// The messages in transit between hosts, and their penalties. Messages between the same two hosts are one flow.
#[derive(Debug)]
pub(crate) struct Contention {
    penalties: Penalties,
    hosts: FxHashMap<HostId, Adapter>,
    flows: BTreeMap<FlowId, ContendingFlow>,
    /// Flows whose penalty may have changed; in order, so that every run does the same.
    affected: BTreeSet<FlowId>,
}

#[derive(Debug)]
struct ContendingFlow {
    ends: (HostId, HostId),
    messages: usize,
    /// The bound on its rate if it were alone.
    alone: f64,
    /// The penalty that was last reported.
    penalty: Option<f64>,
}

/// The messages in transit at a host's adapter.
#[derive(Debug, Default)]
struct Adapter {
    leaving: BTreeSet<FlowId>,
    /// Messages that leave.
    departures: usize,
    /// The number of them whose destination is crowded.
    crossing: usize,
    arriving: BTreeSet<FlowId>,
    /// Messages that arrive.
    arrivals: usize,
    /// The number of them from each host.
    senders: BTreeMap<HostId, usize>,
}

impl Adapter {
    fn is_crowded(&self) -> bool {
        self.arrivals > CROWD
    }
}

impl Contention {
    /// No messages in transit.
    pub(crate) fn new(penalties: Penalties) -> Self {
        Self { penalties, hosts: FxHashMap::default(), flows: BTreeMap::new(), affected: BTreeSet::new() }
    }

    /// A message starts, of a flow whose rate would be bounded by `alone` if it were alone. Messages within a host never
    /// meet the adapter.
    pub(crate) fn start(&mut self, id: FlowId, ends: (HostId, HostId), alone: f64) {
        let (from, to) = ends;
        if from == to {
            return;
        }
        let first = || ContendingFlow { ends, messages: 0, alone, penalty: None };
        self.flows.entry(id).or_insert_with(first).messages += 1;
        let receiver = self.host(to);
        let was_crowded = receiver.is_crowded();
        receiver.arriving.insert(id);
        receiver.arrivals += 1;
        *receiver.senders.entry(from).or_default() += 1;
        let sender = self.host(from);
        sender.leaving.insert(id);
        sender.departures += 1;
        if was_crowded {
            sender.crossing += 1;
        }
        self.mark_affected(ends, was_crowded);
    }

    /// A message of a flow has arrived.
    pub(crate) fn finish(&mut self, id: FlowId) {
        let Some(flow) = self.flows.get_mut(&id) else { return };
        let (from, to) = flow.ends;
        flow.messages -= 1;
        let last = flow.messages == 0;
        let receiver = self.host(to);
        let was_crowded = receiver.is_crowded();
        receiver.arrivals -= 1;
        if let Some(count) = receiver.senders.get_mut(&from) {
            *count -= 1;
        }
        receiver.senders.retain(|_, count| *count > 0);
        let sender = self.host(from);
        sender.departures -= 1;
        if was_crowded {
            sender.crossing -= 1;
        }
        if last {
            sender.leaving.remove(&id);
            self.host(to).arriving.remove(&id);
            self.affected.remove(&id);
            self.flows.remove(&id);
        }
        self.mark_affected((from, to), was_crowded);
    }

    /// Reports the new bound of each flow whose penalty has changed.
    pub(crate) fn update_bounds(&mut self, mut set_bound: impl FnMut(FlowId, f64)) {
        while let Some(id) = self.affected.pop_first() {
            let Some(ends) = self.flows.get(&id).map(|flow| flow.ends) else { continue };
            let penalty = self.penalty(ends);
            if let Some(flow) = self.flows.get_mut(&id).filter(|flow| flow.penalty != Some(penalty)) {
                flow.penalty = Some(penalty);
                set_bound(id, flow.alone / penalty);
            }
        }
    }

    fn host(&mut self, host: HostId) -> &mut Adapter {
        self.hosts.entry(host).or_default()
    }

    /// Marks the flows affected by the start or end of a message between these hosts: flows that leave or arrive at the
    /// same hosts and, if a crowd formed or dissolved, all flows that leave a host with a flow to that crowd.
    fn mark_affected(&mut self, (from, to): (HostId, HostId), was_crowded: bool) {
        let Self { hosts, affected, .. } = self;
        affected.extend(hosts.get(&from).iter().flat_map(|sender| &sender.leaving));
        let Some(receiver) = hosts.get(&to) else { return };
        affected.extend(&receiver.arriving);
        let is_crowded = receiver.is_crowded();
        if is_crowded == was_crowded {
            return;
        }
        for (sender, count) in receiver.senders.clone() {
            let sender = hosts.entry(sender).or_default();
            sender.crossing = if is_crowded { sender.crossing + count } else { sender.crossing - count };
            affected.extend(&sender.leaving);
        }
    }

    fn penalty(&self, (from, to): (HostId, HostId)) -> f64 {
        let (Some(sender), Some(receiver)) = (self.hosts.get(&from), self.hosts.get(&to)) else { return 1.0 };
        let factors = self.penalties;
        let arriving = match receiver.arrivals {
            0 | 1 => 1.0,
            _ => {
                let own = receiver.senders.get(&from).copied().unwrap_or(0);
                factors.arriving * own as f64 * receiver.senders.len() as f64
            }
        };
        let leaving = match sender.departures {
            0 | 1 => 1.0,
            count if sender.crossing > 0 => factors.leaving * factors.crossing * count as f64,
            count => factors.leaving * count as f64,
        };
        arriving.max(leaving).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network whose flows, numbered by their ends, demand a rate of 1 without contention.
    struct Net {
        contention: Contention,
        penalties: BTreeMap<FlowId, f64>,
    }

    fn flow((from, to): (u32, u32)) -> FlowId {
        FlowId(from * 10 + to)
    }

    impl Net {
        fn with(messages: &[(u32, u32)]) -> Self {
            let mut net = Self { contention: Contention::new(Penalties::default()), penalties: BTreeMap::new() };
            for &(from, to) in messages {
                net.contention.start(flow((from, to)), (HostId(from), HostId(to)), 1.0);
            }
            net
        }

        fn penalties(&mut self, messages: &[(u32, u32)]) -> Vec<f64> {
            let Self { contention, penalties } = self;
            contention.update_bounds(|flow, bound| {
                penalties.insert(flow, 1.0 / bound);
            });
            messages.iter().map(|&ends| penalties.get(&flow(ends)).copied().unwrap_or(1.0)).collect()
        }
    }

    fn penalties(messages: &[(u32, u32)]) -> Vec<f64> {
        Net::with(messages).penalties(messages)
    }

    #[track_caller]
    fn assert_close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (one, other) in found.iter().zip(expected) {
            assert!((one - other).abs() < 1e-12, "{found:?} instead of {expected:?}");
        }
    }

    #[test]
    fn alone_there_is_no_penalty() {
        assert_close(&penalties(&[(0, 1)]), &[1.0]);
        assert_close(&penalties(&[(0, 1), (1, 0), (2, 3)]), &[1.0; 3]);
        assert_close(&penalties(&[(0, 0), (0, 0), (0, 1)]), &[1.0; 3]);
    }

    #[test]
    fn messages_that_leave_together_share() {
        assert_close(&penalties(&[(0, 1), (0, 2), (0, 3)]), &[0.925 * 3.0; 3]);
    }

    #[test]
    fn messages_that_arrive_together_share() {
        assert_close(&penalties(&[(1, 0), (2, 0), (3, 0)]), &[0.965 * 3.0; 3]);
        // Two of the same host leave together, too, towards a crowd: 2 × 0.925 × 1.35 is less than 2 × 2 × 0.965.
        assert_close(&penalties(&[(1, 0), (1, 0), (2, 0)]), &[0.965 * 4.0, 0.965 * 4.0, 0.965 * 2.0]);
    }

    #[test]
    fn leaving_towards_a_crowd_costs_more() {
        let messages = [(0, 1), (2, 1), (3, 1), (0, 4), (0, 5), (0, 6)];
        let mut net = Net::with(&messages);
        let (crossing, arriving) = (0.925 * 1.35 * 4.0, 0.965 * 3.0);
        assert_close(&net.penalties(&messages), &[crossing, arriving, arriving, crossing, crossing, crossing]);
        net.contention.finish(flow((2, 1)));
        let (leaving, left) = (0.925 * 4.0, [(0, 1), (3, 1), (0, 4), (0, 5), (0, 6)]);
        assert_close(&net.penalties(&left), &[leaving, 0.965 * 2.0, leaving, leaving, leaving]);
    }

    /// Penalties depend only on the messages present, not on the messages before.
    #[test]
    fn the_past_is_forgotten() {
        let messages: Vec<(u32, u32)> = (0..60).map(|number| (number * 7 % 5, number * number % 6)).collect();
        let mut net = Net::with(&messages);
        let mut left = messages.clone();
        for round in 0..40 {
            net.penalties(&messages);
            let gone = left.remove(round * 11 % left.len());
            net.contention.finish(flow(gone));
            if !left.contains(&gone) {
                net.penalties.remove(&flow(gone));
            }
        }
        assert_close(&net.penalties(&left), &penalties(&left));
    }
}
