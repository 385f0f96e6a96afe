//! Requests: messages and collectives in progress.

use std::ffi::c_int;

use titr_wrappers::abi::Abi;
use titr_wrappers::argument::HandleCell;
use titr_wrappers::handle::{Request as Handle, RequestKind};

use crate::Mpi;
use crate::function::{MpiError, call, int};

/// An operation that was started, or a persistent request that can be started. The operation of a dropped request
/// continues: its memory is not freed.
#[must_use]
pub struct Request<'m> {
    mpi: &'m Mpi,
    cell: HandleCell<RequestKind>,
    /// Whether the request is persistent: after its completion it can be started again.
    pub is_persistent: bool,
    /// Arguments that the library may read until the request is complete.
    lists: Vec<Vec<c_int>>,
}

impl<'m> Request<'m> {
    /// The request that the library has stored the handle of.
    pub(crate) fn new(mpi: &'m Mpi, cell: HandleCell<RequestKind>) -> Self {
        Self { mpi, cell, is_persistent: false, lists: Vec::new() }
    }

    pub(crate) fn persistent(mut self) -> Self {
        self.is_persistent = true;
        self
    }

    /// The request with arguments that the library may read until it is complete.
    pub(crate) fn with_lists(mut self, lists: Vec<Vec<c_int>>) -> Self {
        self.lists = lists;
        self
    }

    /// Waits until the request is complete.
    pub fn wait(mut self) -> Result<Received, MpiError> {
        self.complete()
    }

    /// Waits until the request is complete (`MPI_Wait`). A persistent one can be started again.
    pub(crate) fn complete(&mut self) -> Result<Received, MpiError> {
        let mut status = StatusCell::default();
        // SAFETY: (MPI_Request *, MPI_Status *).
        unsafe { call!(MPI_Wait(self.cell.address(), status.address())) }?;
        self.release();
        Ok(status.received(self.mpi.abi))
    }

    /// Waits until all are complete (`MPI_Waitall`).
    pub fn wait_all(mut requests: Vec<Self>) -> Result<(), MpiError> {
        Self::complete_all(&mut requests.iter_mut().collect::<Vec<_>>())
    }

    /// Waits until all are complete (`MPI_Waitall`), even if some fail. Persistent ones can be started again.
    ///
    /// # Errors
    /// The library's; a truncated message only if that is all.
    pub(crate) fn complete_all(requests: &mut [&mut Self]) -> Result<(), MpiError> {
        let Some(first) = requests.first() else { return Ok(()) };
        let abi = first.mpi.abi;
        let mut handles = Handles::of(abi, requests.iter().map(|request| &**request));
        let count = int("MPI_Waitall", requests.len() as u64)?;
        let mut statuses = vec![0_i32; requests.len() * abi.status_bytes / size_of::<i32>()];
        // SAFETY: (int, MPI_Request *, MPI_Status *), with arrays of as many handles and statuses.
        let waited = unsafe { call!(MPI_Waitall(count, handles.address(), statuses.as_mut_ptr())) };
        if waited.is_ok() {
            requests.iter_mut().for_each(|request| request.release());
            return Ok(());
        }
        // The library has taken away those that it has completed, and says in the status of each how it failed.
        let mut outcome = Ok(());
        for (index, request) in requests.iter_mut().enumerate() {
            request.cell = HandleCell::holding(handles.get(abi, index));
            // In the statuses of all families, `MPI_ERROR` follows `MPI_TAG`.
            let error = (index * abi.status_bytes + abi.status_tag) / size_of::<i32>() + 1;
            let failed = match statuses.get(error) {
                Some(&code) if code != 0 && request.cell.get(abi) == abi.request_null => {
                    Err(MpiError::new("MPI_Waitall", code))
                }
                _ => request.complete().map(drop),
            };
            let is_worse = |error: &MpiError| outcome.is_ok() || !request.mpi.is_truncation(error);
            if failed.as_ref().is_err_and(is_worse) {
                outcome = failed;
            }
        }
        outcome
    }

