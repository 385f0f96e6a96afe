//! Communicators.

use std::ffi::c_int;

use titr_wrappers::argument::HandleCell;
use titr_wrappers::pmpi;

use crate::Mpi;
use crate::function::{MpiError, call};
use crate::request::Request;

/// A communicator that `MPI_Comm_idup` creates: it exists once the request of the call is complete.
pub struct Duplicate<'m> {
    mpi: &'m Mpi,
    /// Where the library puts the handle.
    handle: Box<HandleCell<titr_wrappers::handle::CommKind>>,
}

impl<'m> Duplicate<'m> {
    /// The communicator, after the request is complete.
    pub(crate) fn comm(&self) -> Comm<'m> {
        Comm::of(self.mpi, self.handle.get(self.mpi.abi))
    }
}

/// A communicator.
#[derive(Clone, Copy)]
pub struct Comm<'m> {
    pub(crate) mpi: &'m Mpi,
    pub(crate) handle: titr_wrappers::handle::Comm,
    /// The number of this process in the communicator.
    pub rank: u32,
    /// The number of processes in the communicator.
    pub size: u32,
}

impl<'m> Comm<'m> {
    /// The communicator of a handle, which is not `MPI_COMM_NULL`.
    pub(crate) fn of(mpi: &'m Mpi, handle: titr_wrappers::handle::Comm) -> Self {
        let (mut rank, mut size): (c_int, c_int) = (0, 1);
        // SAFETY: (MPI_Comm, int *), of a communicator that exists.
        let _ = unsafe { call!(MPI_Comm_rank(handle, &raw mut rank)) };
        // SAFETY: as above.
        let _ = unsafe { call!(MPI_Comm_size(handle, &raw mut size)) };
        Self { mpi, handle, rank: rank.unsigned_abs(), size: size.unsigned_abs() }
    }

    /// The largest tag that a message may have (`MPI_TAG_UB`).
    pub(crate) fn tag_bound(&self) -> u32 {
        pmpi::tag_ub(self.mpi.abi, self.handle)
    }

    /// A communicator of the processes that give the same color, ordered by key; `None` for one that gives no color.
    /// Collective.
    pub fn split(&self, color: Option<u32>, key: u32) -> Result<Option<Self>, MpiError> {
        let abi = self.mpi.abi;
        let color = color.map_or(abi.undefined, |color| color as c_int);
        let mut new = HandleCell::empty();
        // SAFETY: (MPI_Comm, int, int, MPI_Comm *).
        unsafe { call!(MPI_Comm_split(self.handle, color, key as c_int, new.address())) }?;
        let new = new.get(abi);
        if new == abi.comm_null {
            return Ok(None);
        }
        pmpi::return_errors(abi, new);
        Ok(Some(Self::of(self.mpi, new)))
    }

    /// A communicator of the same members in the same order (`MPI_Comm_dup`). Collective.
    pub(crate) fn duplicate(&self) -> Result<Self, MpiError> {
        let abi = self.mpi.abi;
        let mut new = HandleCell::empty();
        // SAFETY: (MPI_Comm, MPI_Comm *).
        unsafe { call!(MPI_Comm_dup(self.handle, new.address())) }?;
        Ok(Self::of(self.mpi, new.get(abi)))
    }

    /// The same without a wait for the other members (`MPI_Comm_idup`): the duplicate, and the request of its creation.
    pub(crate) fn iduplicate(&self) -> Result<(Duplicate<'m>, Request<'m>), MpiError> {
        let (mut handle, mut request) = (Box::new(HandleCell::empty()), HandleCell::empty());
        // SAFETY: (MPI_Comm, MPI_Comm *, MPI_Request *); the handle's place stays as long as the duplicate.
        unsafe { call!(MPI_Comm_idup(self.handle, handle.address(), request.address())) }?;
        Ok((Duplicate { mpi: self.mpi, handle }, Request::new(self.mpi, request)))
    }

    /// `MPI_Comm_free`. Collective.
    pub fn free(self) -> Result<(), MpiError> {
        // SAFETY: (MPI_Comm *).
        unsafe { call!(MPI_Comm_free(HandleCell::holding(self.handle).address())) }
    }

    /// `MPI_Barrier`. Collective.
    pub fn barrier(&self) -> Result<(), MpiError> {
        // SAFETY: (MPI_Comm).
        unsafe { call!(MPI_Barrier(self.handle)) }
    }
}
