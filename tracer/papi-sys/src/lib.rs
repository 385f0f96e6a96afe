//! The parts of PAPI, the Performance Application Programming Interface, that titr uses.
//!
//! `libpapi` is loaded at run time, not linked: a library that may use PAPI then also loads on hosts without it. The
//! declarations follow `papi.h` of PAPI 7.0, which are stable within a major version.
//!
//! ```no_run
//! let papi = papi_sys::Papi::load()?;
//! // SAFETY: the version is one that the library was loaded for.
//! let version = unsafe { (papi.PAPI_library_init)(papi_sys::PAPI_VER_CURRENT) };
//! assert!(version > 0);
//! # Ok::<(), papi_sys::LoadError>(())
//! ```

use std::ffi::{CStr, c_char, c_int, c_longlong, c_ulong};
use std::mem::ManuallyDrop;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use thiserror::Error;

/// Success.
pub const PAPI_OK: c_int = 0;
/// No event set: the value of a variable before an event set is created in it.
pub const PAPI_NULL: c_int = -1;
/// PAPI 7.0: the version to initialise the library with.
pub const PAPI_VER_CURRENT: c_int = 7 << 24;

/// The shared objects that hold PAPI 7, the version these declarations were checked against first.
const NAMES: [&str; 5] = ["libpapi.so.7.0", "libpapi.so.7.2", "libpapi.so.7.1", "libpapi.so.7", "libpapi.so"];

/// The reason why PAPI cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LoadError {
    /// There is no such library.
    #[error("libpapi.so.7 was not found")]
    NotFound,
    /// There is one, and it is not PAPI 7.
    #[error("libpapi has no function {0}")]
    Symbol(&'static str),
}

macro_rules! functions {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        /// PAPI's functions, under their own names.
        #[allow(non_snake_case)]
        #[derive(Clone, Copy)]
        pub struct Papi {
            $($(#[$doc])* pub $name: unsafe extern "C" fn($($argument: $type),*) -> $result,)*
        }

        impl Papi {
            fn bind(library: &Library) -> Result<Self, LoadError> {
                Ok(Self {
                    $($name: {
                        let symbol = concat!(stringify!($name), "\0").as_bytes();
                        // SAFETY: the symbol is a function of the type that papi.h declares it with.
                        let function = unsafe { library.get::<unsafe extern "C" fn($($argument: $type),*) -> $result>(symbol) };
                        *function.map_err(|_| LoadError::Symbol(stringify!($name)))?
                    },)*
                })
            }
        }
    };
}

functions! {
    /// Initialises the library; returns its version, or an error below zero.
    fn PAPI_library_init(version: c_int) -> c_int;
    /// Tells it how to tell threads apart.
    fn PAPI_thread_init(id: Option<unsafe extern "C" fn() -> c_ulong>) -> c_int;
    /// Makes the calling thread known.
    fn PAPI_register_thread() -> c_int;
    /// Says that the calling thread will not count any more.
    fn PAPI_unregister_thread() -> c_int;
    /// Creates an empty event set in a variable that is `PAPI_NULL`.
    fn PAPI_create_eventset(set: *mut c_int) -> c_int;
    /// Adds an event, preset or native, by name.
    fn PAPI_add_named_event(set: c_int, name: *const c_char) -> c_int;
    /// Starts counting, on the calling thread.
    fn PAPI_start(set: c_int) -> c_int;
    /// Reads the counts, one for each event of the set.
    fn PAPI_read(set: c_int, values: *mut c_longlong) -> c_int;
    /// Stops counting and reads the counts.
    fn PAPI_stop(set: c_int, values: *mut c_longlong) -> c_int;
    /// Removes all events from a set.
    fn PAPI_cleanup_eventset(set: c_int) -> c_int;
    /// Destroys an empty set.
    fn PAPI_destroy_eventset(set: *mut c_int) -> c_int;
    /// The meaning of an error code; null for a code that does not exist.
    fn PAPI_strerror(code: c_int) -> *mut c_char;
}

impl Papi {
    /// Finds PAPI and binds its functions. It stays loaded until the process ends.
    ///
    /// # Errors
    /// If it is not there, or is another version.
    pub fn load() -> Result<Self, LoadError> {
        // Never closed, as its functions are called until the process ends.
        let library = open(RTLD_NOW | RTLD_LOCAL).map(ManuallyDrop::new);
        Self::bind(&*library.ok_or(LoadError::NotFound)?)
    }

    /// Whether the program itself has loaded PAPI. A thread can run only one event set at a time, so the first user
    /// excludes the other.
    pub fn is_loaded() -> bool {
        open(RTLD_NOW | libc::RTLD_NOLOAD).is_some()
    }

    /// The meaning of an error code, in PAPI's words.
    pub fn message(&self, code: c_int) -> String {
        // SAFETY: takes any number, and returns null or a string that lives as long as the library.
        let text = unsafe { (self.PAPI_strerror)(code) };
        if text.is_null() {
            return format!("PAPI error {code}");
        }
        // SAFETY: not null, so such a string.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

/// The shared object of PAPI, opened with these flags of `dlopen`.
fn open(flags: c_int) -> Option<Library> {
    // SAFETY: loading libpapi runs its constructors, which is libpapi's responsibility.
    NAMES.iter().find_map(|name| unsafe { Library::open(Some(name), flags) }.ok())
}

#[cfg(test)]
mod tests {
    use titr_test_support::{cannot_run, no_such_hardware};

    use super::*;

    /// PAPI's answer for an event that the processor, or PAPI for want of knowing it, does not have.
    const PAPI_ENOEVNT: c_int = -7;

    /// Counts the CPU time of this thread with PAPI, which takes no hardware counter.
    #[test]
    fn the_declarations_are_those_of_the_library() {
        let papi = match Papi::load() {
            Ok(papi) => papi,
            Err(error) => return cannot_run(error),
        };
        assert!(Papi::is_loaded());
        // SAFETY: the calls are in PAPI's order, and every pointer is to a live local.
        unsafe {
            assert!((papi.PAPI_library_init)(PAPI_VER_CURRENT) >= PAPI_VER_CURRENT);
            assert_eq!(papi.message(-1), "Invalid argument");
            assert_eq!(papi.message(-9999), "PAPI error -9999");
            assert_eq!((papi.PAPI_thread_init)(Some(libc::pthread_self)), PAPI_OK);
            assert_eq!((papi.PAPI_register_thread)(), PAPI_OK);
            let mut set = PAPI_NULL;
            assert_eq!((papi.PAPI_create_eventset)(&mut set), PAPI_OK);
            let added = (papi.PAPI_add_named_event)(set, c"perf::TASK-CLOCK".as_ptr());
            if added == PAPI_ENOEVNT {
                return no_such_hardware("PAPI knows no counter of this processor");
            }
            assert_eq!(added, PAPI_OK, "{}", papi.message(added));
            let mut values = [0; 2];
            assert_eq!((papi.PAPI_start)(set), PAPI_OK);
            assert_eq!((papi.PAPI_read)(set, &mut values[0]), PAPI_OK);
            while values[1] <= values[0] {
                assert_eq!((papi.PAPI_read)(set, &mut values[1]), PAPI_OK);
            }
            assert_eq!((papi.PAPI_stop)(set, &mut values[0]), PAPI_OK);
            assert!(values[0] >= values[1]);
            assert_eq!((papi.PAPI_cleanup_eventset)(set), PAPI_OK);
            assert_eq!((papi.PAPI_destroy_eventset)(&mut set), PAPI_OK);
            assert_eq!((papi.PAPI_unregister_thread)(), PAPI_OK);
        }
    }
}
