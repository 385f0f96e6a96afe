//! Errors: MPI does not start, or a function of it fails.

use std::ffi::{CStr, c_int};

use thiserror::Error;

use crate::function::{Function, Scope};
use titr_wrappers::symbol::Word;

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

    /// An argument exceeds the range of MPI's functions.
    pub(crate) fn too_large(function: &'static str, value: u64) -> Self {
        Self { function, text: format!("{value} is more than an int can hold"), code: None }
    }
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
