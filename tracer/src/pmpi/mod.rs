//! The MPI functions that the tracer calls itself, by their profiling names, so that no tool sees them.
//!
//! All but [`allreduce`], [`barrier`], [`split`], [`ToolComm`] and [`exchange`] are local.

use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::FromRawFd;

use titr_wrappers::abi::{Abi, Family};
use titr_wrappers::argument::{Comm, Datatype, File, HandleCell, Offset, Op, Request};
use titr_wrappers::call;

mod exchange;
mod region;

pub(crate) use exchange::{Exchange, Reduction, Side};
pub(crate) use region::Region;
pub(crate) use titr_wrappers::pmpi::*;

/// `MPI_Op_commutative`; true after an error.
pub(crate) fn op_is_commutative(op: Op) -> bool {
    let mut flag: c_int = 0;
    // SAFETY: (MPI_Op, int *).
    unsafe { call!(MPI_Op_commutative(op, &raw mut flag)) }.is_err() || flag != 0
}

/// `MPI_Type_get_extent`: the distance between elements in bytes.
fn type_extent(datatype: Datatype) -> Option<i64> {
    let (mut lower, mut extent) = (0_i64, 0_i64);
    // SAFETY: (MPI_Datatype, MPI_Aint *, MPI_Aint *); MPI_Aint is 64 bits wide on these platforms.
    unsafe { call!(MPI_Type_get_extent(datatype, &raw mut lower, &raw mut extent)) }.ok().map(|()| extent)
}

/// `MPI_Barrier`: collective.
pub(crate) fn barrier(comm: Comm) {
    // SAFETY: (MPI_Comm).
    let _ = unsafe { call!(MPI_Barrier(comm)) };
}

/// `MPI_Comm_split` into one communicator of the same members in the same order, with nothing else of `comm`'s
/// (`MPI_Comm_dup` would call functions that the program has attached to it). Its errors are returned. Collective.
pub(crate) fn split(abi: &Abi, comm: Comm) -> Option<Comm> {
    let mut new = HandleCell::empty();
    // SAFETY: (MPI_Comm, int color, int key, MPI_Comm *).
    unsafe { call!(MPI_Comm_split(comm, 0, comm_rank(comm), new.address())) }.ok()?;
    let new = new.get(abi);
    return_errors(abi, new);
    Some(new)
}

/// Whether a request was cancelled, so that it completes without a message; `None` if it is not complete.
pub(crate) fn completes_cancelled(request: Request) -> Option<bool> {
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

/// The byte of a file at which an access of this rank starts: at `offset` of its view (`MPI_File_get_byte_offset`), or
/// where its own file pointer is (`MPI_File_get_position`). `None` if MPI does not say.
pub(crate) fn access_start(file: File, offset: Option<Offset>) -> Option<u64> {
    let mut position: i64 = 0;
    let offset = match offset {
        Some(Offset(offset)) => offset,
        // SAFETY: (MPI_File, MPI_Offset *).
        None => unsafe { call!(MPI_File_get_position(file, &raw mut position)) }.ok().map(|()| position)?,
    };
    // A negative one MPI refuses, as it will refuse the access.
    let offset = usize::try_from(offset).ok()?;
    let mut byte: i64 = 0;
    // SAFETY: (MPI_File, MPI_Offset, MPI_Offset *); MPI_Offset is as wide as a word.
    unsafe { call!(MPI_File_get_byte_offset(file, offset, &raw mut byte)) }.ok()?;
    u64::try_from(byte).ok()
}

/// `MPI_Comm_get_parent`: the communicator with the processes that spawned this world; `None` if it was not spawned.
pub(crate) fn comm_parent(abi: &Abi) -> Option<Comm> {
    let mut cell = HandleCell::empty();
    // SAFETY: (MPI_Comm *).
    unsafe { call!(MPI_Comm_get_parent(cell.address())) }.ok()?;
    Some(cell.get(abi)).filter(|&parent| parent != abi.comm_null)
}

/// The addresses of a socket of the Internet's, which `MPI_Comm_join` was given: this end's, and the other end's.
/// `None` for any other socket.
pub(crate) fn socket_ends(socket: c_int) -> Option<(SocketAddr, SocketAddr)> {
    if socket < 0 {
        return None;
    }
    // SAFETY: the program has just given the open socket to MPI; it is only queried for its addresses here, and not
    // closed.
    let stream = ManuallyDrop::new(unsafe { TcpStream::from_raw_fd(socket) });
    Some((stream.local_addr().ok()?, stream.peer_addr().ok()?))
}

/// `MPI_Comm_call_errhandler`: calls the program's error handler for an error of `comm`, which may end the program.
pub(crate) fn raise(comm: Comm, ErrorCode(code): ErrorCode) {
    // SAFETY: (MPI_Comm, int).
    let _ = unsafe { call!(MPI_Comm_call_errhandler(comm, code)) };
}

/// Whether a collective that returned this error has taken place nevertheless: others may have received its messages.
/// Classes of errors in arguments, which MPI detects before it communicates, precede `MPI_ERR_TRUNCATE` in every
/// family.
pub(crate) fn has_taken_place(abi: &Abi, error: ErrorCode) -> bool {
    error.class().is_some_and(|class| class >= abi.err_truncate)
}

/// A communicator of the tool, with the members of one of the program's: no message on it belongs to the program. Freed
/// when dropped, by all members together.
pub(crate) struct ToolComm {
    abi: &'static Abi,
    comm: Comm,
}

impl ToolComm {
    /// A communicator with the members of `comm`, made by [`split`]: collective, all members must take part.
    pub(crate) fn like(abi: &'static Abi, comm: Comm) -> Option<Self> {
        split(abi, comm).map(|comm| Self { abi, comm })
    }

    /// `MPI_Ssend` of bytes: returns once they are being received.
    pub(crate) fn ssend(&self, bytes: &[u8], to: u32) -> Result<(), ErrorCode> {
        let (count, to) = (int(bytes.len())?, int(to)?);
        // SAFETY: (const void *, int, MPI_Datatype, int, int, MPI_Comm), and this many bytes are there.
        unsafe { call!(MPI_Ssend(bytes.as_ptr(), count, self.abi.byte, to, 0, self.comm)) }
    }

    /// `MPI_Recv` of as many bytes as there is room for.
    pub(crate) fn recv(&self, bytes: &mut [u8], from: u32) -> Result<(), ErrorCode> {
        let (abi, count, from) = (self.abi, int(bytes.len())?, int(from)?);
        // SAFETY: (void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *), and there is room for this many bytes.
        unsafe { call!(MPI_Recv(bytes.as_mut_ptr(), count, abi.byte, from, 0, self.comm, abi.status_ignore)) }
    }

    /// Whether all members say yes: collective.
    pub(crate) fn all(&self, yes: bool) -> Option<bool> {
        allreduce(self.abi, yes.into(), self.abi.min, self.comm).map(|all| all == 1)
    }
}

impl Drop for ToolComm {
    fn drop(&mut self) {
        // SAFETY: (MPI_Comm *).
        let _ = unsafe { call!(MPI_Comm_free(HandleCell::holding(self.comm).address())) };
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
pub(crate) fn at_finalize(abi: &Abi, last: extern "C-unwind" fn()) -> Result<(), ErrorCode> {
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
