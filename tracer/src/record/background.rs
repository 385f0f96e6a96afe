//! Collectives that the program has started and the tracer carries out while the program does other things.
//!
//! They go on whenever the program calls MPI, and a call that would block does so only in name: its message is started in
//! the background as well, and tested until it is complete, so that this rank's part in a collective never waits for
//! another rank that waits for it ("weak progress", MPI 4.0 §2.9 and §6.12). Calls that cannot be taken apart so, such as
//! those that make a communicator, find the collectives as far as they have come.
//!
//! The program has a generalized request for each, which is completed with it. What it frees meanwhile — a datatype, an
//! operation — MPI wants to be there until the collective is done, and so it is freed then.

use std::ptr;
use std::thread;

use titr_common::event::{Annotation, CommId, MessageEnd, Quantifier, RequestId, Span};
use titr_common::units::{Bytes, Nanoseconds};
use titr_wrappers::argument::{Comm, Request};
use titr_wrappers::call::Withheld;
use titr_wrappers::functions::collective::{Collective, MPI_Op_free};
use titr_wrappers::functions::datatype::MPI_Type_free;
use titr_wrappers::functions::point_to_point::PointToPoint::{MPI_Mprobe, MPI_Probe};
use titr_wrappers::observation::{self, Glimpse};
use titr_wrappers::pmpi::ErrorCode;
use titr_wrappers::pmpi::ongoing::{self, Ongoing};
use titr_wrappers::pmpi::promise::Promise;
use titr_wrappers::{Abi, Call, Function, Real, pmpi};

use super::collective::started;
use super::communicators::Ranks;
use super::completion::Held;
use super::inquiry::{Inquiry, Kind};
use super::undertaking::{Way, messages};
use super::{Recorder, Slot};
use crate::extended::{Clock, Done, Patience, Run, Sighting};

/// Names a collective until its request has a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Started(u64);

/// A collective in the background.
pub(super) struct Task {
    pub(super) comm: CommId,
    /// Which collective of the communicator it is.
    pub(super) number: u64,
    pub(super) members: Ranks,
    pub(super) run: Run,
    /// The program's request, until it is complete.
    pub(super) promise: Option<Promise>,
}

/// All of them.
#[derive(Default)]
pub(super) struct Background {
    /// Those that the program has not seen completed, each with its request once that has a number.
    tasks: Vec<(Started, Option<RequestId>, Task)>,
    count: u64,
    withheld: Vec<Withheld>,
    /// Communicators for messages whose program's was freed.
    left: Vec<Comm>,
}

impl Background {
    pub(super) fn add(&mut self, task: Task) -> Started {
        let started = Started(self.count);
        self.count += 1;
        self.tasks.push((started, None, task));
        started
    }

    pub(super) fn name(&mut self, started: Started, id: RequestId) {
        if let Some((_, request, _)) = self.tasks.iter_mut().find(|(it, ..)| *it == started) {
            *request = Some(id);
        }
    }

    /// Lets all go on; whether any is still under way.
    fn progress(&mut self) -> bool {
        for (.., task) in &mut self.tasks {
            let Some(promise) = task.promise.take() else { continue };
            match task.run.advance(Patience::Return) {
                Ok(false) => task.promise = Some(promise),
                Ok(true) => promise.keep(Ok(())),
                Err(error) => promise.keep(Err(error)),
            }
        }
        let busy = self.tasks.iter().any(|(.., task)| task.promise.is_some());
        if !busy {
            self.withheld.drain(..).for_each(Withheld::free);
            self.left.drain(..).for_each(pmpi::free);
        }
        busy
    }

    /// The program knows that one is complete: what it was made of.
    pub(super) fn take(&mut self, id: RequestId) -> Option<Vec<Annotation>> {
        let at = self.tasks.iter().position(|&(_, request, _)| request == Some(id))?;
        let (.., Task { comm, number, members, run, .. }) = self.tasks.remove(at);
        Some(messages(comm, number, &members, &run.into_messages()).collect())
    }

    /// Frees a communicator for messages once there are none.
    pub(super) fn free(&mut self, private: Comm) {
        self.left.push(private);
        self.progress();
    }

    /// The program ends, and nobody waits any more for what it has left.
    pub(super) fn abandon(self) {
        std::mem::forget(self);
    }
}

/// Has the library carry out a collective, and looks on.
fn observe(held: &mut Held, comm: Comm, real: Real<'_>, clock: Clock) -> bool {
    let (success, seen) = observation::watch(comm, move || clock.now().0, || real.run());
    let sighting = |glimpse: Glimpse| {
        Some(Sighting {
            end: if glimpse.sent { MessageEnd::Sent } else { MessageEnd::Received },
            peer: glimpse.peer?,
            bytes: Bytes(glimpse.bytes),
            span: Span { begin: Nanoseconds(glimpse.begin), end: Nanoseconds(glimpse.end) },
        })
    };
    let messages = seen.and_then(|seen| seen.into_iter().map(sighting).collect());
    held.carried_out = messages.map(|messages| Done { private: None, result: Ok(()), messages });
    success
}

