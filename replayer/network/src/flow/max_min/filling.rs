//! Progressive filling: the level of all flows rises together from 0. It stops for a flow at its bound, and for all
//! flows on a link when the link is full (Bertsekas and Gallager, *Data Networks*, §6.5.2).
//!
//! Most fillings consist of two or three flows on as many links, so all their data is contiguous: the elements of the
//! flows are copied here, and refer to links by their indices in this filling.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::Range;

use super::FlowId;
use crate::ordered_float::NonNegative;
use crate::topology::LinkId;

/// A filling, and the working memory for it.
#[derive(Debug, Default)]
pub(super) struct Filling {
    /// The links that the flows take and that may become full.
    pub touched: Vec<LinkState>,
    pub rising: Vec<RisingFlow>,
    /// The elements of the flows, one flow after the other: the place of the link in `touched`, and how fast a rising level
    /// has the flow use it.
    pub elements: Vec<(u32, f64)>,
    /// The link that limited all flows, if one did.
    pub alone: Option<u32>,
    /// The lowest level at which a flow that still rises meets its bound.
    pub lowest_bound: f64,
    /// The flows by that level, the lowest last; once it is needed. With each, its place in `rising`.
    bounds: Vec<(NonNegative, Reverse<FlowId>, u32)>,
    /// The links that will be full once the level has risen so far — or later, if flows on them stop before. Used where
    /// there are more than a [`FEW`].
    filling: BinaryHeap<Reverse<(NonNegative, u32)>>,
}

/// A link that flows of a filling take.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkState {
    pub link: LinkId,
    /// The number of flows that still rise.
    rising: u32,
    /// The number of flows of the filling that take the link.
    pub invalid: u32,
    /// The number of them that the link limited before.
    pub limited: u32,
    pub capacity: f64,
    /// The capacity that other flows leave to those of the filling.
    pub shared: f64,
    /// Σ n·w/P of all flows of the filling.
    pub total_slope: f64,
    /// The capacity that other and stopped flows leave.
    pub free: f64,
    /// The rate at which a rising level uses up the capacity: Σ n·w/P of the flows that still rise.
    pub slope: f64,
    /// The level at which it will be full if no flow stops before; no higher than that if one has.
    full: f64,
    /// The level at which it was full and stopped those still rising.
    pub full_at: f64,
    /// The highest level that a flow of the filling reached on it.
    pub highest: f64,
}

/// A flow of a filling.
#[derive(Clone, Debug)]
pub(super) struct RisingFlow {
    pub flow: FlowId,
    has_stopped: bool,
    /// Its elements among those of the filling.
    elements: Range<u32>,
    /// The level at its bound.
    bound: f64,
    /// The level at which it stopped.
    pub level: f64,
    /// The link that limits it there; none if its bound does.
    pub bottleneck: Option<LinkId>,
}

/// Up to this many links, a linear search finds the link that fills first.
const FEW: usize = 24;

impl Filling {
    /// Forgets the last filling.
    pub(crate) fn clear(&mut self) {
        self.touched.clear();
        self.rising.clear();
        self.elements.clear();
        self.lowest_bound = f64::INFINITY;
    }

    /// Raises all flows. `flows_on` calls its argument with the index of each flow of this filling that takes a link.
    pub(crate) fn fill(&mut self, flows_on: impl Fn(LinkId, &mut dyn FnMut(u32))) {
        let first = first_of_few(&mut self.touched);
        if let Some((level, number)) = first
            && level < self.lowest_bound
            && self.touched[number as usize].invalid as usize == self.rising.len()
        {
            self.alone = Some(number);
            return self.stop_everything_on(number, level);
        }
        self.alone = None;
        let lowest_bound = self.lowest_bound;
        self.bounds.clear();
        self.rising.iter_mut().for_each(|flow| flow.has_stopped = false);
        if self.touched.len() > FEW {
            let mut order = std::mem::take(&mut self.filling).into_vec();
            order.clear();
            order.extend(
                (0..).zip(&self.touched).map(|(number, touched)| Reverse((NonNegative::of(touched.full), number))),
            );
            self.filling = order.into();
        }
        let mut left = self.rising.len();
        while left > 0 {
            left -= match self.first_full() {
                Some((level, number)) if level < self.lowest_bound => {
                    let full = &mut self.touched[number as usize];
                    full.full_at = level;
                    let (link, stopped) = (full.link, full.rising);
                    flows_on(link, &mut |place| {
                        if !self.rising[place as usize].has_stopped {
                            self.stop(place, level, Some(link));
                        }
                    });
                    stopped as usize
                }
                _ => self.stop_at_bound(),
            };
        }
        self.lowest_bound = lowest_bound;
    }