    /// Starts persistent requests (`MPI_Startall`).
    pub(crate) fn start_all(requests: &mut [&mut Self]) -> Result<(), MpiError> {
        if let [only] = requests {
            // SAFETY: (MPI_Request *).
            return unsafe { call!(MPI_Start(only.cell.address())) };
        }
        let Some(first) = requests.first() else { return Ok(()) };
        let abi = first.mpi.abi;
        let mut handles = Handles::of(abi, requests.iter().map(|request| &**request));
        let count = int("MPI_Startall", requests.len() as u64)?;
        // SAFETY: (int, MPI_Request *), with an array of as many handles.
        unsafe { call!(MPI_Startall(count, handles.address())) }?;
        // A library may give a started request another handle.
        for (index, request) in requests.iter_mut().enumerate() {
            request.cell = HandleCell::holding(handles.get(abi, index));
        }
        Ok(())
    }

    /// Lets the library make progress, as a test does, without completing the request (`MPI_Request_get_status`).
    pub(crate) fn poll(&self) -> Result<bool, MpiError> {
        let (abi, mut flag) = (self.mpi.abi, 0 as c_int);
        // SAFETY: (MPI_Request, int *, MPI_Status *).
        unsafe { call!(MPI_Request_get_status(self.cell.get(abi), &raw mut flag, abi.status_ignore)) }?;
        Ok(flag != 0)
    }

    /// Asks the library to cancel the request (`MPI_Cancel`), which is completed as before.
    pub(crate) fn cancel(&mut self) -> Result<(), MpiError> {
        // SAFETY: (MPI_Request *).
        unsafe { call!(MPI_Cancel(self.cell.address())) }
    }

    /// `MPI_Request_free`: the request completes unobserved; a persistent one is gone.
    pub(crate) fn free(mut self) -> Result<(), MpiError> {
        // Open MPI itself frees a persistent receive that fails.
        if self.cell.get(self.mpi.abi) == self.mpi.abi.request_null {
            return Ok(());
        }
        // SAFETY: (MPI_Request *).
        unsafe { call!(MPI_Request_free(self.cell.address())) }
    }

    /// The request is complete: the library reads its arguments no more, unless it starts again.
    fn release(&mut self) {
        if !self.is_persistent {
            self.lists.clear();
        }
    }
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        std::mem::forget(std::mem::take(&mut self.lists));
    }
}

/// Handles of requests one behind the other, as long as the library has them.
struct Handles(Vec<HandleCell<RequestKind>>);

impl Handles {
    /// Cells are as long as the longest handle; shorter handles are packed into the first of them.
    fn of<'r, 'm: 'r>(abi: &Abi, requests: impl IntoIterator<Item = &'r Request<'m>>) -> Self {
        let raw: Vec<usize> = requests.into_iter().map(|request| request.cell.get(abi).raw()).collect();
        let each = size_of::<usize>() / abi.handle_bytes;
        let bits = abi.handle_bytes as u32 * u8::BITS;
        let pack = |part: &[usize]| {
            part.iter().rev().fold(0, |packed: usize, raw| packed.checked_shl(bits).unwrap_or(0) | raw)
        };
        Self(raw.chunks(each).map(|part| HandleCell::holding(Handle::from_raw(pack(part)))).collect())
    }

    fn address(&mut self) -> usize {
        self.0.first_mut().map_or(0, HandleCell::address)
    }

    fn get(&mut self, abi: &Abi, index: usize) -> Handle {
        let address = self.address() + index * abi.handle_bytes;
        // SAFETY: the cells hold one handle per given request, including number `index`.
        unsafe { Handle::load_from(abi, address) }
    }
}

/// A message that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// The sender's rank in the communicator; `None` for `MPI_PROC_NULL`.
    pub source: Option<u32>,
    /// The message's tag.
    pub tag: u32,
}

/// Memory in which MPI stores a status.
#[derive(Default)]
#[repr(C, align(8))]
pub(crate) struct StatusCell([i32; Self::INTS]);

impl StatusCell {
    /// A status of any family has fewer.
    const INTS: usize = 16;

    /// The address that MPI is given.
    pub(crate) fn address(&mut self) -> *mut i32 {
        self.0.as_mut_ptr()
    }

    /// The source and the tag that the status tells.
    pub(crate) fn received(&self, abi: &Abi) -> Received {
        let field = |offset: usize| self.0.get(offset / size_of::<i32>()).copied().unwrap_or_default();
        let source = u32::try_from(field(abi.status_source)).ok();
        Received { source, tag: field(abi.status_tag).unsigned_abs() }
    }
}
