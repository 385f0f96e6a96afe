//! Files (MPI 4.0 §14): who reads and writes how much, and together with whom.

use super::{CommId, RequestId};
use crate::units::Bytes;

/// An open file, by the number that this rank gave it: the lowest that was free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// What one rank does with files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileEvent {
    /// All members of a communicator open a file.
    Open(CommId, FileId),
    /// They close it.
    Close(FileId),
    /// A call that changes the file or how it is seen, and moves no data of the program.
    Manage(Manage, FileId),
    /// A call that reads or writes.
    Access(FileAccess),
}

/// The MPI function that manages a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Named as MPI names them.
pub enum Manage {
    SetSize,
    GetSize,
    Preallocate,
    SetView,
    SeekShared,
    Sync,
}

/// Reading or writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileAccess {
    /// The file.
    pub file: FileId,
    /// Which of the two.
    pub direction: Direction,
    /// From where, and who does it together.
    pub reach: Reach,
    /// When it is done.
    pub phase: Phase,
    /// How much the program asked for; none at the end of a split call, whose beginning says it.
    pub bytes: Bytes,
}

/// Which way data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The words say it.
pub enum Direction {
    Read,
    Write,
}

/// Whose pointer says where in the file, and whether it is collective (§14.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// The rank's own pointer.
    Own,
    /// An offset.
    At,
    /// The pointer that all share.
    Shared,
    /// Each rank's own pointer, all together.
    All,
    /// An offset each, all together.
    AtAll,
    /// The shared pointer, one rank after another.
    Ordered,
}

/// When an access is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// When the call returns.
    Blocking,
    /// When the request is completed.
    Nonblocking(RequestId),
    /// In the call that ends it.
    Begin,
    /// This is that call.
    End,
}

impl FileEvent {
    /// The request of a non-blocking access.
    #[must_use]
    pub fn request(&self) -> Option<&RequestId> {
        match self {
            Self::Access(FileAccess { phase: Phase::Nonblocking(request), .. }) => Some(request),
            Self::Access(FileAccess { phase: Phase::Blocking | Phase::Begin | Phase::End, .. }) => None,
            Self::Open(..) | Self::Close(_) | Self::Manage(..) => None,
        }
    }
}
