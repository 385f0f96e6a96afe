//! Progressive filling, repeated where it comes out differently.

use std::cmp::Ordering;

use super::{FlowId, Leg, Sharing, TOLERANCE};
use crate::topology::LinkId;

/// What a repair knows of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Filling {
    /// Which repair this is.
    repair: u64,
    /// What settled and stopped flows leave of the link.
    free: f64,
    /// How fast the rising level uses that: Σ w/P of the flows that rise.
    slope: f64,
    /// How many those are.
    rising: u32,
    /// How many flows are not settled any more.
    unsettled: u32,
    /// How many settled flows the link holds.
    holds: u32,
    /// The lowest ceiling of a flow that rises, or a lower level.
    ceiling: f64,
    /// The level at which something is next due here, as entered in [`Sharing::due`]; or later.
    due: f64,
    /// Whether that is to be found out again.
    stirred: bool,
}

/// Something is due at a link when the level has risen so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    level: f64,
    link: LinkId,
}

/// A new ceiling is so many times the level; one that is the square of this above the level is lowered.
const CEILING: f64 = 2.0;

impl Filling {
    /// The level at which the link will be full if nothing happens before.
    fn full(&self) -> f64 {
        // What subtracting has left may be a little less than nothing.
        self.free.max(0.0) / self.slope.max(f64::MIN_POSITIVE)
    }
}

impl Sharing {
    /// Has the level rise from 0 until nothing is due any more.
    pub(super) fn finish_repair(&mut self, changed: &mut Vec<FlowId>) {
        self.enter_stirred();
        while self.rising + self.waiting > 0
            && let Some(Due { level, link }) = self.due.pop()
        {
            // Another entry for this link took the place of one that is not due when the link says.
            if self.links[link.index()].filling.due == level {
                self.links[link.index()].filling.due = f64::INFINITY;
                // As flows stop, links that they take are full later. One that has moved finds its place again.
                if self.next_due(link) <= level {
                    self.reach(link, level);
                }
                self.stir(link);
                self.enter_stirred();
            }
        }
        self.due.clear();
        // No link stops the rest.
        for number in 0..if self.rising > 0 { self.unsettled.len() } else { 0 } {
            let flow = &self.flows[self.unsettled[number].index()];
            if flow.stopped != self.repairs {
                self.stop(self.unsettled[number], flow.bound, None);
            }
        }
        self.adopt(changed);
        self.repairs += 1;
    }

    /// Has a flow rise with the level, which has not passed its own.
    pub(super) fn unsettle(&mut self, id: FlowId) {
        let flow = &mut self.flows[id.index()];
        if flow.unsettled == self.repairs {
            return;
        }
        flow.unsettled = self.repairs;
        self.unsettled.push(id);
        self.rising += 1;
        for number in 0..flow.legs.len() {
            let leg = self.flows[id.index()].legs[number];
            let link = &self.links[leg.link.index()];
            if !link.has_room() {
                if link.filling.repair != self.repairs {
                    self.touch(leg.link);
                }
                self.lift(id, leg);
                self.stir(leg.link);
            }
        }
    }

    /// Begins to look at a link, all of whose flows are settled.
    fn touch(&mut self, id: LinkId) {
        let link = &mut self.links[id.index()];
        link.filling = Filling {
            repair: self.repairs,
            free: link.capacity - link.load,
            holds: link.holds,
            ceiling: f64::INFINITY,
            due: f64::INFINITY,
            ..Filling::default()
        };
        self.waiting += usize::from(link.holds > 0);
        self.touched.push(id);
    }

    /// Begins to look at a link that had room until now, whose flows may be rising or stopped already.
    pub(super) fn touch_amidst(&mut self, id: LinkId) {
        for place in 0..self.links[id.index()].flows.len() {
            let (flow, leg) = self.links[id.index()].flows[place];
            let state = &self.flows[flow.index()];
            if state.unsettled != self.repairs {
                continue;
            }
            let leg = state.legs[leg as usize];
            let stopped = (state.stopped == self.repairs).then_some(state.next.0 * state.ease);
            if self.links[id.index()].filling.repair != self.repairs {
                self.touch(id);
            }
            self.lift(flow, leg);
            if let Some(rate) = stopped {
                self.drop(flow, leg, rate);
            }
            self.stir(id);
        }
    }

    /// Takes a settled flow for a rising one, on one link.
    fn lift(&mut self, flow: FlowId, leg: Leg) {
        let flow = &self.flows[flow.index()];
        let filling = &mut self.links[leg.link.index()].filling;
        filling.free += leg.weight * flow.rate();
        filling.slope += leg.weight * flow.ease;
        filling.ceiling = filling.ceiling.min(flow.ceiling);
        filling.rising += 1;
        filling.unsettled += 1;
        if flow.held == Some(leg.link) && filling.holds > 0 {
            filling.holds -= 1;
            self.waiting -= usize::from(filling.holds == 0);
        }
    }

    /// Takes a rising flow for one that has stopped, on one link.
    fn drop(&mut self, flow: FlowId, leg: Leg, rate: f64) {
        let filling = &mut self.links[leg.link.index()].filling;
        filling.free -= leg.weight * rate;
        filling.slope -= leg.weight * self.flows[flow.index()].ease;
        filling.rising -= 1;
    }

    fn stir(&mut self, link: LinkId) {
        let filling = &mut self.links[link.index()].filling;
        if !filling.stirred {
            filling.stirred = true;
            self.stirred.push(link);
        }
    }

    fn enter_stirred(&mut self) {
        while let Some(link) = self.stirred.pop() {
            let level = self.next_due(link);
            let filling = &mut self.links[link.index()].filling;
            filling.stirred = false;
            if level < filling.due {
                filling.due = level;
                self.due.push(Due { level, link });
            }
        }
    }

