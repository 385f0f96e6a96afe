//! A hook: the work around each call of the program, from top to bottom.
//!
//! ```text
//!   counter stops ─► deferred?  ──yes──────────────────────────────────────────────┐
//!                       │ no                                                       ▼
//!                       └─► before ─► the real call ─► after: event(s) ─► counter starts
//! ```
//!
//! The counter goes on in a function that concerns the caller only: its work is the program's. It stops when the real
//! call has returned. In `MPI_Wtime` it never stops: a program that waits by the clock goes on when the time has passed,
//! which the hook takes some of.
//!
//! A thread has a number from its first call on, which no other thread gets until it has ended.
//!
//! *Before* keeps what the call overwrites, and gives it statuses to write to. A call is recorded *after* it has
//! returned: only then are the match of a wildcard receive, the requests completed by a wait, and the members of a
//! communicator known. The recorder is not locked in between, because the call may wait for another thread's call.
//!
//! Calls are deferred only while threads contend for the recorder ([`crate::threads`]). In an extended trace, the
//! [engine](crate::extended) makes the calls of collectives, and then reports their messages.

use std::ptr;

use titr_common::event::Annotation;
use titr_wrappers::functions::communicator::Communicator::{
    MPI_Comm_create, MPI_Comm_disconnect, MPI_Comm_free, MPI_Comm_idup, MPI_Comm_idup_with_info,
};
use titr_wrappers::functions::datatype::MPI_Type_free;
use titr_wrappers::functions::environment::MPI_Wtime;
use titr_wrappers::functions::point_to_point::PointToPoint::{MPI_Cancel, MPI_Imrecv, MPI_Mrecv, MPI_Request_free};
use titr_wrappers::{Call, Effect, Function, Real};

use crate::collective_call::AnyCollective;
use crate::extended::Engine;
use crate::record::{CompletionCall, Omission, Overwritten, Recorder, keep_status, made_by};
use crate::threads::{SharedRecorder, Thread};

/// Makes a call of the program and records it. The parameters are in the order of `Tool::call`, where they are in
/// registers already.
pub(crate) fn call(
    shared: &SharedRecorder,
    function: &'static Function,
    call: &Call<'_>,
    real: Real<'_>,
    thread: &mut Thread,
) {
    if function.effect == Effect::Communicates {
        thread.stop();
    } else if ptr::eq(function, &MPI_Wtime) {
        shared.admit(thread);
        shared.with(thread, |recorder, _| recorder.stream().end_call(function, Err(Omission::Local)));
        return;
    }
    thread.locate(call, real);
    shared.admit(thread);
    if !shared.defer(thread, function, call, real) {
        match CompletionCall::of(call) {
            Some(completion) => complete(shared, thread, function, &completion, real),
            None => any_other(shared, thread, function, call, real),
        }
    }
    thread.start();
}

/// The events that follow are of the call that the thread is in.
#[inline]
fn begin_call(recorder: &mut Recorder, thread: &Thread) {
    if let Some(site) = thread.site() {
        recorder.stream().begin_call(site);
    }
}

/// Ends the call that the thread is in. The time of one that communicates and becomes no event is in no computation either.
#[inline]
fn settle(recorder: &mut Recorder, thread: &mut Thread, function: &'static Function, outcome: Result<(), Omission>) {
    if outcome.is_err_and(|why| why != Omission::Opaque) && function.effect == Effect::Communicates {
        recorder.stream().passed_over(thread.volume_of_call());
    }
    recorder.stream().end_call(function, outcome);
}

/// A call that may complete requests: which requests it was about is known only before it.
fn complete(
    shared: &SharedRecorder,
    thread: &mut Thread,
    function: &'static Function,
    call: &CompletionCall<'_>,
    real: Real<'_>,
) {
    // The thread's computation is known even if the call never returns.
    shared.with(thread, |recorder, thread| recorder.hold_requests(&mut thread.requests, call));
    let (success, span) = thread.timed(|_| real.run());
    shared.with(thread, |recorder, thread| {
        begin_call(recorder, thread);
        recorder.stream().begin_annotations(span);
        let outcome = recorder.completion(&mut thread.requests, call, success);
        if outcome.is_ok() {
            thread.is_recorded(span);
        }
        settle(recorder, thread, function, outcome);
    });
}

fn any_other(
    shared: &SharedRecorder,
    thread: &mut Thread,
    function: &'static Function,
    call: &Call<'_>,
    real: Real<'_>,
) {
    let overwritten = before(shared, thread, function, call);
    match thread.engine {
        None => {
            let success = real.run();
            if function.effect == Effect::Local {
                thread.stop();
            }
            shared.with(thread, |recorder, thread| {
                begin_call(recorder, thread);
                let outcome = record(recorder, function, call, success, real, overwritten);
                settle(recorder, thread, function, outcome);
            });
        }
        Some(engine) => extended(engine, shared, thread, function, call, real, overwritten),
    }
}

