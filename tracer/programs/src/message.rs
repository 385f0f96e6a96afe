//! Messages that have a length and no content.

use std::ffi::c_int;

use titr_wrappers::argument::HandleCell;
use titr_wrappers::symbol::Word;

use crate::call::call;
use crate::communicator::Comm;
use crate::error::MpiError;
use crate::request::Request;
use crate::request::{Received, StatusCell};

pub use titr_common::event::SendMode;

/// The destination or source of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A rank of the communicator.
    Rank(u32),
    /// No process: `MPI_PROC_NULL`.
    Nobody,
    /// `MPI_ANY_SOURCE`, of a receive.
    Any,
}

/// The tag of a message, or `MPI_ANY_TAG` of a receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagChoice {
    /// This tag.
    Tag(u32),
    /// Any tag.
    Any,
}

impl<'m> Comm<'m> {
    /// Sends this many bytes; returns when `MPI_Send`, or the function of the mode, does.
    ///
    /// # Errors
    /// The library's, and if the length of a message exceeds an `int`.
    pub fn send(&self, mode: SendMode, to: Peer, tag: u32, bytes: u64) -> Result<(), MpiError> {
        let Envelope { buffer, count, byte, peer, tag, comm } = self.outgoing("MPI_Send", to, tag, bytes)?;
        // SAFETY: (const void *, int, MPI_Datatype, int, int, MPI_Comm), and there are `count` bytes.
        unsafe {
            match mode {
                SendMode::Standard => call!(MPI_Send(buffer, count, byte, peer, tag, comm)),
                SendMode::Synchronous => call!(MPI_Ssend(buffer, count, byte, peer, tag, comm)),
                SendMode::Buffered => call!(MPI_Bsend(buffer, count, byte, peer, tag, comm)),
                SendMode::Ready => call!(MPI_Rsend(buffer, count, byte, peer, tag, comm)),
            }
        }
    }

