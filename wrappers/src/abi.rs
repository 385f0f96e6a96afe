//! The differences between MPI libraries, in one table: a line for each constant, a column for each family.
//!
//! All implementations of the MPICH ABI (MPICH, Intel MPI, MVAPICH, Cray MPICH) are one family, and Open MPI from 1.7
//! to 5 another. The third is the standard ABI (MPI 5.0 chapter 20 and appendix A.1): any library may offer it, as
//! `libmpi_abi.so`. Its handles are as long as Open MPI's, and its constants are numbers like MPICH's.

use std::ffi::{CStr, c_int};
use std::sync::OnceLock;

use crate::handle::{Comm, Datatype, Errhandler, Group, Handle, Info, Message, Op, Request};
use crate::library;
use crate::symbol::{Symbol, Word};
use crate::weak_symbols;

/// A group of libraries with one application binary interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Open MPI. Handles are pointers to objects.
    OpenMpi,
    /// MPICH and those that share its ABI. Handles are `int`s.
    Mpich,
    /// The standard ABI. Handles are pointers to nothing.
    Standard,
}

/// The definition of a constant in a header.
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
    ($($field:ident: $type:ty = $c:literal, $open_mpi:expr, $mpich:expr, $standard:expr;)*) => {
        /// The constants of the library that this process runs on.
        #[derive(Debug)]
        pub struct Abi {
            /// The library's family.
            pub family: Family,
            /// The library's description of itself, in one line.
            pub library: String,
            $(#[doc = concat!("`", $c, "`.")] pub $field: $type,)*
        }

        /// Each constant as a C expression, and its value for each family.
        pub const CONSTANTS: &[(&str, [(Family, Constant); 3])] =
            &[$(($c, [(Family::OpenMpi, $open_mpi), (Family::Mpich, $mpich), (Family::Standard, $standard)])),*];

        impl Abi {
            fn of(family: Family, library: String) -> Option<Self> {
                let value = |open_mpi, mpich, standard| {
                    let constant = match family {
                        Family::OpenMpi => open_mpi,
                        Family::Mpich => mpich,
                        Family::Standard => standard,
                    };
                    match constant {
                        Number(value) => Some(value as usize),
                        AddressOf(name) => library::object(name).map(|address| address as usize),
                    }
                };
                Some(Self { family, library, $($field: <$type>::from_word(value($open_mpi, $mpich, $standard)?),)* })
            }
        }
    };
}

