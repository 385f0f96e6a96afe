//! Calls that are published and recorded later: messages, and waits for all of some requests, the most frequent calls
//! of programs with several threads. A thread that makes any other call first records the published ones.

use std::sync::Arc;

use titr_common::event::{Quantifier, SendMode, ThreadId};
use titr_common::units::Instructions;
use titr_wrappers::functions::point_to_point::PointToPoint::{self, *};
use titr_wrappers::{Call, Function, Real};

use super::queue::PublicationQueue;
use super::{SharedRecorder, Thread};
use crate::record::{CompletionCall, HeldRequests, KeptStatus, Match, Recorder, RecvArgs, RequestRef, SendArgs};

/// The number of calls that a thread publishes before it records them, unless another thread is about to. Also the
/// maximum number of requests in a wait that is published.
const MANY: usize = 64;
/// The number of calls that a thread publishes before it waits for that.
const FULL: usize = 4 * MANY;

/// A call of a thread, or a part of a call.
pub(super) struct DeferredCall {
    /// The volume that the thread has computed since its last deferred call.
    computed: Instructions,
    function: &'static Function,
    part: Part,
}

enum Part {
    Send(SendMode, SendArgs),
    Isend(SendMode, SendArgs, RequestRef),
    Recv(RecvArgs, Option<Match>),
    Irecv(RecvArgs, RequestRef),
    /// The next two requests that are waited for.
    Requests([Option<RequestRef>; 2]),
    /// The statuses of the next two of the requests, where there are any. The last part ends the wait.
    Statuses([KeptStatus; 2], Option<Quantifier>),
}

/// A thread that publishes its calls, as the recorder sees it.
pub(super) struct Publisher {
    thread: ThreadId,
    /// The requests that it waits for.
    requests: HeldRequests,
    statuses: Vec<KeptStatus>,
}

impl Publisher {
    pub(super) fn thread(&self) -> ThreadId {
        self.thread
    }

    /// The thread has left the wait that it was in.
    pub(super) fn leave_wait(&mut self, recorder: &mut Recorder) {
        recorder.release_requests(&mut self.requests);
        self.statuses.clear();
    }
}

impl Part {
    /// Makes a call, if it is a message. `None` if it is not, or failed: then it is recorded at once.
    fn message(call: &PointToPoint<'_>, real: Real<'_>) -> Option<Self> {
        use SendMode::{Buffered, Ready, Standard, Synchronous};
        let send = |mode, send| real.run().then(|| Self::Send(mode, SendArgs::from(send)));
        let isend = |mode, send, request| {
            real.run().then(|| Self::Isend(mode, SendArgs::from(send), RequestRef::from(request)))
        };
        match call {
            MPI_Send(call) => send(Standard, call),
            MPI_Bsend(call) => send(Buffered, call),
            MPI_Rsend(call) => send(Ready, call),
            MPI_Ssend(call) => send(Synchronous, call),
            MPI_Isend(call, request) => isend(Standard, call, request),
            MPI_Ibsend(call, request) => isend(Buffered, call, request),
            MPI_Irsend(call, request) => isend(Ready, call, request),
            MPI_Issend(call, request) => isend(Synchronous, call, request),
            MPI_Recv(call, status) => {
                status.keep();
                real.run().then(|| Self::Recv(RecvArgs::from(call), status.get().map(Match::from)))
            }
            MPI_Irecv(call, request) => {
                real.run().then(|| Self::Irecv(RecvArgs::from(call), RequestRef::from(request)))
            }
            _ => None,
        }
    }
}

impl DeferredCall {
    pub(super) fn record(self, recorder: &mut Recorder, publisher: &mut Publisher) {
        let Self { computed, function, part } = self;
        recorder.switch_to(publisher.thread, computed);
        match part {
            Part::Send(mode, args) => recorder.send(function, mode, &args),
            Part::Isend(mode, args, request) => recorder.isend(function, mode, &args, request),
            Part::Recv(args, matched) => recorder.recv(function, &args, matched),
            Part::Irecv(args, request) => recorder.irecv(function, &args, request),
            Part::Requests(pair) => {
                for request in pair.into_iter().flatten() {
                    recorder.hold(&mut publisher.requests, request);
                }
            }
            Part::Statuses(pair, end) => {
                publisher.statuses.extend(pair);
                if let Some(ask) = end {
                    let outcome = recorder.all_done(&mut publisher.requests, ask, &publisher.statuses);
                    publisher.requests.clear();
                    publisher.statuses.clear();
                    recorder.stream().end_call(function, outcome);
                }
            }
        }
    }
}

