//! Finding new rates for the flows whose rates are invalid.
//!
//! The *invalid* flows are given their max-min fair rates in what the others leave ([`MaxMinSolver::fill`]). Then the links
//! without slack that they take are looked over ([`MaxMinSolver::propagate`]): an outsider there may be limited no longer, or
//! the invalid may be limited by a link where an outsider has a higher level. Such outsiders become invalid too, and it
//! starts again; when there are none, each flow is limited and the rates are right. Most searches end after a flow or two.
//! One that propagates for long is cut short by making everything within reach invalid.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{FlowId, MaxMinSolver, TOLERANCE, Variable};
use crate::ordered_float::NonNegative;
use crate::topology::LinkId;

/// The working memory of a search for rates; kept to be used again.
#[derive(Debug, Default)]
pub(super) struct Resolve {
    /// Counts searches, and the fillings within them, to tell the marks of this one from those before.
    clock: u64,
    /// The count when this search began.
    began: u64,
    pub invalid: Vec<FlowId>,
    /// The links without slack that invalid flows take.
    pub touched: Vec<LinkState>,
    /// The link that limited all invalid flows in the last filling, if one did.
    pub alone: Option<u32>,
    /// The lowest level at which an invalid flow that still rises meets its bound, or a lower one.
    pub lowest_bound: f64,
    /// The invalid flows by that level, the lowest last; once it is needed.
    bounds: Vec<(NonNegative, Reverse<FlowId>)>,
    /// The links that will be full once the level has risen so far — or later, if flows on them stop before.
    filling: BinaryHeap<Reverse<(NonNegative, u32)>>,
}

/// A link that invalid flows take.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkState {
    pub link: LinkId,
    /// The capacity that valid and stopped flows leave.
    pub free: f64,
    /// How fast a rising level would use it: Σ n·w/P of the flows that still rise.
    pub slope: f64,
    /// How many flows still rise.
    rising: u32,
    /// How many invalid flows take it.
    invalid: u32,
    /// How many of the invalid flows it limited before.
    limited: u32,
    /// The level at which it was full and stopped those still rising.
    pub full_at: f64,
    /// The highest level an invalid flow reached on it.
    highest: f64,
}

