//! Who gets how much of which link: weighted max-min fairness, kept up as flows come and go.
//!
//! **Vocabulary.** A *link* has a capacity *C*. A *flow* f has a *penalty* P, a *bound* b on its rate, and a *weight*
//! w(l) on each link l it takes: a rate r uses w·r of that link. Its *level* is r·P: what a fair division makes equal.
//!
//! **The problem.** Rates are *feasible* if r ≤ b for each flow and Σ w·r ≤ C on each link. Of the feasible rates we
//! want those that are max-min fair: no flow's level can be raised without lowering that of a flow whose level is no
//! higher (Bertsekas and Gallager, *Data Networks*, §6.5.2). There is exactly one such division, and it is
//! recognized link by link: it is the feasible one where **each flow is held** —
//!
//! * by its bound: r = b, or
//! * by a link: the link is full, and no flow on it has a higher level. This is the flow's *bottleneck*.
//!
//! **The algorithm.** Because of that, a change needs repair where a flow is no longer held, and nowhere else. When a
//! flow leaves, those it shared a bottleneck with are held no longer. When a flow comes, it takes its bound if the links
//! have room for that: nobody else notices, and it cost O(route). If they have not, it is unsettled, and so are those held by
//! the link without room. The unsettled flows are given their max-min fair rates in what the others leave
//! ([`Sharing::fill`]). Then the links they touch are looked over: an outsider there may be held no longer, or the
//! unsettled may be held by a link where an outsider has a higher level. Such outsiders are unsettled too, and it starts
//! again; when there are none, each flow is held and the rates are right. Most repairs end after a flow or two. One
//! that spreads for long is cut short by unsettling everything within reach.
//!
//! Links that nobody is held by — an oversized backbone — never spread a repair, however many flows they carry.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::topology::LinkId;

/// A flow, numbered by the caller; numbers are small and used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowId(pub u32);

/// What a flow asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Demand {
    /// Its rate at most; positive.
    pub bound: f64,
    /// The higher it is, the less the flow gets where it shares; positive.
    pub penalty: f64,
    /// The links it takes, each once, and what a unit of its rate uses of each.
    pub uses: Vec<(LinkId, f64)>,
}

/// Links and the flows on them.
#[derive(Debug)]
pub struct Sharing {
    links: Vec<Link>,
    flows: Vec<Flow>,
    /// Flows that came since the rates were last settled.
    arrived: Vec<FlowId>,
    /// Links that held flows when another flow left them since.
    loosened: Vec<LinkId>,
    /// Counts repairs, and the fillings within them, to tell this one's marks from those before.
    clock: u64,
    repair: Repair,
}

#[derive(Debug)]
struct Link {
    capacity: f64,
    /// Σ w·r of its flows.
    load: f64,
    /// Its flows, and which of each flow's `legs` lies on it.
    flows: Vec<(FlowId, u32)>,
    /// How many of them it holds.
    holds: usize,
    /// The filling that touched it last, and where it stands among what that touched.
    touched: (u64, u32),
}

#[derive(Debug, Default)]
struct Flow {
    bound: f64,
    penalty: f64,
    rate: f64,
    /// The link that holds it; its own bound if none.
    held: Option<LinkId>,
    legs: Vec<Leg>,
    /// The repair that unsettled it last.
    unsettled: u64,
    /// The filling that gave it its `next` rate.
    filled: u64,
    next: (f64, Option<LinkId>),
}

/// A flow on one link.
#[derive(Clone, Copy, Debug)]
struct Leg {
    link: LinkId,
    weight: f64,
    /// Where the link's list of flows has it.
    place: u32,
}

/// What a repair works with; kept to be used again.
#[derive(Debug, Default)]
struct Repair {
    /// When it began.
    began: u64,
    unsettled: Vec<FlowId>,
    touched: Vec<Touched>,
    bounds: Vec<(f64, FlowId)>,
    filling: BinaryHeap<Filling>,
}

