//! Collectives that the engine executes in the background while the program does other things.
//!
//! They advance whenever the program calls MPI. A call that would block is executed in small steps: its message is
//! started in the background as well, and tested until it is complete, so that this rank's part in a collective never
//! waits for another rank that waits for it ("weak progress", MPI 4.0 §2.9 and §6.12). Calls that cannot be divided in
//! this way, such as those that create a communicator, leave the collectives in their current state.
//!
//! The program has a generalized request for each, which is completed with it. By MPI's rules, objects that the program
//! frees in the meantime — a datatype, an operation — have to exist until the collective is done, so they are freed
//! then.

use std::ptr;
use std::thread;

use titr_common::event::{Annotation, RequestId};
use titr_wrappers::argument::{Comm, Request};
use titr_wrappers::call::DeferredFree;
use titr_wrappers::functions::collective::MPI_Op_free;
use titr_wrappers::functions::communicator::Communicator::{MPI_Comm_disconnect, MPI_Comm_free, MPI_Comm_idup};
use titr_wrappers::functions::datatype::MPI_Type_free;
use titr_wrappers::functions::point_to_point::PointToPoint::{MPI_Mprobe, MPI_Probe};
use titr_wrappers::observation::ObservedMessage;
use titr_wrappers::pmpi::ErrorCode;
use titr_wrappers::pmpi::generalized_request::GeneralizedRequest;
use titr_wrappers::pmpi::nonblocking_call::{self, NonblockingCall};
use titr_wrappers::signature::Probe;
use titr_wrappers::{Call, Function, Real};

use super::context::{ContextKey, ExchangeKey, Identity};
use super::execution::{Progress, Run};
use super::plan::Plan;
use super::{Description, Engine, Route, State};
use crate::ranks::Ranks;

/// Names a collective in the background until its request has a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskId(u64);

/// An exchange of messages in the background.
struct Task {
    route: Route,
    stage: TaskStage,
    purpose: Purpose,
}

/// The stage of a task.
enum TaskStage {
    /// The task may not start yet.
    Planned(Box<Plan>),
    Running(Box<Run>),
    /// The messages of a task that is over, and its first error.
    Over(Vec<ObservedMessage>, Result<(), ErrorCode>),
}

/// The purpose of a task.
enum Purpose {
    /// A collective of the program's.
    Collective {
        id: TaskId,
        /// The number of the program's request, once it has one.
        name: Option<RequestId>,
        /// The number of the collective on its communicator.
        number: u64,
        description: Description,
        /// The program's request, until it is complete.
        request: Option<GeneralizedRequest>,
        /// Whether the program has freed its request, and will not see its completion.
        is_abandoned: bool,
    },
    /// An agreement on a context.
    Agreement {
        context: ContextKey,
        identity: Identity,
        attempt: u64,
        /// The candidates that this rank has taken.
        mine: u64,
        members: Ranks,
    },
}

/// All that is in the background.
#[derive(Default)]
pub(super) struct Background {
    /// Collectives that the program has not seen completed, and agreements that are not over.
    tasks: Vec<Task>,
    /// The number of collectives that there have been.
    count: u64,
    deferred: Vec<DeferredFree>,
    /// Collectives that failed and that the program has seen completed.
    errors: Vec<(Comm, ErrorCode)>,
}

impl Background {
    pub(super) fn add(
        &mut self,
        route: Route,
        plan: Box<Plan>,
        description: Description,
        number: u64,
        request: GeneralizedRequest,
    ) -> TaskId {
        let id = TaskId(self.count);
        self.count += 1;
        let purpose =
            Purpose::Collective { id, name: None, number, description, request: Some(request), is_abandoned: false };
        self.tasks.push(Task { route, stage: TaskStage::Planned(plan), purpose });
        id
    }

