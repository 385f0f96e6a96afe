//! Who gets how much of which link: weighted max-min fairness, kept up as flows come and go.
//!
//! **Vocabulary.** A *link* has a capacity *C*. A *flow* f has a *penalty* P, a *bound* b on its rate, and a *weight*
//! w(l) on each link l it takes: a rate r uses w·r of that link. Its *level* is r·P: what a fair division makes equal.
//! Flows that ask for the same get the same, so they are kept as one, with their *count* n: they use n·w·r.
//!
//! **The problem.** Rates are *feasible* if r ≤ b for each flow and Σ n·w·r ≤ C on each link. Of the feasible rates we
//! want those that are max-min fair: no flow's level can be raised without lowering that of a flow whose level is no
//! higher (Bertsekas and Gallager, *Data Networks*, §6.5.2). There is exactly one such division, and it is
//! recognized link by link: it is the feasible one where **each flow is held** —
//!
//! * by its bound: r = b, or
//! * by a link: the link is full, and no flow on it has a higher level. This is the flow's *bottleneck*.
//!
//! **The algorithm.** Because of that, a change needs [repair] where a flow is no longer held, and nowhere else. When a
//! flow leaves, those it shared a bottleneck with are held no longer. When a flow comes, it takes its bound if the links
//! have room for that: nobody else notices, and it cost O(route). If they have not, it is unsettled, and so are those
//! held by the link without room.
//!
//! **Room.** A link whose flows could all have their bounds is never full. It has *room* and is left out of repairs,
//! however many flows it carries; not even its load is kept. Room is counted in whole quanta, of which a capacity and a
//! bound are rounded up to the next, so that a flow whose bound is the capacity leaves exactly none. A quantum is at most
//! [`TOLERANCE`] times the capacity, so that the rounding lets no link carry more than the tolerance allows.
//!
//! **Tide.** Where one link holds a crowd, and nothing but their common level moves, they are not even looked at: they
//! get on with the [tide].

mod repair;
#[cfg(test)]
mod tests;
mod tide;

use repair::Repair;
use tide::Tide;

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
    repair: Repair,
    tide: Option<Tide>,
    /// The link that held all who were unsettled last.
    high_water: Option<LinkId>,
}

/// How fast a flow gets on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// At this rate, until it is reported again.
    Rate(f64),
    /// At this many times the [tide](Sharing::tide), whatever that is, until it is reported again.
    Tide(f64),
}

#[derive(Debug)]
struct Link {
    capacity: f64,
    /// Bytes per second that room on this link is counted in.
    quantum: f64,
    /// What would be left if all its flows had their bounds, in quanta. A whole number, because sums of whole numbers come
    /// back to where they were; wide enough for any number of flows of any bound.
    room: i128,
    /// Σ n·w·r of its flows; kept while there is no room.
    load: f64,
    /// Its flows, and which of each flow's `legs` lies on it.
    flows: Vec<(FlowId, u32)>,
    /// How many of them it holds.
    holds: u32,
    /// The filling that touched it last, and where it stands among what that touched.
    touched: (u64, u32),
}

#[derive(Debug, Default)]
struct Flow {
    count: u32,
    /// The level at its bound.
    bound: f64,
    /// 1/P: the rate for each unit of level.
    ease: f64,
    level: f64,
    /// The link that holds it; its own bound if none.
    held: Option<LinkId>,
    legs: Vec<Leg>,
    /// The repair that unsettled it last.
    unsettled: u64,
    /// The filling that gave it its `next` level.
    filled: u64,
    next: (f64, Option<LinkId>),
}

/// A flow on one link.
#[derive(Clone, Copy, Debug)]
struct Leg {
    link: LinkId,
    /// Where the link's list of flows has it.
    place: u32,
    weight: f64,
    /// What one flow takes of the link's room.
    room: i64,
}

/// Bytes per second that room is counted in at most. On slow links, quanta are smaller.
const LARGEST_QUANTUM: f64 = 1e-3;

/// Two levels, or a load and a capacity, closer than this (relatively) are the same. Rates are feasible and fair within
/// this tolerance.
const TOLERANCE: f64 = 1e-9;