constants! {
    // What it is                                      Open MPI                                 MPICH                the
    // standard
    handle_bytes: usize = "sizeof(MPI_Comm)",          Number(8),                               Number(4),           Number(8);
    comm_world: Comm = "MPI_COMM_WORLD",               AddressOf(c"ompi_mpi_comm_world"),       Number(0x4400_0000), Number(0x101);
    comm_self: Comm = "MPI_COMM_SELF",                 AddressOf(c"ompi_mpi_comm_self"),        Number(0x4400_0001), Number(0x102);
    comm_null: Comm = "MPI_COMM_NULL",                 AddressOf(c"ompi_mpi_comm_null"),        Number(0x0400_0000), Number(0x100);
    group_null: Group = "MPI_GROUP_NULL",              AddressOf(c"ompi_mpi_group_null"),       Number(0x0800_0000), Number(0x108);
    group_empty: Group = "MPI_GROUP_EMPTY",            AddressOf(c"ompi_mpi_group_empty"),      Number(0x4800_0000), Number(0x109);
    info_null: Info = "MPI_INFO_NULL",                 AddressOf(c"ompi_mpi_info_null"),        Number(0x1c00_0000), Number(0x130);
    request_null: Request = "MPI_REQUEST_NULL",        AddressOf(c"ompi_request_null"),         Number(0x2c00_0000), Number(0x180);
    message_null: Message = "MPI_MESSAGE_NULL",        AddressOf(c"ompi_message_null"),         Number(0x2c00_0000), Number(0x128);
    message_no_proc: Message = "MPI_MESSAGE_NO_PROC",  AddressOf(c"ompi_message_no_proc"),      Number(0x6c00_0000), Number(0x129);
    datatype_null: Datatype = "MPI_DATATYPE_NULL",     AddressOf(c"ompi_mpi_datatype_null"),    Number(0x0c00_0000), Number(0x200);
    op_null: Op = "MPI_OP_NULL",                       AddressOf(c"ompi_mpi_op_null"),          Number(0x1800_0000), Number(0x20);
    byte: Datatype = "MPI_BYTE",                       AddressOf(c"ompi_mpi_byte"),             Number(0x4c00_010d), Number(0x247);
    int64: Datatype = "MPI_INT64_T",                   AddressOf(c"ompi_mpi_int64_t"),          Number(0x4c00_083a), Number(0x258);
    max: Op = "MPI_MAX",                               AddressOf(c"ompi_mpi_op_max"),           Number(0x5800_0001), Number(0x23);
    min: Op = "MPI_MIN",                               AddressOf(c"ompi_mpi_op_min"),           Number(0x5800_0002), Number(0x22);
    band: Op = "MPI_BAND",                             AddressOf(c"ompi_mpi_op_band"),          Number(0x5800_0006), Number(0x28);
    errors_are_fatal: Errhandler = "MPI_ERRORS_ARE_FATAL", AddressOf(c"ompi_mpi_errors_are_fatal"), Number(0x5400_0000), Number(0x141);
    in_place: usize = "MPI_IN_PLACE",                  Number(1),                               Number(-1),          Number(1);
    bottom: usize = "MPI_BOTTOM",                      Number(0),                               Number(0),           Number(0);
    status_ignore: usize = "MPI_STATUS_IGNORE",        Number(0),                               Number(1),           Number(0);
    statuses_ignore: usize = "MPI_STATUSES_IGNORE",    Number(0),                               Number(1),           Number(0);
    any_source: i32 = "MPI_ANY_SOURCE",                Number(-1),                              Number(-2),          Number(-1);
    proc_null: i32 = "MPI_PROC_NULL",                  Number(-2),                              Number(-1),          Number(-3);
    root: i32 = "MPI_ROOT",                            Number(-4),                              Number(-3),          Number(-4);
    any_tag: i32 = "MPI_ANY_TAG",                      Number(-1),                              Number(-1),          Number(-2);
    undefined: i32 = "MPI_UNDEFINED",                  Number(-32766),                          Number(-32766),      Number(-32766);
    err_truncate: i32 = "MPI_ERR_TRUNCATE",            Number(15),                              Number(14),          Number(15);
    tag_ub: i32 = "MPI_TAG_UB",                        Number(0),                               Number(0x6440_0001), Number(501);
    cart: i32 = "MPI_CART",                            Number(1),                               Number(2),           Number(211);
    graph: i32 = "MPI_GRAPH",                          Number(2),                               Number(1),           Number(212);
    dist_graph: i32 = "MPI_DIST_GRAPH",                Number(3),                               Number(3),           Number(213);
    lock_shared: i32 = "MPI_LOCK_SHARED",              Number(2),                               Number(235),         Number(302);
    mode_nocheck: i32 = "MPI_MODE_NOCHECK",            Number(1),                               Number(1024),        Number(1024);
    mode_nostore: i32 = "MPI_MODE_NOSTORE",            Number(8),                               Number(2048),        Number(8192);
    mode_noput: i32 = "MPI_MODE_NOPUT",                Number(4),                               Number(4096),        Number(4096);
    mode_noprecede: i32 = "MPI_MODE_NOPRECEDE",        Number(2),                               Number(8192),        Number(2048);
    mode_nosucceed: i32 = "MPI_MODE_NOSUCCEED",        Number(16),                              Number(16384),       Number(16384);
    thread_multiple: i32 = "MPI_THREAD_MULTIPLE",      Number(3),                               Number(3),           Number(4096);
    status_bytes: usize = "sizeof(MPI_Status)",        Number(24),                              Number(20),          Number(32);
    status_source: usize = "offsetof(MPI_Status, MPI_SOURCE)",  Number(0),                      Number(8),           Number(0);
    status_tag: usize = "offsetof(MPI_Status, MPI_TAG)",        Number(4),                      Number(12),          Number(4);
}