    pub(super) fn add_agreement(
        &mut self,
        exchange: ExchangeKey,
        plan: Box<Plan>,
        context: ContextKey,
        identity: Identity,
        mine: u64,
        members: Ranks,
    ) {
        let purpose = Purpose::Agreement { context, identity, attempt: 0, mine, members };
        self.tasks.push(Task { route: Route::In(exchange), stage: TaskStage::Planned(plan), purpose });
    }

    pub(super) fn name(&mut self, task: TaskId, number: RequestId) {
        for Task { purpose, .. } in &mut self.tasks {
            if let Purpose::Collective { id, name, .. } = purpose
                && *id == task
            {
                *name = Some(number);
            }
        }
    }

    /// The program has freed its request of a collective, which continues.
    pub(super) fn abandon(&mut self, request: RequestId) {
        self.tasks.retain_mut(|Task { stage, purpose, .. }| match purpose {
            Purpose::Collective { name, is_abandoned, .. } if *name == Some(request) => {
                (*name, *is_abandoned) = (None, true);
                !matches!(stage, TaskStage::Over(..))
            }
            Purpose::Collective { .. } | Purpose::Agreement { .. } => true,
        });
    }

    /// Removes a collective that the program has seen completed; returns its messages.
    pub(super) fn take(&mut self, request: RequestId) -> Option<Vec<Annotation>> {
        let is_it =
            |task: &Task| matches!(task.purpose, Purpose::Collective { name: Some(name), .. } if name == request);
        let at = self.tasks.iter().position(is_it)?;
        let Task {
            stage: TaskStage::Over(messages, result),
            purpose: Purpose::Collective { number, description, .. },
            ..
        } = self.tasks.remove(at)
        else {
            return None;
        };
        self.errors.extend(result.err().map(|error| (description.comm, error)));
        Some(description.annotations(number, &messages))
    }

    /// The communicators of the program on which collectives have failed that it has seen completed since the last time, and
    /// the errors.
    pub(super) fn take_errors(&mut self) -> Vec<(Comm, ErrorCode)> {
        std::mem::take(&mut self.errors)
    }
}

impl State {
    /// Advances all background work; returns whether anything is still in progress.
    pub(super) fn progress(&mut self, engine: &Engine) -> bool {
        if self.background.tasks.is_empty() {
            return false;
        }
        let mut tasks = std::mem::take(&mut self.background.tasks);
        // Some end in the order in which they began, and enable others to start.
        tasks.retain_mut(|task| self.advance(engine, task));
        self.background.tasks = tasks;
        let busy = self.background.tasks.iter().any(|task| !matches!(task.stage, TaskStage::Over(..)));
        if !busy {
            self.free_deferred();
        }
        busy
    }

    /// Frees the objects that the program has freed, if no collective can need them any more.
    pub(super) fn free_deferred(&mut self) {
        let is_over = |task: &Task| matches!(task.stage, TaskStage::Over(..));
        if self.persistent.is_empty() && self.background.tasks.iter().all(is_over) {
            self.background.deferred.drain(..).for_each(DeferredFree::free);
        }
    }

    /// Advances a task; returns whether to keep it.
    fn advance(&mut self, engine: &Engine, task: &mut Task) -> bool {
        if let TaskStage::Planned(_) = task.stage
            && let Some(tag) = self.tag(task.route)
        {
            let over = TaskStage::Over(Vec::new(), Ok(()));
            if let TaskStage::Planned(plan) = std::mem::replace(&mut task.stage, over) {
                task.stage = TaskStage::Running(plan.begin(engine.world, tag, engine.clock));
            }
        }
        let TaskStage::Running(run) = &mut task.stage else { return true };
        if !run.advance(Progress::Nonblocking) {
            return true;
        }
        match &mut task.purpose {
            Purpose::Collective { request, is_abandoned, .. } => {
                self.end(task.route);
                let over = TaskStage::Over(Vec::new(), Ok(()));
                if let TaskStage::Running(run) = std::mem::replace(&mut task.stage, over) {
                    let (messages, result) = run.end();
                    task.stage = TaskStage::Over(messages, result);
                }
                request.take().into_iter().for_each(GeneralizedRequest::complete);
                !*is_abandoned
            }
            Purpose::Agreement { context, identity, attempt, mine, members } => {
                if let Some(range) = self.contexts.keep_first(*identity, *attempt, *mine, run.number()) {
                    self.contexts.settle(*context, range);
                } else {
                    // Until communicators are freed that have taken all candidates.
                    *attempt += 1;
                    *mine = self.contexts.take(*identity, *attempt);
                    if let Some(plan) = Plan::agreement(engine.abi, engine.rank, members, *mine) {
                        task.stage = TaskStage::Planned(plan);
                        return true;
                    }
                }
                self.end(task.route);
                false
            }
        }
    }
}

