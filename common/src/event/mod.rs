//! The events of a trace: one [`Event`] for each MPI call, and one for the computation between two calls.
//!
//! Ranks are ranks of `MPI_COMM_WORLD` wherever an event names a peer, a root or a member, whatever communicator the
//! call used, so that a line can be understood without the lines before it. Processes of other worlds have numbers of the
//! rank's own (see [`Group`]). Volumes are bytes, never counts of a datatype.
//!
//! Each chapter of MPI has a file with its types. What an event means is said here too, once and for every reader, by
//! methods of [`Event`]: [`requests`](Event::requests), [`communicators`](Event::communicators) and
//! [`windows`](Event::windows) say what it does to those, [`ranks`](Event::ranks) whom it names, [`transfers`](Event::transfers) which messages it describes, [`activity`](Event::activity) what kind of thing the
//! rank does, and [`list_size`](Event::list_size) how much memory it takes. Each names every event, so whoever adds one is
//! led by the compiler. Partitioned and one-sided communication and files answer for themselves in their own files.

mod activity;
mod annotation;
mod collective;
mod communicator;
mod file;
mod identity;
mod mark;
mod neighborhood;
mod one_sided;
mod partitioned;
mod plain;
mod point_to_point;
mod rank_set;
mod ranks;
mod request;
mod size;
mod transfer;
mod uses;

pub use activity::Activity;
pub use annotation::{Annotation, Message, MessageEnd, Span};
pub use collective::{Collective, CollectiveKind, Extent, Signature, Volumes};
pub use communicator::{CommCall, CommId, Group};
pub use file::{Direction, FileAccess, FileEvent, FileId, FilePosition, FileUse, Manage, Phase, Reach, Skip};
pub use identity::{Actor, Rank, ThreadId};
pub use mark::{CallSiteId, CallStack, CodePlace, Mark, Unrecorded, UnrecordedCall};
pub use neighborhood::{NeighborOp, Neighborhood};
pub use one_sided::{Access, AccessOp, Assert, Asserts, OneSided, Synchronisation, WinCall, WinId, WinSync};
pub use partitioned::Partitioned;
pub(crate) use plain::PlainEvent;
pub use point_to_point::{Incoming, Outgoing, SendMode, Tag, Wildcard};
pub use rank_set::RankSet;
pub use request::{Completed, Completion, MessageCompletion, Quantifier, RequestId, RequestKey};
pub use size::ListSize;
pub use transfer::Transfers;
pub use uses::{CommUse, RequestUse, WindowUse};

use crate::units::{Bytes, Instructions, Seconds};

/// An event of one rank: a call of MPI, the computation between two calls, or an observation of either.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// `MPI_Init`, `MPI_Init_thread`.
    Init,
    /// `MPI_Finalize`.
    Finalize,
    /// Computation since the event before.
    Compute(Instructions),
    /// Time passed without computing, whatever the machine (SimGrid's `sleep`; titr's tracer writes none).
    Sleep(Seconds),

    /// `MPI_Send`, `MPI_Isend`, `MPI_Send_init` in any mode.
    Send(SendMode, Outgoing, MessageCompletion),
    /// `MPI_Recv`, `MPI_Irecv`, `MPI_Recv_init`.
    Recv(Incoming, MessageCompletion),
    /// `MPI_Sendrecv`, `MPI_Sendrecv_replace`. A side whose peer is `MPI_PROC_NULL` is absent.
    Sendrecv(Option<Outgoing>, Option<Incoming>),
    /// `MPI_Probe`, `MPI_Mprobe`.
    Probe(Incoming),
    /// `MPI_Iprobe`, `MPI_Improbe`, and whether there was a message.
    Iprobe(Incoming, bool),
    /// Partitioned messages.
    Partitioned(Partitioned),

    /// `MPI_Start`, `MPI_Startall`.
    Start(Vec<RequestId>),
    /// `MPI_Request_free`: the request completes unobserved; a persistent one is gone.
    RequestFree(RequestId),
    /// `MPI_Cancel`, of a request that was in fact cancelled; stands before the event that completes the request.
    Cancel(RequestId),
    /// The match of a receive that left its source or tag open; stands before the event that completes the request.
    Matched(RequestId, Rank, Tag),
    /// `MPI_Wait` and its kin, and what the call completed.
    Wait(Quantifier, Completed),
    /// `MPI_Test` and its kin, and what the call completed; `None`: nothing.
    Test(Quantifier, Option<Completed>),

    /// A collective of all members of a communicator.
    Collective(Collective, Completion),
    /// A neighbourhood collective.
    Neighborhood(Neighborhood, Completion),

    /// An operation on a window: one-sided communication.
    OneSided(OneSided),
    /// An operation on a file.
    File(FileEvent),
    /// A call that communicates in a way that no other event describes.
    Other(Other),

    /// A call that makes a communicator, on its parent; `None` where this rank is not a member of any.
    CommCreate(CommCall, CommId, Option<Group>),
    /// `MPI_Comm_free`, `MPI_Comm_disconnect`.
    CommFree(CommId),

    /// A mark of where in the program the calls that follow are.
    Mark(Mark),
    /// An observation of extended tracing; a reader that passes over all of them has a time-independent trace.
    Annotation(Annotation),
}

impl Event {
    /// Whether a rank that is replayed executes the event; if not, the event only says something about others.
    #[must_use]
    pub fn is_executed(&self) -> bool {
        !matches!(self, Self::Matched(..) | Self::Annotation(_))
    }
}

/// A call that communicates in a way that no other event describes: with processes outside the world, by a
/// function of one library only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// The MPI function.
    pub function: Box<str>,
    /// The bytes that the rank gives.
    pub sent: Bytes,
    /// The bytes that the rank gets, or has room for.
    pub received: Bytes,
}