impl Sharing {
    /// Links of these capacities, no flows.
    #[must_use]
    pub fn new(capacities: impl IntoIterator<Item = f64>) -> Self {
        Self {
            links: capacities.into_iter().map(Link::new).collect(),
            flows: Vec::new(),
            arrived: Vec::new(),
            loosened: Vec::new(),
            repair: Repair::default(),
            tide: None,
            high_water: None,
        }
    }

    /// Says what `flow` asks for. None of it may be under way.
    pub fn announce(&mut self, flow: FlowId, demand: &Demand) {
        if self.flows.len() <= flow.index() {
            self.flows.resize_with(flow.index() + 1, Flow::default);
        }
        let known = &mut self.flows[flow.index()];
        known.bound = demand.bound * demand.penalty;
        known.ease = 1.0 / demand.penalty;
        known.legs.clear();
        known.legs.extend(demand.uses.iter().map(|&(link, weight)| {
            let room = self.links[link.index()].room_for(weight * demand.bound);
            Leg { link, place: 0, weight, room }
        }));
    }

    /// Bounds a flow's rate otherwise from now on, whether it is under way or not. The rates must have been settled. Costs
    /// O(route), however many messages the flow stands for.
    pub fn set_bound(&mut self, flow: FlowId, bound: f64) {
        let under_way = self.flows[flow.index()].count;
        if under_way > 0 {
            self.withdraw(flow, under_way);
        }
        let known = &mut self.flows[flow.index()];
        known.bound = bound / known.ease;
        for leg in &mut known.legs {
            leg.room = self.links[leg.link.index()].room_for(leg.weight * bound);
        }
        if under_way > 0 {
            self.insert(flow, under_way);
        }
    }

    /// One more of `flow` starts. Its rate means nothing until the rates are settled.
    pub fn enter(&mut self, flow: FlowId) {
        self.insert(flow, 1);
    }

    /// One of `flow` ends. With the last, its number is free again.
    pub fn leave(&mut self, flow: FlowId) {
        self.withdraw(flow, 1);
    }

    /// Adds `more` to the count of a flow.
    fn insert(&mut self, flow: FlowId, more: u32) {
        let entering = &mut self.flows[flow.index()];
        let first = entering.count == 0;
        entering.count += more;
        if first {
            entering.level = 0.0;
            entering.held = None;
        }
        let (held, ease, rate) = (entering.held, entering.ease, entering.rate());
        for number in 0..entering.legs.len() {
            let leg = &mut self.flows[flow.index()].legs[number];
            let link = &mut self.links[leg.link.index()];
            if first {
                leg.place = link.flows.len() as u32;
                link.flows.push((flow, number as u32));
            }
            let weight = f64::from(more) * leg.weight;
            if let Some(tide) = self.tide.as_mut().filter(|tide| tide.link == leg.link) {
                match held {
                    Some(held) if held == tide.link => tide.slope += weight * ease,
                    _ => tide.used += weight * rate,
                }
            }
            let had_room = link.has_room();
            link.room -= i128::from(more) * i128::from(leg.room);
            if !link.has_room() {
                let id = leg.link;
                if had_room {
                    self.reckon_load(id);
                } else {
                    self.links[id.index()].load += weight * rate;
                }
            }
        }
        self.arrived.push(flow);
    }

    /// Takes `fewer`, at least one and no more than there are, from the count of a flow.
    fn withdraw(&mut self, flow: FlowId, fewer: u32) {
        let leaving = &mut self.flows[flow.index()];
        leaving.count -= fewer;
        let last = leaving.count == 0;
        let (held, ease, rate) = (leaving.held, leaving.ease, leaving.rate());
        if last && let Some(link) = leaving.held.take() {
            self.links[link.index()].holds -= 1;
        }
        for number in 0..leaving.legs.len() {
            let leg = self.flows[flow.index()].legs[number];
            let link = &mut self.links[leg.link.index()];
            let weight = f64::from(fewer) * leg.weight;
            if let Some(tide) = self.tide.as_mut().filter(|tide| tide.link == leg.link) {
                match held {
                    Some(held) if held == tide.link => tide.slope -= weight * ease,
                    _ => tide.used -= weight * rate,
                }
            }
            link.room += i128::from(fewer) * i128::from(leg.room);
            link.load -= weight * rate;
            if link.holds > 0 {
                self.loosened.push(leg.link);
            }
            if last {
                link.flows.swap_remove(leg.place as usize);
                if let Some(&(moved, number)) = link.flows.get(leg.place as usize) {
                    self.flows[moved.index()].legs[number as usize].place = leg.place;
                }
            }
        }
    }

