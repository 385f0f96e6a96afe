//! Invalid events, and their places.

use std::path::PathBuf;

use thiserror::Error;

use crate::event::{CommId, FileId, Rank, RequestId, ThreadId, WinId};
use crate::units::Bytes;

/// An event that contradicts those before it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum Fault {
    #[error("communicator {} is not introduced, or freed", .0.0)]
    NoSuchCommunicator(CommId),
    #[error("window {} is not introduced, or freed", .0.0)]
    NoSuchWindow(WinId),
    #[error("file {} is not open", .0.0)]
    NoSuchFile(FileId),
    #[error("no split access to file {} has begun", .0.0)]
    NoSplitAccess(FileId),
    #[error("there is no rank {} in a world of {world}", .rank.0)]
    NoSuchRank { rank: Rank, world: usize },
    #[error("rank {} is no member of {on}", .rank.0)]
    NotAMember { rank: Rank, on: String },
    #[error("rank {} is named twice among the members of a communicator", .0.0)]
    NamedTwice(Rank),
    #[error("request {} is outstanding, its number cannot be given again", .0.0)]
    RequestInUse(RequestId),
    #[error("there is no request {}: it was never made, or is complete", .0.0)]
    NoSuchRequest(RequestId),
    #[error("request {} cannot be started: it is not persistent, or active", .0.0)]
    NotStartable(RequestId),
    #[error("request {} is no partitioned message that is started", .0.0)]
    NotPartitioned(RequestId),
    #[error("part {part} of request {} is marked twice, or is not among its {parts} parts", .request.0)]
    NoSuchPart { request: RequestId, part: u32, parts: u32 },
    #[error("{word} on {on} has volumes for {found} members, where there are {members}")]
    Volumes { word: &'static str, on: String, found: usize, members: usize },
    #[error(
        "{word} is this rank's collective number {number} on {on}: the rank gives each member {} bytes, and gets {} from itself",
        .given.0, .got.0
    )]
    UnequalBuffers { word: &'static str, number: u64, on: String, given: Bytes, got: Bytes },
    #[error(
        "{word} is collective number {number} on {on}: its members give {} bytes and get {}, or not the same from each other",
        .given.0, .got.0
    )]
    UnequalAmounts { word: &'static str, number: u64, on: String, given: Bytes, got: Bytes },
    #[error(
        "an access of {} bytes to window {}, of which rank {} lends {} bytes", .bytes.0, .window.0, .target.0, .lent.0
    )]
    BeyondWindow { window: WinId, target: Rank, bytes: Bytes, lent: Bytes },
    #[error("{word} on {on}: MPI has no such call on inter-communicators")]
    InterCollective { word: &'static str, on: String },
    #[error("{mine} is this rank's collective number {number} on {on}, where rank {} called {theirs}", .other.0)]
    Mismatch { mine: String, theirs: String, other: Rank, number: u64, on: String },
}

/// The position of a thread of a rank in the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The rank.
    pub rank: Rank,
    /// The thread of that rank.
    pub thread: ThreadId,
    /// The number of the thread's event, from 1.
    pub event: u64,
    /// The file and line of the event, if it comes from a file.
    pub line: Option<(PathBuf, u64)>,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rank = match self.thread {
            ThreadId::MAIN => self.rank.0.to_string(),
            ThreadId(thread) => format!("{}.{thread}", self.rank.0),
        };
        match &self.line {
            Some((path, line)) => write!(f, "{}:{line}: rank {rank}", path.display()),
            None => write!(f, "rank {rank}, event {}", self.event),
        }
    }
}
