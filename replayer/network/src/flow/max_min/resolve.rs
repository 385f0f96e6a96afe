//! Recomputes the rates of invalid flows.
//!
//! The *invalid* flows get their max-min fair rates in the capacity that the other flows leave
//! ([`MaxMinSolver::fill`]). The solver then checks the links without slack on their routes
//! ([`MaxMinSolver::propagate`]): another flow there may no longer be limited, or the invalid flows may be limited by a
//! link where another flow has a higher level. Such other flows become invalid as well, and the search repeats. When
//! there are none, each flow is limited and the rates are right. Most searches end after one or two flows. A search
//! that propagates too often invalidates all reachable flows at once.

use super::filling::{Filling, LinkState, RisingFlow};
use super::{FlowId, MaxMinSolver, TOLERANCE, Variable};
use crate::topology::LinkId;

/// The working memory of a search for rates; kept to be used again.
#[derive(Debug, Default)]
pub(super) struct Resolve {
    /// Counts searches, and the fillings within them, to tell the marks of this one from those before.
    clock: u64,
    /// The count when this search began.
    began: u64,
    pub invalid: Vec<FlowId>,
    /// The last filling: the results for the invalid flows, in their order, and the links without slack that they take.
    pub filling: Filling,
}

/// Maximum number of propagations before a search takes all reachable flows. Each costs a filling.
const MAX_PROPAGATIONS: usize = 4;

impl MaxMinSolver {
    pub(super) fn begin_resolve(&mut self) {
        self.resolve.clock += 1;
        self.resolve.began = self.resolve.clock;
        self.resolve.invalid.clear();
    }

    pub(super) fn finish_resolve(&mut self, changed: &mut Vec<FlowId>) {
        if self.resolve.invalid.is_empty() {
            return;
        }
        self.resolve.filling.clear();
        self.resolve.clock += 1;
        for propagations in 0_usize.. {
            self.fill();
            let before = self.resolve.invalid.len();
            self.propagate();
            if self.resolve.invalid.len() == before {
                break;
            }
            if propagations >= MAX_PROPAGATIONS {
                self.invalidate_all_within_reach();
                self.resolve.filling.clear();
                self.resolve.clock += 1;
            }
        }
        self.commit(changed);
        self.begin_shared_level(changed);
    }

    pub(super) fn invalidate(&mut self, flow: FlowId) {
        self.flows[flow.index()].invalidate(flow, &mut self.resolve.invalid, self.resolve.began);
    }

    /// Makes the rates invalid of the flows that a link limits, before the first filling.
    pub(super) fn invalidate_limited_by(&mut self, link: LinkId) {
        let Self { links, flows, resolve, .. } = self;
        let state = &mut links[link.index()];
        if state.limits == 0 || state.touched.0 == resolve.began {
            return;
        }
        state.touched.0 = resolve.began;
        for &(id, _) in &state.flows {
            let flow = &mut flows[id.index()];
            if flow.bottleneck == Some(link) {
                flow.invalidate(id, &mut resolve.invalid, resolve.began);
            }
        }
    }

    /// Gives each invalid flow its next rate: max-min fair among the invalid flows, in the capacity that the valid ones
    /// leave.
    fn fill(&mut self) {
        self.touch();
        let Self { links, flows, resolve: Resolve { filling, began, .. }, .. } = self;
        filling.fill(|link, stop| {
            for &(flow, _) in &links[link.index()].flows {
                let (search, place) = flows[flow.index()].invalid;
                if search == *began {
                    stop(place);
                }
            }
        });
    }

    /// Adds the flows that became invalid since the last filling to the next one, with the links without slack that
    /// they take, and the capacity to share on each.
    fn touch(&mut self) {
        let Self { links, flows, resolve: Resolve { clock, invalid, filling, .. }, .. } = self;
        let Filling { touched, rising, elements, lowest_bound, .. } = filling;
        for &id in &invalid[rising.len()..] {
            let flow = &flows[id.index()];
            let inverse_penalty = f64::from(flow.count) * flow.inverse_penalty;
            *lowest_bound = lowest_bound.min(flow.bound);
            let first = elements.len() as u32;
            for element in &flow.elements {
                let link = &mut links[element.link.index()];
                if link.has_slack() {
                    continue;
                }
                if link.touched.0 != *clock {
                    link.touched = (*clock, touched.len() as u32);
                    touched.push(LinkState::new(element.link, link.capacity, link.capacity - link.load));
                }
                let slope = inverse_penalty * element.weight;
                let number = link.touched.1;
                let touched = &mut touched[number as usize];
                touched.shared += slope * flow.level;
                touched.total_slope += slope;
                touched.invalid += 1;
                touched.limited += u32::from(flow.bottleneck == Some(element.link));
                elements.push((number, slope));
            }
            rising.push(RisingFlow::new(id, flow.bound, first..elements.len() as u32));
        }
        for touched in touched {
            touched.begin(touched.invalid as usize == links[touched.link.index()].flows.len());
        }
    }

    /// Makes the rates invalid of flows that the next rates leave without a limit, or with more than their share of a link.
    fn propagate(&mut self) {
        let Self { links, flows, resolve: Resolve { filling, invalid, began, .. }, .. } = self;
        for touched in &filling.touched {
            let link = &links[touched.link.index()];
            let limits_valid = link.limits > touched.limited;
            if link.flows.len() == touched.invalid as usize || !limits_valid && touched.full_at == f64::INFINITY {
                continue;
            }
            let full = touched.free <= touched.capacity * TOLERANCE;
            let (lowest, highest) = (touched.highest * (1.0 - TOLERANCE), touched.full_at * (1.0 + TOLERANCE));
            for &(id, _) in &link.flows {
                let flow = &mut flows[id.index()];
                let unlimited = flow.bottleneck == Some(touched.link) && (!full || flow.level < lowest);
                if unlimited || flow.level > highest {
                    flow.invalidate(id, invalid, *began);
                }
            }
        }
    }

    /// Makes the rates invalid of all flows that share a bottleneck with an invalid one, and of those that do with them.
    fn invalidate_all_within_reach(&mut self) {
        let Self { links, flows, resolve: Resolve { clock, invalid, began, .. }, .. } = self;
        *clock += 1;
        let mut next = 0;
        while let Some(&flow) = invalid.get(next) {
            next += 1;
            for number in 0..flows[flow.index()].elements.len() {
                let link = &mut links[flows[flow.index()].elements[number].link.index()];
                if link.touched.0 == *clock || link.limits == 0 {
                    continue;
                }
                link.touched.0 = *clock;
                for &(id, _) in &link.flows {
                    flows[id.index()].invalidate(id, invalid, *began);
                }
            }
        }
    }

    /// Makes the next rates the rates.
    fn commit(&mut self, changed: &mut Vec<FlowId>) {
        let Self { links, flows, resolve: Resolve { filling, .. }, .. } = self;
        for touched in &filling.touched {
            links[touched.link.index()].load = touched.capacity - touched.free;
        }
        for &RisingFlow { flow: id, level, bottleneck, .. } in &filling.rising {
            let flow = &mut flows[id.index()];
            // A rate that is another only by rounding stays, and so does the time at which the flow ends.
            if (level - flow.level).abs() > TOLERANCE * 1e-3 * flow.level {
                flow.level = level;
                changed.push(id);
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
    /// Makes the rate of this flow, whose number is `id`, invalid in the search that `began` then.
    fn invalidate(&mut self, id: FlowId, invalid: &mut Vec<FlowId>, began: u64) {
        if self.invalid.0 != began {
            self.invalid = (began, invalid.len() as u32);
            invalid.push(id);
        }
    }
}
