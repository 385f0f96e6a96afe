//! Errors for which the MPI library ends the process. Only the library knows that an error handler is
//! `MPI_ERRORS_ARE_FATAL`, and the launcher may kill the process as soon as it learns of the error. The libraries'
//! error-handling functions, which are called through the symbol table, are therefore defined here: the trace is ended,
//! and the library continues. An exception of an error handler passes through them.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

use titr_common::trace::manifest::Ended;
use titr_wrappers::library_function;

use super::{TO_TAKE, order};

/// Minimum time in milliseconds between two errors that are treated as the end: if the program's error handler returns,
/// errors may be frequent.
const BETWEEN: u64 = 100;

/// Open MPI's way to end all processes.
///
/// # Safety
/// As the library's function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn ompi_mpi_abort(comm: *mut c_void, code: c_int) -> c_int {
    order(Ended::Error, TO_TAKE);
    let Some(real) = library_function(c"ompi_mpi_abort") else { return code };
    // SAFETY: the library's function of this name and type.
    let real: unsafe extern "C-unwind" fn(*mut c_void, c_int) -> c_int = unsafe { std::mem::transmute(real) };
    // SAFETY: the caller's promise.
    unsafe { real(comm, code) }
}

/// MPICH's functions that call the error handler of a communicator or of a window.
macro_rules! mpich {
    ($($name:ident $text:literal)*) => {$(
        /// # Safety
        /// As the library's function of this name.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "the library's name")]
        pub unsafe extern "C-unwind" fn $name(object: *mut c_void, function: *const c_char, code: c_int) -> c_int {
            end_unless_repeated();
            IS_HANDLING.set(true);
            let Some(real) = library_function($text) else { return code };
            // SAFETY: the library's function of this name and type.
            let real: unsafe extern "C-unwind" fn(*mut c_void, *const c_char, c_int) -> c_int =
                unsafe { std::mem::transmute(real) };
            // SAFETY: the caller's promise.
            let code = unsafe { real(object, function, code) };
            IS_HANDLING.set(false);
            code
        }
    )*};
}

mpich! {
    MPIR_Err_return_comm c"MPIR_Err_return_comm"
    MPIR_Err_return_win c"MPIR_Err_return_win"
}

thread_local! {
    /// Whether MPICH handles an error of this thread. Where it ends the process by `exit`, it does not come back.
    static IS_HANDLING: Cell<bool> = const { Cell::new(false) };
}

/// The end of a process whose thread calls `exit`.
pub fn at_exit() -> Ended {
    if IS_HANDLING.get() { Ended::Error } else { Ended::Exit }
}

fn end_unless_repeated() {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a live local.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    let now = 1 + now.tv_sec.unsigned_abs() * 1000 + now.tv_nsec.unsigned_abs() / 1_000_000;
    let last = LAST.load(Ordering::Relaxed);
    if last == 0 || now.saturating_sub(last) > BETWEEN {
        LAST.store(now, Ordering::Relaxed);
        order(Ended::Error, TO_TAKE);
    }
}
