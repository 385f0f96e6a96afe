//! The parts of a call on a file.

use titr_common::collectives::Step;
use titr_common::event::{Collective, CollectiveKind, CommId, Direction, Volumes};
use titr_common::units::Bytes;

/// Bytes of an error code, or of a count: an `int`.
pub(in crate::ranks) const INT: Bytes = Bytes(4);
/// Bytes of an offset in a file (`ADIO_Offset`).
pub(in crate::ranks) const OFFSET: Bytes = Bytes(8);

/// A part of a call on a file.
pub(in crate::ranks) enum Part {
    /// An access of this many bytes, at a place relative to the start of the call's access.
    Access(Direction, u64, Bytes),
    /// A collective of all members, with this many bytes per member.
    Collective(CollectiveKind, Bytes),
    /// Messages between members.
    Exchange(Vec<Step>),
    /// Messages that match the messages of the next exchange.
    FirstHalf(Vec<Step>),
    /// The lock of the shared pointer is taken.
    Lock,
    /// The access starts at the shared pointer, which moves on, and its lock is given to the next call that waits.
    Unlock,
    /// The access is made known to the other members, who learn of it by the messages that follow.
    Announce,
    /// The parts of an access of all members follow, once all have made theirs known.
    Joint(Direction),
}

impl Part {
    /// A part that takes the latency of the disk.
    pub(in crate::ranks) const LATENCY: Self = Self::Access(Direction::Write, 0, Bytes(0));
}

/// The collective that a part is, as a member calls it.
pub(in crate::ranks) fn collective(kind: CollectiveKind, bytes: Bytes) -> Collective {
    let each = Volumes::Each(bytes);
    let (send, recv) = match kind {
        CollectiveKind::Allgather | CollectiveKind::Alltoall => (each.clone(), each),
        CollectiveKind::Barrier => (Volumes::None, Volumes::None),
        _ => (each, Volumes::None),
    };
    Collective { kind, send, recv, element: bytes, ..Collective::barrier(CommId::WORLD) }
}
