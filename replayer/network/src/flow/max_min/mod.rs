//! Rates of flows that share links: weighted max-min fairness, updated as flows start and end.
//!
//! **Vocabulary** (from SimGrid's `lmm`). A link is a *constraint* with a capacity *C*. A flow f is a *variable*: it
//! has a *sharing penalty* P, a *bound* b on its rate, and an *element* on each link l that it takes, with a *weight*
//! w(l): a rate r uses w·r of that link. Its *level* is r·P, the quantity that fair sharing equalises. Flows with equal
//! demands get equal rates, so they are one variable with a *count* n: they use n·w·r.
//!
//! **The problem.** Rates are *feasible* if r ≤ b for each flow and Σ n·w·r ≤ C on each link. Among the feasible rates,
//! the solver finds the max-min fair ones: no flow's level can be raised without lowering the level of a flow that has
//! no higher level (Bertsekas and Gallager, *Data Networks*, §6.5.2). Exactly one such allocation exists. It can be
//! recognised link by link, as the feasible one where **each flow is limited** —
//!
//! * by its bound: r = b, or
//! * by a link, its *bottleneck*: the link is full, and no flow on it has a higher level.
//!
//! **The algorithm.** A change therefore *invalidates* only the rates of flows that are no longer limited, and the
//! solver [recomputes these](filling). When a flow ends, the flows that it shared a bottleneck with are no longer
//! limited. When a flow starts, it gets its bound if the links have slack for it: no other flow changes, and the cost
//! is O(route). Otherwise the new flow is invalid, and so are the flows whose bottleneck is the link without slack.
//!
//! **Slack.** A link that can give all its flows their bounds is never full. It has *slack* and is excluded from the
//! search, regardless of the number of its flows; not even its load is kept. Slack is counted in whole quanta.
//! Capacities and bounds are rounded up to quanta, so that a flow whose bound is the capacity leaves exactly none. A
//! quantum is at most [`TOLERANCE`] times the capacity, so the rounding cannot overload a link by more than the
//! tolerance.
//!
//! **Shared level.** If one link is the bottleneck of many flows, and only their common level changes, the solver does
//! not visit these flows: they follow the [shared level](shared_level).
//!
//! # Changes
//!
//! Links of another capacity, and flows of another demand, while flows are under way: what is concerned is taken out, defined
//! anew, and put back.

mod filling;
mod shared_level;

use crate::flow::max_min::filling::Resolve;
use shared_level::SharedLevel;

use crate::topology::LinkId;

/// A flow, numbered by the caller. Numbers are small and used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FlowId(pub u32);

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Demand {
    /// The greatest rate that it can have; positive.
    pub bound: f64,
    /// The sharing penalty: the higher, the less the flow gets where it shares; positive.
    pub penalty: f64,
    /// The links that it takes, each once, with the weight of its element there.
    pub uses: Vec<(LinkId, f64)>,
}

/// Links, the flows on them, and their rates.
#[derive(Debug)]
pub(crate) struct MaxMinSolver {
    links: Vec<Constraint>,
    flows: Vec<Variable>,
    /// Flows that came since the rates were last solved.
    arrived: Vec<FlowId>,
    /// Links that were bottlenecks when a flow left them since.
    freed: Vec<LinkId>,
    /// Links that lost their slack to a flow that enters; kept to be used again.
    crowded: Vec<LinkId>,
    resolve: Resolve,
    shared: Option<SharedLevel>,
    /// The link that limited all flows that were invalid last.
    last_bottleneck: Option<LinkId>,
}

/// The pace at which a flow gets on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pace {
    /// This rate, until the flow is reported again.
    Rate(f64),
    /// This multiple of the [shared level](MaxMinSolver::shared_level), at any time, until the flow is reported again.
    Shared(f64),
}

