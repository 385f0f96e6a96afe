//! The current calls of a thread: one, or more if a callback of the program has called MPI inside another call.
//!
//! A call may end without returning. Exceptions run destructors on their way. A jump (`longjmp`) out of a callback
//! gives no notice: it is detected at the thread's next call, from the stack, since the frame that made the abandoned
//! call is not among those around the next one.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::ops::ControlFlow;

use crate::caller::{Caller, ThreadWords};
use crate::function::Function;
use crate::stack;

/// A call that has been made and has not returned.
#[derive(Clone, Copy)]
pub(crate) struct Started {
    pub(crate) function: &'static Function,
    pub(crate) caller: Caller,
}

#[derive(Clone, Copy)]
pub(crate) struct CallsInProgress(&'static ThreadWords);

thread_local! {
    /// Calls of callbacks, each inside the one before. Never destroyed, as handlers of `exit` may call MPI: without
    /// calls it owns no memory.
    static NESTED: ManuallyDrop<RefCell<Vec<Started>>> = const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// The functions that the calling thread is in, from without to within.
pub fn functions_in_progress() -> Vec<&'static Function> {
    let outermost = CallsInProgress::own().0.outermost.get();
    let nested = NESTED.with(|nested| nested.borrow().iter().map(|call| call.function).collect::<Vec<_>>());
    outermost.into_iter().chain(nested).collect()
}

/// Whether the calling thread is in an MPI call. Safe in a signal handler.
pub fn is_in_call() -> bool {
    !CallsInProgress::own().is_empty()
}

impl CallsInProgress {
    #[inline]
    pub(crate) fn own() -> Self {
        Self(ThreadWords::own())
    }

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.0.outermost.get().is_none()
    }

    /// Begins a call of a thread that is in none.
    #[inline]
    pub(crate) fn begin(self, function: &'static Function) {
        self.0.outermost.set(Some(function));
        self.0.outermost_caller.set(self.0.last.get());
    }

    /// Ends the call that was [begun](Self::begin).
    #[inline]
    pub(crate) fn end(self) {
        self.0.outermost.set(None);
    }

    /// Begins a call inside those in progress.
    pub(crate) fn begin_nested(self, call: Started) {
        NESTED.with(|nested| nested.borrow_mut().push(call));
    }

    /// The number of calls.
    pub(crate) fn depth(self) -> usize {
        usize::from(!self.is_empty()) + NESTED.with(|nested| nested.borrow().len())
    }

    pub(crate) fn innermost(self) -> Option<Started> {
        let outermost = || {
            let caller = self.0.outermost_caller.get();
            self.0.outermost.get().map(|function| Started { function, caller })
        };
        NESTED.with(|nested| nested.borrow().last().copied()).or_else(outermost)
    }

    pub(crate) fn end_innermost(self) {
        NESTED.with(|nested| {
            let mut nested = nested.borrow_mut();
            if nested.pop().is_none() {
                self.end();
            }
            if nested.is_empty() {
                *nested = Vec::new();
            }
        });
    }

    /// Runs `body` as if the thread were in no call.
    pub(crate) fn outside<R>(self, body: impl FnOnce() -> R) -> R {
        let (function, caller) = (self.0.outermost.take(), self.0.outermost_caller.get());
        let result = body();
        self.0.outermost.set(function);
        self.0.outermost_caller.set(caller);
        result
    }
}

impl Started {
    /// Whether the program has jumped out of this call before the same thread made a call at `next`. If that cannot be
    /// determined, because one of the two is on a stack that is not the thread's, the call is assumed to be in
    /// progress.
    pub(crate) fn was_left_before(&self, next: Caller) -> bool {
        let frame = self.caller.frame;
        if frame == next.frame || stack::is_overwritten(self.caller) {
            return true;
        }
        let (mut is_around, mut is_below) = (false, false);
        let mut is_passed = false;
        next.stack(|around| {
            is_around |= around == self.caller;
            is_below |= around.frame < frame;
            is_passed |= around.frame > frame;
            if is_around || is_passed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        // A stack that begins below the frame and ends above it is the one that the frame was on.
        !is_around && is_passed && (is_below || stack::is_own([frame, next.frame]))
    }
}
