//! A function of MPI, found by its name when it is first called.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use titr_wrappers::symbol::Forward;

/// A function by its name, `MPI_Send`.
pub(crate) struct Function {
    name: &'static str,
    address: AtomicPtr<c_void>,
}

impl Function {
    /// The function of this name, which ends with a NUL.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, address: AtomicPtr::new(ptr::null_mut()) }
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

    /// The first function of this name in the order of the dynamic linker: a tool's where one is preloaded, else the library's.
    fn find(&self) -> Option<*mut c_void> {
        // Relaxed: the code behind the address was there before anybody could look it up.
        let known = self.address.load(Ordering::Relaxed);
        if !known.is_null() {
            return Some(known);
        }
        let name = CStr::from_bytes_with_nul(self.name.as_bytes()).ok()?;
        // SAFETY: the name is a C string.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        self.address.store(found, Ordering::Relaxed);
        (!found.is_null()).then_some(found)
    }
}
