//! An MPI function, looked up by name at its first call.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use titr_wrappers::symbol::Forward;

/// The handle of the MPI library, once it is loaded.
pub(crate) static LIBRARY: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// The place to look up a function by name.
#[derive(Clone, Copy)]
pub(crate) enum Scope {
    /// The first in the order of the dynamic linker: a tool's where one is preloaded, else the library's.
    Seen,
    /// The library's, so that no tool sees the call.
    Unseen,
}

/// A function by its name, `MPI_Send`.
pub(crate) struct Function {
    name: &'static str,
    scope: Scope,
    address: AtomicPtr<c_void>,
}

impl Function {
    /// The function of this name, which ends with a NUL.
    pub(crate) const fn new(name: &'static str, scope: Scope) -> Self {
        Self { name, scope, address: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The name, without a NUL.
    pub(crate) fn name(&self) -> &'static str {
        self.name.trim_end_matches('\0')
    }

    /// Calls the function and returns its code, 0 for success; `None` if there is no such function.
    ///
    /// # Safety
    /// `words` are arguments that the function may be called with.
    pub(crate) unsafe fn call<const N: usize>(&self, words: [usize; N]) -> Option<c_int>
    where
        [usize; N]: Forward,
    {
        let address = self.find()?;
        // SAFETY: the caller's promise; every function of MPI that is called so returns an `int`.
        Some(unsafe { <[usize; N]>::forward(address, words.as_ptr()) } as c_int)
    }

    /// Whether the library has the function.
    pub(crate) fn exists(&self) -> bool {
        self.find().is_some()
    }

    fn find(&self) -> Option<*mut c_void> {
        // Relaxed: the code behind the address was there before anybody could look it up.
        let known = self.address.load(Ordering::Relaxed);
        if !known.is_null() {
            return Some(known);
        }
        let name = CStr::from_bytes_with_nul(self.name.as_bytes()).ok()?;
        let handle = match self.scope {
            Scope::Seen => libc::RTLD_DEFAULT,
            Scope::Unseen => LIBRARY.load(Ordering::Relaxed),
        };
        // SAFETY: the handle is a library's that stays open, or `RTLD_DEFAULT`, which is null; the name is a C string.
        let found = unsafe { libc::dlsym(handle, name.as_ptr()) };
        self.address.store(found, Ordering::Relaxed);
        (!found.is_null()).then_some(found)
    }
}
