//! Open files, and what their members know of each other's calls.

use super::part::Part;
use super::two_phase::TwoPhase;
use crate::observe::OperationId;
use crate::ranks::ids::FileCallIndex;
use crate::ranks::scheduler::BackgroundWork;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::rc::Rc;
use titr_common::event::FilePosition;
use titr_common::program::{CommIndex, Members};
use titr_common::units::Bytes;

/// A file that is open, the same for all its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileIndex(pub(super) usize);

/// A file as one rank knows it.
pub(super) struct OpenFile {
    pub(super) file: FileIndex,
    /// The end of the rank's last access that did not use the shared pointer.
    pub(super) position: FilePosition,
    /// The split collective access that has begun.
    pub(super) split: Option<OperationId>,
}

/// A file that the members of a communicator have opened together.
pub(super) struct File {
    /// The communicator of the members' calls on the file, which is no other's (MPI 4.0 §14.2.1).
    pub(super) comm: CommIndex,
    pub(super) members: Rc<Members>,
    /// The server of the first stripe: the next one for each file.
    pub(super) first_server: u32,
    pub(super) pointer: SharedPointer,
    /// Collective accesses that not all members know yet, by the number of the call on the file.
    pub(super) joint: FxHashMap<u64, JointAccess>,
    /// The number of members that have not closed the file, plus the number of calls on it in progress.
    pub(super) users: usize,
}

/// A collective access that not all members know yet.
pub(super) struct JointAccess {
    /// The start and length of the access of each member that has arrived.
    pub(super) pieces: Vec<(u64, Bytes)>,
    /// The way of the access, once all members have come.
    pub(super) way: Option<JointWay>,
    /// How many members know the access.
    pub(super) informed: usize,
}

/// The way in which all members access a file together.
#[derive(Clone)]
pub(super) enum JointWay {
    /// Aggregators access it for all.
    TwoPhase(Rc<TwoPhase>),
    /// Each member accesses its own data.
    Independent,
}

/// A shared file pointer, and its lock, which one call has at a time.
#[derive(Default)]
pub(super) struct SharedPointer {
    /// The place in bytes from the start of the file.
    pub(super) place: u64,
    pub(super) is_locked: bool,
    pub(super) waiting: VecDeque<FileCallIndex>,
}

/// How many numbers of collectives a call on a file has for its parts.
pub(super) const PARTS: u64 = 1 << 20;

pub(in crate::ranks) struct FileCall {
    pub(super) word: &'static str,
    pub(super) file: FileIndex,
    /// Which of the members' collective calls on the file this is; 0 for a call of one rank.
    pub(super) number: u64,
    /// Where the access starts, in bytes from the start of the file.
    pub(super) start: u64,
    pub(super) bytes: Bytes,
    pub(super) parts: VecDeque<Part>,
    /// How many collectives have started.
    pub(super) collectives: u64,
    /// Whether the call is the last of this rank on the file.
    pub(super) closes: bool,
    pub(in crate::ranks) work: BackgroundWork,
    /// The operation that the rank waits for.
    pub(super) operation: OperationId,
}
