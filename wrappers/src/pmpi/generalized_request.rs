//! A request that a tool creates and completes (MPI 4.0 §12.2): the program waits for it as for any other.

use std::ffi::{c_int, c_void};

use super::ErrorCode;
use crate::abi::Abi;
use crate::argument::{HandleCell, Request};
use crate::handle::RequestKind;

/// A generalized request that is not complete yet.
#[derive(Debug)]
pub struct GeneralizedRequest {
    handle: Request,
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
        let callbacks = [query as *const (), free as *const (), cancel as *const ()];
        let [query, free, cancel] = callbacks;
        // SAFETY: (MPI_Grequest_query_function *, MPI_Grequest_free_function *, MPI_Grequest_cancel_function *, void *,
        // MPI_Request *), functions of these types, and the caller's promise.
        unsafe { call!(MPI_Grequest_start(query, free, cancel, &raw const *abi, place))? };
        // SAFETY: the function has succeeded.
        Ok(Self { handle: unsafe { Request::load_from(abi, place) } })
    }

    /// Makes a request that is the tool's own.
    ///
    /// # Errors
    /// The library's code.
    pub fn make(abi: &'static Abi) -> Result<Self, ErrorCode> {
        let mut cell = HandleCell::<RequestKind>::empty();
        // SAFETY: the cell has room for a handle.
        unsafe { Self::start(abi, cell.address()) }
    }

    /// The handle.
    #[must_use]
    pub fn handle(&self) -> Request {
        self.handle
    }

    /// Completes the request. Calls that wait for it succeed.
    pub fn complete(self) {
        // SAFETY: (MPI_Request), the request that `start` has made.
        let _ = unsafe { call!(MPI_Grequest_complete(self.handle)) };
    }
}

/// Fills in the status of a collective, which says nothing.
unsafe extern "C" fn query(abi: *const c_void, status: *mut c_void) -> c_int {
    // SAFETY: the table that `start` has given, which is there forever.
    let abi = unsafe { &*abi.cast::<Abi>() };
    // SAFETY: (MPI_Status *, MPI_Datatype, int) and (MPI_Status *, int).
    unsafe {
        let _ = call!(MPI_Status_set_elements(status, abi.byte, 0));
        let _ = call!(MPI_Status_set_cancelled(status, 0));
    }
    0
}

unsafe extern "C" fn free(_: *const c_void) -> c_int {
    0
}

/// A collective cannot be cancelled (MPI 4.0 §6.12).
unsafe extern "C" fn cancel(_: *const c_void, _: c_int) -> c_int {
    0
}