impl Slot<Recorder> {
    /// Lets what is in the background go on; if any of it is still under way, the ABI to go on with.
    pub(super) fn progress(&self) -> Option<&'static Abi> {
        self.hold().as_mut().and_then(|recorder| recorder.background.progress().then_some(recorder.abi))
    }

    /// Carries out a collective, or has the library do it.
    #[cold]
    pub(super) fn carry_out(&self, held: &mut Held, call: &Collective<'_>, real: Real<'_>, clock: Clock) -> bool {
        match self.hold().as_mut().map_or(Way::Pass, |recorder| recorder.way(call)) {
            Way::Execute => {}
            Way::Observe(comm) => return observe(held, comm, real, clock),
            Way::Pass => return real.run(),
        }
        let busy = self.progress().is_some();
        let Some(undertaking) = self.hold().as_mut().and_then(|recorder| recorder.undertake(call)) else {
            return real.run();
        };
        let result = match started(call) {
            None => {
                let mut meanwhile = || {
                    self.progress();
                    thread::yield_now();
                };
                let done = undertaking.carry_out(clock, if busy { Some(&mut meanwhile) } else { None });
                held.carried_out.insert(done).result
            }
            Some((request, _)) => {
                // All members know alike whether there is one: to make it may take as long as they do.
                let Some(private) = undertaking.private else { return real.run() };
                // SAFETY: it is where the program wants its request.
                match unsafe { Promise::make(undertaking.abi, request.address()) } {
                    Err(error) => Err(error),
                    Ok(promise) => {
                        let (number, run) = (undertaking.number, undertaking.begin(private, clock));
                        let mut slot = self.hold();
                        held.started = slot.as_mut().and_then(|recorder| recorder.entrust(call, number, run, promise));
                        if let Some(recorder) = &mut *slot {
                            recorder.background.progress();
                        }
                        Ok(())
                    }
                }
            }
        };
        real.replace(result.map_or_else(|error| error.0, |()| 0));
        result.is_ok()
    }

    /// Runs a call without blocking for long as long as there is something to do besides.
    #[cold]
    pub(super) fn run_patiently(&self, function: &Function, call: &Call<'_>, real: Real<'_>) -> bool {
        let Some(abi) = self.progress() else { return real.run() };
        match call {
            Call::PointToPoint(MPI_Probe(probe, _) | MPI_Mprobe(probe, ..)) => {
                while !ongoing::is_there(abi, probe.source(), probe.tag(), probe.comm()) {
                    self.progress();
                    thread::yield_now();
                }
                real.run()
            }
            Call::PointToPoint(_) => match real.start(abi) {
                None => real.run(),
                Some(started) => {
                    let result = started.and_then(|parts| self.complete(parts));
                    real.replace(result.map_or_else(|error| error.0, |()| 0));
                    result.is_ok()
                }
            },
            Call::Other if ptr::eq(function, &MPI_Type_free) => self.withhold(real, abi.datatype_null.raw(), abi),
            Call::Other if ptr::eq(function, &MPI_Op_free) => self.withhold(real, abi.op_null.raw(), abi),
            _ => real.run(),
        }
    }

    fn complete(&self, mut parts: Vec<Ongoing>) -> Result<(), ErrorCode> {
        while !parts.is_empty() {
            self.progress();
            let mut left = Vec::with_capacity(parts.len());
            for mut part in parts {
                if !part.is_complete()? {
                    left.push(part);
                }
            }
            parts = left;
            thread::yield_now();
        }
        Ok(())
    }

    fn withhold(&self, real: Real<'_>, null: usize, abi: &Abi) -> bool {
        let withheld = real.withhold(abi, null);
        if let (Some(recorder), Some(withheld)) = (&mut *self.hold(), withheld) {
            recorder.background.withheld.push(withheld);
        }
        real.run()
    }

    /// Waits until a wait will not block, as long as there is something to do besides.
    pub(super) fn wait_patiently(&self, held: &Held, inquiry: &Inquiry<'_>) {
        let Some(abi) = self.progress() else { return };
        let Kind::Wait = inquiry.kind else { return };
        let mut asked: Vec<Request> = Vec::new();
        let mut active = held.are_active();
        inquiry.each_request(|handle, _| asked.extend(active.next().unwrap_or(false).then_some(handle)));
        let is_done = |&handle: &Request| ongoing::is_complete(abi, handle);
        loop {
            let enough = match inquiry.ask {
                Quantifier::Single | Quantifier::All => asked.iter().all(is_done),
                Quantifier::Any | Quantifier::Some => asked.is_empty() || asked.iter().any(is_done),
            };
            if enough || self.progress().is_none() {
                return;
            }
            thread::yield_now();
        }
    }
}
