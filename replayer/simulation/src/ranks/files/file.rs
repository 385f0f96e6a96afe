//! Open files, and what their members know of each other's calls.

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use titr_common::collectives::{Buffer, Member, Step};
use titr_common::event::{
    Actor, Collective, CollectiveKind, CommId, Direction, FileAccess, FileEvent, FilePosition, Manage, Reach, Volumes,
};
use titr_common::program::{CommIndex, Members};
use titr_common::units::Bytes;

use super::two_phase::TwoPhase;
use crate::observe::OperationId;
use crate::ranks::ids::FileCallIndex;
use crate::ranks::scheduler::Clock;

/// A file that is open, the same for all its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ranks) struct FileIndex(pub(in crate::ranks) usize);

/// A file as one rank knows it.
pub(in crate::ranks) struct OpenFile {
    pub(in crate::ranks) file: FileIndex,
    /// The end of the rank's last access that did not use the shared pointer.
    pub(in crate::ranks) position: FilePosition,
    /// The split collective access that has begun.
    pub(in crate::ranks) split: Option<OperationId>,
}

/// A file that the members of a communicator have opened together.
pub(in crate::ranks) struct File {
    /// The communicator of the members' calls on the file, which is no other's (MPI 4.0 §14.2.1).
    pub(in crate::ranks) comm: CommIndex,
    pub(in crate::ranks) members: Rc<Members>,
    /// The server of the first stripe: the next one for each file.
    pub(in crate::ranks) first_server: u32,
    pub(in crate::ranks) pointer: SharedPointer,
    /// Collective accesses that not all members know yet, by the number of the call on the file.
    pub(in crate::ranks) joint: FxHashMap<u64, JointAccess>,
    /// The number of members that have not closed the file, plus the number of calls on it in progress.
    pub(in crate::ranks) users: usize,
}

/// A collective access that not all members know yet.
pub(in crate::ranks) struct JointAccess {
    /// The start and length of the access of each member that has arrived.
    pub(in crate::ranks) pieces: Vec<(u64, Bytes)>,
    /// The way of the access, once all members have come.
    pub(in crate::ranks) way: Option<JointWay>,
    /// How many members know the access.
    pub(in crate::ranks) informed: usize,
}

/// The way in which all members access a file together.
#[derive(Clone)]
pub(in crate::ranks) enum JointWay {
    /// Aggregators access it for all.
    TwoPhase(Rc<TwoPhase>),
    /// Each member accesses its own data.
    Independent,
}

/// A shared file pointer, and its lock, which one call has at a time.
#[derive(Default)]
pub(in crate::ranks) struct SharedPointer {
    /// The place in bytes from the start of the file.
    pub(in crate::ranks) place: u64,
    pub(in crate::ranks) is_locked: bool,
    pub(in crate::ranks) waiting: VecDeque<FileCallIndex>,
}

/// How many numbers of collectives a call on a file has for its parts.
pub(in crate::ranks) const PARTS: u64 = 1 << 20;

pub(in crate::ranks) struct FileCall {
    pub(in crate::ranks) actor: Actor,
    pub(in crate::ranks) word: &'static str,
    pub(in crate::ranks) file: FileIndex,
    /// Which of the members' collective calls on the file this is; 0 for a call of one rank.
    pub(in crate::ranks) number: u64,
    /// Where the access starts, in bytes from the start of the file.
    pub(in crate::ranks) start: u64,
    pub(in crate::ranks) bytes: Bytes,
    pub(in crate::ranks) parts: VecDeque<Part>,
    /// How many collectives have started.
    pub(in crate::ranks) collectives: u64,
    /// Whether the call is the last of this rank on the file.
    pub(in crate::ranks) closes: bool,
    pub(in crate::ranks) clock: Clock,
    /// The operation that the rank waits for.
    pub(in crate::ranks) operation: OperationId,
}

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

/// The parts of a call of member `me` of `size`; whether messages are received.
pub(in crate::ranks) fn parts(event: &FileEvent, me: Member, size: u32, exchanges: bool) -> VecDeque<Part> {
    let agreement = Part::Collective(CollectiveKind::Allreduce, INT);
    match *event {
        FileEvent::Close(_) => [Part::LATENCY, Part::Collective(CollectiveKind::Barrier, Bytes(0))].into(),
        FileEvent::Delete | FileEvent::Manage(Manage::GetSize, _) => [Part::LATENCY].into(),
        FileEvent::Open(..) | FileEvent::Manage(..) => [Part::LATENCY, agreement].into(),
        FileEvent::Access(FileAccess { direction, reach, bytes, .. }) => match reach {
            Reach::Own | Reach::At => [Part::Access(direction, 0, bytes)].into(),
            Reach::Shared => pointer().chain([Part::Access(direction, 0, bytes)]).collect(),
            Reach::All | Reach::AtAll => access_of_all(direction, bytes, exchanges).collect(),
            Reach::Ordered => turn(me, size).chain(access_of_all(direction, bytes, exchanges)).collect(),
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
pub(in crate::ranks) fn is_interleaved(pieces: &[(u64, Bytes)]) -> bool {
    let starts_early = |pair: &[(u64, Bytes)]| {
        let [(before, length), (start, bytes)] = pair else { return false };
        *bytes > Bytes(0) && *start < before.saturating_add(length.0).saturating_sub(1)
    };
    pieces.windows(2).any(starts_early)
}