/// Keeps what the call overwrites, and gives it a status to write to if it needs one.
#[inline]
fn before(shared: &SharedRecorder, thread: &mut Thread, function: &Function, call: &Call<'_>) -> Overwritten {
    match call {
        Call::PointToPoint(MPI_Request_free(request)) => {
            let held = shared.with(thread, |recorder, _| recorder.hold_freed(request));
            return held.unwrap_or(Overwritten::Nothing);
        }
        Call::Communicator(MPI_Comm_free(comm) | MPI_Comm_disconnect(comm)) => {
            let comm = comm.get();
            let id = shared.with(thread, |recorder, _| recorder.id_of(comm)).flatten();
            return Overwritten::Comm(id.map(|id| (comm, id)));
        }
        // Only its status says whether a request was cancelled, and only the library where a duplicate is.
        Call::PointToPoint(MPI_Cancel(_)) | Call::Communicator(MPI_Comm_idup(..) | MPI_Comm_idup_with_info(..)) => {
            shared.disable_deferral();
        }
        Call::PointToPoint(MPI_Mrecv(_, message, _) | MPI_Imrecv(_, message, _)) => {
            let handle = message.get();
            let held = shared.with(thread, |recorder, _| recorder.hold_message(handle));
            return held.unwrap_or(Overwritten::Nothing);
        }
        Call::PointToPoint(call) => keep_status(call),
        Call::Process(call) => {
            return Overwritten::Spawn(shared.with(thread, |recorder, _| recorder.name_spawn(call)).flatten());
        }
        Call::Other if ptr::eq(function, &MPI_Type_free) => {
            shared.with(thread, |recorder, _| recorder.datatype_freed());
        }
        _ => {}
    }
    Overwritten::by(call)
}

/// Records a call that has returned. Some have taken part in communication though they failed.
#[inline]
fn record(
    recorder: &mut Recorder,
    function: &'static Function,
    call: &Call<'_>,
    success: bool,
    real: Real<'_>,
    overwritten: Overwritten,
) -> Result<(), Omission> {
    match success {
        true => recorder.record(function, call, true, overwritten),
        false => record_failed(recorder, function, call, real, overwritten),
    }
}

#[cold]
fn record_failed(
    recorder: &mut Recorder,
    function: &'static Function,
    call: &Call<'_>,
    real: Real<'_>,
    overwritten: Overwritten,
) -> Result<(), Omission> {
    match (call, real.error()) {
        (Call::Collective(call), Some(error)) => recorder.failed_collective(call, error),
        (Call::PointToPoint(receive), Some(error)) if recorder.is_truncated(receive, error) => {
            recorder.record(function, call, true, overwritten)
        }
        (Call::Communicator(MPI_Comm_create(parent, ..)), Some(_)) => recorder.failed_creation(*parent),
        _ => recorder.record(function, call, false, overwritten),
    }
}

/// A call of an extended trace: the engine makes a collective, whose messages go before its event.
#[cold]
fn extended(
    engine: &'static Engine,
    shared: &SharedRecorder,
    thread: &mut Thread,
    function: &'static Function,
    call: &Call<'_>,
    real: Real<'_>,
    overwritten: Overwritten,
) {
    let mut messages = None;
    let (mut made, mut tag) = (None, None);
    let collective = AnyCollective::of(call);
    let (success, span) = thread.timed(|thread| match &collective {
        Some(collective) => {
            let description = shared.with(thread, |recorder, _| recorder.describe(collective)).flatten();
            let made = engine.collective(collective, description, real);
            messages = made.messages;
            made.success
        }
        None => {
            let success = real.run();
            // At this point, because all its members are here, and no collective of it has to be executed yet.
            made = made_by(call).filter(|_| success);
            tag = made.and_then(|new| engine.agree(new));
            success
        }
    });
    if function.effect == Effect::Local {
        thread.stop();
    }
    shared.with(thread, |recorder, thread| {
        begin_call(recorder, thread);
        recorder.stream().begin_annotations(span);
        let is_opaque = collective.is_some() && messages.is_none();
        recorder.stream().annotate(messages.into_iter().flatten().map(Annotation::Message));
        let recorded = record(recorder, function, call, success, real, overwritten);
        if let Some(id) = made.and_then(|new| recorder.id_of(new)) {
            engine.adopt(id, tag);
        }
        if recorded.is_ok() {
            thread.is_recorded(span);
        }
        let omitted = if is_opaque && success { recorded.and(Err(Omission::Opaque)) } else { recorded };
        settle(recorder, thread, function, omitted);
    });
}
