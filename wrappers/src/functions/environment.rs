//! Environmental management (chapter 9).

use std::ffi::c_void;

use crate::Function;
use crate::call::enter_with;

super::chapter! {
    local:
        MPI_Abi_get_fortran_booleans(4), MPI_Abi_get_fortran_info(1), MPI_Abi_get_info(1),
        MPI_Abi_set_fortran_booleans(3), MPI_Abi_set_fortran_info(1), MPI_Add_error_class(1), MPI_Add_error_code(2), MPI_Add_error_string(2), MPI_Alloc_mem(3),
        MPI_Comm_call_errhandler(2), MPI_Comm_create_errhandler(2), MPI_Comm_get_errhandler(2),
        MPI_Comm_set_errhandler(2), MPI_Errhandler_create(2), MPI_Errhandler_free(1), MPI_Errhandler_get(2),
        MPI_Errhandler_set(2), MPI_Error_class(2), MPI_Error_string(3), MPI_Free_mem(1),
        MPI_Get_hw_resource_info(1), MPI_Get_processor_name(2),
        MPI_Remove_error_class(1), MPI_Remove_error_code(1), MPI_Remove_error_string(1);
    written_out:
        MPI_Wtime, MPI_Wtick;
}

/// Defines functions that are left to the library: programs look for them to find out whether an MPI library is already
/// loaded, and its ABI. Python's mpi4py does (4.1, `_mpiabi.py`), and loads none if it finds them here.
macro_rules! questions {
    ($($name:ident($arity:literal))*) => {
        $(super::function!($name, $arity, Local, |_| {});)*

        /// The functions that are left to the library.
        pub static LEFT_ALONE: &[&Function] = &[$(&$name),*];
    };
}

questions! { MPI_Abi_get_version(2) MPI_Get_library_version(2) MPI_Get_version(2) }

/// Defines the functions that return a `double`.
macro_rules! clocks {
    ($($name:ident)*) => {$(
        super::function!($name, 0, Local, |_| {});

        const _: () = {
            extern "C-unwind" fn entered() -> f64 {
                clock(&$name)
            }

            $crate::caller::exported!(stringify!($name), entered);
            $crate::caller::exported!(concat!("P", stringify!($name)), entered);
        };
    )*};
}

clocks! { MPI_Wtime MPI_Wtick }

/// Calls a function that takes nothing and returns a `double`. The bits of the number are the word that is passed on.
fn clock(function: &'static Function) -> f64 {
    unsafe fn run(real: *const c_void, _: *const usize) -> usize {
        // SAFETY: `real` is MPI_Wtime or MPI_Wtick, double(void).
        let real: unsafe extern "C-unwind" fn() -> f64 = unsafe { std::mem::transmute(real) };
        // SAFETY: either may be called at any time.
        unsafe { real() }.to_bits() as usize
    }
    f64::from_bits(enter_with(function, super::unread, [], run) as u64)
}
