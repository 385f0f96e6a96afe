//! Progressive filling: the level of all flows rises together from 0. It stops for a flow at its bound, and for all
//! flows on a link when the link is full (Bertsekas and Gallager, *Data Networks*, §6.5.2).
//!
//! Further flows may join while the level rises, if their own rates are right up to this level.
//!
//! Most fillings consist of a few flows on as many links, so all their data is contiguous: the elements of the flows are
//! copied here, and refer to links by their indices in this filling.
//!
//! # Invalid flows
//!
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

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::{Constraint, FlowId, MaxMinSolver, TOLERANCE, Variable};
use crate::indexed_heap::NonNegative;
use crate::topology::LinkId;

/// A filling, and the working memory for it.
#[derive(Debug, Default)]
pub(super) struct Filling {
    /// The links that the flows take and that may become full.
    pub touched: Vec<LinkState>,
    pub rising: Vec<RisingFlow>,
    /// The elements of the flows, one flow after the other: the place of the link in `touched`, and how fast a rising level
    /// has the flow use it.
    elements: Vec<(u32, f64)>,
    /// The link that limited all flows, if one did, and the level at which it was full.
    pub alone: Option<(u32, f64)>,
    /// The lowest level at which a flow that still rises meets its bound, or a lower one.
    pub lowest_bound: f64,
    /// The number of flows that still rise.
    left: usize,
    /// The number of links that limit valid flows whose level has not been met.
    unmet: usize,
    /// The links whose state has changed since it was found out when they are due.
    stale: Vec<u32>,
    /// The links by that level, or by a lower one that it was before. Used where there are more than a [`FEW`].
    order: BinaryHeap<Reverse<(NonNegative, u32)>>,
    /// The flows by the level of their bound, the lowest last; once it is needed. With each, its place in `rising`.
    bounds: Vec<(NonNegative, Reverse<FlowId>, u32)>,
    /// The number of flows that have been entered into `bounds`.
    bounded: usize,
}

/// The reason why a level does not rise further without a change.
#[derive(Clone, Copy, Debug)]
pub(super) enum Limit {
    /// The link of this number is full at this level.
    Full(u32, f64),
    /// The level is that of the valid flows which the link of this number limits.
    Met(u32),
    /// A flow meets its bound.
    Bound,
}

/// A link that flows of a filling take.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkState {
    pub link: LinkId,
    /// The number of flows that still rise.
    rising: u32,
    /// The number of flows of the filling that take the link.
    invalid: u32,
    flows: u32,
    /// The number of valid flows that it limits.
    limits: u32,
    /// Whether its state has changed since it was found out when it is due.
    is_stale: bool,
    pub capacity: f64,
    /// The capacity that valid flows leave to those of the filling.
    shared: f64,
    /// The capacity that stopped flows use.
    used: f64,
    /// The rate at which a rising level uses up the capacity: Σ n·w/P of the flows that still rise, or that one link stopped
    /// all at once.
    pub slope: f64,
    /// The level at which it will be full if no flow stops before.
    full: f64,
    /// The level at which it is to be looked at; out of date while it is stale.
    due: f64,
    /// The level by which it is in the order; infinite if it is not there.
    entered: f64,
    /// The level of the valid flows that it limits, until the filling has met it.
    pub limited_at: f64,
}

/// A flow of a filling.
#[derive(Clone, Debug)]
pub(super) struct RisingFlow {
    pub flow: FlowId,
    has_stopped: bool,
    /// The place of its first element among those of the filling. Those of the next flow follow its last.
    first_element: u32,
    /// The level at its bound.
    bound: f64,
    /// The level at which it stopped.
    pub level: f64,
    /// The link that limits it there; none if its bound does.
    pub bottleneck: Option<LinkId>,
}

/// Up to this many links, a linear search finds the link that is due first. Tests have few links, and search both ways.
const FEW: usize = if cfg!(test) { 4 } else { 48 };

impl Filling {
    /// Forgets the last filling.
    pub(crate) fn clear(&mut self) {
        self.touched.clear();
        self.rising.clear();
        self.elements.clear();
        self.stale.clear();
        self.order.clear();
        self.bounds.clear();
        (self.alone, self.lowest_bound) = (None, f64::INFINITY);
        (self.left, self.unmet, self.bounded) = (0, 0, 0);
    }

    /// Adds a link, and returns its number.
    #[inline]
    pub(crate) fn touch(&mut self, link: LinkId, state: &Constraint) -> u32 {
        let number = self.touched.len() as u32;
        self.stale.push(number);
        self.touched.push(LinkState::new(link, state));
        self.unmet += usize::from(state.limits > 0);
        number
    }

