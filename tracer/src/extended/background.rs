//! Collectives that the program has started and the engine carries out while the program does other things.
//!
//! They go on whenever the program calls MPI, and a call that would block does so only in name: its message is started in
//! the background as well, and tested until it is complete, so that this rank's part in a collective never waits for
//! another rank that waits for it ("weak progress", MPI 4.0 §2.9 and §6.12). Calls that cannot be taken apart so, such as
//! those that make a communicator, find the collectives as far as they have come.
//!
//! The program has a generalized request for each, which is completed with it. Objects that the program frees meanwhile — a
//! datatype, an operation — are to exist until the collective is done, by MPI's rules, and so they are freed then.

use std::ptr;
use std::thread;

use titr_common::event::{Annotation, CommId, Rank, RequestId};
use titr_wrappers::argument::{Comm, Request};
use titr_wrappers::call::DeferredFree;
use titr_wrappers::functions::collective::MPI_Op_free;
use titr_wrappers::functions::datatype::MPI_Type_free;
use titr_wrappers::functions::point_to_point::PointToPoint::{MPI_Mprobe, MPI_Probe};
use titr_wrappers::pmpi::ErrorCode;
use titr_wrappers::pmpi::generalized_request::GeneralizedRequest;
use titr_wrappers::pmpi::nonblocking_call::{self, NonblockingCall};
use titr_wrappers::{Call, Function, Real, pmpi};

use super::execution::{Progress, Run};
use super::{Description, Engine, annotations};

/// Names a collective in the background until its request has a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskId(u64);

/// A collective in the background.
struct Task {
    id: TaskId,
    /// The number of the program's request, once it has one.
    name: Option<RequestId>,
    /// The program's communicator.
    comm: Comm,
    comm_id: CommId,
    /// The number of the collective on its communicator.
    number: u64,
    members: Vec<Rank>,
    run: Run,
    /// The program's request, until it is complete.
    request: Option<GeneralizedRequest>,
}

/// All collectives in the background.
#[derive(Default)]
pub(super) struct Background {
    /// Collectives that the program has not seen completed.
    tasks: Vec<Task>,
    /// The number of tasks that there have been.
    count: u64,
    deferred: Vec<DeferredFree>,
    /// Communicators of the tracer's whose counterpart the program has freed.
    freed: Vec<Comm>,
    /// Collectives that failed and that the program has seen completed.
    errors: Vec<(Comm, ErrorCode)>,
}

impl Background {
    pub(super) fn add(
        &mut self,
        description: &Description,
        number: u64,
        run: Run,
        request: GeneralizedRequest,
    ) -> TaskId {
        let id = TaskId(self.count);
        self.count += 1;
        let Description { comm, members, collective, .. } = description;
        let (comm, comm_id, members, request) = (*comm, collective.comm, members.clone(), Some(request));
        self.tasks.push(Task { id, name: None, comm, comm_id, number, members, run, request });
        id
    }

    pub(super) fn name(&mut self, id: TaskId, name: RequestId) {
        if let Some(task) = self.tasks.iter_mut().find(|task| task.id == id) {
            task.name = Some(name);
        }
    }

    /// Lets all collectives go on; returns whether any is still under way.
    pub(super) fn progress(&mut self) -> bool {
        for task in &mut self.tasks {
            let Some(request) = task.request.take() else { continue };
            if task.run.advance(Progress::Nonblocking) {
                request.complete();
            } else {
                task.request = Some(request);
            }
        }
        let busy = self.tasks.iter().any(|task| task.request.is_some());
        if !busy {
            self.deferred.drain(..).for_each(DeferredFree::free);
            self.freed.drain(..).for_each(pmpi::free);
        }
        busy
    }

    /// Removes a collective that the program has seen completed; returns its messages.
    pub(super) fn take(&mut self, name: RequestId) -> Option<Vec<Annotation>> {
        let at = self.tasks.iter().position(|task| task.name == Some(name))?;
        let Task { comm, comm_id, number, members, run, .. } = self.tasks.remove(at);
        let (messages, result) = run.end();
        self.errors.extend(result.err().map(|error| (comm, error)));
        Some(annotations(comm_id, number, &members, &messages))
    }

    /// The communicators of the program on which collectives have failed that it has seen completed since the last time, and
    /// the errors.
    pub(super) fn take_errors(&mut self) -> Vec<(Comm, ErrorCode)> {
        std::mem::take(&mut self.errors)
    }

    /// Frees a communicator of the tracer's once no collective is under way.
    pub(super) fn free(&mut self, comm: Comm) {
        self.freed.push(comm);
        self.progress();
    }
}

impl Engine {
    /// Lets the collectives in the background go on; returns whether any is still under way.
    pub fn progress(&self) -> bool {
        self.state().background.progress()
    }

    /// Makes a call that is no collective, without blocking for long as long as there are collectives in the background.
    pub fn run(&self, function: &Function, call: &Call<'_>, real: Real<'_>) -> bool {
        if !self.progress() {
            return real.run();
        }
        match call {
            Call::PointToPoint(MPI_Probe(probe, _) | MPI_Mprobe(probe, ..)) => {
                while !nonblocking_call::has_arrived(self.abi, probe.source(), probe.tag(), probe.comm()) {
                    self.progress();
                    thread::yield_now();
                }
            }
            Call::PointToPoint(_) => {
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
    pub fn wait_for(&self, requests: &[Request], all: bool) {
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
