//! A level that many flows share, moved for all of them at once.
//!
//! A backbone, mostly, holds many flows, and each that comes or goes moves the level of all. While nothing but that level
//! moves, it is one division: the *tide* is the level λ of one link, and its *riders* are all flows that this link holds.
//! With *s* = Σ n·w/P of the riders and *u* what other flows use of the link, λ = (C − u) / s.
//!
//! **When that is right.** Every flow stays held as it is, by the criterion of [the sharing](super), as long as
//!
//! * λ is no lower than the level of the other flows on the link, which do not change;
//! * λ is no higher than the bound of any rider, nor than where another link that riders take would be full;
//! * no rider takes another link that holds flows, for that would be full no longer when the tide falls.
//!
//! These limits are known from the repair that found one link to hold all whom it unsettled. A flow that comes
//! lowers them for its own sake and that of the links on its way; one that goes leaves them lower than they need be. When λ
//! would cross a limit, or anything else happens, the tide is over, and its riders are unsettled like all others.
//!
//! **What is put off.** The riders' own `level`, and the loads of the links they take, stay as they were last written
//! down, together: whatever is added to a load and taken from it is reckoned with that level, until the tide is over.

use super::{FlowId, Link, Sharing};
use crate::topology::LinkId;

/// The link whose level alone moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tide {
    pub link: LinkId,
    /// λ.
    pub level: f64,
    /// s.
    pub slope: f64,
    /// u.
    pub used: f64,
    /// The limits of λ.
    pub lowest: f64,
    pub highest: f64,
}

/// Fewer riders are as well repaired.
pub(super) const CROWD: u32 = 6;

impl Sharing {
    /// Whether a flow rides the tide.
    pub(super) fn rides(&self, flow: FlowId) -> bool {
        self.tide.is_some_and(|tide| self.flows[flow.index()].held == Some(tide.link))
    }

    /// Lets the tide rise or fall for all that came and went since the rates were last settled. Whether that was right:
    /// if not, nothing is settled yet.
    pub(super) fn turn_tide(&mut self, changed: &mut Vec<FlowId>) -> bool {
        let Some(Tide { link, .. }) = self.tide else { return false };
        let elsewhere = self.loosened.iter().any(|&loosened| loosened != link);
        // All come aboard before limits are looked for: they may be on each other's way.
        if elsewhere
            || !(0..self.arrived.len()).all(|number| self.board(self.arrived[number], link, changed))
            || !(0..self.arrived.len()).all(|number| self.lower_limit(self.arrived[number], link))
        {
            return false;
        }
        let Link { capacity, holds, .. } = self.links[link.index()];
        let Some(tide) = &mut self.tide else { return false };
        let level = (capacity - tide.used) / tide.slope;
        if holds == 0 || !(tide.lowest..=tide.highest).contains(&level) {
            return false;
        }
        tide.level = level;
        self.arrived.clear();
        self.loosened.clear();
        true
    }

    /// Takes a flow that arrived aboard, if it takes the link.
    fn board(&mut self, flow: FlowId, link: LinkId, changed: &mut Vec<FlowId>) -> bool {
        let boarding = &mut self.flows[flow.index()];
        if boarding.count == 0 || boarding.held == Some(link) {
            return true;
        }
        let Some(leg) = boarding.legs.iter().find(|leg| leg.link == link) else { return false };
        if boarding.held.is_some() || boarding.level > 0.0 {
            return false;
        }
        boarding.held = Some(link);
        if let Some(tide) = &mut self.tide {
            tide.slope += f64::from(boarding.count) * leg.weight * boarding.ease;
        }
        self.links[link.index()].holds += 1;
        changed.push(flow);
        true
    }

    /// Lowers the upper limit for a rider's bound and for the links on its way; false if one of those holds flows.
    fn lower_limit(&mut self, rider: FlowId, link: LinkId) -> bool {
        if self.flows[rider.index()].count == 0 {
            return true;
        }
        let mut highest = self.flows[rider.index()].bound;
        for leg in &self.flows[rider.index()].legs {
            let other = &self.links[leg.link.index()];
            if leg.link == link || other.has_room() {
                continue;
            }
            if other.holds > 0 {
                return false;
            }
            let (mut slope, mut used) = (0.0, 0.0);
            for &(flow, leg) in &other.flows {
                let flow = &self.flows[flow.index()];
                if flow.held == Some(link) {
                    slope += flow.slope(leg);
                } else {
                    used += flow.uses(leg);
                }
            }
            highest = highest.min((other.capacity - used) / slope);
        }
        if let Some(tide) = &mut self.tide {
            tide.highest = tide.highest.min(highest);
        }
        true
    }

    /// Ends the tide: writes down what was put off, and unsettles the riders.
    pub(super) fn end_tide(&mut self, changed: &mut Vec<FlowId>) {
        let Some(tide) = self.tide.take() else { return };
        for place in 0..self.links[tide.link.index()].flows.len() {
            let (rider, _) = self.links[tide.link.index()].flows[place];
            let flow = &mut self.flows[rider.index()];
            if flow.held != Some(tide.link) {
                continue;
            }
            let more = f64::from(flow.count) * (tide.level - flow.level) * flow.ease;
            flow.level = tide.level;
            for leg in &flow.legs {
                self.links[leg.link.index()].load += leg.weight * more;
            }
            changed.push(rider);
        }
        self.unsettle_held(tide.link);
    }

    /// Begins a tide if the last filling of a repair was of the kind that [it](self) goes on from: one link held all
    /// flows that were unsettled.
    pub(super) fn begin_tide(&mut self, changed: &mut Vec<FlowId>) {
        let Some(tide) = self.next_tide() else { return };
        // Who only now and then holds many is not worth it.
        if self.high_water.replace(tide.link) != Some(tide.link) {
            return;
        }
        changed.extend_from_slice(&self.repair.unsettled);
        self.tide = Some(tide);
    }

    fn next_tide(&self) -> Option<Tide> {
        let repair = &self.repair;
        let alone = repair.alone.filter(|_| repair.unsettled.len() >= CROWD as usize)?;
        let mut highest = repair.lowest_bound;
        let (alone, level) = (repair.touched[alone as usize], repair.touched[alone as usize].full_at);
        for touched in &repair.touched {
            if touched.link == alone.link {
                continue;
            }
            if self.links[touched.link.index()].holds > 0 {
                return None;
            }
            highest = highest.min(level + touched.free.max(0.0) / touched.slope);
        }
        let link = &self.links[alone.link.index()];
        if link.holds as usize != repair.unsettled.len() {
            return None;
        }
        let others = link.flows.iter().map(|&(flow, _)| &self.flows[flow.index()]);
        let lowest =
            others.filter(|flow| flow.held != Some(alone.link)).fold(0.0, |lowest: f64, flow| lowest.max(flow.level));
        let used = if link.holds as usize == link.flows.len() { 0.0 } else { link.capacity - level * alone.slope };
        Some(Tide { link: alone.link, level, slope: alone.slope, used, lowest, highest })
    }
}
