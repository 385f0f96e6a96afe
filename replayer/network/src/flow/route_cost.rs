//! The cost of a route, whatever the size of the message: its latency, and what a flow on it demands of links.

use super::max_min::Demand;
use super::parameters::FlowParameters;
use crate::topology::{HostId, Link, LinkId, Paths, RoutePeriod, Sharing, Topology, merge};

/// The cost of the paths from one host to another. Where there are several, the latency and the time in queues are means over
/// the paths.
#[derive(Debug, Default)]
pub(super) struct RouteCost {
    /// Seconds before the first byte arrives, before the factor for the message's size. Infinite where there is no route.
    pub latency: f64,
    /// The demand of each message on the links.
    pub demand: Demand,
    /// The least bandwidth of the links that the route takes, which bounds the rate.
    pub bandwidth: f64,
    /// The way back of a message; kept to be used again.
    pub back: Paths,
}

/// The network as a message finds it.
pub(super) struct NetworkState<'n> {
    pub topology: &'n dyn Topology,
    /// The links as they are now.
    pub links: &'n [Link],
    /// The period of the routes there and back.
    pub period: RoutePeriod,
}

/// The part of the cost that a message keeps from when it was sent, whatever links change while it is under way (as in SimGrid).
#[derive(Debug)]
pub(super) struct Sent {
    /// The least bandwidth of its route, which bounds its rate.
    pub bandwidth: f64,
    /// The links that only the way back took, as they were: their changes count in the round trip, and they do not.
    pub only_back: Vec<(LinkId, Link)>,
}

/// The rate in bytes per second of a message that takes no link: nothing holds it back once its latency is paid (as in SimGrid).
const INSTANT: f64 = 1e24;

impl RouteCost {
    /// Becomes the cost of the `paths` from one end to the other of a message that is sent now or was `sent` before.
    pub(crate) fn compute(
        &mut self,
        &NetworkState { topology, links, period }: &NetworkState,
        parameters: &FlowParameters,
        ends: (HostId, HostId),
        paths: &Paths,
        sent: Option<&Sent>,
    ) {
        let distance = topology.distance(ends.0, ends.1).0;
        let queue = |link: &Link| parameters.weight_s / link.bandwidth;
        let (mut more_latency, mut more_queueing) = (0.0, 0.0);
        for (link, then) in sent.iter().flat_map(|sent| &sent.only_back) {
            more_latency += links[link.index()].latency.0 - then.latency.0;
            more_queueing += queue(&links[link.index()]) - queue(then);
        }
        let latency = paths.parts().map(|(link, part)| part * links[link.index()].latency.0).sum::<f64>() + distance;
        let queueing: f64 = paths.parts().map(|(link, part)| part * queue(&links[link.index()])).sum();
        // Where the way back became so much faster that nothing would be left, SimGrid stops.
        let has_back = latency + more_latency >= 0.0 && latency + more_latency + queueing + more_queueing > 0.0;
        let (round_trip, queueing) =
            if has_back { (latency + more_latency, queueing + more_queueing) } else { (latency, queueing) };
        let window = if round_trip > 0.0 && parameters.tcp_gamma > 0.0 {
            parameters.tcp_gamma / (2.0 * round_trip)
        } else {
            f64::INFINITY
        };
        let Self { demand, back, .. } = self;
        if paths.is_empty() && distance == 0.0 {
            (demand.bound, demand.penalty) = (1.0, 1.0);
            demand.uses.clear();
            self.latency = f64::INFINITY;
            return;
        }
        demand.bound = window;
        // Without latency there is no round trip to divide by, and all flows are alike (as in SimGrid).
        demand.penalty = if round_trip > 0.0 { round_trip + queueing } else { 1.0 };
        demand.uses.clear();
        back.clear();
        if parameters.crosstraffic > 0.0 {
            back.find(topology, period, (ends.1, ends.0));
        }
        let are_several = paths.are_several() || back.are_several();
        for (link, weight) in
            paths.parts().chain(back.parts().map(|(link, part)| (link, part * parameters.crosstraffic)))
        {
            let Sharing::Shared = links[link.index()].sharing else {
                demand.bound = demand.bound.min(links[link.index()].bandwidth / weight);
                continue;
            };
            // The many links of several paths are merged below.
            let same = if are_several { None } else { demand.uses.iter_mut().find(|(used, _)| *used == link) };
            match same {
                Some((_, used)) => *used += weight,
                None => demand.uses.push((link, weight)),
            }
        }
        if are_several {
            merge(&mut demand.uses);
        }
        let rates = paths.parts().map(|(link, part)| links[link.index()].bandwidth / part);
        let least = rates.fold(f64::INFINITY, f64::min);
        self.bandwidth = sent.map_or(least, |sent| sent.bandwidth);
        demand.bound = demand.bound.min(self.bandwidth);
        if paths.is_empty() {
            demand.bound = INSTANT;
        }
        self.latency = latency;
    }

    /// The part that a message sent now at this cost keeps. `changes` says which links may change.
    pub(crate) fn sent(&self, links: &[Link], paths: &Paths, changes: impl Fn(LinkId) -> bool) -> Sent {
        let is_there = |link: LinkId| paths.parts().any(|(other, _)| other == link);
        let back = self.back.parts().map(|(link, _)| link);
        let only_back = back.filter(|&link| changes(link) && !is_there(link));
        let only_back = only_back.map(|link| (link, links[link.index()])).collect();
        Sent { bandwidth: self.bandwidth, only_back }
    }
}
