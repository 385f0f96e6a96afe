//! Open files, and what their members know of each other's calls.

use super::part::Part;
use super::two_phase::TwoPhase;
use crate::observe::OperationId;
use crate::ranks::ids::FileCallIndex;
use crate::ranks::scheduler::Clock;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::rc::Rc;
use titr_common::event::{Actor, FilePosition};
use titr_common::program::{CommIndex, Members};
use titr_common::units::Bytes;

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