    /// The link that will be full first, and at which level.
    fn first_full(&mut self) -> Option<(f64, u32)> {
        let Self { touched, filling, .. } = self;
        if touched.len() <= FEW {
            return first_of_few(touched);
        }
        // As flows stop, the other flows' links fill later, never earlier: a link whose time has moved goes back.
        while let Some(mut first) = filling.peek_mut() {
            let Reverse((level, number)) = *first;
            let link = &mut touched[number as usize];
            if link.rising == 0 {
                PeekMut::pop(first);
                continue;
            }
            link.full = link.full.max(link.full());
            if NonNegative::of(link.full) > level {
                *first = Reverse((NonNegative::of(link.full), number));
            } else {
                return Some((level.value(), number));
            }
        }
        None
    }

    /// All flows take the link that is full first: it limits them all, and that is all there is to find out.
    fn stop_everything_on(&mut self, number: u32, level: f64) {
        self.touched[number as usize].full_at = level;
        let link = self.touched[number as usize].link;
        for touched in &mut self.touched {
            touched.free -= touched.slope * level;
            touched.highest = level;
            touched.rising = 0;
        }
        for flow in &mut self.rising {
            (flow.level, flow.bottleneck, flow.has_stopped) = (level, Some(link), true);
        }
    }

    /// Stops the flows that meet their bounds first, and says how many that are: none if the bound thought to be the
    /// lowest was of a flow that has stopped.
    fn stop_at_bound(&mut self) -> usize {
        if self.bounds.is_empty() {
            let bounds =
                (0..).zip(&self.rising).map(|(place, flow)| (NonNegative::of(flow.bound), Reverse(flow.flow), place));
            self.bounds.extend(bounds);
            self.bounds.sort_unstable_by(|a, b| b.cmp(a));
        }
        let Some(&(level, ..)) = self.bounds.last() else { return 0 };
        let mut stopped = 0;
        while let Some((_, _, place)) = self.bounds.pop_if(|&mut (bound, ..)| bound == level) {
            if !self.rising[place as usize].has_stopped {
                self.stop(place, level.value(), None);
                stopped += 1;
            }
        }
        self.lowest_bound = self.bounds.last().map_or(f64::INFINITY, |(level, ..)| level.value());
        stopped
    }

    fn stop(&mut self, place: u32, level: f64, bottleneck: Option<LinkId>) {
        let flow = &mut self.rising[place as usize];
        (flow.level, flow.bottleneck, flow.has_stopped) = (level, bottleneck, true);
        for &(number, slope) in &self.elements[flow.elements.start as usize..flow.elements.end as usize] {
            let touched = &mut self.touched[number as usize];
            touched.free -= slope * level;
            touched.slope -= slope;
            touched.rising -= 1;
            touched.highest = level;
        }
    }
}

/// The first of a few links that will be full, and at which level.
fn first_of_few(touched: &mut [LinkState]) -> Option<(f64, u32)> {
    let mut first = None;
    let mut lowest = f64::INFINITY;
    for (link, number) in touched.iter_mut().zip(0..) {
        if link.rising == 0 {
            continue;
        }
        if link.rising != link.invalid {
            link.full = link.full.max(link.full());
        }
        if link.full < lowest || first.is_none() {
            (first, lowest) = (Some((link.full, number)), link.full);
        }
    }
    first
}

impl LinkState {
    /// A link that flows of the filling take, none so far.
    pub(crate) fn new(link: LinkId, capacity: f64, shared: f64) -> Self {
        let (free, full, full_at, highest) = (0.0, 0.0, 0.0, 0.0);
        let (rising, invalid, limited, slope, total_slope) = (0, 0, 0, 0.0, 0.0);
        Self { link, rising, invalid, limited, capacity, shared, total_slope, free, slope, full, full_at, highest }
    }

    /// The flows of the filling that take it begin to rise, and `all` says whether no others take it.
    pub(crate) fn begin(&mut self, all: bool) {
        // Exactly zero when all of it is used: rounding errors must not add up.
        self.free = if all { self.capacity } else { self.shared };
        (self.rising, self.slope) = (self.invalid, self.total_slope);
        (self.full, self.full_at, self.highest) = (self.full(), f64::INFINITY, 0.0);
    }

    /// The level at which it will be full if no flow stops before.
    fn full(&self) -> f64 {
        // The result of subtractions may be slightly negative.
        self.free.max(0.0) / self.slope.max(f64::MIN_POSITIVE)
    }
}

impl RisingFlow {
    /// A flow with this bound and these elements, about to rise.
    pub(crate) fn new(flow: FlowId, bound: f64, elements: Range<u32>) -> Self {
        Self { flow, has_stopped: false, elements, bound, level: 0.0, bottleneck: None }
    }
}
