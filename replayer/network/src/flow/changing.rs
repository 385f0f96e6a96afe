//! Links and routes that change while messages are under way.
//!
//! At the time of a change, rates are what they would be with the new link from then on. As in SimGrid, a message keeps
//! what it was given when it was sent: the time that its latency takes, and the least bandwidth of its route, which
//! bounds its rate even if all links become faster. Its part in the sharing changes: bandwidths and latencies count
//! in its penalty, and latencies in its window, those of the way back too, by as much as they have changed since. So a
//! message that is sent after a change is of another flow than those before it.
//!
//! A message keeps the route that it was given when it was sent, even if a link of this route fails.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::time::Time;

use super::max_min::FlowId;
use super::route_cost::{NetworkState, RouteCost, Sent};
use super::{Flow, FlowParameters, forget};
use crate::topology::{HostId, Link, LinkId, Paths, RoutePeriod, Sharing, Topology};
use crate::{LinkLoad, Network, Transfer, TransferId, Unloaded, Unreachable};

/// A network whose messages are flows, and some of whose links or routes change.
#[derive(Debug)]
pub struct ChangingFlow(Flow);

/// The links of a topology as they are now, and the flows on those that change.
#[derive(Debug)]
pub(super) struct ChangingLinks {
    topology: Arc<dyn Topology>,
    links: Vec<Link>,
    /// The number of each link that changes among the topology's changes.
    numbers: FxHashMap<LinkId, u32>,
    /// When each of these changes next.
    due: BinaryHeap<Reverse<(Time, u32)>>,
    /// The flows that take each of these, there or back; others too that were given another number since.
    flows: Vec<Vec<Following>>,
    /// By the number of the flow.
    followed: Vec<Option<Followed>>,
    defined: u64,
}

/// A flow, and which of those that had its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Following {
    flow: FlowId,
    defined: u64,
}

/// A flow on links that change.
#[derive(Debug)]
struct Followed {
    defined: u64,
    ends: (HostId, HostId),
    /// The period of its routes there and back.
    period: RoutePeriod,
    sent: Sent,
}

impl ChangingLinks {
    fn new(topology: Arc<dyn Topology>) -> Self {
        let changes = topology.changes();
        let numbered = || (0_u32..).zip(changes);
        let due = numbered().filter_map(|(number, change)| Some(Reverse((change.next_after(Time::ZERO)?, number))));
        Self {
            links: topology.links().to_vec(),
            numbers: numbered().map(|(number, change)| (change.link, number)).collect(),
            due: due.collect(),
            flows: vec![Vec::new(); changes.len()],
            followed: Vec::new(),
            defined: 0,
            topology,
        }
    }

    /// All links as they are now.
    pub(crate) fn links(&self) -> &[Link] {
        &self.links
    }

    /// Takes note that `flow` has a new meaning: messages that take `paths` between these ends, those of this period, at
    /// this cost.
    pub(crate) fn follow(
        &mut self,
        flow: FlowId,
        ends: (HostId, HostId),
        period: RoutePeriod,
        paths: &Paths,
        cost: &RouteCost,
    ) {
        let number = flow.0 as usize;
        if self.followed.len() <= number {
            self.followed.resize_with(number + 1, || None);
        }
        self.followed[number] = None;
        let mut concerned: Vec<u32> =
            paths.parts().chain(cost.back().parts()).filter_map(|(link, _)| self.numbers.get(&link).copied()).collect();
        concerned.sort_unstable();
        concerned.dedup();
        if concerned.is_empty() {
            return;
        }
        self.defined += 1;
        let defined = self.defined;
        let sent = cost.sent(&self.links, paths, |link| self.numbers.contains_key(&link));
        self.followed[number] = Some(Followed { defined, ends, period, sent });
        for change in concerned {
            let flows = &mut self.flows[change as usize];
            if flows.len() == flows.capacity() {
                let followed = &self.followed;
                flows.retain(|following| following.followed(followed).is_some());
            }
            flows.push(Following { flow, defined });
        }
    }

    /// The time of the next change.
    fn next(&self) -> Option<Time> {
        self.due.peek().map(|&Reverse((at, _))| at)
    }

