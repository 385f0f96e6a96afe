//! A level that many flows share and that changes for all of them at once.
//!
//! A link such as a backbone can limit many flows, so that each start and end of a flow changes the level of all. If
//! nothing else changes, one division suffices: the *shared level* is the level λ of one link, and its *members* are
//! all flows that this link limits. With *s* = Σ n·w/P of the members and *u* the part of the link that other flows
//! use, λ = (C − u) / s.
//!
//! **Validity.** By the criterion of [the solver](super), every flow stays limited as before as long as
//!
//! * λ is no lower than the level of the other flows on the link, which do not change;
//! * λ is no higher than the bound of any member, and no higher than the level at which another link of the members is
//!   full;
//! * no member takes another link that limits flows, because that link would not be full any more when λ falls.
//!
//! The lowest and the highest valid λ are known from the search that found that one link limits all invalid flows. A
//! flow that starts tightens both for itself and for the links on its route; a flow that ends leaves them tighter than
//! necessary. When λ would cross one of them, or anything else happens, the shared level ends and its members become
//! invalid.
//!
//! **Deferred updates.** The members' own `level`, and the loads of the links they take, keep their last stored values:
//! additions to and subtractions from a load use the stored level until the shared level ends.

use super::{Constraint, FlowId, MaxMinSolver};
use crate::topology::LinkId;

/// The level of the members, and the link that limits them.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedLevel {
    pub link: LinkId,
    /// λ.
    pub level: f64,
    /// s.
    pub slope: f64,
    /// u.
    pub used: f64,
    /// The lowest λ at which it is right.
    pub lowest: f64,
    /// The highest λ at which it is right.
    pub highest: f64,
}

/// The fewest members that are worth a shared level: the rates of fewer are found as fast one by one.
pub(super) const MIN_MEMBERS: u32 = 6;

impl MaxMinSolver {
    pub(super) fn is_member(&self, flow: FlowId) -> bool {
        self.shared.is_some_and(|shared| self.flows[flow.index()].bottleneck == Some(shared.link))
    }

    /// Changes the shared level for all flows that started or ended since the rates were last solved. Returns whether
    /// that was valid: if not, nothing is solved yet.
    pub(super) fn update_shared_level(&mut self, changed: &mut Vec<FlowId>) -> bool {
        let Some(SharedLevel { link, .. }) = self.shared else { return false };
        self.begin_resolve();
        let elsewhere = self.freed.iter().any(|&freed| freed != link);
        // All join before the highest level is looked for: they may be on each other's way.
        if elsewhere
            || !(0..self.arrived.len()).all(|number| self.join(self.arrived[number], link, changed))
            || !(0..self.arrived.len()).all(|number| self.lower_limit(self.arrived[number], link))
        {
            return false;
        }
        let Constraint { capacity, limits, .. } = self.links[link.index()];
        let Some(shared) = &mut self.shared else { return false };
        let level = (capacity - shared.used) / shared.slope;
        if limits == 0 || !(shared.lowest..=shared.highest).contains(&level) {
            return false;
        }
        shared.level = level;
        self.arrived.clear();
        self.freed.clear();
        true
    }

    /// Adds an arriving flow if its route contains the link; returns whether it does.
    fn join(&mut self, flow: FlowId, link: LinkId, changed: &mut Vec<FlowId>) -> bool {
        let joining = &mut self.flows[flow.index()];
        if joining.count == 0 || joining.bottleneck == Some(link) {
            return true;
        }
        let Some(element) = joining.elements.iter().find(|element| element.link == link) else { return false };
        if joining.bottleneck.is_some() || joining.level > 0.0 {
            return false;
        }
        joining.bottleneck = Some(link);
        if let Some(shared) = &mut self.shared {
            shared.slope += f64::from(joining.count) * element.weight * joining.inverse_penalty;
        }
        self.links[link.index()].limits += 1;
        changed.push(flow);
        true
    }

