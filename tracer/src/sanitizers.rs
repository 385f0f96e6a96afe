//! Answers to the run-time libraries of sanitizers about the tracer. They look for functions of these names
//! (`sanitizer/` of compiler-rt, `asan_interface.h` and `tsan_interface.h`), and get the program's if it has its own.

use std::ffi::{CStr, c_char};

/// AddressSanitizer ends a program where any library was loaded before it. The tracer defines nothing that it replaces.
#[unsafe(no_mangle)]
extern "C" fn __asan_default_options() -> *const c_char {
    const OPTIONS: &CStr = c"verify_asan_link_order=0";
    OPTIONS.as_ptr()
}

/// ThreadSanitizer sees the tracer's reads and writes in functions of the C library, but not the synchronisation of its
/// threads.
#[unsafe(no_mangle)]
extern "C" fn __tsan_default_suppressions() -> *const c_char {
    const SUPPRESSIONS: &CStr = c"called_from_lib:libtitrace.so";
    SUPPRESSIONS.as_ptr()
}
