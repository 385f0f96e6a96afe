//! The cost of a route, whatever the size of the message: its latency, and what a flow on it demands of links.

use super::max_min::Demand;
use super::parameters::FlowParameters;
use crate::topology::{HostId, LinkId, Sharing, Topology};

/// The cost of the route from one host to another.
#[derive(Debug, Default)]
pub(super) struct RouteCost {
    /// Seconds before the first byte arrives, before the factor for the message's size. Infinite where there is no route.
    pub latency: f64,
    /// The demand of each message on the links.
    pub demand: Demand,
    /// The way back; kept to be used again.
    back: Vec<LinkId>,
}

/// The rate in bytes per second of a message that takes no link: nothing holds it back once its latency is paid (as in SimGrid).
const INSTANT: f64 = 1e24;

impl RouteCost {
    /// Becomes the cost of `route` from one end to the other.
    pub fn compute(
        &mut self,
        topology: &dyn Topology,
        parameters: &FlowParameters,
        ends: (HostId, HostId),
        route: &[LinkId],
    ) {
        let links = topology.links();
        let distance = topology.distance(ends.0, ends.1).0;
        let latency = route.iter().map(|link| links[link.index()].latency.0).sum::<f64>() + distance;
        let queueing: f64 = route.iter().map(|link| parameters.weight_s / links[link.index()].bandwidth).sum();
        let window = if latency > 0.0 && parameters.tcp_gamma > 0.0 {
            parameters.tcp_gamma / (2.0 * latency)
        } else {
            f64::INFINITY
        };
        let Self { demand, back, .. } = self;
        if route.is_empty() && distance == 0.0 {
            (demand.bound, demand.penalty) = (1.0, 1.0);
            demand.uses.clear();
            self.latency = f64::INFINITY;
            return;
        }
        demand.bound = window;
        // Without latency there is no round trip to divide by, and all flows are alike (as in SimGrid).
        demand.penalty = if latency > 0.0 { latency + queueing } else { 1.0 };
        demand.uses.clear();
        back.clear();
        if parameters.crosstraffic > 0.0 {
            topology.route(ends.1, ends.0, back);
        }
        let there = route.iter().map(|&link| (link, 1.0));
        for (link, weight) in there.chain(back.iter().map(|&link| (link, parameters.crosstraffic))) {
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
        if route.is_empty() {
            demand.bound = INSTANT;
        }
        self.latency = latency;
    }
}
