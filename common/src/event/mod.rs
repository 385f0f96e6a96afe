//! The events of a trace: one [`Event`] for each MPI call, and one for the computation between two calls.
//!
//! Where an event names a peer, a root or a member, it is a rank of `MPI_COMM_WORLD`, independent of the communicator
//! of the call, so that a line can be understood without the lines before it. Processes of other worlds have numbers
//! that the rank assigns (see [`Group`]). Volumes are bytes, never counts of a datatype.
//!
//! Each chapter of MPI has a file with its types. The meaning of an event is defined here, for all readers, by methods
//! of [`Event`]: its effects on [`requests`](Event::requests), [`communicators`](Event::communicators) and
//! [`windows`](Event::windows), the [`ranks`](Event::ranks) and [`tags`](Event::tags) that it names, its
//! [`volumes`](Event::volumes), the messages that it [`transfers`](Event::transfers), the rank's
//! [`activity`](Event::activity), and the memory that its lists take
//! ([`list_size`](Event::list_size)). Each method names every event, so the compiler finds the places to change for a
//! new one. Partitioned and one-sided communication and files implement these methods in their own files.

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
mod task;
mod transfer;
mod uses;
mod volumes;

pub use activity::Activity;
pub use annotation::{Annotation, Message, MessageEnd, Span};
pub use collective::{Collective, CollectiveKind, Extent, Signature, Volumes};
pub use communicator::{CommCall, CommId, Group};
pub use file::{
    Direction, FileAccess, FileEvent, FileId, FilePointer, FilePosition, FileUse, Manage, Phase, SeekDistance,
};
pub use identity::{Actor, Rank, ThreadId};
pub use mark::{CallSiteId, CallStack, CodePlace, Mark, Unrecorded, UnrecordedCall};
pub use neighborhood::{NeighborOp, Neighborhood};
pub use one_sided::{Access, AccessOp, Assert, Asserts, OneSided, Synchronisation, WinCall, WinId, WinSync};
pub use partitioned::Partitioned;
pub(crate) use plain::PlainEvent;
pub use point_to_point::{Incoming, Outgoing, SendMode, Tag, Wildcard};
pub use rank_set::{RankSet, ranges_written};
pub use request::{Completed, Completion, MessageCompletion, Quantifier, RequestId, RequestKey};
pub use size::ListSize;
pub use task::Task;
pub use transfer::Transfers;
pub use uses::{CommUse, RequestUse, WindowUse};
pub use volumes::Volume;

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
    /// Time passed without computation, independent of the machine (SimGrid's `sleep`; titr's tracer writes none).
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
    /// `MPI_Cancel` of a request that was in fact cancelled; precedes the event that completes the request.
    Cancel(RequestId),
    /// The match of a receive with a wildcard source or tag; precedes the event that completes the request.
    Matched(RequestId, Rank, Tag),
    /// `MPI_Wait` and related calls, and the requests that the call completed.
    Wait(Quantifier, Completed),
    /// `MPI_Test` and related calls, and the requests that the call completed; `None`: nothing.
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

    /// A call that makes a communicator, on its parent; `None` if this rank is not a member of any.
    CommCreate(CommCall, CommId, Option<Group>),
    /// `MPI_Comm_free`, `MPI_Comm_disconnect`.
    CommFree(CommId),

    /// A mark of where in the program the calls that follow are.
    Mark(Mark),
    /// The place of the next event in a graph of events that depend on each other.
    Task(Task),
    /// An observation of extended tracing; a reader that passes over all of them has a time-independent trace.
    Annotation(Annotation),
}

impl Event {
    /// Whether a replayed rank executes the event; if not, the event only describes others.
    #[must_use]
    pub fn is_executed(&self) -> bool {
        !matches!(self, Self::Matched(..) | Self::Task(_) | Self::Annotation(_))
    }

    /// Whether a program that waits by polling makes any number of such events: a test or a probe in vain, and what lies
    /// between two of them.
    #[must_use]
    pub fn is_polling(&self) -> bool {
        matches!(
            self,
            Self::Test(_, None) | Self::Iprobe(_, false) | Self::Compute(_) | Self::Annotation(Annotation::Call(_))
        )
    }
}

/// A call that communicates in a way that no other event describes: with processes outside the world, by a
/// function of one library only, or a wait for messages that were buffered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// The MPI function.
    pub function: Box<str>,
    /// The bytes that the rank gives.
    pub sent: Bytes,
    /// The bytes that the rank gets, or has room for.
    pub received: Bytes,
}

impl Other {
    /// Whether the call returns when the messages that the rank has sent in buffered mode need their buffer no more, as
    /// `MPI_Buffer_detach` does.
    #[must_use]
    pub fn awaits_buffered(&self) -> bool {
        let name = self.function.strip_suffix("_c").unwrap_or(&self.function);
        matches!(
            name,
            "MPI_Buffer_detach"
                | "MPI_Buffer_flush"
                | "MPI_Comm_detach_buffer"
                | "MPI_Comm_flush_buffer"
                | "MPI_Session_detach_buffer"
                | "MPI_Session_flush_buffer"
        )
    }
}
