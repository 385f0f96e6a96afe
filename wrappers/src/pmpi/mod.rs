//! The few MPI functions that a tool calls itself, by their profiling names, so that no tool sees them.
//!
//! All but [`allreduce`], [`barrier`], [`split`], [`free`], [`ToolComm`] and [`exchange`] are
//! local. Handles must refer to live objects, as everywhere in MPI; an error gives a neutral value (no rank, no size,
//! nothing), and with MPI's default error handler ends the program.

use std::ffi::c_int;

use crate::abi::Abi;
use crate::argument::{Comm, Datatype, HandleCell, Op, Request, Status};
use crate::symbol::{Forward, Symbol};

/// Calls the library's function of a name with these arguments, in C's order and each a [`Word`](crate::symbol::Word), and
/// returns `Result<(), ErrorCode>`.
///
/// # Safety
/// The arguments are those that the function may be called with.
macro_rules! call {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        static SYMBOL: $crate::symbol::Symbol = $crate::symbol::Symbol::new(concat!("P", stringify!($name), "\0"));
        $crate::pmpi::attempt(&SYMBOL, [$($crate::symbol::Word::word($argument)),*])
    }};
}

/// The `int` that a function of (handle, int *) gives.
macro_rules! int_of {
    ($name:ident($handle:expr)) => {{
        let mut value: c_int = 0;
        // SAFETY: (handle, int *).
        unsafe { call!($name($handle, &raw mut value)) }.ok().map(|()| value)
    }};
}

mod at_finalize;
mod datatype;
pub mod device;
mod errors;
pub mod exchange;
mod file;
mod groups;
mod memory;
mod neighbors;
mod reduction;
pub mod region;
mod spawn;
mod tool_comm;

pub use at_finalize::at_finalize;
pub use errors::{has_taken_place, is_truncation, raise, return_errors};
pub use file::access_start;
pub use groups::{KnownGroup, Translation, translate, translate_group, translate_to};
pub use memory::Memory;
pub use neighbors::{Neighbors, neighbors};
pub use spawn::{ChangedInfos, SpawnInfos, comm_parent, socket_ends};
pub use tool_comm::ToolComm;

/// The code of an error that an MPI function returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCode(pub c_int);

impl ErrorCode {
    /// The code that a call returns which ended like this.
    #[must_use]
    pub fn of(result: Result<(), Self>) -> c_int {
        result.map_or_else(|error| error.0, |()| 0)
    }
}

/// Calls a function of the library.
///
/// # Safety
/// `words` are arguments that the function may be called with.
pub(crate) unsafe fn attempt<const N: usize>(function: &Symbol, words: [usize; N]) -> Result<(), ErrorCode>
where
    [usize; N]: Forward,
{
    /// Any code but `MPI_SUCCESS`: a library that has no such function has none for that either.
    const MISSING: c_int = 1;
    // SAFETY: the caller's promise.
    match unsafe { function.call(words) }.unwrap_or(MISSING) {
        0 => Ok(()),
        code => Err(ErrorCode(code)),
    }
}

/// `MPI_Comm_rank`; −1 after an error.
#[must_use]
pub fn comm_rank(comm: Comm) -> i32 {
    int_of!(MPI_Comm_rank(comm)).unwrap_or(-1)
}

/// `MPI_Comm_size`; 0 after an error.
#[must_use]
pub fn comm_size(comm: Comm) -> usize {
    int_of!(MPI_Comm_size(comm)).and_then(|size| usize::try_from(size).ok()).unwrap_or(0)
}

/// `MPI_Comm_remote_size`; 0 after an error.
#[must_use]
pub fn comm_remote_size(comm: Comm) -> usize {
    int_of!(MPI_Comm_remote_size(comm)).and_then(|size| usize::try_from(size).ok()).unwrap_or(0)
}

/// Whether `root` means this rank: by its number, or on an inter-communicator by `MPI_ROOT`.
#[must_use]
pub fn is_root(root: i32, comm: Comm) -> bool {
    if comm_is_inter(comm) { Abi::current().is_ok_and(|abi| abi.root == root) } else { comm_rank(comm) == root }
}

/// The number of ranks that a collective exchanges data with: of an inter-communicator, the size of the remote group.
#[must_use]
pub fn comm_peers(comm: Comm) -> usize {
    if comm_is_inter(comm) { comm_remote_size(comm) } else { comm_size(comm) }
}

/// `MPI_Op_commutative`; true after an error.
#[must_use]
pub fn op_is_commutative(op: Op) -> bool {
    int_of!(MPI_Op_commutative(op)).is_none_or(|flag| flag != 0)
}

/// `MPI_Comm_test_inter`.
#[must_use]
pub fn comm_is_inter(comm: Comm) -> bool {
    int_of!(MPI_Comm_test_inter(comm)).is_some_and(|flag| flag != 0)
}

