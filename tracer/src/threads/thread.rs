//! A thread of the program, and what it keeps from call to call.

use std::sync::Arc;

use titr_common::event::{Span, ThreadId};
use titr_common::units::{Instructions, Nanoseconds};

use super::deferred::DeferredCall;
use super::queue::PublicationQueue;
use crate::counter::{Counter, Source};
use crate::extended::Engine;
use crate::record::{HeldRequests, Recorder};

/// The state that one thread of the program keeps from call to call.
pub struct Thread {
    counter: Counter,
    /// The volume that the thread has computed and the recorder does not know of.
    computed: Instructions,
    /// The requests of the completion call that the thread is in, kept for their memory.
    pub(crate) requests: HeldRequests,
    /// The extended mode, if that is what is recorded.
    pub(crate) engine: Option<&'static Engine>,
    /// `None` before the thread's first call.
    number: Option<ThreadId>,
    /// The queue in which the thread publishes calls, once threads have got in each other's way.
    pub(super) queue: Option<Arc<PublicationQueue<DeferredCall>>>,
}

impl Thread {
    /// The calling thread.
    #[must_use]
    pub fn new(counters: &Source, engine: Option<&'static Engine>) -> Self {
        let (counter, requests) = (counters.open(), HeldRequests::default());
        Self { counter, computed: Instructions(0.0), requests, engine, number: None, queue: None }
    }

    /// The thread has called MPI: ends a stretch of computation.
    #[inline]
    pub fn stop(&mut self) {
        self.computed.0 += self.counter.stop().0;
    }

    /// The thread's call returns: begins a stretch of computation.
    #[inline]
    pub fn start(&mut self) {
        self.counter.start();
    }

    /// Takes the volume that the thread has computed and the recorder does not know of.
    pub fn take_computed(&mut self) -> Instructions {
        std::mem::take(&mut self.computed)
    }

    /// Runs `call`, and returns when it was made and when it returned, in extended traces.
    #[inline]
    pub(crate) fn timed<R>(&mut self, call: impl FnOnce(&mut Self) -> R) -> (R, Option<Span>) {
        let begin = self.now();
        let result = call(self);
        (result, begin.zip(self.now()).map(|(begin, end)| Span { begin, end }))
    }

    /// The time, in extended traces.
    #[inline]
    pub(crate) fn now(&self) -> Option<Nanoseconds> {
        self.engine.map(|engine| engine.clock().now())
    }

    /// The number of the thread in the trace, once it has one.
    pub(super) fn number(&self) -> Option<ThreadId> {
        self.number
    }

    /// The events that follow are the thread's.
    #[inline]
    pub(super) fn switch_to(&mut self, recorder: &mut Recorder) {
        let number = *self.number.get_or_insert_with(|| recorder.admit_thread());
        recorder.switch_to(number, std::mem::take(&mut self.computed));
    }
}
