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
//! **The algorithm.** *Progressive filling* (ibid.) finds it: the level of all flows rises together from 0; a flow stops
//! when it meets its bound, and all flows of a link stop, held by it, when the link is full. After a change, most flows
//! would stop where they stopped before, so the filling is [repeated](repair) only where it comes out differently. A flow
//! is *settled* as long as it may be assumed to stop where it did. It is unsettled
//!
//! * when it arrives and there is not room everywhere for its bound. (If there is, it has its bound, and nobody else
//!   notices: that cost O(route).)
//! * when another flow leaves the link that holds it;
//! * when the level is still below its own, and a link of its is full if it stops where it did: it has too much there;
//! * when the level reaches its own, and the link that holds it is not full: it may rise.
//!
//! These things happen in the order of the level at which they happen, so that a flow is unsettled before the level has
//! passed its own, and nothing is done twice. Most repairs end after a flow or two.
//!
//! **Room.** A link that cannot be full need not be looked at. So each flow has a *ceiling*, a level that it does not
//! pass: its bound at first, lower once it has proved to stay far below that. A link with room for all its flows at their
//! ceilings — an oversized backbone, or the hosts' links where the backbone is the bottleneck — is left out of repairs,
//! however many flows it carries. A level that rises to a ceiling lifts it, and the links are looked at after all.

mod repair;
#[cfg(test)]
mod tests;

use std::collections::BinaryHeap;

use repair::{Due, Filling};

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
    /// The number of the repair under way, or of the next: tells its marks from those of repairs before.
    repairs: u64,
    /// The flows that this one has unsettled.
    unsettled: Vec<FlowId>,
    /// The links without room that they take.
    touched: Vec<LinkId>,
    /// Those links by the level at which something happens to them.
    due: BinaryHeap<Due>,
    /// Links for which that is to be found out again.
    stirred: Vec<LinkId>,
    /// How many flows rise, and how many links hold settled flows on which it depends whether these may rise.
    rising: usize,
    waiting: usize,
    /// Kept to be used again: the flows that a link stops.
    front: Vec<FlowId>,
}

#[derive(Debug)]
struct Link {
    capacity: f64,
    /// What would be left if all its flows were at their ceilings, in units of [`QUANTUM`]: a link where that is not
    /// negative holds nobody, and nothing more need be known of it. Whole numbers, for they come back to where they were.
    room: i64,
    /// Σ w·r of its flows; kept while there is no such room.
    load: f64,
    /// Its flows, and which of each flow's legs lies on it.
    flows: Vec<(FlowId, u32)>,
    /// How many of them it holds, and at which level.
    holds: u32,
    level: f64,
    filling: Filling,
}

