//! Calls on files in progress.

use std::collections::VecDeque;

use titr_common::event::Actor;
use titr_common::units::Bytes;

use super::file::FileIndex;
use super::part::Part;
use crate::observe::OperationId;
use crate::ranks::clock::Clock;

/// How many numbers of collectives a call on a file has for its parts.
pub(in crate::ranks) const PARTS: u64 = 1 << 20;

/// A call of one rank on a file.
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
