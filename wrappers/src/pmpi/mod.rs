//! The few MPI functions that a tool calls itself, by their profiling names, so that no tool sees them.
//!
//! All but [`allreduce`], [`barrier`], [`split`], [`free`], [`ToolComm`] and [`exchange`] are
//! local. Handles must refer to live objects, as everywhere in MPI; an error gives a neutral value (no rank, no size,
//! nothing), and with MPI's default error handler ends the program.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ffi::{c_int, c_void};

use crate::abi::{Abi, Family};
use crate::argument::{Comm, Datatype, File, HandleCell, Offset, Op, Request, Status};
use crate::handle::ErrhandlerKind;
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

pub mod exchange;
mod groups;
pub mod region;
mod spawn;

pub use groups::{KnownGroup, Neighbors, Translation, neighbors, translate, translate_group, translate_to};
pub use spawn::{ChangedInfos, SpawnInfos, comm_parent, socket_ends};

/// The code of an error that an MPI function returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCode(pub c_int);

impl ErrorCode {
    /// The code that a call returns which ended like this.
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
pub fn comm_rank(comm: Comm) -> i32 {
    int_of!(MPI_Comm_rank(comm)).unwrap_or(-1)
}

/// `MPI_Comm_size`; 0 after an error.
pub fn comm_size(comm: Comm) -> usize {
    int_of!(MPI_Comm_size(comm)).and_then(|size| usize::try_from(size).ok()).unwrap_or(0)
}

/// `MPI_Comm_remote_size`; 0 after an error.
pub(crate) fn comm_remote_size(comm: Comm) -> usize {
    int_of!(MPI_Comm_remote_size(comm)).and_then(|size| usize::try_from(size).ok()).unwrap_or(0)
}

/// Whether `root` means this rank: by its number, or on an inter-communicator by `MPI_ROOT`.
pub fn is_root(root: i32, comm: Comm) -> bool {
    if comm_is_inter(comm) { Abi::current().is_ok_and(|abi| abi.root == root) } else { comm_rank(comm) == root }
}

/// The number of ranks that a collective exchanges data with: of an inter-communicator, the size of the remote group.
pub fn comm_peers(comm: Comm) -> usize {
    if comm_is_inter(comm) { comm_remote_size(comm) } else { comm_size(comm) }
}

/// `MPI_Op_commutative`; true after an error.
pub fn op_is_commutative(op: Op) -> bool {
    int_of!(MPI_Op_commutative(op)).is_none_or(|flag| flag != 0)
}

/// `MPI_Comm_test_inter`.
pub fn comm_is_inter(comm: Comm) -> bool {
    int_of!(MPI_Comm_test_inter(comm)).is_some_and(|flag| flag != 0)
}

/// `MPI_Type_size_x`: the bytes of data in one element, without gaps; `None` if undefined. A call that moves nothing may
/// have got away with `MPI_DATATYPE_NULL`, after which MPI must not be asked.
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
pub(crate) fn type_extent(datatype: Datatype) -> Option<i64> {
    let (mut lower, mut extent) = (0_i64, 0_i64);
    // SAFETY: (MPI_Datatype, MPI_Aint *, MPI_Aint *); MPI_Aint is 64 bits wide on these platforms.
    unsafe { call!(MPI_Type_get_extent(datatype, &raw mut lower, &raw mut extent)) }.ok().map(|()| extent)
}

/// `MPI_Test_cancelled`: whether the request that a status is of was cancelled.
pub fn is_cancelled(status: &Status<'_>) -> bool {
    let mut flag: c_int = 0;
    // SAFETY: (MPI_Status *, int *).
    unsafe { call!(MPI_Test_cancelled(status.address(), &raw mut flag)) }.is_ok() && flag != 0
}

/// `MPI_Get_elements_x` of bytes: the size of the message that a status is of.
pub fn message_bytes(status: &Status<'_>) -> u64 {
    let mut bytes: i64 = 0;
    // SAFETY: (MPI_Status *, MPI_Datatype, MPI_Count *).
    let known = unsafe { call!(MPI_Get_elements_x(status.address(), status.abi().byte, &raw mut bytes)) };
    known.ok().and_then(|()| u64::try_from(bytes).ok()).unwrap_or(0)
}

/// `MPI_Allreduce` of one 64-bit integer: collective, all members of `comm` must take part.
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
pub fn split(abi: &Abi, comm: Comm) -> Option<Comm> {
    let mut new = HandleCell::empty();
    // SAFETY: (MPI_Comm, int color, int key, MPI_Comm *).
    unsafe { call!(MPI_Comm_split(comm, 0, comm_rank(comm), new.address())) }.ok()?;
    let new = new.get(abi);
    return_errors(abi, new);
    Some(new)
}

/// The largest tag (`MPI_TAG_UB`), or the largest that MPI guarantees.
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
pub(crate) fn free(comm: Comm) {
    // SAFETY: (MPI_Comm *).
    let _ = unsafe { call!(MPI_Comm_free(HandleCell::holding(comm).address())) };
}

/// The byte of a file at which an access of this rank starts: at `offset` of its view (`MPI_File_get_byte_offset`), or
/// where its own file pointer is (`MPI_File_get_position`). `None` if MPI does not say.
pub fn access_start(file: File, offset: Option<Offset>) -> Option<u64> {
    let offset = match offset {
        Some(Offset(offset)) => offset,
        None => position(file)?,
    };
    // A negative one MPI refuses, as it will refuse the access.
    let offset = usize::try_from(offset).ok()?;
    let mut byte: i64 = 0;
    // SAFETY: (MPI_File, MPI_Offset, MPI_Offset *); MPI_Offset is as wide as a word.
    unsafe { call!(MPI_File_get_byte_offset(file, offset, &raw mut byte)) }.ok()?;
    u64::try_from(byte).ok()
}

fn position(file: File) -> Option<i64> {
    let mut position: i64 = 0;
    // SAFETY: (MPI_File, MPI_Offset *).
    unsafe { call!(MPI_File_get_position(file, &raw mut position)) }.ok().map(|()| position)
}

/// Makes the functions that a tool calls on its own communicator return their errors instead of ending the program.
pub fn return_errors(abi: &Abi, comm: Comm) {
    let mut handler = HandleCell::<ErrhandlerKind>::empty();
    // SAFETY: (MPI_Comm_errhandler_function *, MPI_Errhandler *), (MPI_Comm, MPI_Errhandler) and (MPI_Errhandler *).
    // The function is called with variable arguments, and reads none of them.
    unsafe {
        if call!(MPI_Comm_create_errhandler(ignore as *const (), handler.address())).is_ok() {
            let _ = call!(MPI_Comm_set_errhandler(comm, handler.get(abi)));
            let _ = call!(MPI_Errhandler_free(handler.address()));
        }
    }
}

/// After a handler that returns, the function that failed returns the error (MPI 4.0 §9.3).
extern "C" fn ignore(_: *const c_void, _: *const c_int) {}

/// `MPI_Comm_call_errhandler`: calls the program's error handler for an error of `comm`, which may end the program.
pub fn raise(comm: Comm, ErrorCode(code): ErrorCode) {
    // SAFETY: (MPI_Comm, int).
    let _ = unsafe { call!(MPI_Comm_call_errhandler(comm, code)) };
}

/// Whether a collective that returned this error has taken place nevertheless: others may have received its messages.
/// Classes of errors in arguments, which MPI detects before it communicates, precede `MPI_ERR_TRUNCATE` in every
/// family.
pub fn has_taken_place(abi: &Abi, error: ErrorCode) -> bool {
    class(error).is_some_and(|class| class >= abi.err_truncate)
}

/// Whether a receive returned this error because the message is larger than the buffer.
pub fn is_truncation(abi: &Abi, error: ErrorCode) -> bool {
    class(error) == Some(abi.err_truncate)
}

/// `MPI_Error_class`.
fn class(ErrorCode(code): ErrorCode) -> Option<c_int> {
    let mut class: c_int = 0;
    // SAFETY: (int, int *).
    unsafe { call!(MPI_Error_class(code, &raw mut class)) }.ok().map(|()| class)
}

/// A communicator of the tool, with the members of one of the program's: no message on it belongs to the program. Freed
/// when dropped, by all members together.
pub struct ToolComm {
    abi: &'static Abi,
    comm: Comm,
}

impl ToolComm {
    /// A communicator with the members of `comm`, made by [`split`]: collective, all members must take part.
    pub fn like(abi: &'static Abi, comm: Comm) -> Option<Self> {
        split(abi, comm).map(|comm| Self { abi, comm })
    }

