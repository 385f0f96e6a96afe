//! An MPI function, looked up by name at its first call, and the errors that it returns.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use thiserror::Error;
use titr_wrappers::symbol::{Forward, Word};

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

/// The functions of a kind of operation.
pub(crate) struct Functions {
    pub(crate) blocking: Function,
    pub(crate) nonblocking: Function,
    /// Of a collective, from MPI 4.0 on; a library may lack it.
    pub(crate) persistent: Function,
}

/// Defines `functions`, which has those of each kind by their names.
macro_rules! functions {
    ($type:ident: $($kind:ident: $blocking:literal $nonblocking:literal $persistent:literal;)*) => {
        fn functions(kind: $type) -> &'static $crate::function::Functions {
            use $crate::function::{Function, Functions, Scope};
            match kind {
                $($type::$kind => {
                    static FUNCTIONS: Functions = Functions {
                        blocking: Function::new(concat!($blocking, "\0"), Scope::Seen),
                        nonblocking: Function::new(concat!($nonblocking, "\0"), Scope::Seen),
                        persistent: Function::new(concat!($persistent, "\0"), Scope::Seen),
                    };
                    &FUNCTIONS
                })*
            }
        }
    };
}
pub(crate) use functions;

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

/// MPI cannot be started in this process.
#[derive(Debug, Error)]
pub enum StartError {
    /// No file of an MPI library could be loaded.
    #[error(
        "no MPI library can be loaded: {reasons}\nstart the program with the library's mpirun, or say where the library is: \
         TITR_MPI_LIBRARY=/path/to/libmpi.so"
    )]
    Missing {
        /// The linker's message for each file that could not be loaded.
        reasons: String,
    },
    /// The library is of no known family.
    #[error(
        "unknown MPI library: {library}\nsupported are Open MPI 1.7 to 5, MPICH and those with its ABI, and the ABI of MPI 5"
    )]
    Unknown {
        /// The library's description of itself.
        library: String,
    },
    /// `MPI_Init` fails.
    #[error(transparent)]
    Init(#[from] MpiError),
}

/// A function of MPI has failed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{function}: {text}")]
pub struct MpiError {
    /// The function's name.
    pub function: &'static str,
    /// The library's description of the error.
    pub text: String,
    /// What the function has returned.
    pub(crate) code: Option<c_int>,
}

impl MpiError {
    /// The error that `function` has returned the code of.
    pub(crate) fn new(function: &'static str, code: c_int) -> Self {
        Self { function, text: describe(code).unwrap_or_else(|| format!("error {code}")), code: Some(code) }
    }

    /// The library has no such function.
    pub(crate) fn no_such(function: &'static str) -> Self {
        Self { function, text: "the MPI library has no such function".to_owned(), code: None }
    }
}

/// A number as MPI's functions take it; an error if it exceeds their range.
pub(crate) fn int(function: &'static str, value: u64) -> Result<c_int, MpiError> {
    let too_large = |_| MpiError { function, text: format!("{value} is more than an int can hold"), code: None };
    c_int::try_from(value).map_err(too_large)
}

/// `MPI_Error_string`.
fn describe(code: c_int) -> Option<String> {
    static ERROR_STRING: Function = Function::new("MPI_Error_string\0", Scope::Unseen);
    /// `MPI_MAX_ERROR_STRING` is 256 in Open MPI and 512 in MPICH.
    const ROOM: usize = 4096;
    let (mut text, mut length) = ([0_u8; ROOM], 0 as c_int);
    // SAFETY: (int, char *, int *), with room for the longest text of any library.
    let ended = unsafe { ERROR_STRING.call([code.word(), text.as_mut_ptr().word(), (&raw mut length).word()]) };
    let text = CStr::from_bytes_until_nul(&text).ok().filter(|_| ended == Some(0))?;
    Some(text.to_string_lossy().into_owned())
}