    /// Lowers the upper limit for a member's bound and for the links on its way, each of which is looked at once for all that
    /// arrived; false if one of those limits flows.
    fn lower_limit(&mut self, member: FlowId, link: LinkId) -> bool {
        if self.flows[member.index()].count == 0 {
            return true;
        }
        let Self { links, flows, resolve, .. } = self;
        let mut highest = flows[member.index()].bound;
        for element in &flows[member.index()].elements {
            let other = &mut links[element.link.index()];
            if element.link == link || other.has_slack() || !resolve.is_first_look(other) {
                continue;
            }
            if other.limits > 0 {
                return false;
            }
            let (mut slope, mut used) = (0.0, 0.0);
            for &(flow, element) in &other.flows {
                let flow = &flows[flow.index()];
                if flow.bottleneck == Some(link) {
                    slope += flow.slope(element);
                } else {
                    used += flow.uses(element);
                }
            }
            highest = highest.min((other.capacity - used) / slope);
        }
        if let Some(shared) = &mut self.shared {
            shared.highest = shared.highest.min(highest);
        }
        true
    }

    /// Ends the shared level: stores the deferred values, and makes the rates of the members invalid.
    pub(super) fn end_shared_level(&mut self, changed: &mut Vec<FlowId>) {
        if let Some(link) = self.write_down_shared_level(changed) {
            self.invalidate_limited_by(link);
        }
    }

    /// Gives each member the rate that it has, which is right if the rates have been solved, and returns their link.
    pub(crate) fn write_down_shared_level(&mut self, changed: &mut Vec<FlowId>) -> Option<LinkId> {
        let shared = self.shared.take()?;
        self.links[shared.link.index()].limited_at = shared.level;
        for place in 0..self.links[shared.link.index()].flows.len() {
            let (member, _) = self.links[shared.link.index()].flows[place];
            let flow = &mut self.flows[member.index()];
            if flow.bottleneck != Some(shared.link) {
                continue;
            }
            let more = f64::from(flow.count) * (shared.level - flow.level) * flow.inverse_penalty;
            flow.level = shared.level;
            for element in &flow.elements {
                self.links[element.link.index()].load += element.weight * more;
            }
            changed.push(member);
        }
        Some(shared.link)
    }

    /// Begins a shared level if one link limited all flows that were invalid in the last filling.
    pub(super) fn begin_shared_level(&mut self, changed: &mut Vec<FlowId>) {
        let Some(shared) = self.next_shared_level() else { return };
        // A link that limits many flows only now and then is not worth it.
        if self.last_bottleneck.replace(shared.link) != Some(shared.link) {
            return;
        }
        changed.extend_from_slice(&self.resolve.invalid);
        self.shared = Some(shared);
    }

    fn next_shared_level(&self) -> Option<SharedLevel> {
        let (filling, members) = (&self.resolve.filling, self.resolve.invalid.len());
        let (alone, level) = filling.alone.filter(|_| members >= MIN_MEMBERS as usize)?;
        let (alone, mut highest) = (filling.touched[alone as usize], filling.lowest_bound);
        for touched in &filling.touched {
            if touched.link == alone.link {
                continue;
            }
            if self.links[touched.link.index()].limits > 0 {
                return None;
            }
            highest = highest.min(level + touched.free().max(0.0) / touched.slope);
        }
        let link = &self.links[alone.link.index()];
        if link.limits as usize != members {
            return None;
        }
        let others = link.flows.iter().map(|&(flow, _)| &self.flows[flow.index()]);
        let lowest = others
            .filter(|flow| flow.bottleneck != Some(alone.link))
            .fold(0.0, |lowest: f64, flow| lowest.max(flow.level));
        let used = if link.limits as usize == link.flows.len() { 0.0 } else { link.capacity - level * alone.slope };
        Some(SharedLevel { link: alone.link, level, slope: alone.slope, used, lowest, highest })
    }
}