/// A link that unsettled flows take.
#[derive(Clone, Copy, Debug)]
struct Touched {
    link: LinkId,
    /// What settled flows use of it.
    settled: f64,
    /// What is left of it.
    free: f64,
    /// How fast a rising level would use it: Σ w/P of the unsettled flows that still rise.
    slope: f64,
    /// How many those are.
    rising: usize,
    /// How many unsettled flows take it.
    unsettled: usize,
    /// How many of those it held before.
    held: usize,
    /// The level at which it was full and stopped those still rising.
    full_at: f64,
    /// The highest level an unsettled flow reached on it.
    highest: f64,
}

/// A link that will be full once the level has risen so far — or later, if flows on it stop before.
#[derive(Clone, Copy, Debug)]
struct Filling {
    level: f64,
    touched: u32,
}

/// Two levels, or a load and a capacity, closer than this (relatively) are the same.
const TOLERANCE: f64 = 1e-9;

/// How often a repair may spread to the flows that need it before it takes all within reach. Each time costs a filling.
const SPREADS: usize = 4;

impl Sharing {
    /// Links of these capacities, no flows.
    #[must_use]
    pub fn new(capacities: impl IntoIterator<Item = f64>) -> Self {
        let links = capacities.into_iter().map(|capacity| Link {
            capacity,
            load: 0.0,
            flows: Vec::new(),
            holds: 0,
            touched: (0, 0),
        });
        Self {
            links: links.collect(),
            flows: Vec::new(),
            arrived: Vec::new(),
            loosened: Vec::new(),
            clock: 0,
            repair: Repair::default(),
        }
    }

    /// Says what `flow` will ask for once it [enters](Self::enter). It must not be under way.
    pub fn announce(&mut self, flow: FlowId, demand: &Demand) {
        if self.flows.len() <= flow.index() {
            self.flows.resize_with(flow.index() + 1, Flow::default);
        }
        let known = &mut self.flows[flow.index()];
        known.bound = demand.bound;
        known.penalty = demand.penalty;
        known.legs.clear();
        known.legs.extend(demand.uses.iter().map(|&(link, weight)| Leg { link, weight, place: 0 }));
    }

    /// `flow` starts. Its rate is 0 until the rates are settled.
    pub fn enter(&mut self, flow: FlowId) {
        let entering = &mut self.flows[flow.index()];
        entering.rate = 0.0;
        entering.held = None;
        for (number, leg) in (0..).zip(&mut entering.legs) {
            let flows = &mut self.links[leg.link.index()].flows;
            leg.place = flows.len() as u32;
            flows.push((flow, number));
        }
        self.arrived.push(flow);
    }

    /// `flow` ends. Its number is free again.
    pub fn leave(&mut self, flow: FlowId) {
        let held = self.flows[flow.index()].held.take();
        if let Some(link) = held {
            self.links[link.index()].holds -= 1;
        }
        let rate = self.flows[flow.index()].rate;
        for number in 0..self.flows[flow.index()].legs.len() {
            let leg = self.flows[flow.index()].legs[number];
            let link = &mut self.links[leg.link.index()];
            link.flows.swap_remove(leg.place as usize);
            if let Some(&(moved, number)) = link.flows.get(leg.place as usize) {
                self.flows[moved.index()].legs[number as usize].place = leg.place;
            }
            // Exactly zero when it is: what rounding leaves behind must not add up.
            link.load = if link.flows.is_empty() { 0.0 } else { link.load - leg.weight * rate };
            if link.holds > 0 {
                self.loosened.push(leg.link);
            }
        }
    }

    /// The rate of a flow that has entered, as last settled.
    #[must_use]
    pub fn rate(&self, flow: FlowId) -> f64 {
        self.flows[flow.index()].rate
    }

    /// Makes the rates max-min fair again, and appends to `changed` the flows whose rate is another now, each once.
    pub fn settle(&mut self, changed: &mut Vec<FlowId>) {
        if self.arrived.is_empty() && self.loosened.is_empty() {
            return;
        }
        self.clock += 1;
        self.repair.began = self.clock;
        self.repair.unsettled.clear();
        for number in 0..self.arrived.len() {
            self.admit(self.arrived[number], changed);
        }
        self.arrived.clear();
        for number in 0..self.loosened.len() {
            self.unsettle_held(self.loosened[number]);
        }
        self.loosened.clear();
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
    }

