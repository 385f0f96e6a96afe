//! Recomputes the rates of invalid flows.
//!
//! The *invalid* flows get their max-min fair rates in the capacity that the other flows leave, by progressive
//! [filling](Filling). While the level rises, further flows become invalid:
//!
//! * A link would be full at a lower level than that of a valid flow on it. This flow has more than its share.
//! * The level meets that of valid flows which a link limits, and the link is not full. They are no longer limited.
//!
//! These flows rise with the others from this level on. No level below changes, so the filling does not start again,
//! however far a change reaches. At the end, each flow is limited, and the rates are right. Most searches end after a
//! few flows.

use super::filling::{Filling, Limit, RisingFlow};
use super::{FlowId, MaxMinSolver, TOLERANCE, Variable};
use crate::topology::LinkId;

/// The working memory of a search for rates; kept to be used again.
#[derive(Debug, Default)]
pub(super) struct Resolve {
    /// Counts searches, to tell the marks of this one from those before.
    clock: u64,
    pub invalid: Vec<FlowId>,
    /// The results for the invalid flows, in their order, and the links without slack that they take.
    pub filling: Filling,
}

/// The number of a link whose flows are invalid that it limited, and which the filling has not touched.
const UNTOUCHED: u32 = u32::MAX;

impl MaxMinSolver {
    pub(super) fn begin_resolve(&mut self) {
        self.resolve.clock += 1;
        self.resolve.invalid.clear();
    }

    pub(super) fn finish_resolve(&mut self, changed: &mut Vec<FlowId>) {
        if self.resolve.invalid.is_empty() {
            return;
        }
        self.resolve.filling.clear();
        self.raise_invalid();
        while let Some(limit) = self.resolve.filling.next_limit() {
            match limit {
                Limit::Bound => self.resolve.filling.stop_at_bound(),
                Limit::Met(number) => self.meet_limited(number),
                Limit::Full(number, level) => self.fill(number, level),
            }
        }
        self.commit(changed);
        self.begin_shared_level(changed);
    }

    pub(super) fn invalidate(&mut self, flow: FlowId) {
        let Resolve { clock, invalid, .. } = &mut self.resolve;
        self.flows[flow.index()].invalidate(flow, invalid, *clock);
    }

    /// Makes the rates invalid of the flows that a link limits, before the filling.
    pub(super) fn invalidate_limited_by(&mut self, link: LinkId) {
        let state = &mut self.links[link.index()];
        if state.limits > 0 && state.touched.0 != self.resolve.clock {
            state.touched = (self.resolve.clock, UNTOUCHED);
            self.invalidate_on(link, |flow| flow.bottleneck == Some(link));
        }
    }

    /// Makes the rates invalid of those flows on a link.
    fn invalidate_on(&mut self, link: LinkId, which: impl Fn(&Variable) -> bool) {
        let Self { links, flows, resolve: Resolve { clock, invalid, .. }, .. } = self;
        for &(id, _) in &links[link.index()].flows {
            let flow = &mut flows[id.index()];
            if which(flow) {
                flow.invalidate(id, invalid, *clock);
            }
        }
    }

    /// Lets the flows rise that became invalid, with the links without slack that they take.
    fn raise_invalid(&mut self) {
        let Self { links, flows, resolve: Resolve { clock, invalid, filling }, .. } = self;
        for &id in &invalid[filling.rising.len()..] {
            let flow = &flows[id.index()];
            let inverse_penalty = f64::from(flow.count) * flow.inverse_penalty;
            filling.join(id, flow.bound);
            for element in &flow.elements {
                let link = &mut links[element.link.index()];
                if link.has_slack() {
                    continue;
                }
                if link.touched.0 != *clock || link.touched.1 == UNTOUCHED {
                    link.touched = (*clock, filling.touch(element.link, link));
                }
                let is_limit = flow.bottleneck == Some(element.link);
                filling.take(link.touched.1, inverse_penalty * element.weight, flow.level, is_limit);
            }
        }
    }

    /// The level meets that of the valid flows which a link limits: unless the link is full, they rise further.
    fn meet_limited(&mut self, number: u32) {
        let state = &self.resolve.filling.touched[number as usize];
        let (link, free) = (state.link, state.free_at(state.limited_at));
        let is_full = free <= state.capacity * TOLERANCE;
        self.resolve.filling.meet(number);
        if !is_full {
            self.invalidate_on(link, |flow| flow.bottleneck == Some(link));
            self.raise_invalid();
        }
    }

    /// A link is full at this level. Its rising flows stop, unless valid flows there have a higher level.
    fn fill(&mut self, number: u32, level: f64) {
        let state = self.resolve.filling.touched[number as usize];
        let (link, highest, lowest) = (state.link, level * (1.0 + TOLERANCE), level * (1.0 - TOLERANCE));
        let before = self.resolve.invalid.len();
        if !state.has_all() {
            if state.is_unmet() {
                self.resolve.filling.meet(number);
            }
            if state.is_unmet() && state.limited_at > highest {
                // They have the highest level on the link, and may be all that have more than their share.
                self.invalidate_on(link, |flow| flow.bottleneck == Some(link));
            } else {
                let is_wrong =
                    |flow: &Variable| flow.level > highest || flow.bottleneck == Some(link) && flow.level < lowest;
                self.invalidate_on(link, is_wrong);
            }
        }
        if self.resolve.invalid.len() > before {
            self.raise_invalid();
        } else if self.resolve.filling.all_take(number) {
            self.resolve.filling.stop_everything_on(number, level);
        } else {
            let Self { links, flows, resolve: Resolve { clock, filling, .. }, .. } = self;
            for &(flow, _) in &links[link.index()].flows {
                let (search, place) = flows[flow.index()].invalid;
                if search == *clock {
                    filling.stop(place, level, Some(link));
                }
            }
        }
    }

    /// Makes the next rates the rates.
    fn commit(&mut self, changed: &mut Vec<FlowId>) {
        let Self { links, flows, resolve: Resolve { filling, .. }, .. } = self;
        for touched in &filling.touched {
            links[touched.link.index()].load = touched.capacity - touched.free();
        }
        for &RisingFlow { flow: id, level, bottleneck, .. } in &filling.rising {
            let flow = &mut flows[id.index()];
            // A rate that is another only by rounding stays, and so does the time at which the flow ends.
            if (level - flow.level).abs() > TOLERANCE * 1e-3 * flow.level {
                flow.level = level;
                changed.push(id);
            }
            if let Some(link) = bottleneck {
                links[link.index()].limited_at = flow.level;
            }
            if flow.bottleneck != bottleneck {
                if let Some(link) = flow.bottleneck {
                    links[link.index()].limits -= 1;
                }
                if let Some(link) = bottleneck {
                    links[link.index()].limits += 1;
                }
                flow.bottleneck = bottleneck;
            }
        }
    }
}

impl Variable {
    /// Makes the rate of this flow, whose number is `id`, invalid in the search of this `clock`.
    fn invalidate(&mut self, id: FlowId, invalid: &mut Vec<FlowId>, clock: u64) {
        if self.invalid.0 != clock {
            self.invalid = (clock, invalid.len() as u32);
            invalid.push(id);
        }
    }
}