#[derive(Debug)]
struct Constraint {
    capacity: f64,
    /// Bytes per second that slack on this link is counted in.
    quantum: f64,
    /// The quanta that would remain if all its flows had their bounds. An integer, because sums of integers are exactly
    /// reversible; wide enough for any number of flows with any bounds.
    slack: i128,
    /// Σ n·w·r of its flows; kept while there is no slack.
    load: f64,
    /// Its flows, and the index of each flow's element on it among `elements`.
    flows: Vec<(FlowId, u32)>,
    /// The number of flows whose bottleneck it is.
    limits: u32,
    /// The level of these flows.
    limited_at: f64,
    /// The search that looked at it last, and the place of its state in the filling.
    touched: (u64, u32),
}

#[derive(Debug, Default)]
struct Variable {
    count: u32,
    /// The level at its bound.
    bound: f64,
    /// 1/P: the rate for each unit of level.
    inverse_penalty: f64,
    level: f64,
    /// The link that limits it; none if its bound does.
    bottleneck: Option<LinkId>,
    elements: Vec<Element>,
    /// The search that made its rate invalid last, and its place among the invalid there.
    invalid: (u64, u32),
}

/// The element of a flow on one link.
#[derive(Clone, Copy, Debug)]
struct Element {
    link: LinkId,
    /// The index of the flow in the link's list.
    place: u32,
    weight: f64,
    /// The slack of the link that one flow takes.
    slack: i64,
}

/// The largest quantum that slack is counted in, in bytes per second. On slow links, quanta are smaller.
const LARGEST_QUANTUM: f64 = 1e-3;

/// Two levels, or a load and a capacity, closer than this (relatively) are the same. Rates are feasible and fair within
/// this tolerance.
const TOLERANCE: f64 = 1e-9;

impl MaxMinSolver {
    /// Links of these capacities, no flows.
    pub(crate) fn new(capacities: impl IntoIterator<Item = f64>) -> Self {
        Self {
            links: capacities.into_iter().map(Constraint::new).collect(),
            flows: Vec::new(),
            arrived: Vec::new(),
            freed: Vec::new(),
            crowded: Vec::new(),
            resolve: Resolve::default(),
            shared: None,
            last_bottleneck: None,
        }
    }

    /// Defines the demand of `flow`, which must not have messages in transit.
    pub(crate) fn define(&mut self, flow: FlowId, demand: &Demand) {
        if self.flows.len() <= flow.index() {
            self.flows.resize_with(flow.index() + 1, Variable::default);
        }
        let known = &mut self.flows[flow.index()];
        known.bound = demand.bound * demand.penalty;
        known.inverse_penalty = 1.0 / demand.penalty;
        known.elements.clear();
        known.elements.extend(demand.uses.iter().map(|&(link, weight)| {
            let slack = self.links[link.index()].slack_for(weight * demand.bound);
            Element { link, place: 0, weight, slack }
        }));
    }

    /// Changes the bound of a flow's rate, whether the flow is in transit or not. The rates must have been solved.
    /// Costs O(route), independent of the number of messages that the flow stands for.
    pub(crate) fn set_bound(&mut self, flow: FlowId, bound: f64) {
        let under_way = self.take_out(flow);
        let known = &mut self.flows[flow.index()];
        known.bound = bound / known.inverse_penalty;
        for element in &mut known.elements {
            element.slack = self.links[element.link.index()].slack_for(element.weight * bound);
        }
        self.put_back(flow, under_way);
    }

    /// Lets one more message of `flow` start. Its rate means nothing until the rates are solved.
    pub(crate) fn enter(&mut self, flow: FlowId) {
        self.insert(flow, 1);
    }

    /// Lets a message of `flow` end. With the last, the number of the flow is free again.
    pub(crate) fn leave(&mut self, flow: FlowId) {
        self.withdraw(flow, 1);
    }

