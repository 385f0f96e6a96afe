//! A request that a tool makes and completes (MPI 4.0 §12.2): the program waits for it as for any other.

use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use super::ErrorCode;
use crate::abi::Abi;
use crate::argument::Request;

/// A generalized request that is not complete yet.
#[derive(Debug)]
pub struct GeneralizedRequest {
    handle: Request,
    state: Arc<State>,
}

/// The extra state that MPI hands to the three callbacks.
#[derive(Debug)]
struct State {
    abi: &'static Abi,
    /// The code that the call returns which completes the request.
    code: AtomicI32,
}

impl GeneralizedRequest {
    /// Makes a request and puts its handle at `place`.
    ///
    /// # Errors
    /// The library's code.
    ///
    /// # Safety
    /// There is room for a handle at `place`.
    pub unsafe fn start(abi: &'static Abi, place: usize) -> Result<Self, ErrorCode> {
        let state = Arc::new(State { abi, code: AtomicI32::new(0) });
        let theirs = Arc::into_raw(Arc::clone(&state));
        let callbacks = [query as *const (), free as *const (), cancel as *const ()];
        let [query, free, cancel] = callbacks;
        // SAFETY: (MPI_Grequest_query_function *, MPI_Grequest_free_function *, MPI_Grequest_cancel_function *, void *,
        // MPI_Request *), functions of these types, and the caller's promise.
        if let Err(error) = unsafe { call!(MPI_Grequest_start(query, free, cancel, theirs, place)) } {
            // SAFETY: nobody else has it.
            drop(unsafe { Arc::from_raw(theirs) });
            return Err(error);
        }
        // SAFETY: the function has succeeded.
        Ok(Self { handle: unsafe { Request::load_from(abi, place) }, state })
    }

    /// Completes the request: a call that waits for it returns `result`.
    pub fn complete(self, result: Result<(), ErrorCode>) {
        self.state.code.store(ErrorCode::of(result), Ordering::Relaxed);
        // SAFETY: (MPI_Request), the request that `start` has made.
        let _ = unsafe { call!(MPI_Grequest_complete(self.handle)) };
    }
}

/// Fills in the status of a collective, which says nothing.
unsafe extern "C" fn query(state: *const c_void, status: *mut c_void) -> c_int {
    // SAFETY: the state that `start` has given, which is there until `free`.
    let state = unsafe { &*state.cast::<State>() };
    // SAFETY: (MPI_Status *, MPI_Datatype, int) and (MPI_Status *, int).
    unsafe {
        let _ = call!(MPI_Status_set_elements(status, state.abi.byte, 0));
        let _ = call!(MPI_Status_set_cancelled(status, 0));
    }
    state.code.load(Ordering::Relaxed)
}

unsafe extern "C" fn free(state: *const c_void) -> c_int {
    // SAFETY: the state that `start` has given; MPI calls this once, and no callback of the request afterwards.
    drop(unsafe { Arc::from_raw(state.cast::<State>()) });
    0
}

/// A collective cannot be cancelled (MPI 4.0 §6.12).
unsafe extern "C" fn cancel(_: *const c_void, _: c_int) -> c_int {
    0
}
