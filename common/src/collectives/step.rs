//! The steps of a schedule: a straight-line program over three buffers, one for each member of the communicator.
//!
//! The same steps are simulated (only peers and lengths matter) and executed (the slices identify the data). Offsets
//! and lengths are bytes of *packed* data, without the gaps of datatypes, and multiples of the element size for data
//! that is reduced.

use crate::units::Bytes;

/// A member of the communicator that the collective runs on, by its rank there (not in the world).
pub type Member = u32;

/// The buffer of the call that contains a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Buffer {
    /// The data that the caller gives. `MPI_IN_PLACE` is the executor's business: it copies first.
    Send,
    /// The data that the caller gets. The only buffer of a broadcast.
    Recv,
    /// Scratch space, as large as the largest slice of it.
    Scratch,
}

impl Buffer {
    /// The slice of `len` bytes of the buffer from `offset` on.
    pub(crate) const fn at(self, offset: u64, len: u64) -> Slice {
        Slice { buffer: self, offset: Bytes(offset), len: Bytes(len) }
    }

    /// The first `len` bytes of the buffer.
    #[must_use]
    pub const fn first(self, len: u64) -> Slice {
        self.at(0, len)
    }
}

/// A run of packed bytes in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slice {
    /// The buffer that contains the slice.
    pub buffer: Buffer,
    /// The start of the slice in the buffer.
    pub offset: Bytes,
    /// The length of the slice. Messages of no bytes are sent all the same where the library sends them.
    pub len: Bytes,
}

/// A step. Steps run in order; a message goes to the first fitting receive posted for its source, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The fields are what the sentence above each step says.
pub enum Step {
    /// Blocking send.
    Send { to: Member, data: Slice },
    /// Blocking receive.
    Recv { from: Member, data: Slice },
    /// Send and receive at once; done when both are.
    Sendrecv { to: Member, send: Slice, from: Member, recv: Slice },
    /// Starts a send; `WaitAll` completes it.
    Isend { to: Member, data: Slice },
    /// Starts a receive; `WaitAll` completes it.
    Irecv { from: Member, data: Slice },
    /// Completes one of the sends and receives still pending: the `nth` in the order they were started, 0 the oldest.
    Wait { nth: u32 },
    /// Completes all that is pending.
    WaitAll,
    /// Moves data within the member. `from` and `to` are of one length.
    Copy { from: Slice, to: Slice },
    /// `into = from ⊕ into`: `from` is the left operand of a non-commutative operation.
    ReduceLeft { from: Slice, into: Slice },
    /// `into = into ⊕ from`: `from` is the right operand.
    ReduceRight { from: Slice, into: Slice },
}
