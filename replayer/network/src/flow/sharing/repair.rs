//! Finding new rates for the flows that are no longer held.
//!
//! The *unsettled* flows are given their max-min fair rates in what the others leave ([`Sharing::fill`]). Then the links
//! without room that they take are looked over ([`Sharing::spread`]): an outsider there may be held no longer, or the
//! unsettled may be held by a link where an outsider has a higher level. Such outsiders are unsettled too, and it starts
//! again; when there are none, each flow is held and the rates are right. Most repairs end after a flow or two. One that
//! spreads for long is cut short by unsettling everything within reach.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Flow, FlowId, Sharing, TOLERANCE};
use crate::topology::LinkId;

/// What a repair works with; kept to be used again.
#[derive(Debug, Default)]
pub(super) struct Repair {
    /// Counts repairs, and the fillings within them, to tell this one's marks from those before.
    clock: u64,
    /// When this one began.
    began: u64,
    pub unsettled: Vec<FlowId>,
    /// The links without room that those take.
    pub touched: Vec<Touched>,
    /// The link that held them all in the last filling, if one did.
    pub alone: Option<u32>,
    /// The lowest level at which an unsettled flow that still rises meets its bound, or a lower one.
    pub lowest_bound: f64,
    /// The unsettled flows by that level, the lowest last; once it is needed.
    bounds: Vec<(Level, Reverse<FlowId>)>,
    /// The links that will be full once the level has risen so far — or later, if flows on them stop before.
    filling: BinaryHeap<Reverse<(Level, u32)>>,
}

/// A level, which is no less than nothing, as a number by which levels are in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Level(u64);

/// A link that unsettled flows take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touched {
    pub link: LinkId,
    /// What settled and stopped flows leave of it.
    pub free: f64,
    /// How fast a rising level would use it: Σ n·w/P of the parts that still rise.
    pub slope: f64,
    /// How many those are.
    rising: u32,
    /// How many unsettled flows take it.
    unsettled: u32,
    /// How many of those it held before.
    held: u32,
    /// The level at which it was full and stopped those still rising.
    pub full_at: f64,
    /// The highest level an unsettled flow reached on it.
    highest: f64,
}

/// How often a repair may spread to the flows that need it before it takes all within reach. Each time costs a filling.
const SPREADS: usize = 4;

impl Sharing {
    pub(super) fn begin_repair(&mut self) {
        self.repair.clock += 1;
        self.repair.began = self.repair.clock;
        self.repair.unsettled.clear();
    }

    pub(super) fn finish_repair(&mut self, changed: &mut Vec<FlowId>) {
        if self.repair.unsettled.is_empty() {
            return;
        }
        for spreads in 0_usize.. {
            self.fill();
            let before = self.repair.unsettled.len();
            self.spread();
            if self.repair.unsettled.len() == before {
                break;
            }
            if spreads >= SPREADS {
                self.unsettle_all_within_reach();
            }
        }
        self.adopt(changed);
        self.begin_tide(changed);
    }

    pub(super) fn unsettle(&mut self, flow: FlowId) {
        let state = &mut self.flows[flow.index()];
        if state.unsettled != self.repair.began {
            state.unsettled = self.repair.began;
            self.repair.unsettled.push(flow);
        }
    }

    /// Unsettles the flows that a link holds, before the first filling.
    pub(super) fn unsettle_held(&mut self, link: LinkId) {
        let state = &mut self.links[link.index()];
        if state.holds == 0 || state.touched.0 == self.repair.began {
            return;
        }
        state.touched.0 = self.repair.began;
        for number in 0..self.links[link.index()].flows.len() {
            let (flow, _) = self.links[link.index()].flows[number];
            if self.flows[flow.index()].held == Some(link) {
                self.unsettle(flow);
            }
        }
    }