    /// Gives a flow that arrived its bound if there is room for it, and unsettles it if not.
    fn admit(&mut self, flow: FlowId, changed: &mut Vec<FlowId>) {
        let bound = self.flows[flow.index()].bound;
        let mut fits = true;
        for number in 0..self.flows[flow.index()].legs.len() {
            let leg = self.flows[flow.index()].legs[number];
            let link = &self.links[leg.link.index()];
            if link.load + leg.weight * bound > link.capacity * (1.0 + TOLERANCE) {
                fits = false;
                self.unsettle_held(leg.link);
            }
        }
        if !fits {
            self.unsettle(flow);
            return;
        }
        let flow_state = &mut self.flows[flow.index()];
        flow_state.rate = bound;
        for leg in &flow_state.legs {
            self.links[leg.link.index()].load += leg.weight * bound;
        }
        changed.push(flow);
    }

    fn unsettle(&mut self, flow: FlowId) {
        let state = &mut self.flows[flow.index()];
        if state.unsettled != self.repair.began {
            state.unsettled = self.repair.began;
            self.repair.unsettled.push(flow);
        }
    }

    /// Unsettles the flows that a link holds.
    fn unsettle_held(&mut self, link: LinkId) {
        if self.links[link.index()].holds == 0 {
            return;
        }
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
        let Repair { unsettled, touched, bounds, filling, .. } = &mut self.repair;
        bounds.clear();
        bounds.extend(unsettled.iter().map(|&flow| {
            let Flow { bound, penalty, .. } = self.flows[flow.index()];
            (bound * penalty, flow)
        }));
        bounds.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        filling.clear();
        filling.extend((0..).zip(touched.iter()).map(|(number, touched)| touched.filling(number)));

        let mut bounds = std::mem::take(&mut self.repair.bounds);
        let mut waiting = bounds.iter().copied().peekable();
        loop {
            let first_full = self.first_full();
            let first_bound = loop {
                match waiting.peek() {
                    Some(&(_, flow)) if self.flows[flow.index()].filled == self.clock => waiting.next(),
                    Some(&first) => break Some(first),
                    None => break None,
                };
            };
            match (first_bound, first_full) {
                (Some((level, flow)), full) if full.is_none_or(|full| level <= full.level) => {
                    let rate = self.flows[flow.index()].bound;
                    self.stop(flow, level, rate, None);
                }
                (Some(_), Some(full)) => self.stop_all_on(full),
                _ => break,
            }
        }
        bounds.clear();
        self.repair.bounds = bounds;
    }

    /// Lists the links that unsettled flows take, and what there is to share on each.
    fn touch(&mut self) {
        self.clock += 1;
        let Repair { unsettled, touched, .. } = &mut self.repair;
        touched.clear();
        for &flow in unsettled.iter() {
            let flow = &self.flows[flow.index()];
            for leg in &flow.legs {
                let link = &mut self.links[leg.link.index()];
                if link.touched.0 != self.clock {
                    link.touched = (self.clock, touched.len() as u32);
                    touched.push(Touched {
                        link: leg.link,
                        settled: link.load,
                        free: 0.0,
                        slope: 0.0,
                        rising: 0,
                        unsettled: 0,
                        held: 0,
                        full_at: f64::INFINITY,
                        highest: 0.0,
                    });
                }
                let touched = &mut touched[link.touched.1 as usize];
                touched.settled -= leg.weight * flow.rate;
                touched.slope += leg.weight / flow.penalty;
                touched.unsettled += 1;
                touched.held += usize::from(flow.held == Some(leg.link));
            }
        }
        for touched in touched {
            let link = &self.links[touched.link.index()];
            touched.rising = touched.unsettled;
            if touched.unsettled == link.flows.len() {
                touched.settled = 0.0;
            }
            touched.free = link.capacity - touched.settled;
        }
    }

    /// The link that will be full first.
    fn first_full(&mut self) -> Option<Filling> {
        let Repair { touched, filling, .. } = &mut self.repair;
        // As flows stop, the others' links fill later, never earlier: a link whose time has moved goes back.
        while let Some(first) = filling.pop() {
            let link = &touched[first.touched as usize];
            if link.rising == 0 {
                continue;
            }
            let now = link.filling(first.touched);
            if filling.peek().is_none_or(|next| now >= *next) {
                filling.push(now);
                return Some(now);
            }
            filling.push(now);
        }
        None
    }

