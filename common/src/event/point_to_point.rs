//! Messages between two ranks (MPI 4.0 §3).

use super::{CommId, Rank};
use crate::units::Bytes;

/// A message tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(pub i32);

/// When a send completes (MPI 4.0 §3.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SendMode {
    /// `MPI_Send`: the library decides between buffering the message and waiting for the receiver.
    #[default]
    Standard,
    /// `MPI_Ssend`: completes once the matching receive has started.
    Synchronous,
    /// `MPI_Bsend`: completes at once, for any size.
    Buffered,
    /// `MPI_Rsend`: the program promises that the receive is already posted.
    Ready,
}

/// A message as its sender describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Outgoing {
    /// The communicator in which the message is matched.
    pub comm: CommId,
    /// The destination.
    pub to: Rank,
    /// The tag.
    pub tag: Tag,
    /// The volume of the message.
    pub bytes: Bytes,
}

/// A message from the receiver's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Incoming {
    /// The communicator in which the message is matched.
    pub comm: CommId,
    /// The requested or matched source. `None`: any source, and a later [`Event::Matched`](super::Event::Matched) names
    /// the match.
    pub from: Option<Rank>,
    /// The requested or matched tag. `None`: any tag, and a later [`Event::Matched`](super::Event::Matched) names the
    /// match.
    pub tag: Option<Tag>,
    /// The size of the receive buffer.
    pub bytes: Bytes,
    /// The wildcards that the program used, even where the match is known.
    pub wildcard: Wildcard,
}

impl Incoming {
    /// Whether the trace leaves the source or the tag open here.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.from.is_none() || self.tag.is_none()
    }
}

/// The wildcards `MPI_ANY_SOURCE` and `MPI_ANY_TAG` of a receive or a probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Wildcard {
    /// Whether the source was `MPI_ANY_SOURCE`.
    pub source: bool,
    /// Whether the tag was `MPI_ANY_TAG`.
    pub tag: bool,
}

impl Wildcard {
    /// No wildcard.
    pub const NONE: Self = Self { source: false, tag: false };
}