#[derive(Debug, Default)]
struct Flow {
    /// The level at its bound.
    bound: f64,
    /// A level that it does not pass without its links' room being reckoned again.
    ceiling: f64,
    /// 1/P: the rate it has for each unit of level.
    ease: f64,
    level: f64,
    /// The link that holds it; its own bound if none.
    held: Option<LinkId>,
    legs: Vec<Leg>,
    /// The repair that unsettled it last, and the one that stopped it again: at which level, and held by what.
    unsettled: u64,
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
    /// What it takes of the link's room: w·r at the flow's ceiling.
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
            level: 0.0,
            filling: Filling::default(),
        });
        Self {
            links: links.collect(),
            flows: Vec::new(),
            arrived: Vec::new(),
            loosened: Vec::new(),
            repairs: 1,
            unsettled: Vec::new(),
            touched: Vec::new(),
            due: BinaryHeap::new(),
            stirred: Vec::new(),
            rising: 0,
            waiting: 0,
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
        known.legs.extend(demand.uses.iter().map(|&(link, weight)| Leg { link, weight, place: 0, room: 0 }));
    }

    /// `flow` starts. Its rate is 0 until the rates are settled.
    pub fn enter(&mut self, flow: FlowId) {
        let entering = &mut self.flows[flow.index()];
        entering.level = 0.0;
        entering.held = None;
        for (number, leg) in (0..).zip(&mut entering.legs) {
            let flows = &mut self.links[leg.link.index()].flows;
            leg.place = flows.len() as u32;
            flows.push((flow, number));
        }
        let bound = entering.bound;
        self.set_ceiling(flow, bound);
        self.arrived.push(flow);
    }

    /// `flow` ends. Its number is free again.
    pub fn leave(&mut self, flow: FlowId) {
        let leaving = &mut self.flows[flow.index()];
        let rate = leaving.rate();
        if let Some(link) = leaving.held.take() {
            self.links[link.index()].holds -= 1;
        }
        for number in 0..leaving.legs.len() {
            let leg = self.flows[flow.index()].legs[number];
            let link = &mut self.links[leg.link.index()];
            link.flows.swap_remove(leg.place as usize);
            link.room += leg.room;
            self.flows[flow.index()].legs[number].room = 0;
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
        self.flows[flow.index()].rate()
    }

    /// Makes the rates max-min fair again, and appends to `changed` the flows whose rate is another now, each once.
    pub fn settle(&mut self, changed: &mut Vec<FlowId>) {
        if self.arrived.is_empty() && self.loosened.is_empty() {
            return;
        }
        self.unsettled.clear();
        self.touched.clear();
        // Before anybody is unsettled: what they find free must be what is left when all who could have their bounds.
        let mut arrived = std::mem::take(&mut self.arrived);
        arrived.retain(|&flow| {
            let admitted = self.admit(flow);
            if admitted {
                changed.push(flow);
            }
            !admitted
        });
        for flow in arrived.drain(..) {
            self.unsettle(flow);
        }
        self.arrived = arrived;
        for number in 0..self.loosened.len() {
            self.unsettle_held(self.loosened[number]);
        }
        self.loosened.clear();
        self.finish_repair(changed);
    }

    /// Makes a level the ceiling of a flow, and reckons again what room that leaves.
    fn set_ceiling(&mut self, id: FlowId, ceiling: f64) {
        let flow = &mut self.flows[id.index()];
        flow.ceiling = ceiling;
        for number in 0..flow.legs.len() {
            let flow = &mut self.flows[id.index()];
            let ceiling = flow.ceiling * flow.ease;
            let leg = &mut flow.legs[number];
            let (link, before) = (leg.link, leg.room);
            leg.room = (leg.weight * ceiling / QUANTUM) as i64;
            let state = &mut self.links[link.index()];
            let had_room = state.has_room();
            state.room -= self.flows[id.index()].legs[number].room - before;
            if had_room && !state.has_room() {
                let flows = self.links[link.index()].flows.iter();
                self.links[link.index()].load = flows.map(|&(flow, leg)| self.flows[flow.index()].uses(leg)).sum();
                self.touch_amidst(link);
            }
        }
    }

    /// Gives a flow that arrived its bound, if there is room for it.
    fn admit(&mut self, flow: FlowId) -> bool {
        let flow = &mut self.flows[flow.index()];
        let rate = flow.bound * flow.ease;
        let links = &mut self.links;
        let fits = |leg: &Leg| {
            let link = &links[leg.link.index()];
            link.has_room() || link.load + leg.weight * rate <= link.capacity * (1.0 + TOLERANCE)
        };
        if !flow.legs.iter().all(fits) {
            return false;
        }
        flow.level = flow.bound;
        for leg in &flow.legs {
            links[leg.link.index()].load += leg.weight * rate;
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
    fn rate(&self) -> f64 {
        self.level * self.ease
    }

    /// What it uses of the link that one of its legs lies on.
    fn uses(&self, leg: u32) -> f64 {
        self.legs[leg as usize].weight * self.rate()
    }
}

impl FlowId {
    fn index(self) -> usize {
        self.0 as usize
    }
}