    /// Adds `more` to the count of a flow.
    fn insert(&mut self, flow: FlowId, more: u32) {
        let entering = &mut self.flows[flow.index()];
        let first = entering.count == 0;
        entering.count += more;
        if first {
            entering.level = 0.0;
            entering.bottleneck = None;
        }
        let (bottleneck, inverse_penalty, rate) = (entering.bottleneck, entering.inverse_penalty, entering.rate());
        let Self { links, flows, shared, crowded, .. } = self;
        for (element, number) in flows[flow.index()].elements.iter_mut().zip(0..) {
            let link = &mut links[element.link.index()];
            if first {
                element.place = link.flows.len() as u32;
                link.flows.push((flow, number));
            }
            let weight = f64::from(more) * element.weight;
            if let Some(shared) = shared
                && shared.link == element.link
            {
                match bottleneck {
                    Some(bottleneck) if bottleneck == shared.link => shared.slope += weight * inverse_penalty,
                    _ => shared.used += weight * rate,
                }
            }
            let had_slack = link.has_slack();
            link.slack -= i128::from(more) * i128::from(element.slack);
            if !link.has_slack() {
                if had_slack {
                    crowded.push(element.link);
                } else {
                    link.load += weight * rate;
                }
            }
        }
        while let Some(link) = self.crowded.pop() {
            self.recompute_load(link);
        }
        self.arrived.push(flow);
    }

    /// Takes `fewer`, at least one and no more than there are, from the count of a flow.
    fn withdraw(&mut self, flow: FlowId, fewer: u32) {
        let leaving = &mut self.flows[flow.index()];
        leaving.count -= fewer;
        let last = leaving.count == 0;
        let (bottleneck, inverse_penalty, rate) = (leaving.bottleneck, leaving.inverse_penalty, leaving.rate());
        if last && let Some(link) = leaving.bottleneck.take() {
            self.links[link.index()].limits -= 1;
        }
        // Out of its place, because the places of other flows change meanwhile.
        let elements = std::mem::take(&mut leaving.elements);
        let Self { links, flows, shared, freed, .. } = self;
        for element in &elements {
            let link = &mut links[element.link.index()];
            let weight = f64::from(fewer) * element.weight;
            if let Some(shared) = shared
                && shared.link == element.link
            {
                match bottleneck {
                    Some(bottleneck) if bottleneck == shared.link => shared.slope -= weight * inverse_penalty,
                    _ => shared.used -= weight * rate,
                }
            }
            link.slack += i128::from(fewer) * i128::from(element.slack);
            link.load -= weight * rate;
            if link.limits > 0 {
                freed.push(element.link);
            }
            if last {
                link.flows.swap_remove(element.place as usize);
                if let Some(&(moved, number)) = link.flows.get(element.place as usize) {
                    flows[moved.index()].elements[number as usize].place = element.place;
                }
            }
        }
        self.flows[flow.index()].elements = elements;
    }

    /// The pace of a flow that has entered, as last solved.
    pub(crate) fn pace(&self, flow: FlowId) -> Pace {
        let known = &self.flows[flow.index()];
        if self.is_member(flow) { Pace::Shared(known.inverse_penalty) } else { Pace::Rate(known.rate()) }
    }

    /// The level of the flows whose pace is [`Pace::Shared`].
    pub(crate) fn shared_level(&self) -> f64 {
        self.shared.map_or(0.0, |shared| shared.level)
    }

    /// Makes the rates max-min fair again, and appends to `changed` the flows whose pace is another now.
    pub(crate) fn solve(&mut self, changed: &mut Vec<FlowId>) {
        if self.arrived.is_empty() && self.freed.is_empty() {
            return;
        }
        if self.update_shared_level(changed) {
            return;
        }
        self.begin_resolve();
        self.end_shared_level(changed);
        for number in 0..self.arrived.len() {
            self.admit(self.arrived[number], changed);
        }
        self.arrived.clear();
        for number in 0..self.freed.len() {
            self.invalidate_limited_by(self.freed[number]);
        }
        self.freed.clear();
        self.finish_resolve(changed);
    }

