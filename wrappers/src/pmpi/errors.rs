//! Errors of MPI functions: their codes, and their handlers.

use std::ffi::{c_int, c_void};

use super::ErrorCode;
use crate::abi::Abi;
use crate::argument::{Comm, HandleCell};
use crate::handle::ErrhandlerKind;

/// Makes the functions that a tool calls on its own communicator return their errors instead of ending the program.
pub fn return_errors(abi: &Abi, comm: Comm) {
    let mut handler = HandleCell::<ErrhandlerKind>::empty();
    // SAFETY: (MPI_Comm_errhandler_function *, MPI_Errhandler *), (MPI_Comm, MPI_Errhandler) and (MPI_Errhandler *).
    // The function is called with variable arguments, and reads none of them.
    unsafe {
        if call!(MPI_Comm_create_errhandler(ignore as *const (), handler.address())).is_ok() {
            let _ = call!(MPI_Comm_set_errhandler(comm, handler.get(abi)));
            let _ = call!(MPI_Errhandler_free(handler.address()));
        }
    }
}

/// After a handler that returns, the function that failed returns the error (MPI 4.0 §9.3).
extern "C" fn ignore(_: *const c_void, _: *const c_int) {}

/// `MPI_Comm_call_errhandler`: calls the program's error handler for an error of `comm`, which may end the program.
pub fn raise(comm: Comm, ErrorCode(code): ErrorCode) {
    // SAFETY: (MPI_Comm, int).
    let _ = unsafe { call!(MPI_Comm_call_errhandler(comm, code)) };
}

/// Whether a collective that returned this error has taken place nevertheless: others may have received its messages.
/// Classes of errors in arguments, which MPI detects before it communicates, precede `MPI_ERR_TRUNCATE` in every
/// family.
#[must_use]
pub fn has_taken_place(abi: &Abi, error: ErrorCode) -> bool {
    class(error).is_some_and(|class| class >= abi.err_truncate)
}

/// Whether a receive returned this error because the message is larger than the buffer.
#[must_use]
pub fn is_truncation(abi: &Abi, error: ErrorCode) -> bool {
    class(error) == Some(abi.err_truncate)
}

/// `MPI_Error_class`.
fn class(ErrorCode(code): ErrorCode) -> Option<c_int> {
    let mut class: c_int = 0;
    // SAFETY: (int, int *).
    unsafe { call!(MPI_Error_class(code, &raw mut class)) }.ok().map(|()| class)
}