    fn stop_all_on(&mut self, full: Filling) {
        let link = self.repair.touched[full.touched as usize].link;
        self.repair.touched[full.touched as usize].full_at = full.level;
        for number in 0..self.links[link.index()].flows.len() {
            let (flow, _) = self.links[link.index()].flows[number];
            let state = &self.flows[flow.index()];
            if state.unsettled == self.repair.began && state.filled != self.clock {
                self.stop(flow, full.level, full.level / state.penalty, Some(link));
            }
        }
    }

    fn stop(&mut self, flow: FlowId, level: f64, rate: f64, held: Option<LinkId>) {
        let flow = &mut self.flows[flow.index()];
        flow.next = (rate, held);
        flow.filled = self.clock;
        for leg in &flow.legs {
            let touched = &mut self.repair.touched[self.links[leg.link.index()].touched.1 as usize];
            touched.free -= leg.weight * rate;
            touched.slope -= leg.weight / flow.penalty;
            touched.rising -= 1;
            touched.highest = touched.highest.max(level);
        }
    }

    /// Unsettles the settled flows that the `next` rates leave unheld, or that have more than their share of a link.
    fn spread(&mut self) {
        for number in 0..self.repair.touched.len() {
            let touched = self.repair.touched[number];
            let link = &self.links[touched.link.index()];
            let holds_settled = link.holds > touched.held;
            if link.flows.len() == touched.unsettled || !holds_settled && touched.full_at == f64::INFINITY {
                continue;
            }
            let full = touched.free <= link.capacity * TOLERANCE;
            for place in 0..link.flows.len() {
                let (flow, _) = self.links[touched.link.index()].flows[place];
                let Flow { rate, penalty, held, .. } = self.flows[flow.index()];
                let level = rate * penalty;
                let unheld = held == Some(touched.link) && (!full || level < touched.highest * (1.0 - TOLERANCE));
                if unheld || level > touched.full_at * (1.0 + TOLERANCE) {
                    self.unsettle(flow);
                }
            }
        }
    }

    /// Unsettles all flows that share a link that holds flows with an unsettled one, and those that do with them.
    fn unsettle_all_within_reach(&mut self) {
        self.clock += 1;
        let mut next = 0;
        while let Some(&flow) = self.repair.unsettled.get(next) {
            next += 1;
            for number in 0..self.flows[flow.index()].legs.len() {
                let id = self.flows[flow.index()].legs[number].link;
                let link = &mut self.links[id.index()];
                if link.touched.0 == self.clock || link.holds == 0 {
                    continue;
                }
                link.touched.0 = self.clock;
                for place in 0..self.links[id.index()].flows.len() {
                    self.unsettle(self.links[id.index()].flows[place].0);
                }
            }
        }
    }

    /// Makes the `next` rates the rates.
    fn adopt(&mut self, changed: &mut Vec<FlowId>) {
        for touched in &self.repair.touched {
            self.links[touched.link.index()].load = touched.settled;
        }
        for &id in &self.repair.unsettled {
            let flow = &mut self.flows[id.index()];
            let (rate, held) = flow.next;
            // A rate that is another only by rounding stays, and so does the time at which the flow ends.
            if (rate - flow.rate).abs() > TOLERANCE * 1e-3 * flow.rate {
                flow.rate = rate;
                changed.push(id);
            }
            if let Some(link) = flow.held {
                self.links[link.index()].holds -= 1;
            }
            if let Some(link) = held {
                self.links[link.index()].holds += 1;
            }
            flow.held = held;
            for leg in &flow.legs {
                self.links[leg.link.index()].load += leg.weight * flow.rate;
            }
        }
    }
}

impl FlowId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

impl Touched {
    fn filling(&self, number: u32) -> Filling {
        // What subtracting has left may be a little less than nothing.
        Filling { level: self.free.max(0.0) / self.slope.max(f64::MIN_POSITIVE), touched: number }
    }
}

