//! Messages of persistent requests (MPI 4.0 §3.9).

use titr_wrappers::argument::HandleCell;

use crate::call::call;
use crate::communicator::Comm;
use crate::error::MpiError;
use crate::message::{Envelope, Peer, SendMode, TagChoice};
use crate::request::Request;

impl<'m> Comm<'m> {
    /// Sets up a persistent send of this many bytes.
    ///
    /// # Errors
    /// The library's, and if the length of a message exceeds an `int`.
    pub fn send_init(&self, mode: SendMode, to: Peer, tag: u32, bytes: u64) -> Result<Request<'m>, MpiError> {
        let Envelope { buffer, count, byte, peer, tag, comm } = self.outgoing("MPI_Send_init", to, tag, bytes)?;
        let mut request = HandleCell::empty();
        let cell = request.address();
        // SAFETY: (const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *), and the bytes stay where they are.
        unsafe {
            match mode {
                SendMode::Standard => call!(MPI_Send_init(buffer, count, byte, peer, tag, comm, cell)),
                SendMode::Synchronous => call!(MPI_Ssend_init(buffer, count, byte, peer, tag, comm, cell)),
                SendMode::Buffered => call!(MPI_Bsend_init(buffer, count, byte, peer, tag, comm, cell)),
                SendMode::Ready => call!(MPI_Rsend_init(buffer, count, byte, peer, tag, comm, cell)),
            }
        }?;
        Ok(Request::new(self.mpi, request).persistent())
    }

    /// Sets up a persistent receive of a message of at most this many bytes.
    pub fn recv_init(&self, from: Peer, tag: TagChoice, bytes: u64) -> Result<Request<'m>, MpiError> {
        let Envelope { buffer, count, byte, peer, tag, comm } = self.incoming("MPI_Recv_init", from, tag, bytes)?;
        let mut request = HandleCell::empty();
        // SAFETY: (void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *), and the room stays where it is.
        unsafe { call!(MPI_Recv_init(buffer, count, byte, peer, tag, comm, request.address())) }?;
        Ok(Request::new(self.mpi, request).persistent())
    }
}