/// The table for the library in this process, once it is known.
static KNOWN: OnceLock<&Abi> = OnceLock::new();

impl Abi {
    /// The table for the library in this process, once an MPI function was called.
    ///
    /// # Errors
    /// The library's name for itself if it is none of the families.
    #[inline]
    pub fn current() -> Result<&'static Self, &'static str> {
        match KNOWN.get() {
            Some(abi) => Ok(abi),
            None => Self::find(),
        }
    }

    #[cold]
    fn find() -> Result<&'static Self, &'static str> {
        static CURRENT: OnceLock<Result<Abi, String>> = OnceLock::new();
        let abi = CURRENT.get_or_init(detect).as_ref().map_err(String::as_str)?;
        Ok(KNOWN.get_or_init(|| abi))
    }
}

/// Detects the family by the library's statement about its ABI, by symbols that only it defines, or by its name for
/// itself.
fn detect() -> Result<Abi, String> {
    weak_symbols::hide();
    let version = library_version().unwrap_or_else(|| "a library without MPI_Get_library_version".to_owned());
    let mpich = ["MPICH", "Intel(R) MPI", "MVAPICH"].iter().any(|name| version.contains(name));
    let family = match standard_version() {
        Some((1, _)) => Some(Family::Standard),
        Some((later, minor)) => return Err(format!("{version}, ABI {later}.{minor}")),
        // A draft of the standard ABI: libraries that offer it in addition to their own have it in a separate file.
        None if library::file().is_some_and(|file| file.contains("libmpi_abi")) => None,
        None if library::object(c"ompi_mpi_comm_world").is_some() => Some(Family::OpenMpi),
        None if mpich => Some(Family::Mpich),
        None => None,
    };
    family.and_then(|family| Abi::of(family, version.clone())).ok_or(version)
}

/// The version of the standard ABI that the library has; `None` if it has another one, and knows (−1) or does not know
/// that there is a standard (MPI 5.0 §20.2).
fn standard_version() -> Option<(c_int, c_int)> {
    static GET_VERSION: Symbol = Symbol::new("PMPI_Get_version\0");
    static ABI_GET_VERSION: Symbol = Symbol::new("PMPI_Abi_get_version\0");
    // MPICH 4.3 already calls a draft with other constants 1.0, and itself an MPI 4.1.
    two_numbers(&GET_VERSION).filter(|(mpi, _)| *mpi >= 5)?;
    two_numbers(&ABI_GET_VERSION).filter(|(major, _)| *major > 0)
}

/// The version that `MPI_Get_version` or `MPI_Abi_get_version` gives.
fn two_numbers(function: &Symbol) -> Option<(c_int, c_int)> {
    let (mut major, mut minor): (c_int, c_int) = (-1, -1);
    // SAFETY: (int *, int *), which may be called before MPI_Init.
    let code = unsafe { function.call([(&raw mut major).word(), (&raw mut minor).word()]) };
    (code == Some(0)).then_some((major, minor))
}

/// The library's description of itself, in one line.
fn library_version() -> Option<String> {
    static GET_LIBRARY_VERSION: Symbol = Symbol::new("PMPI_Get_library_version\0");
    /// `MPI_MAX_LIBRARY_VERSION_STRING` is 256 in Open MPI and 8192 in MPICH, and in MPI 5.
    const ROOM: usize = 8192;
    // Not on the stack, which may be a coroutine's.
    let mut text = vec![0_u8; ROOM];
    let mut length: c_int = 0;
    // SAFETY: (char *, int *) (MPI 4.0 §9.1.1), which may be called before MPI_Init.
    let code = unsafe { GET_LIBRARY_VERSION.call([text.as_mut_ptr().word(), (&raw mut length).word()]) };
    let text = CStr::from_bytes_until_nul(&text).ok().filter(|_| code == Some(0))?.to_string_lossy();
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

impl<K> FromWord for Handle<K> {
    fn from_word(word: usize) -> Self {
        Self::from_raw(word)
    }
}