    /// Gives each unsettled flow its `next` rate: max-min fair among the unsettled, in what the settled leave.
    ///
    /// The level of all rises together from 0. It stops for a flow at its bound, and for all flows on a link when the
    /// link is full ("progressive filling", ibid.).
    fn fill(&mut self) {
        self.touch();
        let first = (0..).zip(&self.repair.touched).map(|(number, touched)| (touched.full(), number)).min();
        if let Some((level, number)) = first
            && level.value() < self.repair.lowest_bound
            && self.repair.touched[number as usize].unsettled as usize == self.repair.unsettled.len()
        {
            self.repair.alone = Some(number);
            return self.stop_everything_on(number, level.value());
        }
        self.repair.alone = None;
        let Repair { touched, filling, bounds, .. } = &mut self.repair;
        let mut order = std::mem::take(filling).into_vec();
        order.clear();
        order.extend((0..).zip(touched.iter()).map(|(number, touched)| Reverse((touched.full(), number))));
        *filling = order.into();
        bounds.clear();

        let mut rising = self.repair.unsettled.len();
        while rising > 0 {
            rising -= match self.first_full() {
                Some((level, touched)) if level.value() < self.repair.lowest_bound => self.stop_all_on(touched, level),
                _ => self.stop_at_bound(),
            };
        }
    }

    /// All unsettled flows take the link that is full first: it holds them all, and that is all there is to find out.
    fn stop_everything_on(&mut self, touched: u32, level: f64) {
        let Repair { touched: all, unsettled, clock, .. } = &mut self.repair;
        all[touched as usize].full_at = level;
        let link = all[touched as usize].link;
        for touched in all {
            touched.free -= touched.slope * level;
            touched.highest = level;
            touched.rising = 0;
        }
        for flow in unsettled {
            let flow = &mut self.flows[flow.index()];
            (flow.next, flow.filled) = ((level, Some(link)), *clock);
        }
    }

    /// Lists the links without room that unsettled flows take, and what there is to share on each.
    fn touch(&mut self) {
        self.repair.clock += 1;
        let Repair { unsettled, touched, clock, lowest_bound, .. } = &mut self.repair;
        touched.clear();
        *lowest_bound = f64::INFINITY;
        for &id in unsettled.iter() {
            let flow = &mut self.flows[id.index()];
            let ease = f64::from(flow.count) * flow.ease;
            *lowest_bound = lowest_bound.min(flow.bound);
            for leg in &flow.legs {
                let link = &mut self.links[leg.link.index()];
                if link.has_room() {
                    continue;
                }
                if link.touched.0 != *clock {
                    link.touched = (*clock, touched.len() as u32);
                    touched.push(Touched {
                        link: leg.link,
                        free: link.capacity - link.load,
                        slope: 0.0,
                        rising: 0,
                        unsettled: 0,
                        held: 0,
                        full_at: f64::INFINITY,
                        highest: 0.0,
                    });
                }
                let slope = ease * leg.weight;
                let touched = &mut touched[link.touched.1 as usize];
                touched.free += slope * flow.level;
                touched.slope += slope;
                touched.unsettled += 1;
                touched.held += u32::from(flow.held == Some(leg.link));
            }
        }
        for touched in touched {
            let link = &self.links[touched.link.index()];
            touched.rising = touched.unsettled;
            // Exactly all of it when it is: what rounding leaves behind must not add up.
            if touched.unsettled as usize == link.flows.len() {
                touched.free = link.capacity;
            }
        }
    }