impl Engine {
    /// Advances all background work; returns whether anything is still in progress.
    pub(crate) fn progress(&self) -> bool {
        let is_busy = self.state().progress(self);
        self.progress_duplications() || is_busy
    }

    /// Makes a call that is no collective, without blocking for long as long as there are collectives in the background.
    pub(crate) fn run(&self, function: &Function, call: &Call<'_>, real: Real<'_>) -> bool {
        let is_busy = self.progress();
        let has_persistent = self.has_persistent();
        if let Call::PointToPoint(call) = call
            && has_persistent
            && let Some(success) = self.run_on_persistent(call, real)
        {
            return success;
        }
        match call {
            Call::Communicator(MPI_Comm_idup(parent, new, request)) if self.orders_duplications() => {
                return self.duplicate(*parent, new, request, real);
            }
            _ if !is_busy && !has_persistent => {}
            Call::Communicator(MPI_Comm_free(comm) | MPI_Comm_disconnect(comm)) => self.finish_duplications(comm.get()),
            Call::PointToPoint(MPI_Probe(probe, _) | MPI_Mprobe(probe, ..)) if is_busy => {
                if let Err(error) = self.await_arrival(probe) {
                    real.replace(error.0);
                    return false;
                }
            }
            Call::PointToPoint(_) if is_busy => {
                if let Some(started) = real.start(self.abi) {
                    let result = started.and_then(|messages| self.complete(messages));
                    real.replace(ErrorCode::of(result));
                    return result.is_ok();
                }
            }
            Call::Other if ptr::eq(function, &MPI_Type_free) => {
                self.state().background.deferred.extend(real.defer_free(self.abi, self.abi.datatype_null));
            }
            Call::Other if ptr::eq(function, &MPI_Op_free) => {
                self.state().background.deferred.extend(real.defer_free(self.abi, self.abi.op_null));
            }
            _ => {}
        }
        real.run()
    }

    /// Waits for a message that a probe would find, while all background work advances.
    fn await_arrival(&self, probe: &Probe<'_>) -> Result<(), ErrorCode> {
        while !nonblocking_call::has_arrived(self.abi, probe.source(), probe.tag(), probe.comm())? {
            self.progress();
            thread::yield_now();
        }
        Ok(())
    }

    fn complete(&self, mut messages: Vec<NonblockingCall>) -> Result<(), ErrorCode> {
        while !messages.is_empty() {
            self.progress();
            let mut left = Vec::with_capacity(messages.len());
            for mut message in messages {
                if !message.is_complete()? {
                    left.push(message);
                }
            }
            messages = left;
            thread::yield_now();
        }
        Ok(())
    }

    /// Waits until a wait for requests will not block, as long as there are collectives in the background. `requests` gives
    /// the requests that are waited for, and `all` is whether the wait is for all of them.
    pub(crate) fn wait_for(&self, requests: &[Request], all: bool) {
        let is_complete = |&request: &Request| nonblocking_call::is_complete(self.abi, request);
        loop {
            let enough = match all {
                true => requests.iter().all(is_complete),
                false => requests.is_empty() || requests.iter().any(is_complete),
            };
            if enough || !self.progress() {
                return;
            }
            thread::yield_now();
        }
    }
}
