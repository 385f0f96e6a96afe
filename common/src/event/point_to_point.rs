//! Messages between two ranks (MPI 4.0 §3).

use super::{Activity, CommId, ListSize, Rank};
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

/// A request of one rank: the lowest number that was free when the request was made. The number is free again once the
/// request is completed or, if it is persistent, freed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u32);

/// The completion of an operation that MPI offers in a blocking, a non-blocking and a persistent form.
///
/// `R` names the request of the non-blocking form. Collectives always number it; a message may have none (see
/// [`MessageCompletion`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Completion<R = RequestId> {
    /// The operation is done when the call returns: `MPI_Send`, `MPI_Bcast`.
    Blocking,
    /// When the request is completed: `MPI_Isend`, `MPI_Ibcast`.
    Request(R),
    /// The call only sets up a persistent request, whose every start is completed: `MPI_Send_init`, `MPI_Bcast_init`.
    Persistent(RequestId),
}

/// The completion of a message. In traces of other tools, the request of a non-blocking one has no number, and is named
/// by its [`RequestKey`].
pub type MessageCompletion = Completion<Option<RequestId>>;

/// The subset of its requests that a wait or a test completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// The only request: `MPI_Wait`, `MPI_Test`.
    Single,
    /// All requests: `MPI_Waitall`, `MPI_Testall`.
    All,
    /// Any single request: `MPI_Waitany`, `MPI_Testany`.
    Any,
    /// At least one request: `MPI_Waitsome`, `MPI_Testsome`.
    Some,
}

/// A request identified by source, destination and tag, as in SimGrid's `wait` and `test`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestKey {
    /// The sender; `None` for a wildcard receive whose match the trace does not know.
    pub from: Option<Rank>,
    /// The receiver.
    pub to: Rank,
    /// The tag; `None` for a wildcard receive whose match the trace does not know.
    pub tag: Option<Tag>,
}

/// The requests that a wait or a test completed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Completed {
    /// All requests that the rank has outstanding, and how many these are if the trace says so.
    Outstanding(Option<u32>),
    /// A point-to-point request with this key; without a number, the oldest outstanding one that has it.
    One(RequestKey, Option<RequestId>),
    /// The listed requests.
    These(Vec<RequestId>),
}

impl Completed {
    /// The requests that are named; `None` if these are all outstanding ones.
    pub fn requests(&self) -> Option<&[RequestId]> {
        match self {
            Self::Outstanding(_) => None,
            Self::One(_, request) => Some(request.as_slice()),
            Self::These(requests) => Some(requests),
        }
    }
}

/// A call of partitioned communication. Its requests are started and completed by the same events as other requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Partitioned {
    /// `MPI_Psend_init`: sets up a send in this many parts.
    SendInit(Outgoing, u32, RequestId),
    /// `MPI_Precv_init`: sets up a receive in this many parts.
    RecvInit(Incoming, u32, RequestId),
    /// `MPI_Pready`, `MPI_Pready_range`, `MPI_Pready_list`: these parts of a started send may leave.
    Ready(RequestId, Vec<u32>),
    /// `MPI_Parrived`, when it says that this part of a started receive has arrived.
    Arrived(RequestId, u32),
}

impl Partitioned {
    /// The persistent request that the call sets up, and the bytes of its message; `None` if the call sets up none.
    pub fn sets_up(&self) -> Option<(RequestId, Bytes)> {
        match self {
            &Self::SendInit(Outgoing { bytes, .. }, _, id) | &Self::RecvInit(Incoming { bytes, .. }, _, id) => {
                Some((id, bytes))
            }
            Self::Ready(..) | Self::Arrived(..) => None,
        }
    }

    /// The activity of a rank in the call.
    pub(super) fn activity(&self) -> Activity {
        match self {
            Self::SendInit(..) | Self::Ready(..) => Activity::Send,
            Self::RecvInit(..) => Activity::Recv,
            Self::Arrived(..) => Activity::Wait,
        }
    }

    /// The size of the lists of the call.
    pub(super) fn list_size(&self) -> ListSize {
        match self {
            Self::SendInit(..) | Self::RecvInit(..) | Self::Arrived(..) => ListSize::default(),
            Self::Ready(_, parts) => ListSize::of(parts),
        }
    }
}
