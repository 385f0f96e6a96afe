//! A request that a tool makes and completes (MPI 4.0 §12.2): the program waits for it as for any other.

use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use super::{ErrorCode, attempt, call};
use crate::abi::Abi;
use crate::argument::load_handle;
use crate::functions::external;

/// A generalized request that is not complete yet.
#[derive(Debug)]
pub struct Promise {
    handle: usize,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    abi: &'static Abi,
    /// What the call that completes the request returns.
    code: AtomicI32,
}

impl Promise {
    /// Makes a request and puts its handle at `place`.
    ///
    /// # Errors
    /// The library's.
    ///
    /// # Safety
    /// There is room for a handle at `place`.
    pub unsafe fn make(abi: &'static Abi, place: usize) -> Result<Self, ErrorCode> {
        let state = Arc::new(State { abi, code: AtomicI32::new(0) });
        let theirs = Arc::into_raw(Arc::clone(&state));
        let words = [query as *const () as usize, free as *const () as usize, cancel as *const () as usize];
        let words = [words[0], words[1], words[2], theirs as usize, place];
        // SAFETY: (MPI_Grequest_query_function *, MPI_Grequest_free_function *, MPI_Grequest_cancel_function *, void *,
        // MPI_Request *), functions of these types, and the caller's promise.
        if let Err(error) = unsafe { attempt(&external::MPI_Grequest_start, words) } {
            // SAFETY: nobody else has it.
            drop(unsafe { Arc::from_raw(theirs) });
            return Err(error);
        }
        // SAFETY: the function has succeeded.
        Ok(Self { handle: unsafe { load_handle(abi, place) }, state })
    }

    /// Completes the request: who waits for it gets `result`.
    pub fn keep(self, result: Result<(), ErrorCode>) {
        self.state.code.store(result.map_or_else(|error| error.0, |()| 0), Ordering::Relaxed);
        // SAFETY: (MPI_Request), the one that `make` has made.
        unsafe { call(&external::MPI_Grequest_complete, [self.handle]) };
    }
}

/// What the status of a collective says: nothing.
unsafe extern "C" fn query(state: *const c_void, status: *mut c_void) -> c_int {
    // SAFETY: the state that `make` has given, which is there until `free`.
    let state = unsafe { &*state.cast::<State>() };
    let status = status as usize;
    // SAFETY: (MPI_Status *, MPI_Datatype, int) and (MPI_Status *, int).
    unsafe {
        call(&external::MPI_Status_set_elements, [status, state.abi.byte.raw(), 0]);
        call(&external::MPI_Status_set_cancelled, [status, 0]);
    }
    state.code.load(Ordering::Relaxed)
}

unsafe extern "C" fn free(state: *const c_void) -> c_int {
    // SAFETY: what `make` has given; MPI calls this once, and nothing of it afterwards.
    drop(unsafe { Arc::from_raw(state.cast::<State>()) });
    0
}

/// A collective cannot be cancelled (MPI 4.0 §6.12).
unsafe extern "C" fn cancel(_: *const c_void, _: c_int) -> c_int {
    0
}
