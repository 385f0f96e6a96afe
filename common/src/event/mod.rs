//! The events of a trace: one [`Event`] for each MPI call, and one for the computation between two calls.
//!
//! Where an event names a peer, a root or a member, it is a rank of `MPI_COMM_WORLD`, independent of the communicator
//! of the call, so that a line can be understood without the lines before it. Processes of other worlds have numbers
//! that the rank assigns (see [`Group`]). Volumes are bytes, never counts of a datatype.
//!
//! Each chapter of MPI has a file with its types. The meaning of an event is defined here, for all readers, by methods
//! of [`Event`]: its effects on [`requests`](Event::requests) and [`communicators`](Event::communicators), the
//! [`ranks`](Event::ranks) that it names, the messages that it
//! [`transfers`](Event::transfers), the rank's [`activity`](Event::activity), and the memory that its lists take
//! ([`list_size`](Event::list_size)). Each method names every event, so the compiler finds the places to change for a
//! new one. The window or file that an event names is a matter of [`OneSided::window`] and [`FileEvent::file`].

mod annotation;
mod collective;
mod communicator;
mod file;
mod mark;
mod one_sided;
mod point_to_point;
mod rank_set;
mod uses;

use crate::units::{Bytes, Instructions, Seconds};

pub use annotation::{Annotation, Message, MessageEnd, Span};
pub use collective::{Collective, CollectiveKind, Extent, NeighborOp, Neighborhood, Signature, Volumes};
pub use communicator::{CommCall, CommId, Group};
pub use file::{Direction, FileAccess, FileEvent, FileId, FilePointer, FilePosition, Manage, Phase, SeekDistance};
pub use mark::{CallSiteId, CallStack, CodePlace, Mark, Unrecorded, UnrecordedCall};
pub use one_sided::{Access, AccessOp, Assert, Asserts, OneSided, Synchronisation, WinCall, WinId, WinSync};
pub use point_to_point::{
    Completed, Completion, Incoming, MessageCompletion, Outgoing, Partitioned, Quantifier, RequestId, RequestKey,
    SendMode, Tag, Wildcard,
};
pub use rank_set::{RankSet, ranges_written};
pub use uses::{ObjectUse, RequestUse, Transfers};

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
    pub fn is_executed(&self) -> bool {
        !matches!(self, Self::Matched(..) | Self::Task(_) | Self::Annotation(_))
    }

    /// Whether a program that waits by polling makes any number of such events: a test or a probe in vain, and what lies
    /// between two of them.
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

/// A rank in `MPI_COMM_WORLD`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(pub u32);

/// A thread of a rank. Its number is the lowest that no living thread of the rank had when it first called MPI; thread 0
/// is the one that initialised MPI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u32);

impl ThreadId {
    /// The thread that initialised MPI, and the only one of most programs.
    pub const MAIN: Self = Self(0);
}

/// A rank and its thread: the originator of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Actor {
    /// The rank.
    pub rank: Rank,
    /// The thread of that rank.
    pub thread: ThreadId,
}

impl From<Rank> for Actor {
    fn from(rank: Rank) -> Self {
        Self { rank, thread: ThreadId::MAIN }
    }
}

/// An activity of a rank: the kinds of time in a replay's summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activity {
    /// Computing, or sleeping.
    Compute,
    /// Blocking and non-blocking sends, puts and accumulates.
    Send,
    /// Receives, probes, `sendrecv`, and accesses to windows that return data.
    Recv,
    /// Completion of requests, and every call that is neither a message nor a collective.
    Wait,
    /// Calls on files.
    File,
    /// Collectives, fences, and calls that create communicators or windows.
    Collective,
}