    /// `MPI_Ssend` of bytes: returns once they are being received.
    pub fn ssend(&self, bytes: &[u8], to: u32) -> Result<(), ErrorCode> {
        let (count, to) = (int(bytes.len())?, int(to)?);
        // SAFETY: (const void *, int, MPI_Datatype, int, int, MPI_Comm), and this many bytes are there.
        unsafe { call!(MPI_Ssend(bytes.as_ptr(), count, self.abi.byte, to, 0, self.comm)) }
    }

    /// `MPI_Recv` of as many bytes as there is room for.
    pub fn recv(&self, bytes: &mut [u8], from: u32) -> Result<(), ErrorCode> {
        let (abi, count, from) = (self.abi, int(bytes.len())?, int(from)?);
        // SAFETY: (void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *), and there is room for this many bytes.
        unsafe { call!(MPI_Recv(bytes.as_mut_ptr(), count, abi.byte, from, 0, self.comm, abi.status_ignore)) }
    }

    /// [`allreduce`] among the members.
    pub fn allreduce(&self, value: i64, op: Op) -> Option<i64> {
        allreduce(self.abi, value, op, self.comm)
    }
}

impl Drop for ToolComm {
    fn drop(&mut self) {
        free(self.comm);
    }
}

/// An argument that C has as `int`.
fn int(number: impl TryInto<c_int>) -> Result<c_int, ErrorCode> {
    number.try_into().map_err(|_| ErrorCode(1))
}

/// Makes `MPI_Finalize` call `last` after all functions that the program has attached to `MPI_COMM_SELF`, and before
/// anything else is ended: those are called in the reverse order of their attachment (MPI 4.0 §11.2.4). To be called
/// before the program can attach any. MPICH continues with those of `MPI_COMM_WORLD`, while it still communicates.
///
/// # Errors
/// The library's code; `last` is not called then.
pub fn at_finalize(abi: &Abi, last: extern "C-unwind" fn()) -> Result<(), ErrorCode> {
    let mut keyval: c_int = 0;
    let comm = match abi.family {
        Family::OpenMpi | Family::Standard => abi.comm_self,
        Family::Mpich => abi.comm_world,
    };
    // SAFETY: (MPI_Comm_copy_attr_function *, MPI_Comm_delete_attr_function *, int *, void *), (MPI_Comm, int, void *) and
    // (int *). The attribute is the function to be called.
    unsafe {
        call!(MPI_Comm_create_keyval(
            copy as *const (),
            delete as *const (),
            &raw mut keyval,
            std::ptr::null::<c_void>()
        ))?;
        let attached = call!(MPI_Comm_set_attr(comm, keyval as usize, last as *const ()));
        let _ = call!(MPI_Comm_free_keyval(&raw mut keyval));
        attached
    }
}

/// A duplicate of the communicator has no such attribute.
unsafe extern "C" fn copy(
    _comm: usize,
    _keyval: c_int,
    _extra: *const c_void,
    _value: *const c_void,
    _copied: *mut c_void,
    is_copied: *mut c_int,
) -> c_int {
    // SAFETY: MPI gives a place for the flag.
    unsafe { is_copied.write(0) };
    0
}

unsafe extern "C-unwind" fn delete(_comm: usize, _keyval: c_int, last: *const (), _extra: *const c_void) -> c_int {
    // SAFETY: the attribute that was attached above.
    let last: extern "C-unwind" fn() = unsafe { std::mem::transmute(last) };
    last();
    0
}

/// Memory that MPI may write to at any time, zeros at first.
pub struct Memory {
    address: *mut u8,
    layout: Layout,
}

impl Memory {
    /// The strictest alignment that an element of any datatype may need, in bytes.
    const ALIGNMENT: usize = 64;

    /// Memory of this many bytes.
    pub fn new(len: u64) -> Self {
        let layout = usize::try_from(len).ok().and_then(|len| Layout::from_size_align(len, Self::ALIGNMENT).ok());
        // More than an address space holds fails as any other memory that cannot be had.
        let Some(layout) = layout else { handle_alloc_error(Layout::new::<u8>()) };
        if layout.size() == 0 {
            return Self { address: std::ptr::without_provenance_mut(Self::ALIGNMENT), layout };
        }
        // SAFETY: the size is not zero.
        let address = unsafe { alloc_zeroed(layout) };
        if address.is_null() {
            handle_alloc_error(layout);
        }
        Self { address, layout }
    }

    /// The address of the first byte.
    pub fn address(&self) -> usize {
        self.address.expose_provenance()
    }

    /// The length in bytes.
    pub fn bytes(&self) -> u64 {
        self.layout.size() as u64
    }
}

// SAFETY: only MPI has the address, and it does not depend on the calling thread.
unsafe impl Send for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: `new` got it from the allocator with this layout.
            unsafe { dealloc(self.address, self.layout) };
        }
    }
}
