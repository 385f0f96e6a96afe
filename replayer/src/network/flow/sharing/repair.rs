//! Progressive filling, repeated where it comes out differently.

use std::cmp::Ordering;

use super::{FlowId, Sharing, TOLERANCE};
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
    /// The level at which something is next due here, as entered in [`Sharing::due`]; or later.
    due: f64,
}

/// Something is due at a link when the level has risen so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    level: f64,
    link: LinkId,
}

impl Filling {
    /// The level at which the link will be full if nothing happens before.
    fn full(&self) -> f64 {
        match self.rising {
            0 => f64::INFINITY,
            // What subtracting has left may be a little less than nothing.
            _ => self.free.max(0.0) / self.slope.max(f64::MIN_POSITIVE),
        }
    }
}

impl Sharing {
    pub(super) fn begin_repair(&mut self) {
        self.repairs += 1;
        self.unsettled.clear();
        self.touched.clear();
    }

    /// Has the level rise from 0 until nothing is due any more.
    pub(super) fn finish_repair(&mut self, changed: &mut Vec<FlowId>) {
        while let Some(Due { level, link }) = self.due.pop() {
            // Another entry for this link took the place of one that is not due when the link says.
            if self.links[link.index()].filling.due == level {
                self.links[link.index()].filling.due = f64::INFINITY;
                // As flows stop, links that they take are full later. One that has moved finds its place again.
                if self.next_due(link) <= level {
                    self.reach(link, level);
                }
                self.enter_due(link);
            }
        }
        // No link stops the rest.
        for number in 0..self.unsettled.len() {
            let flow = &self.flows[self.unsettled[number].index()];
            if flow.stopped != self.repairs {
                self.stop(self.unsettled[number], flow.bound, None);
            }
        }
        self.adopt(changed);
    }

    /// Has a flow rise with the level, which has not passed its own.
    pub(super) fn unsettle(&mut self, id: FlowId) {
        let flow = &mut self.flows[id.index()];
        if flow.unsettled == self.repairs {
            return;
        }
        flow.unsettled = self.repairs;
        self.unsettled.push(id);
        for number in 0..flow.legs.len() {
            let flow = &self.flows[id.index()];
            let leg = flow.legs[number];
            let link = &mut self.links[leg.link.index()];
            if link.has_room() {
                continue;
            }
            if link.filling.repair != self.repairs {
                self.touched.push(leg.link);
                link.filling = Filling {
                    repair: self.repairs,
                    free: link.capacity - link.load,
                    holds: link.holds,
                    due: f64::INFINITY,
                    ..Filling::default()
                };
            }
            let filling = &mut link.filling;
            filling.free += leg.weight * flow.rate();
            filling.slope += leg.weight * flow.ease;
            filling.rising += 1;
            filling.unsettled += 1;
            if flow.held == Some(leg.link) {
                filling.holds = filling.holds.saturating_sub(1);
            }
            self.enter_due(leg.link);
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

    /// The level at which something happens to a link: it is full, or the level of the settled flows that it holds is
    /// reached.
    fn next_due(&self, link: LinkId) -> f64 {
        let link = &self.links[link.index()];
        let full = link.filling.full();
        if link.filling.holds > 0 { full.min(link.level) } else { full }
    }

    /// Sees to it that a link is looked at in time.
    fn enter_due(&mut self, link: LinkId) {
        let level = self.next_due(link);
        let due = &mut self.links[link.index()].filling.due;
        if level < *due {
            *due = level;
            self.due.push(Due { level, link });
        }
    }

    /// The level has risen to where something is due at a link.
    fn reach(&mut self, id: LinkId, level: f64) {
        let link = &self.links[id.index()];
        let Filling { free, slope, holds, .. } = link.filling;
        if holds > 0 && free - slope * level > link.capacity * TOLERANCE {
            // The flows that it holds would stop here if it were full.
            return self.unsettle_held(id);
        }
        if self.stop_at_bounds(id, level) || self.unsettle_above(id, level) {
            return;
        }
        for number in 0..self.front.len() {
            self.stop(self.front[number], level, Some(id));
        }
        let link = &mut self.links[id.index()];
        link.level = level;
        link.filling.holds = 0;
    }

    /// Stops the rising flows on a link that have met their bounds, if any; lists the others as its `front`.
    fn stop_at_bounds(&mut self, link: LinkId, level: f64) -> bool {
        self.front.clear();
        let mut any = false;
        for place in 0..self.links[link.index()].flows.len() {
            let (id, _) = self.links[link.index()].flows[place];
            let flow = &self.flows[id.index()];
            if flow.unsettled != self.repairs || flow.stopped == self.repairs {
                continue;
            }
            if flow.bound <= level {
                self.stop(id, flow.bound, None);
                any = true;
            } else {
                self.front.push(id);
            }
        }
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

    fn stop(&mut self, flow: FlowId, level: f64, held: Option<LinkId>) {
        let flow = &mut self.flows[flow.index()];
        flow.stopped = self.repairs;
        flow.next = (level, held);
        let rate = level * flow.ease;
        for leg in &flow.legs {
            let link = &mut self.links[leg.link.index()];
            if !link.has_room() {
                link.filling.free -= leg.weight * rate;
                link.filling.slope -= leg.weight * flow.ease;
                link.filling.rising -= 1;
            }
        }
    }

    /// Makes the `next` levels the levels.
    fn adopt(&mut self, changed: &mut Vec<FlowId>) {
        for &link in &self.touched {
            let link = &mut self.links[link.index()];
            link.load = link.capacity - link.filling.free;
        }
        for &id in &self.unsettled {
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