impl Event {
    /// The activity of a rank in this event; `None` for an event that only says something about another.
    pub fn activity(&self) -> Option<Activity> {
        Some(match self {
            Self::Init | Self::Finalize | Self::Compute(_) | Self::Sleep(_) => Activity::Compute,
            Self::Send(..) | Self::Start(_) => Activity::Send,
            Self::Partitioned(event) => event.activity(),
            Self::Recv(..) | Self::Sendrecv(..) | Self::Probe(_) | Self::Iprobe(..) => Activity::Recv,
            Self::Wait(..) | Self::Test(..) | Self::RequestFree(_) | Self::Cancel(_) => Activity::Wait,
            Self::OneSided(event) => event.activity(),
            Self::Other(_) => Activity::Wait,
            Self::File(_) => Activity::File,
            Self::Collective(..) | Self::Neighborhood(..) => Activity::Collective,
            Self::CommCreate(..) | Self::CommFree(_) => Activity::Collective,
            Self::Matched(..) | Self::Mark(_) | Self::Task(_) | Self::Annotation(_) => return None,
        })
    }
}

/// The place of the next event in the graph of its rank.
///
/// The tasks of a rank are numbered in the order of the trace. A task depends on earlier ones, and names each by the
/// difference of the two numbers: 1 is the task before.
///
/// A trace of a graph (GOAL, Chakra) says which operations of a rank depend on each other, and leaves the rest free. A
/// [`Task`] precedes an event of such a rank. The event begins as soon as the tasks that it depends on have ended or
/// begun, independent of its place among the rank's events. An event without a task, such as the last one,
/// `MPI_Finalize`, comes after all events before it and before all events after it. A task that another task follows at
/// once has no event, and takes no time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Task {
    /// The core that the event's computation and software overhead take. The tasks of a core take it in turns, in the
    /// order in which they become ready.
    pub core: u32,
    /// The number of dependences of later tasks on this one: a reader that has met them all need not look further.
    pub dependents: u32,
    /// The tasks that have to end before this one begins.
    pub ended: Box<[u32]>,
    /// The tasks that have to begin before this one begins.
    pub begun: Box<[u32]>,
}

/// The lists of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListSize {
    /// Entries of all lists.
    pub entries: usize,
    /// Bytes that they take on the heap.
    pub bytes: usize,
}

impl Event {
    /// The size of all lists, and of the text, that the event holds on the heap.
    pub(crate) fn list_size(&self) -> ListSize {
        let none = ListSize::default();
        match self {
            Self::Init | Self::Finalize | Self::Compute(_) | Self::Sleep(_) => none,
            Self::Send(..) | Self::Recv(..) | Self::Sendrecv(..) | Self::Probe(_) | Self::Iprobe(..) => none,
            Self::RequestFree(_) | Self::Cancel(_) | Self::Matched(..) => none,
            Self::Partitioned(event) => event.list_size(),
            Self::Start(requests) => ListSize::of(requests),
            Self::Wait(_, completed) | Self::Test(_, Some(completed)) => match completed {
                Completed::These(requests) => ListSize::of(requests),
                Completed::Outstanding(_) | Completed::One(..) => none,
            },
            Self::Test(_, None) => none,
            Self::Collective(call, _) => ListSize::of(call.send.per_member()).and(ListSize::of(call.recv.per_member())),
            Self::Neighborhood(call, _) => ListSize::of(&call.sends).and(ListSize::of(&call.recvs)),
            Self::OneSided(event) => event.list_size(),
            Self::File(_) => none,
            Self::Mark(event) => event.list_size(),
            Self::Other(other) => ListSize::of(other.function.as_bytes()),
            Self::CommCreate(_, _, Some(group)) => ListSize::of(&group.members).and(ListSize::of(&group.remote)),
            Self::CommCreate(_, _, None) | Self::CommFree(_) => none,
            Self::Task(task) => ListSize::of(&task.ended).and(ListSize::of(&task.begun)),
            Self::Annotation(Annotation::Call(_) | Annotation::Message(_)) => none,
        }
    }
}

impl ListSize {
    fn of<T>(list: &[T]) -> Self {
        Self { entries: list.len(), bytes: size_of_val(list) }
    }

    fn and(self, other: Self) -> Self {
        Self { entries: self.entries + other.entries, bytes: self.bytes + other.bytes }
    }
}
