//! Executes collectives in the engine: to their ends before a call returns, or in the background.

use std::thread;

use titr_wrappers::pmpi::ErrorCode;
use titr_wrappers::pmpi::generalized_request::GeneralizedRequest;

use super::description::{Description, Observation};
use super::execution::{Progress, Run};
use super::plan::Plan;
use super::{Engine, Route};

impl Engine {
    /// Executes a plan to its end. Other background work advances in the meantime.
    #[inline(never)]
    pub(super) fn carry_out(&self, plan: Box<Plan>, route: Route, busy: bool) -> Box<Run> {
        let tag = loop {
            let tag = self.state().tag(route);
            match tag {
                Some(tag) => break tag,
                None => {
                    self.progress();
                    thread::yield_now();
                }
            }
        };
        let mut run = plan.begin(self.world, tag, self.clock);
        if busy {
            while !run.advance(Progress::Nonblocking) {
                self.progress();
                thread::yield_now();
            }
        } else {
            run.advance(Progress::Blocking);
        }
        self.state().end(route);
        run
    }

    pub(super) fn execute_now(
        &self,
        plan: Box<Plan>,
        description: &Description,
        route: Route,
        number: u64,
        busy: bool,
    ) -> (Result<(), ErrorCode>, Observation) {
        let (messages, result) = self.carry_out(plan, route, busy).end();
        (result, Observation::Messages(description.annotations(number, &messages)))
    }

    pub(super) fn execute_in_background(
        &self,
        plan: Box<Plan>,
        description: Description,
        route: Route,
        number: u64,
        request: usize,
    ) -> (Result<(), ErrorCode>, Observation) {
        // SAFETY: it is where the program wants its request.
        match unsafe { GeneralizedRequest::start(self.abi, request) } {
            Err(error) => {
                self.state().end(route);
                (Err(error), Observation::Opaque)
            }
            Ok(request) => {
                let mut state = self.state();
                let task = state.background.add(route, plan, description, number, request);
                state.progress(self);
                (Ok(()), Observation::Background(task))
            }
        }
    }
}