    /// How fast a flow that has entered gets on, as last settled.
    #[must_use]
    pub fn pace(&self, flow: FlowId) -> Pace {
        let known = &self.flows[flow.index()];
        if self.rides(flow) { Pace::Tide(known.ease) } else { Pace::Rate(known.rate()) }
    }

    /// The level of those whose pace is [`Pace::Tide`].
    #[must_use]
    pub fn tide(&self) -> f64 {
        self.tide.map_or(0.0, |tide| tide.level)
    }

    /// Makes the rates max-min fair again, and appends to `changed` the flows whose pace is another now.
    pub fn settle(&mut self, changed: &mut Vec<FlowId>) {
        if self.arrived.is_empty() && self.loosened.is_empty() {
            return;
        }
        if self.turn_tide(changed) {
            return;
        }
        self.begin_repair();
        self.end_tide(changed);
        for number in 0..self.arrived.len() {
            self.admit(self.arrived[number], changed);
        }
        self.arrived.clear();
        for number in 0..self.loosened.len() {
            self.unsettle_held(self.loosened[number]);
        }
        self.loosened.clear();
        self.finish_repair(changed);
    }

    /// Gives a flow that arrived its bound if there is room for it, and unsettles it if not.
    fn admit(&mut self, flow: FlowId, changed: &mut Vec<FlowId>) {
        let Flow { bound, level, ease, count, .. } = self.flows[flow.index()];
        if count == 0 {
            return;
        }
        let more = f64::from(count) * (bound - level) * ease;
        let mut fits = true;
        for number in 0..self.flows[flow.index()].legs.len() {
            let leg = self.flows[flow.index()].legs[number];
            let link = &self.links[leg.link.index()];
            if !link.has_room() && link.load + leg.weight * more > link.capacity * (1.0 + TOLERANCE) {
                fits = false;
                self.unsettle_held(leg.link);
            }
        }
        let admitted = &mut self.flows[flow.index()];
        if !fits || admitted.held.is_some() {
            self.unsettle(flow);
        } else if level < bound {
            admitted.level = bound;
            for leg in &admitted.legs {
                self.links[leg.link.index()].load += leg.weight * more;
            }
            changed.push(flow);
        }
    }

    fn reckon_load(&mut self, link: LinkId) {
        let flows = &self.flows;
        let link = &mut self.links[link.index()];
        link.load = link.flows.iter().map(|&(flow, leg)| flows[flow.index()].uses(leg)).sum();
    }
}

impl Link {
    /// A link that carries nothing.
    fn new(capacity: f64) -> Self {
        let quantum = LARGEST_QUANTUM.min(TOLERANCE * capacity);
        let idle = Self { capacity, quantum, room: 0, load: 0.0, flows: Vec::new(), holds: 0, touched: (0, 0) };
        Self { room: idle.room_for(capacity).into(), ..idle }
    }

    /// The room that `bandwidth` bytes per second take.
    fn room_for(&self, bandwidth: f64) -> i64 {
        // `as` saturates: an unbounded flow takes more room than any link has.
        (bandwidth / self.quantum).ceil() as i64
    }

    fn has_room(&self) -> bool {
        self.room >= 0
    }
}

impl Flow {
    fn rate(&self) -> f64 {
        self.level * self.ease
    }

    /// How fast a rising level would have it use the link that one of its legs lies on: n·w/P.
    fn slope(&self, leg: u32) -> f64 {
        f64::from(self.count) * self.legs[leg as usize].weight * self.ease
    }

    /// What it uses of the link that one of its legs lies on.
    fn uses(&self, leg: u32) -> f64 {
        f64::from(self.count) * self.legs[leg as usize].weight * self.rate()
    }
}

impl FlowId {
    fn index(self) -> usize {
        self.0 as usize
    }
}
