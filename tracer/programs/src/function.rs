//! An MPI function, looked up by name at its first call.

use std::ffi::{CStr, CString, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::{env, ptr};

use titr_wrappers::symbol::Forward;

use crate::error::{MpiError, StartError};

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

/// Calls a function of MPI by its name with these arguments, in C's order and each a
/// [`Word`](titr_wrappers::symbol::Word), and returns `Result<(), MpiError>`. `unseen` before the name calls the
/// library's function even if a tool is preloaded.
///
/// # Safety
/// The arguments are those that the function may be called with.
macro_rules! call {
    (unseen $name:ident($($argument:expr),* $(,)?)) => {
        $crate::function::call!(Unseen, $name, $($argument),*)
    };
    ($name:ident($($argument:expr),* $(,)?)) => {
        $crate::function::call!(Seen, $name, $($argument),*)
    };
    ($scope:ident, $name:ident, $($argument:expr),*) => {{
        static FUNCTION: $crate::function::Function =
            $crate::function::Function::new(concat!(stringify!($name), "\0"), $crate::function::Scope::$scope);
        $crate::function::ended(&FUNCTION, FUNCTION.call([$(titr_wrappers::symbol::Word::word($argument)),*]))
    }};
}
pub(crate) use call;

/// The result of a function that has returned this code, or that does not exist.
pub(crate) fn ended(function: &'static Function, code: Option<c_int>) -> Result<(), MpiError> {
    match code {
        Some(0) => Ok(()),
        Some(code) => Err(MpiError::new(function.name(), code)),
        None => Err(MpiError::no_such(function.name())),
    }
}

/// The environment variable with the path of the library to load.
const CHOSEN: &str = "TITR_MPI_LIBRARY";

/// A launcher's mark in the environment of the processes that it starts, and the files of the libraries that go with it.
struct Launcher {
    mark: &'static str,
    files: &'static [&'static str],
}

/// Open MPI's versions 4 and 5, with the symbolic link that its development package has.
const OPEN_MPI: &[&str] = &["libmpi.so.40", "libmpi.so"];

/// MPICH's ABI has number 12; Debian names the file after the library.
const MPICH: &[&str] = &["libmpich.so.12", "libmpi.so.12", "libmpi.so"];

/// Known launchers, the most specific marks first: Slurm sets `PMI_RANK` or `PMIX_RANK` with any library.
const LAUNCHERS: [Launcher; 4] = [
    Launcher { mark: "OMPI_COMM_WORLD_SIZE", files: OPEN_MPI },
    Launcher { mark: "MPI_LOCALNRANKS", files: MPICH },
    Launcher { mark: "PMI_RANK", files: MPICH },
    Launcher { mark: "PMIX_RANK", files: OPEN_MPI },
];

/// Loads the library, so that everybody finds its functions.
pub(crate) fn load() -> Result<(), StartError> {
    let files = match env::var(CHOSEN) {
        Ok(file) => vec![file],
        Err(_) => candidates().iter().map(|file| (*file).to_owned()).collect(),
    };
    let mut reasons = Vec::new();
    for file in files {
        match open(&file) {
            Ok(()) => return Ok(()),
            Err(reason) => reasons.push(reason),
        }
    }
    Err(StartError::Missing { reasons: reasons.join("; ") })
}

/// The files to try. A process without a launcher is a separate world, under any library.
fn candidates() -> &'static [&'static str] {
    let launcher = LAUNCHERS.iter().find(|launcher| env::var_os(launcher.mark).is_some());
    launcher.map_or(&["libmpi.so.40", "libmpich.so.12", "libmpi.so.12", "libmpi.so"], |launcher| launcher.files)
}

fn open(file: &str) -> Result<(), String> {
    let name = CString::new(file).map_err(|_| format!("{file:?} has a NUL"))?;
    // SAFETY: the library's constructors run; an MPI library is made to be loaded.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    if !handle.is_null() {
        LIBRARY.store(handle, Ordering::Relaxed);
        return Ok(());
    }
    // SAFETY: after a failure `dlerror` gives a C string that lives until this thread's next call.
    let reason = unsafe { libc::dlerror() };
    if reason.is_null() {
        return Err(format!("{file}: not loaded"));
    }
    // SAFETY: as above.
    Err(unsafe { CStr::from_ptr(reason) }.to_string_lossy().into_owned())
}