/// `MPI_Type_size_x`: the bytes of data in one element, without gaps; `None` if undefined. A call that moves nothing may
/// have got away with `MPI_DATATYPE_NULL`, after which MPI must not be asked.
#[must_use]
pub fn type_size(datatype: Datatype) -> Option<u64> {
    if Abi::current().is_ok_and(|abi| datatype == abi.datatype_null) {
        return None;
    }
    let mut size: i64 = 0;
    // SAFETY: (MPI_Datatype, MPI_Count *); MPI_Count is 64 bits wide in every family.
    unsafe { call!(MPI_Type_size_x(datatype, &raw mut size)) }.ok()?;
    u64::try_from(size).ok()
}

/// `MPI_Type_get_extent`: the distance between elements in bytes.
#[must_use]
pub fn type_extent(datatype: Datatype) -> Option<i64> {
    let (mut lower, mut extent) = (0_i64, 0_i64);
    // SAFETY: (MPI_Datatype, MPI_Aint *, MPI_Aint *); MPI_Aint is 64 bits wide on these platforms.
    unsafe { call!(MPI_Type_get_extent(datatype, &raw mut lower, &raw mut extent)) }.ok().map(|()| extent)
}

/// `MPI_Test_cancelled`: whether the request that a status is of was cancelled.
#[must_use]
pub fn is_cancelled(status: &Status<'_>) -> bool {
    let mut flag: c_int = 0;
    // SAFETY: (MPI_Status *, int *).
    unsafe { call!(MPI_Test_cancelled(status.address(), &raw mut flag)) }.is_ok() && flag != 0
}

/// `MPI_Get_elements_x` of bytes: the size of the message that a status is of.
#[must_use]
pub fn message_bytes(status: &Status<'_>) -> u64 {
    let mut bytes: i64 = 0;
    // SAFETY: (MPI_Status *, MPI_Datatype, MPI_Count *).
    let known = unsafe { call!(MPI_Get_elements_x(status.address(), status.abi().byte, &raw mut bytes)) };
    known.ok().and_then(|()| u64::try_from(bytes).ok()).unwrap_or(0)
}

/// `MPI_Allreduce` of one 64-bit integer: collective, all members of `comm` must take part.
#[must_use]
pub fn allreduce(abi: &Abi, value: i64, op: Op, comm: Comm) -> Option<i64> {
    let mut result = value;
    // SAFETY: (const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm), one MPI_INT64_T on either side.
    unsafe { call!(MPI_Allreduce(&raw const value, &raw mut result, 1, abi.int64, op, comm)) }.ok().map(|()| result)
}

/// `MPI_Barrier`: collective.
pub fn barrier(comm: Comm) {
    // SAFETY: (MPI_Comm).
    let _ = unsafe { call!(MPI_Barrier(comm)) };
}

/// `MPI_Comm_split` into one communicator of the same members in the same order, with nothing else of `comm`'s
/// (`MPI_Comm_dup` would call functions that the program has attached to it). Its errors are returned. Collective.
#[must_use]
pub fn split(abi: &Abi, comm: Comm) -> Option<Comm> {
    let mut new = HandleCell::empty();
    // SAFETY: (MPI_Comm, int color, int key, MPI_Comm *).
    unsafe { call!(MPI_Comm_split(comm, 0, comm_rank(comm), new.address())) }.ok()?;
    let new = new.get(abi);
    return_errors(abi, new);
    Some(new)
}

/// The largest tag (`MPI_TAG_UB`), or the largest that MPI guarantees.
#[must_use]
pub fn tag_ub(abi: &Abi, comm: Comm) -> u32 {
    /// MPI 4.0 §9.1.2.
    const GUARANTEED: u32 = 32_767;
    let (mut value, mut found): (*const c_int, c_int) = (std::ptr::null(), 0);
    // SAFETY: (MPI_Comm, int, void *, int *): an attribute is the address of the value, here of an `int`.
    let known = unsafe { call!(MPI_Comm_get_attr(comm, abi.tag_ub, &raw mut value, &raw mut found)) };
    if known.is_err() || found == 0 || value.is_null() {
        return GUARANTEED;
    }
    // SAFETY: as above.
    u32::try_from(unsafe { value.read() }).unwrap_or(GUARANTEED)
}

/// Whether a request was cancelled, so that it completes without a message; `None` if it is not complete.
#[must_use]
pub fn completes_cancelled(request: Request) -> Option<bool> {
    // A status of any family fits.
    let mut status = [0_u64; 4];
    let (mut complete, mut cancelled): (c_int, c_int) = (0, 0);
    // SAFETY: (MPI_Request, int *, MPI_Status *).
    unsafe { call!(MPI_Request_get_status(request, &raw mut complete, &raw mut status)) }.ok()?;
    if complete == 0 {
        return None;
    }
    // SAFETY: (MPI_Status *, int *).
    unsafe { call!(MPI_Test_cancelled(&raw mut status, &raw mut cancelled)) }.ok().map(|()| cancelled != 0)
}

/// `MPI_Comm_free`: collective.
pub fn free(comm: Comm) {
    // SAFETY: (MPI_Comm *).
    let _ = unsafe { call!(MPI_Comm_free(HandleCell::holding(comm).address())) };
}
