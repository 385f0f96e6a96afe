//! Handles running out of memory in commands: one message on standard error and exit status 1, at any place.
//!
//! By default, Rust aborts with a backtrace. [`ExitOnOutOfMemory`] is the system's allocator, which prints a message and ends the
//! process when there is no more memory. Some libraries allocate memory from the system themselves and panic, as does a
//! thread that cannot be started for lack of memory: [`exit_on_panics`] gives those panics the same end.
//!
//! ```
//! #[global_allocator]
//! static MEMORY: titr_replayer::memory::ExitOnOutOfMemory = titr_replayer::memory::ExitOnOutOfMemory;
//!
//! titr_replayer::memory::exit_on_panics();
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic;

/// The message. It is constant, because formatting one takes memory.
const MESSAGE: &[u8] = b"titr: out of memory: the shell (ulimit -v), the job or the machine sets the limit\n";

/// Texts of panics due to lack of memory: of zlib-rs, of the standard library, and of the system.
const PANICS: [&str; 4] = ["MemError", "failed to spawn thread", "alternative stack", "Cannot allocate memory"];

/// The system's allocator. Where memory cannot be had, the process ends.
#[derive(Clone, Copy, Debug)]
pub struct ExitOnOutOfMemory;

// SAFETY: all is done by the system's allocator, whose contract this is; a pointer that is returned is never null, which is a
// part of that contract.
unsafe impl GlobalAlloc for ExitOnOutOfMemory {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract is that of the system's allocator.
        there(unsafe { System.alloc(layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract is that of the system's allocator.
        there(unsafe { System.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the memory is the system's allocator's, as all that is returned here.
        unsafe { System.dealloc(memory, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the memory is the system's allocator's, as all that is returned here.
        there(unsafe { System.realloc(memory, layout, size) })
    }
}

#[inline]
fn there(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        exit();
    }
    memory
}

/// Says that there is no more memory, and ends the process with status 1. Meanwhile, another thread may lack memory where the C
/// library allows nothing but to abort, which then ends the process in the same way.
#[cold]
fn exit() -> ! {
    extern "C" fn end(_signal: libc::c_int) {
        // SAFETY: a signal handler may call this function.
        unsafe { libc::_exit(1) }
    }
    // SAFETY: the bytes and the handler are there as long as the program; all three functions may be called at any point of any
    // thread. Nothing that is registered for the end of the process runs, as it may need memory.
    unsafe {
        libc::signal(libc::SIGABRT, end as *const () as libc::sighandler_t);
        libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
        libc::_exit(1)
    }
}

/// Ends the process as [`ExitOnOutOfMemory`] does if a thread panics for lack of memory. Other panics do not change.
pub fn exit_on_panics() {
    let others = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let text = panic.payload_as_str().unwrap_or_default();
        if PANICS.iter().any(|known| text.contains(known)) {
            exit();
        }
        others(panic);
    }));
}