    /// Gives a flow that arrived its bound if there is slack for it, and makes its rate invalid if not.
    fn admit(&mut self, flow: FlowId, changed: &mut Vec<FlowId>) {
        let Variable { bound, level, inverse_penalty, count, .. } = self.flows[flow.index()];
        if count == 0 {
            return;
        }
        let more = f64::from(count) * (bound - level) * inverse_penalty;
        let Self { links, flows, crowded, .. } = self;
        let mut fits = true;
        for element in &flows[flow.index()].elements {
            let link = &links[element.link.index()];
            if !link.has_slack() && link.load + element.weight * more > link.capacity * (1.0 + TOLERANCE) {
                fits = false;
                if link.limits > 0 {
                    crowded.push(element.link);
                }
            }
        }
        for number in 0..self.crowded.len() {
            self.invalidate_limited_by(self.crowded[number]);
        }
        self.crowded.clear();
        let Self { links, flows, .. } = self;
        let admitted = &mut flows[flow.index()];
        if !fits || admitted.bottleneck.is_some() {
            self.invalidate(flow);
        } else if level < bound {
            admitted.level = bound;
            for element in &admitted.elements {
                links[element.link.index()].load += element.weight * more;
            }
            changed.push(flow);
        }
    }

    fn recompute_load(&mut self, link: LinkId) {
        let flows = &self.flows;
        let link = &mut self.links[link.index()];
        link.load = link.flows.iter().map(|&(flow, element)| flows[flow.index()].uses(element)).sum();
    }
}

impl Constraint {
    /// A link that carries nothing.
    fn new(capacity: f64) -> Self {
        let quantum = LARGEST_QUANTUM.min(TOLERANCE * capacity);
        let (slack, load, flows, limits, limited_at, touched) = (0, 0.0, Vec::new(), 0, 0.0, (0, 0));
        let idle = Self { capacity, quantum, slack, load, flows, limits, limited_at, touched };
        Self { slack: idle.slack_for(capacity).into(), ..idle }
    }

    /// The slack that `bandwidth` bytes per second take.
    fn slack_for(&self, bandwidth: f64) -> i64 {
        // `as` saturates: an unbounded flow takes more slack than any link has.
        (bandwidth / self.quantum).ceil() as i64
    }

    fn has_slack(&self) -> bool {
        self.slack >= 0
    }
}

impl Variable {
    fn rate(&self) -> f64 {
        self.level * self.inverse_penalty
    }

    /// The rate at which a rising level uses the link of an element: n·w/P.
    fn slope(&self, element: u32) -> f64 {
        f64::from(self.count) * self.elements[element as usize].weight * self.inverse_penalty
    }

    /// The bandwidth that an element uses of its link.
    fn uses(&self, element: u32) -> f64 {
        f64::from(self.count) * self.elements[element as usize].weight * self.rate()
    }
}

impl FlowId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

impl MaxMinSolver {
    /// Takes all messages of a flow out, so that it or the links that it takes can be defined anew. Returns how many these are. The
    /// rates must have been solved, and no level may be shared.
    pub(crate) fn take_out(&mut self, flow: FlowId) -> u32 {
        let under_way = self.flows[flow.index()].count;
        if under_way > 0 {
            self.withdraw(flow, under_way);
        }
        under_way
    }

    /// Puts messages of a flow back that were taken out.
    pub(crate) fn put_back(&mut self, flow: FlowId, messages: u32) {
        if messages > 0 {
            self.insert(flow, messages);
        }
    }

    /// Gives a link another capacity. All flows that take it must have been taken out, and be defined anew before they are put back.
    pub(crate) fn set_capacity(&mut self, link: LinkId, capacity: f64) {
        let state = &mut self.links[link.index()];
        debug_assert!(state.flows.is_empty(), "flows take the link");
        *state = Constraint { touched: state.touched, ..Constraint::new(capacity) };
    }
}

#[cfg(test)]
mod tests;
