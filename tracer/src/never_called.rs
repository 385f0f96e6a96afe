//! Reports, at its end, a process that has loaded the tracer and never called MPI through it.
//!
//! A program that opens the MPI library itself and looks up its functions (`dlopen` and `dlsym`, as Julia's MPI.jl and
//! Python's ctypes do) bypasses the tracer. It is distinguished from shells and other helpers, which are not reported,
//! by the rank that the launcher has given it and by the library that it has loaded.

use std::env;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use titr_config::{Config, Verbosity};
use titr_wrappers::library_file;

use crate::launched;
use crate::local_ranks::RANK;
use crate::stderr::log;

/// The process that is watched, or [`NONE`]. Children that it forks have other numbers.
static PROCESS: AtomicU32 = AtomicU32::new(NONE);

/// Whether the process or a child that it has forked has called MPI, in memory that they share; null if there is none.
static CALLED: AtomicPtr<AtomicBool> = AtomicPtr::new(ptr::null_mut());

const NONE: u32 = 0;

/// Looks at the process again when it ends. To be called when the tracer is loaded.
pub(crate) fn watch() {
    extern "C" fn at_exit() {
        if PROCESS.swap(NONE, Ordering::Relaxed) == std::process::id()
            && !called().is_some_and(|called| called.load(Ordering::Relaxed))
            && let Some(message) = message(library_file(), is_verbose())
        {
            log(format_args!("{message}"));
            launched::seen();
        }
    }
    if launched::is_own() || RANK.iter().any(|variable| env::var_os(variable).is_some()) {
        PROCESS.store(std::process::id(), Ordering::Relaxed);
        CALLED.store(shared_flag(), Ordering::Relaxed);
        // SAFETY: the handler is a function of this library, which is never unloaded, and may run at any time.
        unsafe { libc::atexit(at_exit) };
    }
}

/// The program has called MPI, so that there is nothing to be said.
pub(crate) fn forget() {
    PROCESS.store(NONE, Ordering::Relaxed);
    launched::seen();
    if let Some(called) = called() {
        called.store(true, Ordering::Relaxed);
    }
}

fn called() -> Option<&'static AtomicBool> {
    // SAFETY: null, or memory that is never unmapped.
    unsafe { CALLED.load(Ordering::Relaxed).as_ref() }
}

/// A flag that is false, in memory shared with children that the process forks from now on; null where there is none.
fn shared_flag() -> *mut AtomicBool {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: requests new memory, which is zero.
    let memory = unsafe { libc::mmap(ptr::null_mut(), size_of::<AtomicBool>(), access, kind, -1, 0) };
    if memory == libc::MAP_FAILED { ptr::null_mut() } else { memory.cast() }
}

/// Whether `TITRACE_VERBOSE` requests more than errors.
fn is_verbose() -> bool {
    Config::from_env().is_ok_and(|config| config.verbosity > Verbosity::Errors)
}

/// The message about a process that has loaded an MPI library, or none.
fn message(library: Option<String>, is_verbose: bool) -> Option<String> {
    let program = env::current_exe().map_or_else(|_| "the program".to_owned(), |path| path.display().to_string());
    match library {
        Some(library) => Some(format!(
            "not traced: {program} has loaded {library}, and never called MPI_Init where titr could see it: programs that look \
             MPI's functions up themselves (dlsym) cannot be traced"
        )),
        None if is_verbose => Some(format!("not traced: {program} never called MPI")),
        None => None,
    }
}
