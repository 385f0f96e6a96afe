//! A communicator of the tool's own.

use std::ffi::{c_int, c_void};

use crate::abi::Abi;
use crate::argument::{Comm, Op, load_handle};
use crate::functions::{communicator, point_to_point};
use crate::pmpi::{allreduce, call, comm_rank};

/// A communicator of the tool's own, with the members of one of the program's: no message on it is the program's. Freed
/// when dropped, by all members together.
pub struct OwnComm {
    abi: &'static Abi,
    /// As MPI stores it: a handle of either size, in the first bytes.
    place: usize,
}

impl OwnComm {
    /// `MPI_Comm_split`: collective, all members of `comm` must take part. `MPI_Comm_dup` would run callbacks of the
    /// program, those that copy attributes.
    #[must_use]
    pub fn like(abi: &'static Abi, comm: Comm) -> Option<Self> {
        let mut own = Self { abi, place: 0 };
        let (color, key) = (0, comm_rank(comm) as usize);
        let words = [comm.raw(), color, key, &raw mut own.place as usize];
        // SAFETY: (MPI_Comm, int, int, MPI_Comm *), and `place` is as large as the largest handle.
        unsafe { call(&communicator::MPI_Comm_split, words) }.then_some(own)
    }

    fn handle(&self) -> Comm {
        // SAFETY: `place` is as large as the largest handle.
        Comm::from_raw(unsafe { load_handle(self.abi, &raw const self.place as usize) })
    }

    /// `MPI_Ssend` of bytes: returns once they are being received. Whether it succeeded.
    #[must_use]
    pub fn ssend(&self, bytes: &[u8], to: u32) -> bool {
        let Ok(count) = c_int::try_from(bytes.len()) else { return false };
        let words = [bytes.as_ptr() as usize, count as usize, self.abi.byte.raw(), to as usize, 0, self.handle().raw()];
        // SAFETY: (const void *, int, MPI_Datatype, int, int, MPI_Comm), and so many bytes are there.
        unsafe { call(&point_to_point::MPI_Ssend, words) }
    }

    /// `MPI_Recv` of as many bytes as there is room for. Whether it succeeded.
    #[must_use]
    pub fn recv(&self, bytes: &mut [u8], from: u32) -> bool {
        let Ok(count) = c_int::try_from(bytes.len()) else { return false };
        let (abi, to) = (self.abi, bytes.as_mut_ptr() as usize);
        let words = [to, count as usize, abi.byte.raw(), from as usize, 0, self.handle().raw(), abi.status_ignore];
        // SAFETY: (void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *), and there is room for so many bytes.
        unsafe { call(&point_to_point::MPI_Recv, words) }
    }

    /// [`allreduce`](crate::pmpi::allreduce) among its members.
    #[must_use]
    pub fn allreduce(&self, value: i64, op: Op) -> Option<i64> {
        allreduce(self.abi, value, op, self.handle())
    }
}

impl Drop for OwnComm {
    fn drop(&mut self) {
        if self.place != 0 {
            // SAFETY: (MPI_Comm *), a communicator that `like` has made.
            unsafe { call(&communicator::MPI_Comm_free, [&raw mut self.place as *mut c_void as usize]) };
        }
    }
}
