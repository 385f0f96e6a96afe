//! A thread of the program, and what it keeps from call to call.

use std::sync::Arc;

use titr_common::event::{CallSiteId, Span, ThreadId};
use titr_common::units::{Instructions, Nanoseconds};
use titr_wrappers::functions::mark::Mark;
use titr_wrappers::{Call, Real};

use super::deferred::DeferredCall;
use super::queue::PublicationQueue;
use crate::call_sites::{CallSites, SiteCache};
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
    /// The call sites that the thread has come by, if they are recorded, and that of the call that it is in.
    sites: Option<Box<(SiteCache, CallSiteId)>>,
    /// `None` before the thread's first call.
    number: Option<ThreadId>,
    /// The queue in which the thread publishes calls, once threads have got in each other's way.
    pub(super) queue: Option<Arc<PublicationQueue<DeferredCall>>>,
}

impl Thread {
    /// The calling thread.
    #[must_use]
    pub fn new(counters: &Source, engine: Option<&'static Engine>, call_sites: Option<&'static CallSites>) -> Self {
        let (counter, requests) = (counters.open(), HeldRequests::default());
        let sites = call_sites.map(|sites| Box::new((SiteCache::new(sites), CallSiteId(0))));
        Self { counter, computed: Instructions(0.0), requests, engine, sites, number: None, queue: None }
    }

    /// Finds the call site of a call that the thread has just made. That of a mark of a region has one place more, as `titr.h` and
    /// `titr.f90` may be between the program and the call.
    #[inline]
    pub fn locate(&mut self, call: &Call<'_>, real: Real<'_>) {
        if let Some(sites) = &mut self.sites {
            let more = usize::from(matches!(call, Call::Mark(Mark::Begin(_) | Mark::End(_))));
            sites.1 = sites.0.find(real.caller(), more);
        }
    }

    /// The call site of the call that the thread is in, if that is recorded.
    #[inline]
    #[must_use]
    pub fn site(&self) -> Option<CallSiteId> {
        self.sites.as_ref().map(|sites| sites.1)
    }

    /// Whether call sites are recorded.
    pub(super) fn has_sites(&self) -> bool {
        self.sites.is_some()
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
