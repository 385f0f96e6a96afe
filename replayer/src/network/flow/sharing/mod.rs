//! Who gets how much of which link: weighted max-min fairness, kept up as flows come and go.
//!
//! **Vocabulary.** A *link* has a capacity *C*. A *flow* f has a *penalty* P, a *bound* b on its rate, and a *weight*
//! w(l) on each link l it takes: a rate r uses w·r of that link. Its *level* is r·P: what a fair division makes equal.
//!
//! **The problem.** Rates are *feasible* if r ≤ b for each flow and Σ w·r ≤ C on each link. Of the feasible rates we
//! want those that are max-min fair: no flow's level can be raised without lowering that of a flow whose level is no
//! higher (Bertsekas and Gallager, *Data Networks*, §6.5.2). There is exactly one such division, and it is
//! recognized link by link: it is the feasible one where **each flow is held** —
//!
//! * by its bound: r = b, or
//! * by a link: the link is full, and no flow on it has a higher level. This is the flow's *bottleneck*.
//!
//! **The algorithm.** Because of that, a change needs repair where a flow is no longer held, and nowhere else. When a
//! flow leaves, those it shared a bottleneck with are held no longer. When a flow comes, it takes its bound if the links
//! have room for that: nobody else notices, and it cost O(route). If they have not, it is unsettled, and so are those that have more than an equal share of
//! the link without room. The unsettled flows are given their max-min fair rates in what the others leave
//! ([`filling`]). Then the links they touch are looked over: an outsider there may be held no longer, or the
//! unsettled may be held by a link where an outsider has a higher level. Such outsiders are unsettled too, and it starts
//! again; when there are none, each flow is held and the rates are right. Most repairs end after a flow or two. One
//! that spreads for long is cut short by unsettling everything within reach.
//!
//! Links that nobody is held by — an oversized backbone — never spread a repair, however many flows they carry.

mod filling;
mod repair;
#[cfg(test)]
mod tests;

use filling::{Filling, Full};

use crate::topology::LinkId;

/// A flow, numbered by the caller; numbers are small and used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowId(pub u32);

/// What a flow asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Demand {
    /// Its rate at most; positive.
    pub bound: f64,
    /// The higher it is, the less the flow gets where it shares; positive.
    pub penalty: f64,
    /// The links it takes, each once, and what a unit of its rate uses of each.
    pub uses: Vec<(LinkId, f64)>,
}

/// Links and the flows on them.
#[derive(Debug)]
pub struct Sharing {
    links: Vec<Link>,
    flows: Vec<Flow>,
    /// Flows that came since the rates were last settled.
    arrived: Vec<FlowId>,
    /// Links that held flows when another flow left them since.
    loosened: Vec<LinkId>,
    /// Counts repairs, and the fillings within them, to tell this one's marks from those before.
    clock: u64,
    /// When the repair began that is under way, or was last.
    repair: u64,
    /// The links without room that the unsettled flows take.
    touched: Vec<LinkId>,
    /// The flows that it has unsettled.
    unsettled: Vec<FlowId>,
    /// How many of them the filling under way has not stopped yet.
    rising: usize,
    /// Kept to be used again: those links by when they will be full, and the flows that one of them stops.
    order: Vec<Full>,
    front: Vec<FlowId>,
}

#[derive(Debug)]
struct Link {
    capacity: f64,
    /// What would be left if all its flows had their bounds, in units of [`QUANTUM`]: a link where that is not negative
    /// holds nobody, and nothing more need be known of it. Whole numbers, for they come back to where they were.
    room: i64,
    /// Σ w·r of its flows; kept while there is no such room.
    load: f64,
    /// Its flows, and which of each flow's legs lies on it.
    flows: Vec<(FlowId, u32)>,
    /// How many of them it holds.
    holds: u32,
    /// The repair that last found it without room.
    crowded: u64,
    filling: Filling,
}

#[derive(Debug, Default)]
struct Flow {
    /// The level at its bound.
    bound: f64,
    /// 1/P: the rate it has for each unit of level.
    ease: f64,
    level: f64,
    /// The link that holds it; its own bound if none.
    held: Option<LinkId>,
    legs: Vec<Leg>,
    /// The repair that unsettled it last.
    unsettled: u64,
    /// The filling that stopped it last, at which level, and what holds it there.
    stopped: u64,
    next: (f64, Option<LinkId>),
}

/// A flow on one link.
#[derive(Clone, Copy, Debug)]
struct Leg {
    link: LinkId,
    /// Where the link's list of flows has it.
    place: u32,
    weight: f64,
    /// What it takes of the link's room.
    room: i64,
}

/// A thousandth of a byte per second: what bounds are rounded to where room is reckoned.
const QUANTUM: f64 = 1e-3;

/// Two levels, or a load and a capacity, closer than this (relatively) are the same.
const TOLERANCE: f64 = 1e-9;

