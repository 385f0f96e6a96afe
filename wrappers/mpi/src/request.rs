//! Requests: messages and collectives that are under way.

use std::ffi::c_int;

use titr_wrappers::abi::Abi;
use titr_wrappers::argument::HandleCell;
use titr_wrappers::handle::RequestKind;

use crate::Mpi;
use crate::call::call;
use crate::error::MpiError;
use crate::status::{Received, StatusCell};

/// Something that was started and will be complete. One that is dropped goes on: its memory stays as long as [`Mpi`].
#[must_use]
pub struct Request<'m> {
    mpi: &'m Mpi,
    cell: HandleCell<RequestKind>,
}

impl<'m> Request<'m> {
    /// The request that the library has stored the handle of.
    pub(crate) fn new(mpi: &'m Mpi, cell: HandleCell<RequestKind>) -> Self {
        Self { mpi, cell }
    }

    /// Waits until it is complete.
    ///
    /// # Errors
    /// The library's.
    pub fn wait(mut self) -> Result<Received, MpiError> {
        let mut status = StatusCell::default();
        // SAFETY: (MPI_Request *, MPI_Status *).
        unsafe { call!(MPI_Wait(self.cell.address(), status.address())) }?;
        Ok(status.received(self.mpi.abi))
    }

    /// Waits until all are complete (`MPI_Waitall`).
    ///
    /// # Errors
    /// The library's.
    pub fn wait_all(requests: Vec<Self>) -> Result<(), MpiError> {
        let Some(first) = requests.first() else { return Ok(()) };
        let abi = first.mpi.abi;
        let mut handles = Handles::of(abi, &requests);
        let count =
            c_int::try_from(requests.len()).map_err(|_| MpiError::too_large("MPI_Waitall", requests.len() as u64))?;
        // SAFETY: (int, MPI_Request *, MPI_Status *), with an array of as many handles.
        unsafe { call!(MPI_Waitall(count, handles.address(), abi.statuses_ignore)) }
    }
}

/// Handles of requests one behind the other, as long as the library has them.
struct Handles(Vec<u8>);

impl Handles {
    fn of(abi: &Abi, requests: &[Request<'_>]) -> Self {
        let handles = requests.iter().map(|request| request.cell.get(abi).raw().to_le_bytes());
        Self(handles.flat_map(|bytes| bytes.into_iter().take(abi.handle_bytes)).collect())
    }

    fn address(&mut self) -> *mut u8 {
        self.0.as_mut_ptr()
    }
}
