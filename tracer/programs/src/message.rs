//! Messages that have a length and no content.

use std::ffi::c_int;

use titr_wrappers::argument::HandleCell;
use titr_wrappers::symbol::Word;

use crate::communicator::Comm;
use crate::function::{Function, MpiError, Scope, call, ended, functions, int};
use crate::request::{Received, Request, StatusCell};

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

/// The arguments that all functions for messages have in common: the address of the data, their number, their type, the peer, the
/// tag and the communicator.
type Envelope = [usize; 6];

functions! { SendMode:
    Standard: "MPI_Send" "MPI_Isend" "MPI_Send_init";
    Synchronous: "MPI_Ssend" "MPI_Issend" "MPI_Ssend_init";
    Buffered: "MPI_Bsend" "MPI_Ibsend" "MPI_Bsend_init";
    Ready: "MPI_Rsend" "MPI_Irsend" "MPI_Rsend_init";
}

static IRECV: Function = Function::new("MPI_Irecv\0", Scope::Seen);
static RECV_INIT: Function = Function::new("MPI_Recv_init\0", Scope::Seen);

impl<'m> Comm<'m> {
    /// Sends this many bytes; returns when `MPI_Send`, or the function of the mode, does.
    ///
    /// # Errors
    /// The library's, and if the length of a message exceeds an `int`.
    pub fn send(&self, mode: SendMode, to: Peer, tag: u32, bytes: u64) -> Result<(), MpiError> {
        let function = &functions(mode).blocking;
        let envelope = self.outgoing("MPI_Send", to, tag, bytes)?;
        // SAFETY: (const void *, int, MPI_Datatype, int, int, MPI_Comm), and there are as many bytes.
        ended(function, unsafe { function.call(envelope) })
    }

    /// Starts to send this many bytes.
    pub fn isend(&self, mode: SendMode, to: Peer, tag: u32, bytes: u64) -> Result<Request<'m>, MpiError> {
        self.begin_message(&functions(mode).nonblocking, self.outgoing("MPI_Isend", to, tag, bytes)?)
    }

    /// Sets up a persistent send of this many bytes.
    pub(crate) fn send_init(&self, mode: SendMode, to: Peer, tag: u32, bytes: u64) -> Result<Request<'m>, MpiError> {
        let envelope = self.outgoing("MPI_Send_init", to, tag, bytes)?;
        Ok(self.begin_message(&functions(mode).persistent, envelope)?.persistent())
    }

    /// Receives a message of at most this many bytes.
    ///
    /// # Errors
    /// The library's, such as that the message is longer.
    pub fn recv(&self, from: Peer, tag: TagChoice, bytes: u64) -> Result<Received, MpiError> {
        let [buffer, count, byte, peer, tag, comm] = self.incoming("MPI_Recv", from, tag, bytes)?;
        let mut status = StatusCell::default();
        // SAFETY: (void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *), and there is room for `count` bytes.
        unsafe { call!(MPI_Recv(buffer, count, byte, peer, tag, comm, status.address())) }?;
        Ok(status.received(self.mpi.abi))
    }

    /// Posts the receive of a message of at most this many bytes.
    pub fn irecv(&self, from: Peer, tag: TagChoice, bytes: u64) -> Result<Request<'m>, MpiError> {
        self.begin_message(&IRECV, self.incoming("MPI_Irecv", from, tag, bytes)?)
    }

    /// Sets up a persistent receive of a message of at most this many bytes.
    pub(crate) fn recv_init(&self, from: Peer, tag: TagChoice, bytes: u64) -> Result<Request<'m>, MpiError> {
        Ok(self.begin_message(&RECV_INIT, self.incoming("MPI_Recv_init", from, tag, bytes)?)?.persistent())
    }

    fn begin_message(&self, function: &'static Function, envelope: Envelope) -> Result<Request<'m>, MpiError> {
        let [buffer, count, byte, peer, tag, comm] = envelope;
        let mut request = HandleCell::empty();
        // SAFETY: (void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *), and the bytes stay where they are.
        let code = unsafe { function.call([buffer, count, byte, peer, tag, comm, request.address()]) };
        ended(function, code).map(|()| Request::new(self.mpi, request))
    }

    /// Sends and receives at once (`MPI_Sendrecv`).
    pub(crate) fn sendrecv(
        &self,
        (to, sent_tag, sent): (Peer, u32, u64),
        (from, tag, bytes): (Peer, TagChoice, u64),
    ) -> Result<Received, MpiError> {
        let [given, length, of, to, sent_tag, _] = self.outgoing("MPI_Sendrecv", to, sent_tag, sent)?;
        let [buffer, count, byte, peer, tag, comm] = self.incoming("MPI_Sendrecv", from, tag, bytes)?;
        let mut status = StatusCell::default();
        let at = status.address();
        // SAFETY: (const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status
        // *), with as many bytes to send and as much room.
        unsafe { call!(MPI_Sendrecv(given, length, of, to, sent_tag, buffer, count, byte, peer, tag, comm, at)) }?;
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
    fn outgoing(&self, function: &'static str, to: Peer, tag: u32, bytes: u64) -> Result<Envelope, MpiError> {
        self.envelope(function, self.mpi.outgoing.of(bytes), to, TagChoice::Tag(tag), bytes)
    }

    /// The arguments of a message that is received.
    fn incoming(&self, function: &'static str, from: Peer, tag: TagChoice, bytes: u64) -> Result<Envelope, MpiError> {
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
        let (count, peer, tag) = (int(function, bytes)?, self.peer(peer), self.tag(tag));
        Ok([buffer, count.word(), self.mpi.abi.byte.word(), peer.word(), tag.word(), self.handle.word()])
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
