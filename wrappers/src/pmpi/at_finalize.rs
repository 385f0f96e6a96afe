//! A callback at the last moment of `MPI_Finalize` at which a tool may communicate.

use std::ffi::{c_int, c_void};

use super::ErrorCode;
use crate::abi::{Abi, Family};

/// Makes `MPI_Finalize` call `last` after all functions that the program has attached to `MPI_COMM_SELF`, and before
/// anything else is ended: those are called in the reverse order of their attachment (MPI 4.0 §11.2.4). To be called
/// before the program can attach any. MPICH continues with those of `MPI_COMM_WORLD`, while it still communicates.
///
/// # Errors
/// The library's code; `last` is not called then.
pub fn at_finalize(abi: &Abi, last: extern "C-unwind" fn()) -> Result<(), ErrorCode> {
    let mut keyval: c_int = 0;
    let comm = match abi.family {
        Family::OpenMpi | Family::Standard => abi.comm_self,
        Family::Mpich => abi.comm_world,
    };
    // SAFETY: (MPI_Comm_copy_attr_function *, MPI_Comm_delete_attr_function *, int *, void *), (MPI_Comm, int, void *) and
    // (int *). The attribute is the function to be called.
    unsafe {
        call!(MPI_Comm_create_keyval(
            copy as *const (),
            delete as *const (),
            &raw mut keyval,
            std::ptr::null::<c_void>()
        ))?;
        let attached = call!(MPI_Comm_set_attr(comm, keyval as usize, last as *const ()));
        let _ = call!(MPI_Comm_free_keyval(&raw mut keyval));
        attached
    }
}

/// A duplicate of the communicator has no such attribute.
unsafe extern "C" fn copy(
    _comm: usize,
    _keyval: c_int,
    _extra: *const c_void,
    _value: *const c_void,
    _copied: *mut c_void,
    is_copied: *mut c_int,
) -> c_int {
    // SAFETY: MPI gives a place for the flag.
    unsafe { is_copied.write(0) };
    0
}

unsafe extern "C-unwind" fn delete(_comm: usize, _keyval: c_int, last: *const (), _extra: *const c_void) -> c_int {
    // SAFETY: the attribute that was attached above.
    let last: extern "C-unwind" fn() = unsafe { std::mem::transmute(last) };
    last();
    0
}