    /// Lets `flow` rise, whose bound is met at the level `bound`. Its elements are [added](Self::take) next.
    pub(crate) fn join(&mut self, flow: FlowId, bound: f64) {
        if self.alone.take().is_some() {
            self.touched.iter_mut().for_each(|link| link.slope = 0.0);
        }
        let first_element = self.elements.len() as u32;
        self.rising.push(RisingFlow { flow, has_stopped: false, first_element, bound, level: 0.0, bottleneck: None });
        self.lowest_bound = self.lowest_bound.min(bound);
        self.left += 1;
    }

    /// Adds an element of the flow that joined last: it uses the link of this number by `slope` for each unit of its
    /// level, which has been `level`. `is_limit`: whether this link has limited it.
    #[inline]
    pub(crate) fn take(&mut self, number: u32, slope: f64, level: f64, is_limit: bool) {
        let link = &mut self.touched[number as usize];
        link.shared += slope * level;
        link.slope += slope;
        link.rising += 1;
        link.invalid += 1;
        // It may be full earlier than it would have been.
        link.full = 0.0;
        if is_limit {
            link.limits -= 1;
            if link.limits == 0 {
                self.unmet -= usize::from(link.is_unmet());
                link.limited_at = f64::INFINITY;
            }
        }
        link.set_stale(number, &mut self.stale);
        self.elements.push((number, slope));
    }

    /// What limits the rising flows next; `None` if nothing rises, and no level of other flows remains to be met.
    pub(crate) fn next_limit(&mut self) -> Option<Limit> {
        if self.left == 0 && self.unmet == 0 {
            return None;
        }
        let first = self.first_due();
        let bound = if self.left > 0 { self.lowest_bound } else { f64::INFINITY };
        match first {
            Some((level, number)) if level < bound => {
                let link = &self.touched[number as usize];
                Some(if link.limited_at <= level { Limit::Met(number) } else { Limit::Full(number, level) })
            }
            _ => (self.left > 0).then_some(Limit::Bound),
        }
    }

    /// The link that is to be looked at first, and at which level.
    fn first_due(&mut self) -> Option<(f64, u32)> {
        let Self { touched, rising, left, stale, order, .. } = self;
        // Before a flow has stopped, the first search may be the last.
        if touched.len() <= FEW || *left == rising.len() {
            stale.clear();
            let mut first = (f64::INFINITY, 0);
            for (link, number) in touched.iter_mut().zip(0..) {
                let level = link.due();
                if level < first.0 {
                    first = (level, number);
                }
            }
            return (first.0 < f64::INFINITY).then_some(first);
        }
        if order.is_empty() {
            stale.clear();
            stale.extend(0..touched.len() as u32);
        }
        let earlier = stale.drain(..).filter_map(|number| {
            let link = &mut touched[number as usize];
            (link.due() < link.entered).then(|| Reverse((NonNegative::of(link.enter()), number)))
        });
        order.extend(earlier);
        while let Some(mut first) = order.peek_mut() {
            let Reverse((level, number)) = *first;
            let link = &mut touched[number as usize];
            if level.value() == link.due {
                return Some((level.value(), number));
            }
            // It is due later, and the level by which it was entered lower than that; or the entry is an older one.
            if level.value() == link.entered && link.enter() < f64::INFINITY {
                *first = Reverse((NonNegative::of(link.due), number));
            } else {
                PeekMut::pop(first);
            }
        }
        None
    }

    /// The level of the valid flows which a link limits is met, or they join: it need not be looked at again.
    pub(crate) fn meet(&mut self, number: u32) {
        let link = &mut self.touched[number as usize];
        self.unmet -= usize::from(link.is_unmet());
        link.limited_at = f64::INFINITY;
        link.set_stale(number, &mut self.stale);
    }

    /// Whether no flow has stopped yet, and all take this link.
    pub(crate) fn all_take(&self, number: u32) -> bool {
        self.left == self.rising.len() && self.touched[number as usize].rising as usize == self.left
    }

    /// All flows take the link that is full first: it limits them all, and that is all there is to find out.
    pub(crate) fn stop_everything_on(&mut self, number: u32, level: f64) {
        self.alone = Some((number, level));
        let link = self.touched[number as usize].link;
        for (touched, number) in self.touched.iter_mut().zip(0..) {
            touched.used += touched.slope * level;
            touched.rising = 0;
            if self.unmet > 0 {
                touched.set_stale(number, &mut self.stale);
            }
        }
        for flow in &mut self.rising {
            (flow.level, flow.bottleneck, flow.has_stopped) = (level, Some(link), true);
        }
        self.left = 0;
    }

