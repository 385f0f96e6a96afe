//! What a trace says: one [`Event`] for each MPI call, and one for the computation between two calls.
//!
//! Ranks are ranks of `MPI_COMM_WORLD` wherever an event names a peer, a root or a member, whatever communicator the
//! call used, so that a line can be understood without the lines before it. Volumes are bytes, never counts of a
//! datatype.

mod file;
mod neighborhood;
mod one_sided;

pub use file::{Direction, FileAccess, FileEvent, FileId, Manage, Phase, Reach};
pub use neighborhood::{NeighborOp, Neighborhood};
pub use one_sided::{Access, AccessOp, OneSided, WinCall, WinId, WinSync};

use crate::units::{Bytes, Instructions, Nanoseconds, Seconds};

/// A rank in `MPI_COMM_WORLD`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(pub u32);

/// A thread of a rank, by the lowest number that no living thread had when it first called MPI: 0 is the one that
/// initialised it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u32);

impl ThreadId {
    /// The thread that initialised MPI, and the only one of most programs.
    pub const MAIN: Self = Self(0);
}

/// Whose event it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Actor {
    /// The rank.
    pub rank: Rank,
    /// Its thread.
    pub thread: ThreadId,
}

impl From<Rank> for Actor {
    fn from(rank: Rank) -> Self {
        Self { rank, thread: ThreadId::MAIN }
    }
}

/// A message tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(pub i32);

/// A communicator, by the number that *this rank* gave it; other members may number it otherwise. What is the same
/// communicator across ranks follows from the members and the order of creation (see [`Group`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommId(pub u32);

impl CommId {
    /// `MPI_COMM_WORLD`, which needs no introduction.
    pub const WORLD: Self = Self(0);
    /// `MPI_COMM_SELF`, likewise.
    pub const SELF: Self = Self(1);
}

/// A request of one rank: the lowest number that was free when the request was made, free again once it is completed
/// (a persistent one: once it is freed).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u32);

/// How a send completes (MPI 4.0 §3.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SendMode {
    /// The library decides between buffering and waiting.
    #[default]
    Standard,
    /// Completes once the receive has started.
    Synchronous,
    /// Completes at once, whatever the size.
    Buffered,
    /// The receive is already posted.
    Ready,
}

/// A message as its sender describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Where it is matched.
    pub comm: CommId,
    /// The destination.
    pub to: Rank,
    /// Its tag.
    pub tag: Tag,
    /// How much it carries.
    pub bytes: Bytes,
}

/// A message as its receiver asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// Where it is matched.
    pub comm: CommId,
    /// The source, matched or asked for. `None`: any, and the match stands in a later [`Event::Matched`].
    pub from: Option<Rank>,
    /// The tag, likewise.
    pub tag: Option<Tag>,
    /// How much there is room for.
    pub bytes: Bytes,
    /// What the program left open, even where the match is known.
    pub wildcard: Wildcard,
}

/// Which of `MPI_ANY_SOURCE` and `MPI_ANY_TAG` a receive or a probe used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wildcard {
    /// `MPI_ANY_SOURCE`.
    pub source: bool,
    /// `MPI_ANY_TAG`.
    pub tag: bool,
}

impl Wildcard {
    /// Neither.
    pub const NONE: Self = Self { source: false, tag: false };
}

/// The MPI function that asked after requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ask {
    /// `MPI_Wait`, `MPI_Test`.
    Single,
    /// `MPI_Waitall`, `MPI_Testall`.
    All,
    /// `MPI_Waitany`, `MPI_Testany`.
    Any,
    /// `MPI_Waitsome`, `MPI_Testsome`.
    Some,
}

/// A request by what it moves: how SimGrid's `wait` and `test` name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The sender; `None` for a wildcard receive whose match the trace does not know.
    pub from: Option<Rank>,
    /// The receiver.
    pub to: Rank,
    /// The tag, likewise.
    pub tag: Option<Tag>,
}

/// The requests that a wait or a test completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requests {
    /// All that the rank has outstanding; how many, where the trace says it.
    Outstanding(Option<u32>),
    /// One point-to-point request; without a number, the oldest outstanding one with that key.
    One(Key, Option<RequestId>),
    /// These.
    These(Vec<RequestId>),
}

/// A collective operation and its volumes.
#[derive(Clone, Debug, PartialEq)]
pub struct Collective {
    /// The communicator it runs on.
    pub comm: CommId,
    /// What it does.
    pub op: CollectiveOp,
    /// Size of one element of the datatype: algorithms cut messages at its multiples.
    pub element: Bytes,
}

/// Each collective operation with its volumes, as the rank that writes the event passes them: `send` and `recv` are for
/// one peer, lists have one entry for each member in the communicator's order, and arguments that are significant only
/// at the root are zero elsewhere. `work` is what each rank computes, once, to reduce.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // The fields are what the sentence above says.
pub enum CollectiveOp {
    Barrier,
    Bcast { bytes: Bytes, root: Rank },
    Reduce { bytes: Bytes, work: Instructions, root: Rank },
    Allreduce { bytes: Bytes, work: Instructions },
    Scan { bytes: Bytes, work: Instructions },
    Exscan { bytes: Bytes, work: Instructions },
    ReduceScatter { counts: Vec<Bytes>, work: Instructions },
    ReduceScatterBlock { bytes: Bytes, work: Instructions },
    Gather { send: Bytes, recv: Bytes, root: Rank },
    Scatter { send: Bytes, recv: Bytes, root: Rank },
    Allgather { send: Bytes, recv: Bytes },
    Alltoall { send: Bytes, recv: Bytes },
    Gatherv { send: Bytes, recvs: Vec<Bytes>, root: Rank },
    Scatterv { sends: Vec<Bytes>, recv: Bytes, root: Rank },
    Allgatherv { send: Bytes, recvs: Vec<Bytes> },
    Alltoallv { sends: Vec<Bytes>, recvs: Vec<Bytes> },
    Alltoallw { sends: Vec<Bytes>, recvs: Vec<Bytes> },
}