/// How often a search may propagate before it takes all flows within reach. Each time costs a filling.
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
        for propagations in 0_usize.. {
            self.fill();
            let before = self.resolve.invalid.len();
            self.propagate();
            if self.resolve.invalid.len() == before {
                break;
            }
            if propagations >= MAX_PROPAGATIONS {
                self.invalidate_all_within_reach();
            }
        }
        self.commit(changed);
        self.begin_shared_level(changed);
    }

    pub(super) fn invalidate(&mut self, flow: FlowId) {
        let state = &mut self.flows[flow.index()];
        if state.invalid != self.resolve.began {
            state.invalid = self.resolve.began;
            self.resolve.invalid.push(flow);
        }
    }

    /// Makes the rates invalid of the flows that a link limits, before the first filling.
    pub(super) fn invalidate_limited_by(&mut self, link: LinkId) {
        let state = &mut self.links[link.index()];
        if state.limits == 0 || state.touched.0 == self.resolve.began {
            return;
        }
        state.touched.0 = self.resolve.began;
        for number in 0..self.links[link.index()].flows.len() {
            let (flow, _) = self.links[link.index()].flows[number];
            if self.flows[flow.index()].bottleneck == Some(link) {
                self.invalidate(flow);
            }
        }
    }

    /// Gives each invalid flow its `next` rate: max-min fair among the invalid, in what the valid leave.
    ///
    /// The level of all rises together from 0. It stops for a flow at its bound, and for all flows on a link when the
    /// link is full ("progressive filling", ibid.).
    fn fill(&mut self) {
        self.touch();
        let first = (0..).zip(&self.resolve.touched).map(|(number, touched)| (touched.full(), number)).min();
        if let Some((level, number)) = first
            && level.value() < self.resolve.lowest_bound
            && self.resolve.touched[number as usize].invalid as usize == self.resolve.invalid.len()
        {
            self.resolve.alone = Some(number);
            return self.stop_everything_on(number, level.value());
        }
        self.resolve.alone = None;
        let Resolve { touched, filling, bounds, .. } = &mut self.resolve;
        let mut order = std::mem::take(filling).into_vec();
        order.clear();
        order.extend((0..).zip(touched.iter()).map(|(number, touched)| Reverse((touched.full(), number))));
        *filling = order.into();
        bounds.clear();

        let mut rising = self.resolve.invalid.len();
        while rising > 0 {
            rising -= match self.first_full() {
                Some((level, touched)) if level.value() < self.resolve.lowest_bound => self.stop_all_on(touched, level),
                _ => self.stop_at_bound(),
            };
        }
    }

    /// All invalid flows take the link that is full first: it limits them all, and that is all there is to find out.
    fn stop_everything_on(&mut self, touched: u32, level: f64) {
        let Resolve { touched: all, invalid, clock, .. } = &mut self.resolve;
        all[touched as usize].full_at = level;
        let link = all[touched as usize].link;
        for touched in all {
            touched.free -= touched.slope * level;
            touched.highest = level;
            touched.rising = 0;
        }
        for flow in invalid {
            let flow = &mut self.flows[flow.index()];
            (flow.next, flow.filled) = ((level, Some(link)), *clock);
        }
    }

    /// Lists the links without slack that invalid flows take, and what there is to share on each.
    fn touch(&mut self) {
        self.resolve.clock += 1;
        let Resolve { invalid, touched, clock, lowest_bound, .. } = &mut self.resolve;
        touched.clear();
        *lowest_bound = f64::INFINITY;
        for &id in invalid.iter() {
            let flow = &mut self.flows[id.index()];
            let inverse_penalty = f64::from(flow.count) * flow.inverse_penalty;
            *lowest_bound = lowest_bound.min(flow.bound);
            for element in &flow.elements {
                let link = &mut self.links[element.link.index()];
                if link.has_slack() {
                    continue;
                }
                if link.touched.0 != *clock {
                    link.touched = (*clock, touched.len() as u32);
                    touched.push(LinkState {
                        link: element.link,
                        free: link.capacity - link.load,
                        slope: 0.0,
                        rising: 0,
                        invalid: 0,
                        limited: 0,
                        full_at: f64::INFINITY,
                        highest: 0.0,
                    });
                }
                let slope = inverse_penalty * element.weight;
                let touched = &mut touched[link.touched.1 as usize];
                touched.free += slope * flow.level;
                touched.slope += slope;
                touched.invalid += 1;
                touched.limited += u32::from(flow.bottleneck == Some(element.link));
            }
        }
        for touched in touched {
            let link = &self.links[touched.link.index()];
            touched.rising = touched.invalid;
            // Exactly all of it when it is: what rounding leaves behind must not add up.
            if touched.invalid as usize == link.flows.len() {
                touched.free = link.capacity;
            }
        }
    }

    /// The link that will be full first, and at which level.
    fn first_full(&mut self) -> Option<(NonNegative, u32)> {
        let Resolve { touched, filling, .. } = &mut self.resolve;
        // As flows stop, the others' links fill later, never earlier: a link whose time has moved goes back.
        while let Some(mut first) = filling.peek_mut() {
            let Reverse((level, number)) = *first;
            let link = &touched[number as usize];
            if link.rising == 0 {
                std::collections::binary_heap::PeekMut::pop(first);
            } else if link.full() > level {
                *first = Reverse((link.full(), number));
            } else {
                return Some((level, number));
            }
        }
        None
    }

    /// Stops all flows that still rise on a link that is full, and says how many.
    fn stop_all_on(&mut self, touched: u32, level: NonNegative) -> usize {
        let full = &mut self.resolve.touched[touched as usize];
        full.full_at = level.value();
        let (link, stopped) = (full.link, full.rising);
        for number in 0..self.links[link.index()].flows.len() {
            let (flow, _) = self.links[link.index()].flows[number];
            let state = &self.flows[flow.index()];
            if state.invalid == self.resolve.began && state.filled != self.resolve.clock {
                self.stop(flow, level.value(), Some(link));
            }
        }
        stopped as usize
    }

    /// Stops the flow that meets its bound first, and says how many that are: none if the bound thought to be the lowest
    /// was of a flow that has stopped.
    fn stop_at_bound(&mut self) -> usize {
        if self.resolve.bounds.is_empty() {
            let Resolve { invalid, bounds, .. } = &mut self.resolve;
            bounds.extend(invalid.iter().map(|&flow| (NonNegative::of(self.flows[flow.index()].bound), Reverse(flow))));
            bounds.sort_unstable_by(|a, b| b.cmp(a));
        }
        let Some((level, Reverse(flow))) = self.resolve.bounds.pop() else { return 0 };
        self.resolve.lowest_bound = self.resolve.bounds.last().map_or(f64::INFINITY, |(level, _)| level.value());
        if self.flows[flow.index()].filled == self.resolve.clock {
            return 0;
        }
        self.stop(flow, level.value(), None);
        1
    }

    fn stop(&mut self, flow: FlowId, level: f64, bottleneck: Option<LinkId>) {
        let flow = &mut self.flows[flow.index()];
        flow.next = (level, bottleneck);
        flow.filled = self.resolve.clock;
        let inverse_penalty = f64::from(flow.count) * flow.inverse_penalty;
        for element in &flow.elements {
            let link = &self.links[element.link.index()];
            if link.has_slack() {
                continue;
            }
            let touched = &mut self.resolve.touched[link.touched.1 as usize];
            let slope = inverse_penalty * element.weight;
            touched.free -= slope * level;
            touched.slope -= slope;
            touched.rising -= 1;
            touched.highest = level;
        }
    }

    /// Makes the rates invalid of flows that the `next` rates leave without a limit, or with more than their share of a link.
    fn propagate(&mut self) {
        for number in 0..self.resolve.touched.len() {
            let touched = self.resolve.touched[number];
            let link = &self.links[touched.link.index()];
            let limits_valid = link.limits > touched.limited;
            if link.flows.len() == touched.invalid as usize || !limits_valid && touched.full_at == f64::INFINITY {
                continue;
            }
            let full = touched.free <= link.capacity * TOLERANCE;
            for place in 0..link.flows.len() {
                let (flow, _) = self.links[touched.link.index()].flows[place];
                let Variable { level, bottleneck, .. } = self.flows[flow.index()];
                let unlimited =
                    bottleneck == Some(touched.link) && (!full || level < touched.highest * (1.0 - TOLERANCE));
                if unlimited || level > touched.full_at * (1.0 + TOLERANCE) {
                    self.invalidate(flow);
                }
            }
        }
    }

    /// Makes the rates invalid of all flows that share a bottleneck with an invalid one, and of those that do with them.
    fn invalidate_all_within_reach(&mut self) {
        self.resolve.clock += 1;
        let mut next = 0;
        while let Some(&flow) = self.resolve.invalid.get(next) {
            next += 1;
            for number in 0..self.flows[flow.index()].elements.len() {
                let id = self.flows[flow.index()].elements[number].link;
                let link = &mut self.links[id.index()];
                if link.touched.0 == self.resolve.clock || link.limits == 0 {
                    continue;
                }
                link.touched.0 = self.resolve.clock;
                for place in 0..self.links[id.index()].flows.len() {
                    self.invalidate(self.links[id.index()].flows[place].0);
                }
            }
        }
    }

    /// Makes the `next` rates the rates.
    fn commit(&mut self, changed: &mut Vec<FlowId>) {
        for touched in &self.resolve.touched {
            let link = &mut self.links[touched.link.index()];
            link.load = link.capacity - touched.free;
        }
        for &id in &self.resolve.invalid {
            let flow = &mut self.flows[id.index()];
            let (level, bottleneck) = flow.next;
            // A rate that is another only by rounding stays, and so does the time at which the flow ends.
            if (level - flow.level).abs() > TOLERANCE * 1e-3 * flow.level {
                flow.level = level;
                changed.push(id);
            }
            if flow.bottleneck != bottleneck {
                if let Some(link) = flow.bottleneck {
                    self.links[link.index()].limits -= 1;
                }
                if let Some(link) = bottleneck {
                    self.links[link.index()].limits += 1;
                }
                flow.bottleneck = bottleneck;
            }
        }
    }
}

impl LinkState {
    /// The level at which it will be full if no flow stops before.
    fn full(&self) -> NonNegative {
        // What subtracting has left may be a little less than nothing.
        NonNegative::of(self.free.max(0.0) / self.slope.max(f64::MIN_POSITIVE))
    }
}