    /// Stops the flows that meet their bounds first; none if the bound thought to be the lowest was of a flow that has
    /// stopped.
    pub(crate) fn stop_at_bound(&mut self) {
        if self.bounded < self.rising.len() {
            let joined = (self.bounded as u32..).zip(&self.rising[self.bounded..]);
            self.bounds.extend(joined.map(|(place, flow)| (NonNegative::of(flow.bound), Reverse(flow.flow), place)));
            self.bounds.sort_unstable_by(|a, b| b.cmp(a));
            self.bounded = self.rising.len();
        }
        let Some(&(level, ..)) = self.bounds.last() else { return };
        while let Some((_, _, place)) = self.bounds.pop_if(|&mut (bound, ..)| bound == level) {
            self.stop(place, level.value(), None);
        }
        self.lowest_bound = self.bounds.last().map_or(f64::INFINITY, |(level, ..)| level.value());
    }

    /// Stops the flow at this place unless it has stopped before.
    #[inline]
    pub(crate) fn stop(&mut self, place: u32, level: f64, bottleneck: Option<LinkId>) {
        let Self { rising, elements, touched, stale, .. } = self;
        let after = rising.get(place as usize + 1).map_or(elements.len(), |next| next.first_element as usize);
        let flow = &mut rising[place as usize];
        if flow.has_stopped {
            return;
        }
        (flow.level, flow.bottleneck, flow.has_stopped) = (level, bottleneck, true);
        for &(number, slope) in &elements[flow.first_element as usize..after] {
            let link = &mut touched[number as usize];
            link.used += slope * level;
            link.rising -= 1;
            link.slope = if link.rising == 0 { 0.0 } else { link.slope - slope };
            link.set_stale(number, stale);
        }
        self.left -= 1;
    }
}

impl LinkState {
    /// A link, none of whose flows is of the filling so far.
    #[inline]
    fn new(link: LinkId, state: &Constraint) -> Self {
        let &Constraint { capacity, load, limits, .. } = state;
        Self {
            link,
            rising: 0,
            invalid: 0,
            flows: state.flows.len() as u32,
            limits,
            is_stale: true,
            capacity,
            shared: capacity - load,
            used: 0.0,
            slope: 0.0,
            full: 0.0,
            due: f64::INFINITY,
            entered: f64::INFINITY,
            limited_at: if limits > 0 { state.limited_at } else { f64::INFINITY },
        }
    }

    /// Whether it limits valid flows whose level the filling has not met.
    pub(crate) fn is_unmet(&self) -> bool {
        self.limited_at < f64::INFINITY
    }

    /// Whether all flows that take it are of the filling.
    pub(crate) fn has_all(&self) -> bool {
        self.invalid == self.flows
    }

    /// The capacity that valid and stopped flows leave.
    pub(crate) fn free(&self) -> f64 {
        // Exactly all of it if all flows are of the filling: rounding errors must not add up.
        (if self.has_all() { self.capacity } else { self.shared }) - self.used
    }

    /// The capacity that would be left if the rising flows were at this level.
    pub(crate) fn free_at(&self, level: f64) -> f64 {
        self.free() - if self.rising > 0 { self.slope * level } else { 0.0 }
    }

    /// The level at which it is to be looked at next.
    #[inline]
    fn due(&mut self) -> f64 {
        if !std::mem::take(&mut self.is_stale) {
            return self.due;
        }
        self.due = self.limited_at;
        if self.rising > 0 {
            // The result of subtractions may be slightly negative. As flows stop, others' links fill later, never earlier.
            let full = self.free().max(0.0) / self.slope.max(f64::MIN_POSITIVE);
            self.full = self.full.max(full);
            self.due = self.due.min(self.full);
        }
        self.due
    }

    /// Enters it into the order by the level at which it is due.
    fn enter(&mut self) -> f64 {
        self.entered = self.due;
        self.due
    }

    #[inline]
    fn set_stale(&mut self, number: u32, stale: &mut Vec<u32>) {
        if !self.is_stale {
            self.is_stale = true;
            stale.push(number);
        }
    }
}

/// The working memory of a search for rates; kept to be used again.
#[derive(Debug, Default)]
pub(super) struct Resolve {
    /// Counts searches, to tell the marks of this one from those before.
    clock: u64,
    pub invalid: Vec<FlowId>,
    /// The results for the invalid flows, in their order, and the links without slack that they take.
    pub filling: Filling,
}

impl Resolve {
    /// Whether this search has not looked at a link before. Marks it.
    pub(super) fn is_first_look(&self, link: &mut Constraint) -> bool {
        std::mem::replace(&mut link.touched, (self.clock, UNTOUCHED)).0 != self.clock
    }
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
        if state.limits > 0 && self.resolve.is_first_look(state) {
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
