//! A reference implementation of the flow model, as simple as possible and regardless of cost, for comparison: at each
//! event, it computes the shares of all flows from scratch and advances all flows.

use super::max_min::Demand;

/// Max-min fair rates: all levels rise together, and who meets its bound or a full link stops.
pub(crate) fn progressive_filling(capacities: &[f64], demands: &[Demand]) -> Vec<f64> {
    let mut stopped: Vec<Option<f64>> = vec![None; demands.len()];
    while stopped.contains(&None) {
        let rising = |flow: &usize| stopped[*flow].is_none();
        let bound = |flow: usize| demands[flow].bound * demands[flow].penalty;
        let full = |link: usize| {
            let weight = |flow: usize| -> f64 {
                demands[flow].uses.iter().filter(|(used, _)| used.index() == link).map(|(_, weight)| weight).sum()
            };
            let used: f64 = (0..demands.len()).filter_map(|flow| Some(weight(flow) * stopped[flow]?)).sum();
            let slope: f64 = (0..demands.len()).filter(rising).map(|flow| weight(flow) / demands[flow].penalty).sum();
            if slope > 0.0 { (capacities[link] - used).max(0.0) / slope } else { f64::INFINITY }
        };
        let first_bound = (0..demands.len()).filter(rising).map(bound).fold(f64::INFINITY, f64::min);
        let levels: Vec<f64> = (0..capacities.len()).map(full).collect();
        let first_full = levels.iter().copied().fold(f64::INFINITY, f64::min);
        let level = first_bound.min(first_full);
        for flow in (0..demands.len()).filter(rising).collect::<Vec<_>>() {
            let at_bound = bound(flow) <= level;
            if at_bound || demands[flow].uses.iter().any(|(link, _)| levels[link.index()] <= level) {
                stopped[flow] = Some(if at_bound { demands[flow].bound } else { level / demands[flow].penalty });
            }
        }
    }
    stopped.into_iter().flatten().collect()
}

pub(crate) struct ReferenceMessage {
    /// The time of its injection, in seconds.
    pub start: f64,
    /// The length of its latency phase.
    pub latency: f64,
    pub demand: Demand,
    /// The bytes that it transfers.
    pub bytes: f64,
    /// The factor on its share of bandwidth.
    pub factor: f64,
}

/// The times at which messages are delivered, in seconds.
pub(crate) fn deliveries(capacities: &[f64], messages: &[ReferenceMessage]) -> Vec<f64> {
    let mut left: Vec<f64> = messages.iter().map(|message| message.bytes).collect();
    let mut delivered = vec![f64::INFINITY; messages.len()];
    let mut now = 0.0;
    loop {
        let begins = |message: usize| messages[message].start + messages[message].latency;
        let flowing: Vec<usize> =
            (0..messages.len()).filter(|&message| begins(message) <= now && delivered[message].is_infinite()).collect();
        let demands: Vec<Demand> = flowing.iter().map(|&message| messages[message].demand.clone()).collect();
        let rates = progressive_filling(capacities, &demands);
        let speeds: Vec<f64> =
            flowing.iter().zip(rates).map(|(&message, rate)| rate * messages[message].factor).collect();
        let ends = flowing.iter().zip(&speeds).map(|(&message, speed)| now + left[message] / speed);
        let beginnings = (0..messages.len()).map(begins).filter(|&begins| begins > now);
        let next = ends.chain(beginnings).fold(f64::INFINITY, f64::min);
        if next.is_infinite() {
            return delivered;
        }
        for (&message, speed) in flowing.iter().zip(speeds) {
            // A rest of less than a picosecond is done: the model's clock has no smaller steps.
            left[message] -= speed * (next - now);
            if left[message] <= speed * 1e-12 {
                delivered[message] = next;
            }
        }
        now = next;
    }
}
