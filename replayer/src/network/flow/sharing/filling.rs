//! Progressive filling (Bertsekas and Gallager, *Data Networks*, §6.5.2): the level of all unsettled flows rises together
//! from 0, in what the settled ones leave. It stops for a flow at its bound, and for all flows on a link when the link
//! is full.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::{FlowId, Sharing};
use crate::topology::LinkId;

/// What a filling knows of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Filling {
    /// Which filling this is.
    pub clock: u64,
    /// What is left of the link.
    pub free: f64,
    /// How fast a rising level uses it: Σ w/P of the flows that still rise.
    slope: f64,
    /// How many those are.
    rising: u32,
    /// How many unsettled flows take the link.
    pub unsettled: u32,
    /// How many of those it held before.
    pub held: u32,
    /// The level at which it was full and stopped those still rising.
    pub full_at: f64,
    /// The highest level an unsettled flow reached on it.
    pub highest: f64,
}

/// A link that will be full once the level has risen so far — or later, if flows on it stop before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Full {
    level: f64,
    link: LinkId,
}

impl Filling {
    /// The level at which the link will be full if no flow stops before.
    fn level(&self) -> f64 {
        // What subtracting has left may be a little less than nothing.
        self.free.max(0.0) / self.slope.max(f64::MIN_POSITIVE)
    }
}

impl Sharing {
    /// Finds each unsettled flow's `next` level: max-min fair among the unsettled, in what the settled leave.
    pub(super) fn fill(&mut self) {
        self.touch();
        let mut order = BinaryHeap::from(std::mem::take(&mut self.order));
        while self.rising > 0
            && let Some(mut first) = order.peek_mut()
        {
            let filling = &self.links[first.link.index()].filling;
            if filling.rising == 0 {
                PeekMut::pop(first);
                continue;
            }
            // As flows stop, links that they take fill later, never earlier. One that has moved finds its place again.
            let level = filling.level();
            if level > first.level {
                first.level = level;
            } else {
                let Full { level, link } = *first;
                drop(first);
                self.stop_on(link, level);
            }
        }
        self.order = order.into_vec();
        // No link stops the rest.
        for number in 0..if self.rising > 0 { self.unsettled.len() } else { 0 } {
            let flow = &self.flows[self.unsettled[number].index()];
            if flow.stopped != self.clock {
                self.stop(self.unsettled[number], flow.bound, None);
            }
        }
    }

    /// Lists the links that unsettled flows take, and what there is to share on each.
    fn touch(&mut self) {
        self.clock += 1;
        self.touched.clear();
        self.rising = self.unsettled.len();
        for &flow in &self.unsettled {
            let flow = &self.flows[flow.index()];
            let rate = flow.level * flow.ease;
            for leg in &flow.legs {
                let link = &mut self.links[leg.link.index()];
                if link.has_room() {
                    continue;
                }
                if link.filling.clock != self.clock {
                    self.touched.push(leg.link);
                    link.filling = Filling {
                        clock: self.clock,
                        free: link.capacity - link.load,
                        full_at: f64::INFINITY,
                        ..Filling::default()
                    };
                }
                let filling = &mut link.filling;
                filling.free += leg.weight * rate;
                filling.slope += leg.weight * flow.ease;
                filling.unsettled += 1;
                filling.rising += 1;
                filling.held += u32::from(flow.held == Some(leg.link));
            }
        }
        self.order.clear();
        for &id in &self.touched {
            let link = &mut self.links[id.index()];
            if link.flows.len() == link.filling.unsettled as usize {
                link.filling.free = link.capacity;
            }
            self.order.push(Full { level: link.filling.level(), link: id });
        }
    }

    /// The level has risen until `link` is full: its rising flows stop, unless some meet their bounds first.
    fn stop_on(&mut self, link: LinkId, level: f64) {
        self.front.clear();
        let rising = self.links[link.index()].filling.rising;
        for place in 0..self.links[link.index()].flows.len() {
            let (id, _) = self.links[link.index()].flows[place];
            let flow = &self.flows[id.index()];
            if flow.unsettled == self.repair && flow.stopped != self.clock {
                if flow.bound <= level {
                    self.stop(id, flow.bound, None);
                } else {
                    self.front.push(id);
                }
            }
        }
        if self.links[link.index()].filling.rising < rising {
            return;
        }
        for number in 0..self.front.len() {
            self.stop(self.front[number], level, Some(link));
        }
        self.links[link.index()].filling.full_at = level;
    }

    fn stop(&mut self, flow: FlowId, level: f64, held: Option<LinkId>) {
        let flow = &mut self.flows[flow.index()];
        flow.stopped = self.clock;
        self.rising -= 1;
        flow.next = (level, held);
        let rate = level * flow.ease;
        for leg in &flow.legs {
            let filling = &mut self.links[leg.link.index()].filling;
            if filling.clock != self.clock {
                continue;
            }
            filling.free -= leg.weight * rate;
            filling.slope -= leg.weight * flow.ease;
            filling.rising -= 1;
            filling.highest = filling.highest.max(level);
        }
    }
}

/// The lowest level is the greatest, which a `BinaryHeap` gives first; ties go by the links' numbers.
impl Ord for Full {
    fn cmp(&self, other: &Self) -> Ordering {
        other.level.total_cmp(&self.level).then(other.link.cmp(&self.link))
    }
}

impl PartialOrd for Full {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Full {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Full {}