impl SharedRecorder {
    /// Makes a call and publishes it, if threads contend and it is a message or a wait for all of some requests.
    /// `false` if the caller has to record it at once; a message that failed has been made then.
    #[inline]
    pub(crate) fn defer(
        &self,
        thread: &mut Thread,
        function: &'static Function,
        call: &Call<'_>,
        real: Real<'_>,
    ) -> bool {
        self.defers() && self.publish_call(thread, function, call, real)
    }

    #[cold]
    fn publish_call(&self, thread: &mut Thread, function: &'static Function, call: &Call<'_>, real: Real<'_>) -> bool {
        if !thread.may_defer() {
            return false;
        }
        let Call::PointToPoint(message) = call else { return false };
        if let Some(wait) = CompletionCall::of(call) {
            return self.publish_wait(thread, function, &wait, real);
        }
        if !self.has_queue(thread) {
            return false;
        }
        let Some(part) = Part::message(message, real) else { return false };
        let computed = thread.take_computed();
        self.publish(thread, [DeferredCall { computed, function, part }]);
        true
    }

    /// Publishes that a wait begins, and for which requests; makes it; and publishes that it has ended.
    fn publish_wait(
        &self,
        thread: &mut Thread,
        function: &'static Function,
        wait: &CompletionCall<'_>,
        real: Real<'_>,
    ) -> bool {
        if !wait.waits_for_all() || wait.len() > MANY || !self.has_queue(thread) {
            return false;
        }
        let mut computed = thread.take_computed();
        // At least one part, which carries the computation.
        let pairs = wait.len().div_ceil(2).max(1);
        let parts = (0..pairs).map(|pair| {
            let requests = [2 * pair, 2 * pair + 1].map(|index| wait.request(index));
            DeferredCall { computed: std::mem::take(&mut computed), function, part: Part::Requests(requests) }
        });
        self.publish(thread, parts);
        wait.keep_statuses();
        if real.run() {
            let parts = (0..pairs).map(|pair| {
                let statuses = [2 * pair, 2 * pair + 1].map(|index| KeptStatus::from(wait.status(index)));
                let part = Part::Statuses(statuses, (pair + 1 == pairs).then_some(wait.ask));
                DeferredCall { computed: Instructions(0.0), function, part }
            });
            self.publish(thread, parts);
        } else {
            self.record_failed_wait(thread, function, wait);
        }
        true
    }

    /// Records a wait that was published when it began, and then failed: some of its requests may be done.
    fn record_failed_wait(&self, thread: &mut Thread, function: &'static Function, wait: &CompletionCall<'_>) {
        if let Some(state) = &mut *self.lock_and_drain() {
            thread.switch_to(&mut state.recorder);
            let publisher = state.queues.threads().find(|publisher| Some(publisher.thread) == thread.number());
            if let Some(publisher) = publisher {
                let outcome = state.recorder.completion(&mut publisher.requests, wait, false);
                publisher.requests.clear();
                state.recorder.stream().end_call(function, outcome);
            }
        }
    }

    /// Whether the thread has a queue, or could open one.
    fn has_queue(&self, thread: &mut Thread) -> bool {
        if thread.queue.is_none() {
            thread.queue = self.open_queue(thread);
        }
        thread.queue.is_some()
    }

    fn open_queue(&self, thread: &mut Thread) -> Option<Arc<PublicationQueue<DeferredCall>>> {
        let mut state = self.lock_and_drain();
        let state = state.as_mut()?;
        thread.switch_to(&mut state.recorder);
        let publisher = Publisher { thread: thread.number()?, requests: HeldRequests::default(), statuses: Vec::new() };
        Some(state.queues.open(publisher))
    }

    /// Puts calls into a thread's queue, and drains the queue when it is full.
    fn publish(&self, thread: &Thread, calls: impl IntoIterator<Item = DeferredCall>) {
        let Some(queue) = &thread.queue else { return };
        match queue.publish(calls, || self.set_pending()) {
            FULL.. => drop(self.lock_and_drain()),
            MANY.. => {
                if let Some(state) = self.lock.try_lock().as_deref_mut().and_then(Option::as_mut) {
                    self.drain_if_pending(state);
                }
            }
            _ => {}
        }
    }
}
