//! A function of the MPI library, looked up by name at its first call, and called with words as arguments.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::library;

/// A function of the library by its profiling name, `PMPI_Send`.
#[derive(Debug)]
pub struct Symbol {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Symbol {
    /// The function whose profiling name is `name`, which ends with a NUL.
    #[allow(clippy::panic, reason = "the compiler panics")]
    pub const fn new(name: &'static str) -> Self {
        let Ok(name) = CStr::from_bytes_with_nul(name.as_bytes()) else {
            panic!("a C string has one NUL, its last byte")
        };
        Self { name, address: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The address of the function; `None` if the library has no such function, or if there is no library yet.
    #[inline]
    pub(crate) fn find(&self) -> Option<*mut c_void> {
        // Relaxed: the code behind the address was there before anybody could look it up.
        let known = self.address.load(Ordering::Relaxed);
        if known.is_null() { self.look_up() } else { Some(known) }
    }

    #[cold]
    fn look_up(&self) -> Option<*mut c_void> {
        // Some extensions have no profiling name, such as Open MPI's MPIX_Query_cuda_support.
        let second = || CStr::from_bytes_with_nul(self.name.to_bytes_with_nul().get(1..)?).ok();
        let found = library::function(self.name).or_else(|| library::function(second()?))?;
        self.address.store(found, Ordering::Relaxed);
        Some(found)
    }

    /// Calls the function and returns its code, 0 for success; `None` if the library has no such function.
    ///
    /// # Safety
    /// `words` are arguments that the function may be called with.
    pub(crate) unsafe fn call<const N: usize>(&self, words: [usize; N]) -> Option<c_int>
    where
        [usize; N]: Forward,
    {
        let real = self.find()?;
        // SAFETY: the caller's promise.
        Some(unsafe { <[usize; N]>::forward(real, words.as_ptr()) } as c_int)
    }
}

/// A value that C passes in one register or one stack slot.
pub trait Word {
    /// The register's content.
    fn word(self) -> usize;
}

impl Word for usize {
    fn word(self) -> usize {
        self
    }
}

impl Word for c_int {
    fn word(self) -> usize {
        self as usize
    }
}

impl<T> Word for *const T {
    fn word(self) -> usize {
        self.expose_provenance()
    }
}

impl<T> Word for *mut T {
    fn word(self) -> usize {
        self.expose_provenance()
    }
}

/// Calls a function with as many words as it takes.
pub trait Forward {
    /// Calls the function at `real`.
    ///
    /// # Safety
    /// `real` is a function of this many word-sized arguments that returns a word or an `int`, and `words` points to as
    /// many arguments that it may be called with.
    unsafe fn forward(real: *const c_void, words: *const usize) -> usize;
}

macro_rules! word {
    ($index:literal) => {
        usize
    };
}

macro_rules! forward {
    ($($arity:literal: $($index:literal)*;)*) => {$(
        impl Forward for [usize; $arity] {
            unsafe fn forward(real: *const c_void, words: *const usize) -> usize {
                // SAFETY: the caller's promise.
                unsafe {
                    let real: unsafe extern "C-unwind" fn($(word!($index)),*) -> usize = std::mem::transmute(real);
                    let _words = words.cast::<[usize; $arity]>().read();
                    real($(_words[$index]),*)
                }
            }
        }
    )*};
}

forward! {
    0: ;
    1: 0;
    2: 0 1;
    3: 0 1 2;
    4: 0 1 2 3;
    5: 0 1 2 3 4;
    6: 0 1 2 3 4 5;
    7: 0 1 2 3 4 5 6;
    8: 0 1 2 3 4 5 6 7;
    9: 0 1 2 3 4 5 6 7 8;
    10: 0 1 2 3 4 5 6 7 8 9;
    11: 0 1 2 3 4 5 6 7 8 9 10;
    12: 0 1 2 3 4 5 6 7 8 9 10 11;
    13: 0 1 2 3 4 5 6 7 8 9 10 11 12;
}