    /// Unsettles the flows that a link holds.
    pub(super) fn unsettle_held(&mut self, link: LinkId) {
        if self.links[link.index()].holds == 0 {
            return;
        }
        for place in 0..self.links[link.index()].flows.len() {
            let (flow, _) = self.links[link.index()].flows[place];
            if self.flows[flow.index()].held == Some(link) {
                self.unsettle(flow);
            }
        }
    }

    /// The level at which something happens to a link: it is full, a flow meets its ceiling, or the level of the settled
    /// flows that it holds is reached.
    fn next_due(&self, link: LinkId) -> f64 {
        let link = &self.links[link.index()];
        let Filling { rising, holds, ceiling, .. } = link.filling;
        let by_rising = if rising > 0 { link.filling.full().min(ceiling) } else { f64::INFINITY };
        if holds > 0 { by_rising.min(link.level) } else { by_rising }
    }

    /// The level has risen to where something is due at a link.
    fn reach(&mut self, id: LinkId, level: f64) {
        if self.meet_ceilings(id, level) {
            return;
        }
        let link = &self.links[id.index()];
        let Filling { free, slope, holds, .. } = link.filling;
        if free - slope * level > link.capacity * TOLERANCE {
            if holds > 0 && link.level <= level {
                // The flows that it holds would stop here if it were full.
                self.unsettle_held(id);
            }
            return;
        }
        if self.unsettle_above(id, level) {
            return;
        }
        for number in 0..self.front.len() {
            self.stop(self.front[number], level, Some(id));
        }
        let link = &mut self.links[id.index()];
        link.level = level;
        self.waiting -= usize::from(link.filling.holds > 0);
        link.filling.holds = 0;
    }

    /// Stops the rising flows on a link that have met their bounds, and lifts the ceilings that others have met, if any.
    /// Lists those that rise on as its `front`.
    fn meet_ceilings(&mut self, link: LinkId, level: f64) -> bool {
        self.front.clear();
        let mut any = false;
        let mut lowest = f64::INFINITY;
        for place in 0..self.links[link.index()].flows.len() {
            let (id, _) = self.links[link.index()].flows[place];
            let flow = &self.flows[id.index()];
            if flow.unsettled != self.repairs || flow.stopped == self.repairs {
                continue;
            }
            if flow.ceiling <= level {
                any = true;
                if flow.bound <= level {
                    self.stop(id, flow.bound, None);
                    continue;
                }
                self.set_ceiling(id, flow.bound.min(level * CEILING));
            }
            self.front.push(id);
            lowest = lowest.min(self.flows[id.index()].ceiling);
        }
        self.links[link.index()].filling.ceiling = lowest;
        any
    }

    /// Unsettles the settled flows on a full link that have more than will be theirs, if any.
    fn unsettle_above(&mut self, id: LinkId, level: f64) -> bool {
        let link = &self.links[id.index()];
        if link.filling.unsettled as usize == link.flows.len() {
            return false;
        }
        // If all that is above some level came down, the link would be full at another, which is higher. What is above
        // the last of these has to come down.
        let mut share = level;
        loop {
            let (mut free, mut slope) = (link.filling.free, link.filling.slope);
            for &(flow, leg) in &link.flows {
                let flow = &self.flows[flow.index()];
                if flow.unsettled != self.repairs && flow.level > share * (1.0 + TOLERANCE) {
                    let weight = flow.legs[leg as usize].weight;
                    free += weight * flow.rate();
                    slope += weight * flow.ease;
                }
            }
            let next = free.max(0.0) / slope.max(f64::MIN_POSITIVE);
            if next <= share * (1.0 + TOLERANCE) {
                break;
            }
            share = next;
        }
        let before = self.unsettled.len();
        for place in 0..self.links[id.index()].flows.len() {
            let (flow, _) = self.links[id.index()].flows[place];
            if self.flows[flow.index()].level > share * (1.0 + TOLERANCE) {
                self.unsettle(flow);
            }
        }
        self.unsettled.len() > before
    }

    fn stop(&mut self, id: FlowId, level: f64, held: Option<LinkId>) {
        let flow = &mut self.flows[id.index()];
        flow.stopped = self.repairs;
        flow.next = (level, held);
        self.rising -= 1;
        let rate = level * flow.ease;
        for number in 0..flow.legs.len() {
            let leg = self.flows[id.index()].legs[number];
            if self.links[leg.link.index()].filling.repair == self.repairs {
                self.drop(id, leg, rate);
            }
        }
    }

    /// Makes the `next` levels the levels.
    fn adopt(&mut self, changed: &mut Vec<FlowId>) {
        for &link in &self.touched {
            let link = &mut self.links[link.index()];
            link.load = link.capacity - link.filling.free;
        }
        for number in 0..self.unsettled.len() {
            let id = self.unsettled[number];
            let flow = &mut self.flows[id.index()];
            let (level, held) = flow.next;
            // A rate that is another only by rounding stays, and so does the time at which the flow ends.
            if (level - flow.level).abs() > TOLERANCE * 1e-3 * flow.level {
                flow.level = level;
                changed.push(id);
            }
            if flow.held != held {
                if let Some(link) = flow.held {
                    self.links[link.index()].holds -= 1;
                }
                if let Some(link) = held {
                    self.links[link.index()].holds += 1;
                }
                flow.held = held;
            }
            if level * CEILING * CEILING < flow.ceiling {
                self.set_ceiling(id, level * CEILING);
            }
        }
    }
}

/// The lowest level is the greatest, which a `BinaryHeap` gives first; ties go by the links' numbers.
impl Ord for Due {
    fn cmp(&self, other: &Self) -> Ordering {
        other.level.total_cmp(&self.level).then(other.link.cmp(&self.link))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Due {}
