//! Files (MPI 4.0 §14): the data that ranks read and write, alone or together with others.

use super::{CommId, ObjectUse, RequestId};
use crate::units::Bytes;

/// An open file, by the number that this rank gave it: the lowest that was free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// An operation of one rank on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileEvent {
    /// All members of a communicator open a file.
    Open(CommId, FileId),
    /// All members close the file.
    Close(FileId),
    /// A call that changes the file or how it is seen, and moves no data of the program.
    Manage(Manage, FileId),
    /// A call that reads or writes.
    Access(FileAccess),
    /// A file that need not be open is deleted by one rank (§14.2.3).
    Delete,
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

/// A call that reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileAccess {
    /// The file that is read or written.
    pub file: FileId,
    /// The direction: reading or writing.
    pub direction: Direction,
    /// The file pointer of the access, and whether the access is collective.
    pub reach: FilePointer,
    /// The time of completion of the access.
    pub phase: Phase,
    /// The requested bytes; none at the end of a split call, whose beginning has them.
    pub bytes: Bytes,
    /// The start of the access in the file.
    pub skip: SeekDistance,
}

/// The distance in bytes from the end of a rank's previous access to a file to the start of this one, negative for a
/// step back. The first access is counted from the start of the file. An access ends as many bytes after its start as
/// it moves, although a view may have gaps.
///
/// A loop that goes through a file evenly therefore has the same distance in each iteration. The distance is 0 if it is
/// unknown: at the shared pointer, at the end of a split call, and in traces recorded without it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SeekDistance(pub i64);

/// The end of a rank's last access to a file, in bytes from the start of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilePosition(pub u64);

impl FilePosition {
    /// The distance to an access that starts at `start`.
    #[must_use]
    pub fn skip_to(self, start: u64) -> SeekDistance {
        SeekDistance(start.wrapping_sub(self.0).cast_signed())
    }

    /// The start of an access; the position then becomes its end.
    pub fn advance(&mut self, SeekDistance(skip): SeekDistance, bytes: Bytes) -> u64 {
        let start = self.0.saturating_add_signed(skip);
        self.0 = start.saturating_add(bytes.0);
        start
    }
}

/// The direction in which a call moves data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The words say it.
pub enum Direction {
    Read,
    Write,
}

/// The file pointer of an access, and whether the access is collective (MPI 4.0 §14.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FilePointer {
    /// The rank's own pointer.
    Own,
    /// An offset that the call names.
    At,
    /// The pointer that all ranks share.
    Shared,
    /// The own pointer of each rank, all ranks together.
    All,
    /// An offset that each rank names, all ranks together.
    AtAll,
    /// The shared pointer, one rank after another.
    Ordered,
}

impl FilePointer {
    /// Whether the place of the access is given by the call or by the rank's own pointer, instead of the shared
    /// pointer, which depends on other ranks.
    #[must_use]
    pub fn is_own_place(self) -> bool {
        match self {
            Self::Own | Self::At | Self::All | Self::AtAll => true,
            Self::Shared | Self::Ordered => false,
        }
    }
}

/// The time of completion of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The access is done when the call returns.
    Blocking,
    /// The access is done when the request is completed.
    Nonblocking(RequestId),
    /// The access is done in a later call, which ends it.
    Begin,
    /// The call ends an access that began before.
    End,
}

impl FileAccess {
    /// The distance in bytes from the end of the rank's last access before this one to its own end, modulo 2⁶⁴.
    pub fn distance(&self) -> u64 {
        self.skip.0.cast_unsigned().wrapping_add(self.bytes.0)
    }
}

impl FileEvent {
    /// The open file that the call names, which a reader may replace, and the effect on it.
    pub fn file(&mut self) -> Option<(&mut FileId, ObjectUse)> {
        let is_collective = self.is_collective();
        match self {
            Self::Open(_, file) => Some((file, ObjectUse::Makes)),
            Self::Close(file) => Some((file, ObjectUse::Frees)),
            Self::Manage(_, file) | Self::Access(FileAccess { file, .. }) => {
                Some((file, if is_collective { ObjectUse::Orders } else { ObjectUse::Accesses }))
            }
            Self::Delete => None,
        }
    }

    /// The open file that the call names.
    pub fn id(&self) -> Option<FileId> {
        match self {
            Self::Open(_, file) | Self::Close(file) | Self::Manage(_, file) => Some(*file),
            Self::Access(access) => Some(access.file),
            Self::Delete => None,
        }
    }

    /// Whether all members call it.
    pub fn is_collective(&self) -> bool {
        match self {
            Self::Open(..) | Self::Close(_) => true,
            Self::Manage(manage, _) => match manage {
                Manage::SetSize | Manage::Preallocate | Manage::SetView | Manage::SeekShared | Manage::Sync => true,
                Manage::GetSize => false,
            },
            Self::Access(FileAccess { reach, .. }) => match reach {
                FilePointer::All | FilePointer::AtAll | FilePointer::Ordered => true,
                FilePointer::Own | FilePointer::At | FilePointer::Shared => false,
            },
            Self::Delete => false,
        }
    }
}
