//! A communicator of the tool.

use std::ffi::c_int;

use super::{ErrorCode, allreduce, free, split};
use crate::abi::Abi;
use crate::argument::{Comm, Op};

/// A communicator of the tool, with the members of one of the program's: no message on it belongs to the program. Freed
/// when dropped, by all members together.
pub struct ToolComm {
    abi: &'static Abi,
    comm: Comm,
}

impl ToolComm {
    /// A communicator with the members of `comm`, made by [`split`]: collective, all members must take part.
    #[must_use]
    pub fn like(abi: &'static Abi, comm: Comm) -> Option<Self> {
        split(abi, comm).map(|comm| Self { abi, comm })
    }

    /// `MPI_Ssend` of bytes: returns once they are being received.
    ///
    /// # Errors
    /// The library's code.
    pub fn ssend(&self, bytes: &[u8], to: u32) -> Result<(), ErrorCode> {
        let (count, to) = (int(bytes.len())?, int(to)?);
        // SAFETY: (const void *, int, MPI_Datatype, int, int, MPI_Comm), and this many bytes are there.
        unsafe { call!(MPI_Ssend(bytes.as_ptr(), count, self.abi.byte, to, 0, self.comm)) }
    }

    /// `MPI_Recv` of as many bytes as there is room for.
    ///
    /// # Errors
    /// The library's code.
    pub fn recv(&self, bytes: &mut [u8], from: u32) -> Result<(), ErrorCode> {
        let (abi, count, from) = (self.abi, int(bytes.len())?, int(from)?);
        // SAFETY: (void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *), and there is room for this many bytes.
        unsafe { call!(MPI_Recv(bytes.as_mut_ptr(), count, abi.byte, from, 0, self.comm, abi.status_ignore)) }
    }

    /// [`allreduce`] among the members.
    #[must_use]
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
