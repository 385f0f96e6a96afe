//! Files that are open, and what their members know of each other's calls.

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use titr_common::program::{CommIndex, Members};
use titr_common::units::Bytes;

use super::two_phase::TwoPhase;
use crate::observe::OperationId;
use crate::ranks::ids::FileCallIndex;

/// A file that is open, the same for all its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ranks) struct FileIndex(pub(in crate::ranks) usize);

/// A file as one rank knows it.
pub(in crate::ranks) struct OpenFile {
    pub(in crate::ranks) file: FileIndex,
    /// The split collective access that has begun.
    pub(in crate::ranks) split: Option<OperationId>,
}

/// A file that the members of a communicator have opened together.
pub(in crate::ranks) struct File {
    /// The communicator of the members' calls on the file, which is no other's (MPI 4.0 §14.2.1).
    pub(in crate::ranks) comm: CommIndex,
    pub(in crate::ranks) members: Rc<Members>,
    pub(in crate::ranks) pointer: SharedPointer,
    /// Collective accesses that not all members know yet, by the number of the call on the file.
    pub(in crate::ranks) joint: FxHashMap<u64, JointAccess>,
    /// How many members have not closed the file, and how many calls on it are under way.
    pub(in crate::ranks) users: usize,
}

/// A collective access that not all members know yet.
pub(in crate::ranks) struct JointAccess {
    /// How much each member accesses that has come.
    pub(in crate::ranks) volumes: Vec<Bytes>,
    /// The access, once all members have come.
    pub(in crate::ranks) access: Option<Rc<TwoPhase>>,
    /// How many members know the access.
    pub(in crate::ranks) informed: usize,
}

/// The lock of a shared file pointer, which one call has at a time.
#[derive(Default)]
pub(in crate::ranks) struct SharedPointer {
    pub(in crate::ranks) is_locked: bool,
    pub(in crate::ranks) waiting: VecDeque<FileCallIndex>,
}
