//! `MPI_Comm_idup`, called by a tool for the program.

use std::ffi::c_int;

use super::ErrorCode;
use crate::abi::Abi;
use crate::argument::{Comm, HandleCell, Later};
use crate::handle::RequestKind;

/// A duplication of a communicator in progress.
pub struct Duplication {
    abi: &'static Abi,
    /// The request is moved nowhere until it is complete.
    request: Box<HandleCell<RequestKind>>,
}

impl Duplication {
    /// Begins to duplicate `comm`, into a place of the program's.
    ///
    /// # Errors
    /// The library's code.
    pub fn start(abi: &'static Abi, comm: Comm, new: Later) -> Result<Self, ErrorCode> {
        let mut request = Box::new(HandleCell::empty());
        // SAFETY: (MPI_Comm, MPI_Comm *, MPI_Request *). The program's place is there until its own request is complete.
        unsafe { call!(MPI_Comm_idup(comm, new.address(), request.address()))? };
        Ok(Self { abi, request })
    }

    /// Whether it is complete, after which this must not be called again. An error completes it.
    pub fn is_complete(&mut self) -> bool {
        let mut flag: c_int = 0;
        // SAFETY: (MPI_Request *, int *, MPI_Status *).
        let tested = unsafe { call!(MPI_Test(self.request.address(), &raw mut flag, self.abi.status_ignore)) };
        tested.is_err() || flag != 0
    }
}
