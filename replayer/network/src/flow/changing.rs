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
use super::{Flow, forget};
use crate::topology::{HostId, Link, LinkId, Paths, RoutePeriod, Sharing, Topology};

/// The links of a topology as they are now, and the flows on those that change.
#[derive(Debug)]
pub(super) struct ChangingLinks {
    topology: Arc<dyn Topology>,
    pub links: Vec<Link>,
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
    pub(super) fn new(topology: Arc<dyn Topology>) -> Self {
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
            paths.parts().chain(cost.back.parts()).filter_map(|(link, _)| self.numbers.get(&link).copied()).collect();
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

    pub(super) fn next(&self) -> Option<Time> {
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
    pub(super) fn change_links(&mut self, now: Time) {
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
    pub(super) fn change_routes(&mut self, now: Time) {
        let Self { paths, streams, idle, .. } = self;
        if self.changing.is_none() {
            return;
        }
        paths.enter(self.topology.route_period(now), |route| forget(route.flow, streams, idle));
    }
}
