//! A thread of the program: what it computes, and what it keeps from call to call.

use std::sync::Arc;

use titr_common::event::{Span, ThreadId};
use titr_common::units::{Instructions, Nanoseconds};

use super::completion::Held;
use super::lane::Lane;
use super::noted::Noted;
use crate::counter::{Counter, Rounding, Source};
use crate::extended::Clock;

/// What one thread of the program keeps from call to call.
pub struct Thread {
    pub(super) counter: Counter,
    /// What it has computed and the recorder does not know of.
    pub(super) computed: Instructions,
    pub(super) held: Held,
    /// What calls are timed by, in extended traces.
    pub(super) clock: Option<Clock>,
    /// When the call that is to be recorded was made and returned.
    pub(super) called: Option<Span>,
    /// None before its first call is recorded.
    pub(super) number: Option<ThreadId>,
    /// Where it notes calls, once there are several threads.
    pub(super) lane: Option<Arc<Lane<Noted>>>,
}

impl Thread {
    /// The calling thread.
    #[must_use]
    pub fn new(counters: &Source, clock: Option<Clock>) -> Self {
        let (counter, held) = (counters.open(), Held::default());
        Self { counter, computed: Instructions(0.0), held, clock, called: None, number: None, lane: None }
    }

    /// A call is made.
    #[inline]
    pub(super) fn begin(&self) -> Option<Nanoseconds> {
        self.clock.map(|clock| clock.now())
    }

    /// It has returned.
    #[inline]
    pub(super) fn end(&mut self, begin: Option<Nanoseconds>) {
        self.called = begin.zip(self.begin()).map(|(begin, end)| Span { begin, end });
    }

    pub(super) fn stop(&mut self) {
        self.computed.0 += self.counter.stop().0;
    }

    /// The program goes on.
    pub fn start(&mut self) {
        self.counter.start();
    }

    /// What was computed so far and is not recorded; it will not be.
    pub fn discard(&mut self) -> Instructions {
        std::mem::take(&mut self.computed)
    }
}

/// What one thread computes.
pub(super) struct Ledger {
    /// And no event says yet.
    pub(super) computed: Instructions,
    pub(super) rounding: Rounding,
}

impl Ledger {
    /// What is to be said of the computation before an event.
    #[inline]
    pub(super) fn due(&mut self) -> Option<Instructions> {
        self.rounding.round(std::mem::take(&mut self.computed))
    }
}