/// The MPI function that made a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Named as MPI names them.
pub enum CommCall {
    Dup,
    Idup,
    Split,
    SplitType,
    Create,
    CreateGroup,
    CartCreate,
    CartSub,
    GraphCreate,
    DistGraphCreate,
    DistGraphCreateAdjacent,
    IntercommCreate,
    IntercommMerge,
    CreateFromGroup,
}

/// A communicator that was made, by its members.
///
/// Two ranks mean the same communicator if the members are the same in the same order and it is the *n*-th of these
/// members for both: MPI has every member make the communicators it shares in one order (MPI 4.0 §7.4.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The number this rank gives it from here on.
    pub id: CommId,
    /// Its members in its own order; of an inter-communicator, the local group.
    pub members: Vec<Rank>,
    /// The remote group of an inter-communicator; empty otherwise.
    pub remote: Vec<Rank>,
}

/// From when to when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The beginning.
    pub begin: Nanoseconds,
    /// The end.
    pub end: Nanoseconds,
}

/// Whether a member sends or receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageEnd {
    /// It sends.
    Sent,
    /// It receives.
    Received,
}

/// A message that a collective is made of, as one of its two ends sees it. A member's messages stand in the order in which
/// it started them; one that ended before the next began was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The communicator of the collective.
    pub comm: CommId,
    /// Which collective of this communicator it is, counted from 0 and the same for all members.
    pub number: u64,
    /// Which end this is.
    pub end: MessageEnd,
    /// The other one.
    pub peer: Rank,
    /// How much it carries.
    pub bytes: Bytes,
    /// From its start to its completion.
    pub span: Span,
}

/// What extended tracing has seen of the call that the next other event tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// When it was made, and when it returned.
    Call(Span),
    /// A message that the collective was made of.
    Message(Message),
}

/// A call that communicates in a way that no other event describes: with processes outside the world, between two
/// groups, by a function of one library only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// The MPI function.
    pub function: Box<str>,
    /// What the rank gives.
    pub sent: Bytes,
    /// What it gets, or has room for.
    pub received: Bytes,
}

/// One event of one rank.
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

    /// A blocking send.
    Send(SendMode, Outgoing),
    /// A blocking receive.
    Recv(Incoming),
    /// A non-blocking send; the request has no number in traces of other tools.
    Isend(SendMode, Outgoing, Option<RequestId>),
    /// A non-blocking receive, likewise.
    Irecv(Incoming, Option<RequestId>),
    /// `MPI_Sendrecv`, `MPI_Sendrecv_replace`. A side whose peer is `MPI_PROC_NULL` is absent.
    Sendrecv(Option<Outgoing>, Option<Incoming>),
    /// `MPI_Probe`, `MPI_Mprobe`.
    Probe(Incoming),
    /// `MPI_Iprobe`, `MPI_Improbe`, and whether there was a message.
    Iprobe(Incoming, bool),

    /// A persistent send was set up.
    SendInit(SendMode, Outgoing, RequestId),
    /// A persistent receive was set up.
    RecvInit(Incoming, RequestId),
    /// `MPI_Start`, `MPI_Startall`.
    Start(Vec<RequestId>),
    /// `MPI_Request_free`: the request completes unobserved; a persistent one is gone.
    RequestFree(RequestId),
    /// `MPI_Cancel`; the request is still to be completed.
    Cancel(RequestId),

    /// What a wildcard receive was matched with; stands before the event that completes the request.
    Matched(RequestId, Rank, Tag),
    /// A wait, and what it completed.
    Wait(Ask, Requests),
    /// A test, and what it completed; `None`: nothing.
    Test(Ask, Option<Requests>),

    /// A blocking collective.
    Collective(Collective),
    /// A non-blocking collective.
    Icollective(Collective, RequestId),

    /// A persistent collective was set up.
    CollectiveInit(Collective, RequestId),
    /// A blocking neighbourhood collective.
    Neighbor(Neighborhood),
    /// A non-blocking one.
    Ineighbor(Neighborhood, RequestId),
    /// A persistent one was set up.
    NeighborInit(Neighborhood, RequestId),

    /// A partitioned send was set up: a persistent request whose message is ready in so many parts (MPI 4.0 §4).
    PsendInit(Outgoing, u32, RequestId),
    /// A partitioned receive.
    PrecvInit(Incoming, u32, RequestId),
    /// `MPI_Pready`, `MPI_Pready_range`, `MPI_Pready_list`: these parts are.
    Pready(RequestId, Vec<u32>),

    /// One-sided communication.
    OneSided(OneSided),
    /// Input and output.
    File(FileEvent),
    /// Whatever else communicates.
    Other(Other),

    /// A call that makes a communicator, on its parent; `None` where this rank is not a member of any.
    CommCreate(CommCall, CommId, Option<Group>),
    /// `MPI_Comm_free`, `MPI_Comm_disconnect`.
    CommFree(CommId),

    /// What extended tracing adds; to pass over it leaves a time-independent trace.
    Seen(Seen),
}
