//! Persistent collectives (MPI 4.0 §6.13): the same steps at each start.
//!
//! The program's handle is the library's own, from the call that sets the collective up, and the library never starts
//! it: the program may copy, query and free the handle. A start creates a generalized request, which replaces the
//! handle while the program waits for it or tests it, and is completed with the collective. `MPI_REQUEST_NULL` replaces
//! an inactive one.
//!
//! The ranks set up their collectives in one order, and may start them in any. Each therefore has its own context, on
//! which the members agree in the background ([`super::agreement`]).

use rustc_hash::FxHashMap;
use titr_common::event::RequestId;
use titr_wrappers::Real;
use titr_wrappers::argument::Request;
use titr_wrappers::functions::point_to_point::PointToPoint::{
    self, MPI_Request_free, MPI_Request_get_status, MPI_Start, MPI_Startall,
};
use titr_wrappers::pmpi::ErrorCode;
use titr_wrappers::pmpi::generalized_request::GeneralizedRequest;
use titr_wrappers::pmpi::nonblocking_call;

use super::context::ContextKey;
use super::description::{Description, Made, Observation};
use super::plan::Plan;
use super::{Engine, Route, State};

/// The persistent collectives of a rank, by the program's handles.
#[derive(Default)]
pub(super) struct PersistentCollectives(FxHashMap<Request, PersistentCollective>);

struct PersistentCollective {
    plan: Box<Plan>,
    description: Description,
    /// The context of its messages; `None` if it has none, as there is one member.
    context: Option<ContextKey>,
    /// The number of the collective on its communicator.
    number: u64,
    /// The number of the program's request, once it has one.
    name: Option<RequestId>,
    /// The request that replaces the program's, from a start until the program has seen its completion.
    stand_in: Option<Request>,
}

impl PersistentCollectives {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Engine {
    /// Has the library set a collective up, and keeps it to carry it out at each start. `None` if the library is to carry it
    /// out.
    pub(super) fn set_up(
        &self,
        plan: Box<Plan>,
        description: Description,
        place: usize,
        real: Real<'_>,
    ) -> Option<Made> {
        let is_alone = description.members.len() < 2;
        let mut state = self.state();
        let communicator = state.communicators.get(&description.id).copied().unwrap_or_default();
        if !is_alone && communicator.context.is_none() {
            return None;
        }
        drop(state);
        if !real.run() {
            return Some(Made { success: false, outcome: Observation::Opaque });
        }
        // SAFETY: the call that puts the program's request there has succeeded.
        let handle = unsafe { Request::load_from(self.abi, place) };
        state = self.state();
        let context = match is_alone {
            true => None,
            false => state.agree_in_background(self, description.id, &description.members),
        };
        if !is_alone && context.is_none() {
            return Some(Made { success: true, outcome: Observation::Opaque });
        }
        let number = communicator.collectives;
        let collective = PersistentCollective { plan, description, context, number, name: None, stand_in: None };
        state.persistent.0.insert(handle, collective);
        state.progress(self);
        Some(Made { success: true, outcome: Observation::Persistent(handle) })
    }

    /// The program's request of a persistent collective has this number.
    pub(crate) fn name_persistent(&self, handle: Request, request: RequestId) {
        if let Some(collective) = self.state().persistent.0.get_mut(&handle) {
            collective.name = Some(request);
        }
    }

    /// Makes a call about requests, if it is about one of a persistent collective; whether it succeeded.
    pub(super) fn run_on_persistent(&self, call: &PointToPoint<'_>, real: Real<'_>) -> Option<bool> {
        match call {
            MPI_Start(request) if self.is_persistent(request.get()) => {
                let result = self.start_again(request.get());
                real.replace(ErrorCode::of(result));
                Some(result.is_ok())
            }
            MPI_Startall(requests) => {
                let requests = requests.array_of_requests();
                if !requests.iter().any(|request| self.is_persistent(request)) {
                    return None;
                }
                let mut result = Ok(());
                for (index, request) in requests.iter().enumerate() {
                    result = result.and_then(|()| match self.is_persistent(request) {
                        true => self.start_again(request),
                        false => nonblocking_call::start_persistent(&requests, index),
                    });
                }
                real.replace(ErrorCode::of(result));
                Some(result.is_ok())
            }
            MPI_Request_get_status(request, ..) => {
                let stand_in = self.stand_in(*request)?;
                real.set_request(0, stand_in);
                Some(real.run())
            }
            MPI_Request_free(request) => {
                let mut state = self.state();
                let collective = state.persistent.0.remove(&request.get())?;
                if let Some(stand_in) = collective.stand_in {
                    collective.name.into_iter().for_each(|name| state.background.abandon(name));
                    nonblocking_call::free(self.abi, stand_in);
                }
                if let Some(context) = collective.context {
                    state.contexts.free(context);
                }
                state.free_deferred();
                drop(state);
                Some(real.run())
            }
            _ => None,
        }
    }

    fn is_persistent(&self, handle: Request) -> bool {
        self.state().persistent.0.get(&handle).is_some_and(|collective| collective.stand_in.is_none())
    }

    fn start_again(&self, handle: Request) -> Result<(), ErrorCode> {
        let request = GeneralizedRequest::make(self.abi)?;
        let mut state = self.state();
        let State { persistent, contexts, background, .. } = &mut *state;
        let Some(collective) = persistent.0.get_mut(&handle) else { return Ok(()) };
        let route = match collective.context {
            None => Route::Alone,
            Some(context) => contexts.begin(context).map_or(Route::Alone, Route::In),
        };
        collective.stand_in = Some(request.handle());
        let PersistentCollective { plan, description, number, name, .. } = collective;
        let task = background.add(route, plan.clone(), description.clone(), *number, request);
        if let Some(name) = *name {
            background.name(task, name);
        }
        state.progress(self);
        Ok(())
    }

    /// Whether there are persistent collectives.
    #[must_use]
    pub(crate) fn has_persistent(&self) -> bool {
        !self.state().persistent.is_empty()
    }

    /// The request that replaces that of a persistent collective: `MPI_REQUEST_NULL` for an inactive one, because the
    /// library believes that it was never started (MPICH 4.0 waits for such a request).
    #[must_use]
    pub(crate) fn stand_in(&self, handle: Request) -> Option<Request> {
        let state = self.state();
        let collective = state.persistent.0.get(&handle)?;
        Some(collective.stand_in.unwrap_or(self.abi.request_null))
    }

    /// The program has seen the persistent collective completed that has this handle.
    pub(crate) fn completed_start(&self, handle: Request) {
        if let Some(collective) = self.state().persistent.0.get_mut(&handle) {
            collective.stand_in = None;
        }
    }
}
