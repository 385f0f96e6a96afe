//! Repair: which flows a change unsettles, and when no more are.

use super::{FlowId, Sharing, TOLERANCE};
use crate::topology::LinkId;

/// How often a repair may spread to the flows that need it before it takes all within reach. Each time costs a filling.
const SPREADS: usize = 4;

impl Sharing {
    pub(super) fn begin_repair(&mut self) {
        self.clock += 1;
        self.repair = self.clock;
        self.unsettled.clear();
    }

    /// Settles the unsettled, and all whom that unsettles.
    pub(super) fn finish_repair(&mut self, changed: &mut Vec<FlowId>) {
        for spreads in 0_usize.. {
            self.fill();
            let before = self.unsettled.len();
            self.spread();
            if self.unsettled.len() == before {
                break;
            }
            if spreads >= SPREADS {
                self.unsettle_all_within_reach();
            }
        }
        self.adopt(changed);
    }

    pub(super) fn unsettle(&mut self, flow: FlowId) {
        let state = &mut self.flows[flow.index()];
        if state.unsettled != self.repair {
            state.unsettled = self.repair;
            self.unsettled.push(flow);
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

    /// Unsettles the flows on a link without room that have more than they would have if all its flows were at one
    /// level. Those it holds are among them: no flow on it has more.
    pub(super) fn unsettle_crowd(&mut self, id: LinkId) {
        let link = &mut self.links[id.index()];
        if link.crowded == self.repair {
            return;
        }
        link.crowded = self.repair;
        let leg = |(flow, number): (FlowId, u32)| {
            let flow = &self.flows[flow.index()];
            flow.legs[number as usize].weight * flow.ease
        };
        let slope: f64 = link.flows.iter().copied().map(leg).sum();
        let equal = link.capacity / slope;
        for place in 0..self.links[id.index()].flows.len() {
            let (flow, _) = self.links[id.index()].flows[place];
            if self.flows[flow.index()].level > equal {
                self.unsettle(flow);
            }
        }
    }

    /// Unsettles the settled flows that the `next` levels leave unheld, or that have more than their share of a link.
    fn spread(&mut self) {
        for number in 0..self.touched.len() {
            let id = self.touched[number];
            let link = &self.links[id.index()];
            let filling = link.filling;
            let holds_settled = link.holds > filling.held;
            if link.flows.len() == filling.unsettled as usize || !holds_settled && filling.full_at == f64::INFINITY {
                continue;
            }
            let full = filling.free <= link.capacity * TOLERANCE;
            for place in 0..link.flows.len() {
                let (flow, _) = self.links[id.index()].flows[place];
                let state = &self.flows[flow.index()];
                let unheld = state.held == Some(id) && (!full || state.level < filling.highest * (1.0 - TOLERANCE));
                if unheld || state.level > filling.full_at * (1.0 + TOLERANCE) {
                    self.unsettle(flow);
                }
            }
        }
    }

    /// Unsettles all flows that share a link that holds flows with an unsettled one, and those that do with them.
    fn unsettle_all_within_reach(&mut self) {
        self.clock += 1;
        let mut next = 0;
        while let Some(&flow) = self.unsettled.get(next) {
            next += 1;
            for number in 0..self.flows[flow.index()].legs.len() {
                let id = self.flows[flow.index()].legs[number].link;
                let link = &mut self.links[id.index()];
                if link.filling.clock == self.clock || link.holds == 0 {
                    continue;
                }
                link.filling.clock = self.clock;
                for place in 0..self.links[id.index()].flows.len() {
                    self.unsettle(self.links[id.index()].flows[place].0);
                }
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
                for (link, change) in [(flow.held, -1), (held, 1)] {
                    if let Some(link) = link {
                        let holds = &mut self.links[link.index()].holds;
                        *holds = holds.wrapping_add_signed(change);
                    }
                }
                flow.held = held;
            }
        }
    }
}