    /// Starts to send this many bytes.
    ///
    /// # Errors
    /// The library's, and if the length of a message exceeds an `int`.
    pub fn isend(&self, mode: SendMode, to: Peer, tag: u32, bytes: u64) -> Result<Request<'m>, MpiError> {
        let Envelope { buffer, count, byte, peer, tag, comm } = self.outgoing("MPI_Isend", to, tag, bytes)?;
        let mut request = HandleCell::empty();
        let cell = request.address();
        // SAFETY: (const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *), and the bytes stay where they are.
        unsafe {
            match mode {
                SendMode::Standard => call!(MPI_Isend(buffer, count, byte, peer, tag, comm, cell)),
                SendMode::Synchronous => call!(MPI_Issend(buffer, count, byte, peer, tag, comm, cell)),
                SendMode::Buffered => call!(MPI_Ibsend(buffer, count, byte, peer, tag, comm, cell)),
                SendMode::Ready => call!(MPI_Irsend(buffer, count, byte, peer, tag, comm, cell)),
            }
        }?;
        Ok(Request::new(self.mpi, request))
    }

    /// Receives a message of at most this many bytes.
    ///
    /// # Errors
    /// The library's, such as that the message is longer.
    pub fn recv(&self, from: Peer, tag: TagChoice, bytes: u64) -> Result<Received, MpiError> {
        let Envelope { buffer, count, byte, peer, tag, comm } = self.incoming("MPI_Recv", from, tag, bytes)?;
        let mut status = StatusCell::default();
        // SAFETY: (void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *), and there is room for `count` bytes.
        unsafe { call!(MPI_Recv(buffer, count, byte, peer, tag, comm, status.address())) }?;
        Ok(status.received(self.mpi.abi))
    }

    /// Posts the receive of a message of at most this many bytes.
    pub fn irecv(&self, from: Peer, tag: TagChoice, bytes: u64) -> Result<Request<'m>, MpiError> {
        let Envelope { buffer, count, byte, peer, tag, comm } = self.incoming("MPI_Irecv", from, tag, bytes)?;
        let mut request = HandleCell::empty();
        // SAFETY: (void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *), and the room stays where it is.
        unsafe { call!(MPI_Irecv(buffer, count, byte, peer, tag, comm, request.address())) }?;
        Ok(Request::new(self.mpi, request))
    }

    /// Sends and receives at once (`MPI_Sendrecv`).
    pub(crate) fn sendrecv(
        &self,
        (to, sent_tag, sent): (Peer, u32, u64),
        (from, tag, bytes): (Peer, TagChoice, u64),
    ) -> Result<Received, MpiError> {
        let sent = self.outgoing("MPI_Sendrecv", to, sent_tag, sent)?;
        let Envelope { buffer, count, byte, peer, tag, comm } = self.incoming("MPI_Sendrecv", from, tag, bytes)?;
        let mut status = StatusCell::default();
        // SAFETY: (const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status
        // *), with as many bytes to send and as much room.
        unsafe {
            call!(MPI_Sendrecv(
                sent.buffer,
                sent.count,
                sent.byte,
                sent.peer,
                sent.tag,
                buffer,
                count,
                byte,
                peer,
                tag,
                comm,
                status.address()
            ))
        }?;
        Ok(status.received(self.mpi.abi))
    }

    /// Waits until a message has come that a receive with these arguments would get (`MPI_Probe`).
    pub fn probe(&self, from: Peer, tag: TagChoice) -> Result<Received, MpiError> {
        let mut status = StatusCell::default();
        let (from, tag) = (self.peer(from), self.tag(tag));
        // SAFETY: (int, int, MPI_Comm, MPI_Status *).
        unsafe { call!(MPI_Probe(from, tag, self.handle, status.address())) }?;
        Ok(status.received(self.mpi.abi))
    }

    /// The message that a receive with these arguments would get now, if one has come (`MPI_Iprobe`).
    pub(crate) fn iprobe(&self, from: Peer, tag: TagChoice) -> Result<Option<Received>, MpiError> {
        let (mut status, mut flag) = (StatusCell::default(), 0 as c_int);
        let (from, tag) = (self.peer(from), self.tag(tag));
        // SAFETY: (int, int, MPI_Comm, int *, MPI_Status *).
        unsafe { call!(MPI_Iprobe(from, tag, self.handle, &raw mut flag, status.address())) }?;
        Ok((flag != 0).then(|| status.received(self.mpi.abi)))
    }

    /// The arguments of a message that is sent.
    pub(crate) fn outgoing(
        &self,
        function: &'static str,
        to: Peer,
        tag: u32,
        bytes: u64,
    ) -> Result<Envelope, MpiError> {
        self.envelope(function, self.mpi.outgoing.of(bytes), to, TagChoice::Tag(tag), bytes)
    }

    /// The arguments of a message that is received.
    pub(crate) fn incoming(
        &self,
        function: &'static str,
        from: Peer,
        tag: TagChoice,
        bytes: u64,
    ) -> Result<Envelope, MpiError> {
        self.envelope(function, self.mpi.incoming.of(bytes), from, tag, bytes)
    }

    fn envelope(
        &self,
        function: &'static str,
        buffer: usize,
        peer: Peer,
        tag: TagChoice,
        bytes: u64,
    ) -> Result<Envelope, MpiError> {
        let count = c_int::try_from(bytes).map_err(|_| MpiError::too_large(function, bytes))?;
        let (peer, tag) = (self.peer(peer), self.tag(tag));
        Ok(Envelope { buffer, count, byte: self.mpi.abi.byte.word(), peer, tag, comm: self.handle.word() })
    }

    fn peer(&self, peer: Peer) -> c_int {
        match peer {
            Peer::Rank(rank) => rank as c_int,
            Peer::Nobody => self.mpi.abi.proc_null,
            Peer::Any => self.mpi.abi.any_source,
        }
    }

    fn tag(&self, tag: TagChoice) -> c_int {
        match tag {
            TagChoice::Tag(tag) => tag as c_int,
            TagChoice::Any => self.mpi.abi.any_tag,
        }
    }
}

/// The arguments that all functions for messages have in common.
pub(crate) struct Envelope {
    pub(crate) buffer: usize,
    pub(crate) count: c_int,
    pub(crate) byte: usize,
    pub(crate) peer: c_int,
    pub(crate) tag: c_int,
    pub(crate) comm: usize,
}

impl<'m> Comm<'m> {
    /// Sets up a persistent send of this many bytes.
    ///
    /// # Errors
    /// The library's, and if the length of a message exceeds an `int`.
    pub(crate) fn send_init(&self, mode: SendMode, to: Peer, tag: u32, bytes: u64) -> Result<Request<'m>, MpiError> {
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
    pub(crate) fn recv_init(&self, from: Peer, tag: TagChoice, bytes: u64) -> Result<Request<'m>, MpiError> {
        let Envelope { buffer, count, byte, peer, tag, comm } = self.incoming("MPI_Recv_init", from, tag, bytes)?;
        let mut request = HandleCell::empty();
        // SAFETY: (void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *), and the room stays where it is.
        unsafe { call!(MPI_Recv_init(buffer, count, byte, peer, tag, comm, request.address())) }?;
        Ok(Request::new(self.mpi, request).persistent())
    }
}
