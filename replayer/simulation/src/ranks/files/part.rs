//! The parts of a call on a file.

use std::collections::VecDeque;

use titr_common::collectives::{Buffer, Member, Step};
use titr_common::event::{CollectiveKind, Direction, FileAccess, FileEvent, FilePointer, Manage};
use titr_common::units::Bytes;

/// Bytes of an error code, or of a count: an `int`.
pub(super) const INT: Bytes = Bytes(4);
/// Bytes of an offset in a file (`ADIO_Offset`).
pub(super) const OFFSET: Bytes = Bytes(8);

/// A part of a call on a file.
pub(super) enum Part {
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
    pub(super) const LATENCY: Self = Self::Access(Direction::Write, 0, Bytes(0));
}

/// The parts of a call of member `me` of `size`; whether messages are received.
pub(super) fn parts(event: &FileEvent, me: Member, size: u32, exchanges: bool) -> VecDeque<Part> {
    let agreement = Part::Collective(CollectiveKind::Allreduce, INT);
    match *event {
        FileEvent::Close(_) => [Part::LATENCY, Part::Collective(CollectiveKind::Barrier, Bytes(0))].into(),
        FileEvent::Delete | FileEvent::Manage(Manage::GetSize, _) => [Part::LATENCY].into(),
        FileEvent::Open(..) | FileEvent::Manage(..) => [Part::LATENCY, agreement].into(),
        FileEvent::Access(FileAccess { direction, reach, bytes, .. }) => match reach {
            FilePointer::Own | FilePointer::At => [Part::Access(direction, 0, bytes)].into(),
            FilePointer::Shared => pointer().chain([Part::Access(direction, 0, bytes)]).collect(),
            FilePointer::All | FilePointer::AtAll => access_of_all(direction, bytes, exchanges).collect(),
            FilePointer::Ordered => turn(me, size).chain(access_of_all(direction, bytes, exchanges)).collect(),
        },
    }
}

/// Reads and advances the shared pointer. It is in a hidden file that is locked meanwhile (`ADIO_Get_shared_fp`).
fn pointer() -> impl Iterator<Item = Part> {
    let (read, write) = (Part::Access(Direction::Read, 0, OFFSET), Part::Access(Direction::Write, 0, OFFSET));
    [Part::Lock, read, write, Part::Unlock].into_iter()
}

/// The members advance the shared pointer in rank order; each passes an empty message to the next
/// (`MPI_File_write_ordered`).
fn turn(me: Member, size: u32) -> impl Iterator<Item = Part> {
    let data = Buffer::Scratch.first(0);
    let from = me.checked_sub(1).map(|from| Step::Recv { from, data });
    let to = Some(me + 1).filter(|to| *to < size).map(|to| Step::Send { to, data });
    let steps = |step: Option<Step>| step.into_iter().collect();
    let (from, to) = (Part::FirstHalf(steps(from)), Part::Exchange(steps(to)));
    [from].into_iter().chain(pointer()).chain([to])
}

/// All members exchange the first and the last byte that they access (`ADIOI_GEN_WriteStridedColl`). If nothing is
/// received (`exchanges` is false), no member learns of the others, and each accesses its own data.
fn access_of_all(direction: Direction, bytes: Bytes, exchanges: bool) -> impl Iterator<Item = Part> {
    let offsets = || Part::Collective(CollectiveKind::Allgather, OFFSET);
    let access = if exchanges { Part::Joint(direction) } else { Part::Access(direction, 0, bytes) };
    [Part::Announce, offsets(), offsets(), access].into_iter()
}

/// Whether the pieces of the members, which start at a byte and have a length, are interleaved in the file: whether a
/// member's piece starts before the end of the preceding member's (`interleave_count` of `ADIOI_GEN_WriteStridedColl`).
pub(super) fn is_interleaved(pieces: &[(u64, Bytes)]) -> bool {
    let starts_early = |pair: &[(u64, Bytes)]| {
        let [(before, length), (start, bytes)] = pair else { return false };
        *bytes > Bytes(0) && *start < before.saturating_add(length.0).saturating_sub(1)
    };
    pieces.windows(2).any(starts_early)
}