/// The lowest level is the greatest, which a `BinaryHeap` pops first; ties go to the link touched first.
impl Ord for Filling {
    fn cmp(&self, other: &Self) -> Ordering {
        other.level.total_cmp(&self.level).then(other.touched.cmp(&self.touched))
    }
}

impl PartialOrd for Filling {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Filling {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Filling {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::reference::progressive_filling;
    use super::*;

    fn demand(bound: f64, penalty: f64, uses: &[(u32, f64)]) -> Demand {
        Demand { bound, penalty, uses: uses.iter().map(|&(link, weight)| (LinkId(link), weight)).collect() }
    }

    /// The rates of flows that all come at once.
    fn shared(capacities: &[f64], demands: &[Demand]) -> Vec<f64> {
        let mut sharing = Sharing::new(capacities.iter().copied());
        for (flow, demand) in (0..).map(FlowId).zip(demands) {
            sharing.announce(flow, demand);
            sharing.enter(flow);
        }
        sharing.settle(&mut Vec::new());
        (0..demands.len() as u32).map(|flow| sharing.rate(FlowId(flow))).collect()
    }

    /// Two links in a row, one flow over both and one over each: the long one gets half of the narrower link, the short
    /// ones what it leaves.
    #[test]
    fn a_chain_of_links() {
        let demands =
            [demand(1e9, 1.0, &[(0, 1.0), (1, 1.0)]), demand(1e9, 1.0, &[(0, 1.0)]), demand(1e9, 1.0, &[(1, 1.0)])];
        assert_eq!(shared(&[10.0, 6.0], &demands), [3.0, 7.0, 3.0]);
    }

    /// A share goes by 1/penalty: 12 in the ratio of 1 to 1/2.
    #[test]
    fn penalties_divide_a_link() {
        assert_eq!(shared(&[12.0], &[demand(1e9, 1.0, &[(0, 1.0)]), demand(1e9, 2.0, &[(0, 1.0)])]), [8.0, 4.0]);
    }

    /// What a bound leaves goes to the others: 1 for the first, 11/2 for each of the other two.
    #[test]
    fn bounds_leave_the_rest() {
        let demands = [demand(1.0, 1.0, &[(0, 1.0)]), demand(1e9, 1.0, &[(0, 1.0)]), demand(1e9, 1.0, &[(0, 1.0)])];
        assert_eq!(shared(&[12.0], &demands), [1.0, 5.5, 5.5]);
    }

    /// Each direction of a cable carries a flow and 5 % of the other: r + 0.05 r = C.
    #[test]
    fn crosstraffic_costs_both_ways() {
        let there = demand(100.0, 1.0, &[(0, 1.0), (1, 0.05)]);
        let back = demand(100.0, 1.0, &[(1, 1.0), (0, 0.05)]);
        let rates = shared(&[105.0, 105.0], &[there, back]);
        assert!(rates.iter().all(|rate| (rate - 100.0).abs() < 1e-9), "{rates:?}");
    }

    /// A flow that leaves gives way at once, and one whose bottleneck is elsewhere is not recomputed.
    #[test]
    fn only_what_changes_is_reported() {
        let mut sharing = Sharing::new([10.0, 4.0]);
        let demands = [demand(1e9, 1.0, &[(0, 1.0)]), demand(1e9, 1.0, &[(0, 1.0)]), demand(1e9, 1.0, &[(1, 1.0)])];
        for (flow, demand) in (0..).map(FlowId).zip(&demands) {
            sharing.announce(flow, demand);
            sharing.enter(flow);
        }
        let mut changed = Vec::new();
        sharing.settle(&mut changed);
        changed.clear();
        sharing.leave(FlowId(0));
        sharing.settle(&mut changed);
        assert_eq!((&changed[..], sharing.rate(FlowId(1))), (&[FlowId(1)][..], 10.0));
    }