impl Sharing {
    /// Links of these capacities, no flows.
    #[must_use]
    pub fn new(capacities: impl IntoIterator<Item = f64>) -> Self {
        let links = capacities.into_iter().map(|capacity| Link {
            capacity,
            room: (capacity * (1.0 + TOLERANCE) / QUANTUM) as i64,
            load: 0.0,
            flows: Vec::new(),
            holds: 0,
            crowded: 0,
            filling: Filling::default(),
        });
        Self {
            links: links.collect(),
            flows: Vec::new(),
            arrived: Vec::new(),
            loosened: Vec::new(),
            clock: 0,
            repair: 0,
            unsettled: Vec::new(),
            touched: Vec::new(),
            rising: 0,
            order: Vec::new(),
            front: Vec::new(),
        }
    }

    /// Says what `flow` will ask for once it [enters](Self::enter). It must not be under way.
    pub fn announce(&mut self, flow: FlowId, demand: &Demand) {
        if self.flows.len() <= flow.index() {
            self.flows.resize_with(flow.index() + 1, Flow::default);
        }
        let known = &mut self.flows[flow.index()];
        known.bound = demand.bound * demand.penalty;
        known.ease = 1.0 / demand.penalty;
        known.legs.clear();
        known.legs.extend(demand.uses.iter().map(|&(link, weight)| Leg {
            link,
            weight,
            place: 0,
            room: (weight * demand.bound / QUANTUM) as i64,
        }));
    }

    /// `flow` starts. Its rate is 0 until the rates are settled.
    pub fn enter(&mut self, flow: FlowId) {
        let entering = &mut self.flows[flow.index()];
        entering.level = 0.0;
        entering.held = None;
        for number in 0..entering.legs.len() {
            let leg = &mut self.flows[flow.index()].legs[number];
            let link = &mut self.links[leg.link.index()];
            leg.place = link.flows.len() as u32;
            link.flows.push((flow, number as u32));
            let had_room = link.has_room();
            link.room = link.room.saturating_sub(leg.room);
            if had_room && !link.has_room() {
                let flows = self.links[leg.link.index()].flows.iter();
                let load = flows.map(|&(flow, number)| self.flows[flow.index()].uses(number)).sum();
                let id = self.flows[flow.index()].legs[number].link;
                self.links[id.index()].load = load;
            }
        }
        self.arrived.push(flow);
    }

    /// `flow` ends. Its number is free again.
    pub fn leave(&mut self, flow: FlowId) {
        let leaving = &mut self.flows[flow.index()];
        let rate = leaving.level * leaving.ease;
        if let Some(link) = leaving.held.take() {
            self.links[link.index()].holds -= 1;
        }
        for number in 0..leaving.legs.len() {
            let leg = self.flows[flow.index()].legs[number];
            let link = &mut self.links[leg.link.index()];
            link.flows.swap_remove(leg.place as usize);
            link.room = link.room.saturating_add(leg.room);
            link.load -= leg.weight * rate;
            if link.holds > 0 {
                self.loosened.push(leg.link);
            }
            if let Some(&(moved, number)) = link.flows.get(leg.place as usize) {
                self.flows[moved.index()].legs[number as usize].place = leg.place;
            }
        }
    }

    /// The rate of a flow that has entered, as last settled.
    #[must_use]
    pub fn rate(&self, flow: FlowId) -> f64 {
        let flow = &self.flows[flow.index()];
        flow.level * flow.ease
    }

    /// Makes the rates max-min fair again, and appends to `changed` the flows whose rate is another now, each once.
    pub fn settle(&mut self, changed: &mut Vec<FlowId>) {
        if self.arrived.is_empty() && self.loosened.is_empty() {
            return;
        }
        self.begin_repair();
        for number in 0..self.arrived.len() {
            if self.admit(self.arrived[number]) {
                changed.push(self.arrived[number]);
            }
        }
        self.arrived.clear();
        for number in 0..self.loosened.len() {
            self.unsettle_held(self.loosened[number]);
        }
        self.loosened.clear();
        if !self.unsettled.is_empty() {
            self.finish_repair(changed);
        }
    }

    /// Gives a flow that arrived its bound, if there is room for it. If not, it is unsettled.
    fn admit(&mut self, flow: FlowId) -> bool {
        let arriving = &self.flows[flow.index()];
        let rate = arriving.bound * arriving.ease;
        let mut fits = true;
        for number in 0..arriving.legs.len() {
            let leg = self.flows[flow.index()].legs[number];
            let link = &self.links[leg.link.index()];
            if !link.has_room() && link.load + leg.weight * rate > link.capacity * (1.0 + TOLERANCE) {
                fits = false;
                self.unsettle_crowd(leg.link);
            }
        }
        if !fits {
            self.unsettle(flow);
            return false;
        }
        let arriving = &mut self.flows[flow.index()];
        arriving.level = arriving.bound;
        for leg in &arriving.legs {
            self.links[leg.link.index()].load += leg.weight * rate;
        }
        true
    }
}

impl Link {
    fn has_room(&self) -> bool {
        self.room >= 0
    }
}

impl Flow {
    /// What it uses of the link that one of its legs lies on.
    fn uses(&self, leg: u32) -> f64 {
        self.legs[leg as usize].weight * self.level * self.ease
    }
}

impl FlowId {
    fn index(self) -> usize {
        self.0 as usize
    }
}
