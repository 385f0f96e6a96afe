//! What differs between MPI libraries, in one table: a line for each constant, a column for each family.
//!
//! Everything that implements the MPICH ABI (MPICH, Intel MPI, MVAPICH, Cray MPICH) is one family, and Open MPI from 1.7
//! to 5 another. The standard ABI of MPI 5 will be one more column: its handles are pointer-sized like Open MPI's and its
//! constants numbers like MPICH's.

use std::ffi::{CStr, c_char, c_int};
use std::sync::OnceLock;

use crate::argument::{Comm, Datatype, Group, Message, Op, Request};
use crate::{functions, library};

/// A group of libraries with one application binary interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Open MPI. Handles are pointers to objects.
    OpenMpi,
    /// MPICH and those that share its ABI. Handles are `int`s.
    Mpich,
}

/// How a header gives a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant {
    /// As a number.
    Number(i64),
    /// As the address of an object in the library.
    AddressOf(&'static CStr),
}

use Constant::{AddressOf, Number};

/// Defines [`Abi`] and [`CONSTANTS`] from the lines `field: type = C expression, column, column`.
macro_rules! constants {
    ($($(#[$doc:meta])* $field:ident: $type:ty = $c:literal, $open_mpi:expr, $mpich:expr;)*) => {
        /// The constants of the library that this process runs on.
        #[derive(Debug)]
        pub struct Abi {
            /// Its family.
            pub family: Family,
            /// What it says of itself.
            pub library: String,
            $($(#[$doc])* pub $field: $type,)*
        }

        /// Each constant as a C expression, and its value for each family.
        pub const CONSTANTS: &[(&str, [(Family, Constant); 2])] =
            &[$(($c, [(Family::OpenMpi, $open_mpi), (Family::Mpich, $mpich)])),*];

        impl Abi {
            fn of(family: Family, library: String) -> Option<Self> {
                let value = |open_mpi, mpich| match (family, open_mpi, mpich) {
                    (Family::OpenMpi, Number(value), _) | (Family::Mpich, _, Number(value)) => Some(value as usize),
                    (Family::OpenMpi, AddressOf(name), _) | (Family::Mpich, _, AddressOf(name)) => {
                        library::object(name).map(|address| address as usize)
                    }
                };
                Some(Self { family, library, $($field: <$type>::from_word(value($open_mpi, $mpich)?),)* })
            }
        }
    };
}

constants! {
    // What it is                                      Open MPI                                 MPICH
    /// Bytes of a handle.
    handle_bytes: usize = "sizeof(MPI_Comm)",          Number(8),                               Number(4);
    /// `MPI_COMM_WORLD`.
    comm_world: Comm = "MPI_COMM_WORLD",               AddressOf(c"ompi_mpi_comm_world"),       Number(0x4400_0000);
    /// `MPI_COMM_SELF`.
    comm_self: Comm = "MPI_COMM_SELF",                 AddressOf(c"ompi_mpi_comm_self"),        Number(0x4400_0001);
    /// `MPI_COMM_NULL`.
    comm_null: Comm = "MPI_COMM_NULL",                 AddressOf(c"ompi_mpi_comm_null"),        Number(0x0400_0000);
    /// `MPI_GROUP_NULL`.
    group_null: Group = "MPI_GROUP_NULL",              AddressOf(c"ompi_mpi_group_null"),       Number(0x0800_0000);
    /// `MPI_GROUP_EMPTY`.
    group_empty: Group = "MPI_GROUP_EMPTY",            AddressOf(c"ompi_mpi_group_empty"),      Number(0x4800_0000);
    /// `MPI_REQUEST_NULL`.
    request_null: Request = "MPI_REQUEST_NULL",        AddressOf(c"ompi_request_null"),         Number(0x2c00_0000);
    /// `MPI_MESSAGE_NULL`.
    message_null: Message = "MPI_MESSAGE_NULL",        AddressOf(c"ompi_message_null"),         Number(0x2c00_0000);
    /// `MPI_MESSAGE_NO_PROC`.
    message_no_proc: Message = "MPI_MESSAGE_NO_PROC",  AddressOf(c"ompi_message_no_proc"),      Number(0x6c00_0000);
    /// `MPI_DATATYPE_NULL`.
    datatype_null: Datatype = "MPI_DATATYPE_NULL",     AddressOf(c"ompi_mpi_datatype_null"),    Number(0x0c00_0000);
    /// `MPI_BYTE`.
    byte: Datatype = "MPI_BYTE",                       AddressOf(c"ompi_mpi_byte"),             Number(0x4c00_010d);
    /// `MPI_INT64_T`.
    int64: Datatype = "MPI_INT64_T",                   AddressOf(c"ompi_mpi_int64_t"),          Number(0x4c00_083a);
    /// `MPI_MAX`.
    max: Op = "MPI_MAX",                               AddressOf(c"ompi_mpi_op_max"),           Number(0x5800_0001);
    /// `MPI_MIN`.
    min: Op = "MPI_MIN",                               AddressOf(c"ompi_mpi_op_min"),           Number(0x5800_0002);
    /// `MPI_IN_PLACE`.
    in_place: usize = "MPI_IN_PLACE",                  Number(1),                               Number(-1);
    /// `MPI_BOTTOM`.
    bottom: usize = "MPI_BOTTOM",                      Number(0),                               Number(0);
    /// `MPI_STATUS_IGNORE`.
    status_ignore: usize = "MPI_STATUS_IGNORE",        Number(0),                               Number(1);
    /// `MPI_STATUSES_IGNORE`.
    statuses_ignore: usize = "MPI_STATUSES_IGNORE",    Number(0),                               Number(1);
    /// `MPI_ANY_SOURCE`.
    any_source: i32 = "MPI_ANY_SOURCE",                Number(-1),                              Number(-2);
    /// `MPI_PROC_NULL`.
    proc_null: i32 = "MPI_PROC_NULL",                  Number(-2),                              Number(-1);
    /// `MPI_ROOT`.
    root: i32 = "MPI_ROOT",                            Number(-4),                              Number(-3);
    /// `MPI_ANY_TAG`.
    any_tag: i32 = "MPI_ANY_TAG",                      Number(-1),                              Number(-1);
    /// `MPI_UNDEFINED`.
    undefined: i32 = "MPI_UNDEFINED",                  Number(-32766),                          Number(-32766);
    /// `MPI_THREAD_MULTIPLE`.
    thread_multiple: i32 = "MPI_THREAD_MULTIPLE",      Number(3),                               Number(3);
    /// Bytes of a status.
    status_bytes: usize = "sizeof(MPI_Status)",        Number(24),                              Number(20);
    /// Where a status has `MPI_SOURCE`.
    status_source: usize = "offsetof(MPI_Status, MPI_SOURCE)",  Number(0),                      Number(8);
    /// Where a status has `MPI_TAG`.
    status_tag: usize = "offsetof(MPI_Status, MPI_TAG)",        Number(4),                      Number(12);
}

impl Abi {
    /// The table for the library in this process, once an MPI function was called.
    ///
    /// # Errors
    /// The library's name for itself if it is none of the families.
    pub fn current() -> Result<&'static Self, &'static str> {
        static CURRENT: OnceLock<Result<Abi, String>> = OnceLock::new();
        CURRENT.get_or_init(detect).as_ref().map_err(String::as_str)
    }
}

/// Finds the family by what only it defines, or by the name it gives itself.
fn detect() -> Result<Abi, String> {
    let version = library_version().unwrap_or_else(|| "a library without MPI_Get_library_version".to_owned());
    // A library may offer its own ABI and the standard one, under one name for itself but from two files.
    let standard = library::file().is_some_and(|file| file.contains("libmpi_abi"));
    let mpich = ["MPICH", "Intel(R) MPI", "MVAPICH"].iter().any(|name| version.contains(name));
    let family = if standard {
        None
    } else if library::object(c"ompi_mpi_comm_world").is_some() {
        Some(Family::OpenMpi)
    } else if mpich {
        Some(Family::Mpich)
    } else {
        None
    };
    family.and_then(|family| Abi::of(family, version.clone())).ok_or(version)
}

/// What the library says of itself, in one line.
fn library_version() -> Option<String> {
    /// `MPI_MAX_LIBRARY_VERSION_STRING` is 256 in Open MPI and 8192 in MPICH, and in MPI 5.
    const ROOM: usize = 8192;
    let mut text = [0_u8; ROOM];
    let mut length: c_int = 0;
    let real = functions::environment::MPI_Get_library_version.find()?;
    // SAFETY: the library's own function of this signature (MPI 4.0 §9.1.1), which may be called before MPI_Init.
    let code = unsafe {
        let get: unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int = std::mem::transmute(real);
        get(text.as_mut_ptr().cast(), &mut length)
    };
    let text = CStr::from_bytes_until_nul(&text).ok().filter(|_| code == 0)?.to_string_lossy();
    Some(text.lines().next().unwrap_or_default().to_owned())
}

/// A value that the table holds, from the word that C has for it.
trait FromWord {
    fn from_word(word: usize) -> Self;
}

impl FromWord for usize {
    fn from_word(word: usize) -> Self {
        word
    }
}

impl FromWord for i32 {
    fn from_word(word: usize) -> Self {
        word as Self
    }
}

macro_rules! handles_from_words {
    ($($handle:ident)*) => {$(
        impl FromWord for $handle {
            fn from_word(word: usize) -> Self {
                Self::from_raw(word)
            }
        }
    )*};
}

handles_from_words! { Comm Datatype Group Message Op Request }
