//! Requests and their completion (MPI 4.0 §3.7).

use super::{Rank, Tag};

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
    #[must_use]
    pub fn requests(&self) -> Option<&[RequestId]> {
        match self {
            Self::Outstanding(_) => None,
            Self::One(_, request) => Some(request.as_slice()),
            Self::These(requests) => Some(requests),
        }
    }
}