    /// The link that will be full first, and at which level.
    fn first_full(&mut self) -> Option<(Level, u32)> {
        let Repair { touched, filling, .. } = &mut self.repair;
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
    fn stop_all_on(&mut self, touched: u32, level: Level) -> usize {
        let full = &mut self.repair.touched[touched as usize];
        full.full_at = level.value();
        let (link, stopped) = (full.link, full.rising);
        for number in 0..self.links[link.index()].flows.len() {
            let (flow, _) = self.links[link.index()].flows[number];
            let state = &self.flows[flow.index()];
            if state.unsettled == self.repair.began && state.filled != self.repair.clock {
                self.stop(flow, level.value(), Some(link));
            }
        }
        stopped as usize
    }

    /// Stops the flow that meets its bound first, and says how many that are: none if the bound thought to be the lowest
    /// was of a flow that has stopped.
    fn stop_at_bound(&mut self) -> usize {
        if self.repair.bounds.is_empty() {
            let Repair { unsettled, bounds, .. } = &mut self.repair;
            bounds.extend(unsettled.iter().map(|&flow| (Level::of(self.flows[flow.index()].bound), Reverse(flow))));
            bounds.sort_unstable_by(|a, b| b.cmp(a));
        }
        let Some((level, Reverse(flow))) = self.repair.bounds.pop() else { return 0 };
        self.repair.lowest_bound = self.repair.bounds.last().map_or(f64::INFINITY, |(level, _)| level.value());
        if self.flows[flow.index()].filled == self.repair.clock {
            return 0;
        }
        self.stop(flow, level.value(), None);
        1
    }

    fn stop(&mut self, flow: FlowId, level: f64, held: Option<LinkId>) {
        let flow = &mut self.flows[flow.index()];
        flow.next = (level, held);
        flow.filled = self.repair.clock;
        let ease = f64::from(flow.count) * flow.ease;
        for leg in &flow.legs {
            let link = &self.links[leg.link.index()];
            if link.has_room() {
                continue;
            }
            let touched = &mut self.repair.touched[link.touched.1 as usize];
            let slope = ease * leg.weight;
            touched.free -= slope * level;
            touched.slope -= slope;
            touched.rising -= 1;
            touched.highest = level;
        }
    }

    /// Unsettles the settled flows that the `next` rates leave unheld, or that have more than their share of a link.
    fn spread(&mut self) {
        for number in 0..self.repair.touched.len() {
            let touched = self.repair.touched[number];
            let link = &self.links[touched.link.index()];
            let holds_settled = link.holds > touched.held;
            if link.flows.len() == touched.unsettled as usize || !holds_settled && touched.full_at == f64::INFINITY {
                continue;
            }
            let full = touched.free <= link.capacity * TOLERANCE;
            for place in 0..link.flows.len() {
                let (flow, _) = self.links[touched.link.index()].flows[place];
                let Flow { level, held, .. } = self.flows[flow.index()];
                let unheld = held == Some(touched.link) && (!full || level < touched.highest * (1.0 - TOLERANCE));
                if unheld || level > touched.full_at * (1.0 + TOLERANCE) {
                    self.unsettle(flow);
                }
            }
        }
    }

    /// Unsettles all flows that share a link that holds flows with an unsettled one, and those that do with them.
    fn unsettle_all_within_reach(&mut self) {
        self.repair.clock += 1;
        let mut next = 0;
        while let Some(&flow) = self.repair.unsettled.get(next) {
            next += 1;
            for number in 0..self.flows[flow.index()].legs.len() {
                let id = self.flows[flow.index()].legs[number].link;
                let link = &mut self.links[id.index()];
                if link.touched.0 == self.repair.clock || link.holds == 0 {
                    continue;
                }
                link.touched.0 = self.repair.clock;
                for place in 0..self.links[id.index()].flows.len() {
                    self.unsettle(self.links[id.index()].flows[place].0);
                }
            }
        }
    }

    /// Makes the `next` rates the rates.
    fn adopt(&mut self, changed: &mut Vec<FlowId>) {
        for touched in &self.repair.touched {
            let link = &mut self.links[touched.link.index()];
            link.load = link.capacity - touched.free;
        }
        for &id in &self.repair.unsettled {
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

impl Touched {
    /// The level at which it will be full if no flow stops before.
    fn full(&self) -> Level {
        // What subtracting has left may be a little less than nothing.
        Level::of(self.free.max(0.0) / self.slope.max(f64::MIN_POSITIVE))
    }
}

impl Level {
    fn of(level: f64) -> Self {
        // Floats that are not negative are in the order of their bits; adding makes -0.0 one of them.
        Self((level + 0.0).to_bits())
    }

    fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}