    /// Moves on to `now`, and returns the links that have become others, and the flows that take these.
    fn advance(&mut self, now: Time) -> (Vec<LinkId>, Vec<FlowId>) {
        let (mut changed, mut concerned) = (Vec::new(), Vec::new());
        while let Some(&Reverse((at, number))) = self.due.peek()
            && at <= now
        {
            self.due.pop();
            let change = &self.topology.changes()[number as usize];
            self.due.extend(change.next_after(now).map(|next| Reverse((next, number))));
            let link = &mut self.links[change.link.index()];
            let before = std::mem::replace(link, change.at(now, *link));
            if before != *link {
                changed.push(change.link);
                let flows = &mut self.flows[number as usize];
                flows.retain(|following| following.followed(&self.followed).is_some());
                concerned.extend_from_slice(flows);
            }
        }
        concerned.sort_unstable();
        concerned.dedup();
        (changed, concerned.into_iter().map(|following| following.flow).collect())
    }
}

impl Following {
    fn followed<'f>(&self, followed: &'f [Option<Followed>]) -> Option<&'f Followed> {
        followed[self.flow.0 as usize].as_ref().filter(|followed| followed.defined == self.defined)
    }
}

impl Flow {
    /// Lets links become what they are at `now`, the time last advanced to.
    fn change_links(&mut self, now: Time) {
        self.update_rates();
        let Some(mut changing) = self.changing.take() else { return };
        let (links, flows) = changing.advance(now);
        self.solver.write_down_shared_level(&mut self.changed);
        let taken_out: Vec<(FlowId, u32)> = flows.into_iter().map(|flow| (flow, self.solver.take_out(flow))).collect();
        for link in links {
            let Link { bandwidth, sharing, .. } = changing.links[link.index()];
            if sharing == Sharing::Shared {
                self.solver.set_capacity(link, bandwidth);
            }
        }
        let mut paths = Paths::default();
        for (flow, under_way) in taken_out {
            let Some(Followed { ends, period, sent, .. }) = &changing.followed[flow.0 as usize] else { continue };
            if !self.streams[flow.0 as usize].forgotten {
                // Messages that are sent from now on are of another flow.
                self.paths.forget(*ends);
                forget(flow, &mut self.streams, &mut self.idle);
            }
            if self.streams[flow.0 as usize].messages > 0 {
                paths.find(&*self.topology, *period, *ends);
                let network = NetworkState { topology: &*self.topology, links: &changing.links, period: *period };
                self.cost.compute(&network, &self.parameters, *ends, &paths, Some(sent));
                self.solver.define(flow, &self.cost.demand);
                self.solver.put_back(flow, under_way);
            } else {
                changing.followed[flow.0 as usize] = None;
            }
        }
        self.has_changed = true;
        self.changing = Some(changing);
    }

    /// Gives the messages that are sent from `now` on the routes of this instant.
    fn change_routes(&mut self, now: Time) {
        let Self { paths, streams, idle, .. } = self;
        paths.enter(self.topology.route_period(now), |route| forget(route.flow, streams, idle));
    }
}

impl ChangingFlow {
    /// An idle network on `topology`.
    #[must_use]
    pub(crate) fn new(topology: Arc<dyn Topology>, parameters: FlowParameters) -> Self {
        let mut flow = Flow::new(Arc::clone(&topology), parameters);
        flow.changing = Some(Box::new(ChangingLinks::new(topology)));
        Self(flow)
    }

    fn next_change(&self) -> Option<Time> {
        self.0.changing.as_ref()?.next()
    }
}

impl Network for ChangingFlow {
    fn inject(&mut self, now: Time, transfer: Transfer) {
        self.0.change_routes(now);
        self.0.inject(now, transfer);
    }

    fn unloaded(&mut self, transfer: &Transfer) -> Unloaded {
        self.0.change_routes(self.0.now);
        self.0.unloaded(transfer)
    }

    fn unreachable(&mut self, now: Time, transfer: &Transfer) -> Option<Unreachable> {
        self.0.change_routes(now);
        // A message that would take too long now may get on later.
        self.0.unreachable(now, transfer).filter(|why| *why != Unreachable::EndOfTime)
    }

    fn first_unreachable(&self) -> Unreachable {
        self.0.first_unreachable()
    }

    fn next_event(&mut self) -> Option<Time> {
        // Changes are no events while nothing is under way.
        let next = self.0.next_event()?;
        if next == Time::NEVER && self.0.unreachable.is_some() {
            return Some(next);
        }
        Some(self.next_change().map_or(next, |change| change.min(next)))
    }

    fn advance(&mut self, now: Time, delivered: &mut Vec<TransferId>) {
        self.0.advance(now, delivered);
        if self.next_change().is_some_and(|change| change <= now) {
            self.0.change_links(now);
        }
    }

    fn link_loads(&self) -> Vec<LinkLoad> {
        self.0.link_loads()
    }
}
