//! Links of another capacity, and flows of another demand, while flows are under way: what is concerned is taken out, defined
//! anew, and put back.

use super::{Constraint, FlowId, MaxMinSolver};
use crate::topology::LinkId;

impl MaxMinSolver {
    /// Takes all messages of a flow out, so that it or the links that it takes can be defined anew. Returns how many these are. The
    /// rates must have been solved, and no level may be shared.
    pub(crate) fn take_out(&mut self, flow: FlowId) -> u32 {
        let under_way = self.flows[flow.index()].count;
        if under_way > 0 {
            self.withdraw(flow, under_way);
        }
        under_way
    }

    /// Puts messages of a flow back that were taken out.
    pub(crate) fn put_back(&mut self, flow: FlowId, messages: u32) {
        if messages > 0 {
            self.insert(flow, messages);
        }
    }

    /// Gives a link another capacity. All flows that take it must have been taken out, and be defined anew before they are put back.
    pub(crate) fn set_capacity(&mut self, link: LinkId, capacity: f64) {
        let state = &mut self.links[link.index()];
        debug_assert!(state.flows.is_empty(), "flows take the link");
        *state = Constraint { touched: state.touched, ..Constraint::new(capacity) };
    }
}
