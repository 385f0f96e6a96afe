//! A thread of the program, and its state between calls.

use std::cell::Cell;
use std::ptr;
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

thread_local! {
    /// The number of the calling thread, once it has one.
    static NUMBER: Cell<Option<ThreadId>> = const { Cell::new(None) };
    static COMPUTED: Cell<Instructions> = const { Cell::new(Instructions(0.0)) };
    /// The counter of the calling thread, from `Box`; null before it has one, and after.
    static COUNTER: Cell<*mut Counter> = const { Cell::new(ptr::null_mut()) };
    /// The end of the last call of a callback that an extended trace contains.
    static CALLBACK_END: Cell<Nanoseconds> = const { Cell::new(Nanoseconds(0)) };
}

/// The state that one thread of the program keeps from call to call.
pub(crate) struct Thread {
    /// Null in a call of a callback whose computation is a part of another call. From `Box`, and apart from this state, as the
    /// calls of callbacks inside a call in which it goes on stop and start it too.
    counter: *mut Counter,
    /// The volume that the thread has computed and the recorder does not know of.
    computed: &'static Cell<Instructions>,
    /// The requests of the completion call that the thread is in, kept for their memory.
    pub(crate) requests: HeldRequests,
    /// The extended mode, if the trace is extended.
    pub(crate) engine: Option<&'static Engine>,
    /// The call sites that the thread has visited, if they are recorded, and the site of the current call.
    sites: Option<Box<(SiteCache, CallSiteId)>>,
    /// `None` before the thread's first call.
    number: Option<ThreadId>,
    /// Whether this is the state of a callback's call, inside another call.
    pub(super) is_nested: bool,
    /// The queue in which the thread publishes calls, once threads have got in each other's way.
    pub(super) queue: Option<Arc<PublicationQueue<DeferredCall>>>,
}

impl Thread {
    pub(crate) fn new(
        counters: &Source,
        engine: Option<&'static Engine>,
        call_sites: Option<&'static CallSites>,
    ) -> Self {
        NUMBER.set(None);
        COUNTER.set(Box::into_raw(Box::new(counters.open())));
        Self::with_counter(COUNTER.get(), engine, call_sites)
    }

    /// The calling thread inside one of its calls, for a call of a callback. Computation in callbacks is a part of the call,
    /// unless the counter `goes_on` in that.
    pub(crate) fn inside_call(
        goes_on: bool,
        engine: Option<&'static Engine>,
        call_sites: Option<&'static CallSites>,
    ) -> Self {
        let mut thread = Self::with_counter(if goes_on { COUNTER.get() } else { ptr::null_mut() }, engine, call_sites);
        (thread.number, thread.is_nested) = (NUMBER.get(), true);
        thread
    }

    fn with_counter(
        counter: *mut Counter,
        engine: Option<&'static Engine>,
        call_sites: Option<&'static CallSites>,
    ) -> Self {
        // SAFETY: the value is not destroyed before the thread has ended, whose state does not leave it.
        let computed = COMPUTED.with(|computed| unsafe { &*ptr::from_ref(computed) });
        let requests = HeldRequests::default();
        let sites = call_sites.map(|sites| Box::new((SiteCache::new(sites), CallSiteId(0))));
        Self { counter, computed, requests, engine, sites, number: None, is_nested: false, queue: None }
    }

    /// Finds the call site of a call that the thread has just made. The site of a region's mark has one more place,
    /// since `titr.h` and `titr.f90` may be between the program and the call.
    #[inline]
    pub(crate) fn locate(&mut self, call: &Call<'_>, real: Real<'_>) {
        if let Some(sites) = &mut self.sites {
            let more = usize::from(matches!(call, Call::Mark(Mark::Begin(_) | Mark::End(_))));
            sites.1 = sites.0.find(real.caller(), more);
        }
    }

    /// The call site of the call that the thread is in, if that is recorded.
    #[inline]
    pub(crate) fn site(&self) -> Option<CallSiteId> {
        self.sites.as_ref().map(|sites| sites.1)
    }

    /// Whether the thread's calls may be recorded later: an extended trace contains the times of calls, and one with
    /// call sites their places; a callback's call precedes the call that it is in.
    pub(super) fn may_defer(&self) -> bool {
        self.engine.is_none() && self.sites.is_none() && !self.is_nested
    }

    /// The thread has got its number.
    pub(super) fn is_admitted(&self) {
        NUMBER.set(self.number);
    }

    #[inline]
    fn counter(&mut self) -> Option<&mut Counter> {
        // SAFETY: of `Box`, freed with the state of this thread, which alone uses it, and keeps no reference to it.
        unsafe { self.counter.as_mut() }
    }

    /// The thread has called MPI: ends a stretch of computation.
    #[inline]
    pub(crate) fn stop(&mut self) {
        if let Some(counter) = self.counter() {
            let counted = counter.stop();
            self.computed.set(Instructions(self.computed.get().0 + counted.0));
        }
    }

    /// The thread's call returns: begins a stretch of computation.
    #[inline]
    pub(crate) fn start(&mut self) {
        if let Some(counter) = self.counter() {
            counter.start();
        }
    }

    /// The volume since the thread was [stopped](Self::stop): that of the call that it is in.
    #[cold]
    pub(crate) fn volume_of_call(&mut self) -> Instructions {
        self.counter().map_or(Instructions(0.0), Counter::since_stop)
    }

    /// Takes the volume that the thread has computed and the recorder does not know of.
    pub(crate) fn take_computed(&self) -> Instructions {
        self.computed.take()
    }

    /// Takes the volume that the thread, whose number is known, has computed until now. Safe in a signal handler.
    pub(crate) fn interrupt(&mut self) -> Option<(ThreadId, Instructions)> {
        self.stop();
        let computed = self.number.map(|number| (number, self.take_computed()));
        self.start();
        computed
    }

    /// Runs `call`, and returns its start and end, in extended traces. A call whose callbacks have made calls begins
    /// when the last of these has returned: the calls of a thread do not overlap.
    #[inline]
    pub(crate) fn timed<R>(&mut self, call: impl FnOnce(&mut Self) -> R) -> (R, Option<Span>) {
        let begin = self.now();
        let result = call(self);
        let after_callbacks = |begin: Nanoseconds| begin.max(CALLBACK_END.get());
        (result, begin.zip(self.now()).map(|(begin, end)| Span { begin: after_callbacks(begin), end }))
    }

    /// The call that the thread is in is recorded, with this time.
    #[inline]
    pub(crate) fn is_recorded(&self, span: Option<Span>) {
        if let (true, Some(span)) = (self.is_nested, span) {
            CALLBACK_END.set(span.end);
        }
    }

    /// The present as the time of a call without length, in extended traces.
    pub(crate) fn moment(&self) -> Option<Span> {
        self.now().map(|now| Span { begin: now, end: now })
    }

    /// The time, in extended traces.
    #[inline]
    fn now(&self) -> Option<Nanoseconds> {
        self.engine.map(|engine| engine.clock().now())
    }

    /// The number of the thread in the trace, once it has one.
    pub(super) fn number(&self) -> Option<ThreadId> {
        self.number
    }

    /// The events that follow are the thread's.
    #[inline]
    pub(super) fn switch_to(&mut self, recorder: &mut Recorder) {
        let number = *self.number.get_or_insert_with(|| recorder.stream().admit_thread());
        recorder.switch_to(number, self.computed.take());
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        if !self.is_nested {
            COUNTER.set(ptr::null_mut());
            // SAFETY: of `Box`, and of this state alone: the calls of callbacks that have used it are over.
            drop(unsafe { Box::from_raw(self.counter) });
        }
    }
}