    /// Links m, n, k, q, s. On m, g and x have 4 each and h, held by n, 2. At one instant w (on n) is held by s no longer
    /// but has to share q, which makes room for h on n, and x has to share k, which makes room on m. Were g not looked
    /// at again, h would take all of that room, for m is full again then.
    #[test]
    fn no_flow_overtakes_another_that_its_link_holds() {
        let [m, n, k, q, s] = [0, 1, 2, 3, 4];
        let before = [
            demand(1e9, 1.0, &[(m, 1.0)]),
            demand(1e9, 1.0, &[(m, 1.0), (k, 1.0)]),
            demand(1e9, 1.0, &[(m, 1.0), (n, 1.0)]),
            demand(1e9, 0.1, &[(n, 1.0), (q, 1.0), (s, 1.0)]),
            demand(1.0, 1.0, &[(s, 1.0)]),
        ];
        let after = [demand(1e9, 0.001, &[(q, 1.0)]), demand(1e9, 0.1, &[(k, 1.0)])];
        let mut sharing = Sharing::new([10.0, 20.0, 5.0, 18.5, 19.0]);
        for (flow, demand) in (0..).map(FlowId).zip(&before) {
            sharing.announce(flow, demand);
            sharing.enter(flow);
        }
        sharing.settle(&mut Vec::new());
        let rates = |sharing: &Sharing| [0, 1, 2].map(|flow| (sharing.rate(FlowId(flow)) * 1e6).round() / 1e6);
        assert_eq!(rates(&sharing), [4.0, 4.0, 2.0]);
        sharing.leave(FlowId(4));
        for (flow, demand) in (5..).map(FlowId).zip(&after) {
            sharing.announce(flow, demand);
            sharing.enter(flow);
        }
        sharing.settle(&mut Vec::new());
        assert_eq!(rates(&sharing), [4.772_727, 0.454_545, 4.772_727]);
    }

    const LINKS: usize = 8;

    fn any_demand() -> impl Strategy<Value = Demand> {
        let weight = prop::sample::select(vec![1.0, 1.0, 0.05, 1.05]);
        let uses = prop::collection::btree_map(0..LINKS as u32, weight, 0..6);
        let penalty = prop_oneof![Just(1.0), Just(2.0), 0.1..10.0];
        let bound = prop_oneof![Just(10.0), Just(100.0), 0.1..200.0];
        (bound, penalty, uses).prop_map(|(bound, penalty, uses)| Demand {
            bound,
            penalty,
            uses: uses.into_iter().map(|(link, weight)| (LinkId(link), weight)).collect(),
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// However flows come and go, singly or together, the rates are those of filling all links from nothing, and
        /// every flow whose rate is another is reported.
        #[test]
        fn repair_equals_starting_over(
            capacities in prop::collection::vec(prop_oneof![Just(100.0), 1.0..1000.0], LINKS),
            steps in prop::collection::vec(
                (prop::option::of(any_demand()), any::<prop::sample::Index>(), prop::bool::weighted(0.7)), 1..60),
        ) {
            let mut sharing = Sharing::new(capacities.iter().copied());
            let mut present: Vec<Option<Demand>> = Vec::new();
            let mut known: Vec<f64> = Vec::new();
            let mut fresh: Vec<usize> = Vec::new();
            for (arrival, index, settle) in steps {
                if let Some(demand) = arrival {
                    let flow = present.iter().position(Option::is_none).unwrap_or(present.len());
                    present.resize(present.len().max(flow + 1), None);
                    known.resize(present.len(), 0.0);
                    sharing.announce(FlowId(flow as u32), &demand);
                    sharing.enter(FlowId(flow as u32));
                    known[flow] = 0.0;
                    fresh.push(flow);
                    present[flow] = Some(demand);
                } else if !present.is_empty() {
                    let flow = index.index(present.len());
                    if present[flow].is_some() && !fresh.contains(&flow) {
                        sharing.leave(FlowId(flow as u32));
                        present[flow] = None;
                    }
                }
                if !settle {
                    continue;
                }
                fresh.clear();
                let mut changed = Vec::new();
                sharing.settle(&mut changed);
                for flow in changed {
                    known[flow.index()] = sharing.rate(flow);
                }
                let demands: Vec<Demand> = present.iter().flatten().cloned().collect();
                let expected = progressive_filling(&capacities, &demands);
                let flows = (0..present.len()).filter(|&flow| present[flow].is_some());
                for (flow, expected) in flows.zip(expected) {
                    let found = known[flow];
                    prop_assert!((found - expected).abs() <= 1e-6 * expected, "flow {flow}: {found} not {expected}");
                }
            }
        }
    }
}
