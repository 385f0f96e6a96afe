//! The words of the grammar, each spelled once for writing, reading and reports.

use crate::event::{Ask, CollectiveOp, CommCall, Event, MessageEnd, Requests, Seen, SendMode};

impl SendMode {
    /// All modes.
    pub const ALL: [Self; 4] = [Self::Standard, Self::Synchronous, Self::Buffered, Self::Ready];

    /// The word of a blocking send in this mode.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Standard => "send",
            Self::Synchronous => "ssend",
            Self::Buffered => "bsend",
            Self::Ready => "rsend",
        }
    }

    /// Of a non-blocking one.
    #[must_use]
    pub fn nonblocking_word(self) -> &'static str {
        match self {
            Self::Standard => "isend",
            Self::Synchronous => "issend",
            Self::Buffered => "ibsend",
            Self::Ready => "irsend",
        }
    }

    /// Of the set-up of a persistent one.
    #[must_use]
    pub fn persistent_word(self) -> &'static str {
        match self {
            Self::Standard => "send_init",
            Self::Synchronous => "ssend_init",
            Self::Buffered => "bsend_init",
            Self::Ready => "rsend_init",
        }
    }
}

impl Ask {
    /// All four.
    pub const ALL: [Self; 4] = [Self::Single, Self::All, Self::Any, Self::Some];

    /// The word of a wait.
    #[must_use]
    pub fn wait_word(self) -> &'static str {
        match self {
            Self::Single => "wait",
            Self::All => "waitall",
            Self::Any => "waitany",
            Self::Some => "waitsome",
        }
    }

    /// The word of a test.
    #[must_use]
    pub fn test_word(self) -> &'static str {
        match self {
            Self::Single => "test",
            Self::All => "testall",
            Self::Any => "testany",
            Self::Some => "testsome",
        }
    }
}

impl MessageEnd {
    /// The word of a message within a collective.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Received => "received",
        }
    }
}

impl CommCall {
    /// All calls that make a communicator.
    pub const ALL: [Self; 14] = [
        Self::Dup,
        Self::Idup,
        Self::Split,
        Self::SplitType,
        Self::Create,
        Self::CreateGroup,
        Self::CartCreate,
        Self::CartSub,
        Self::GraphCreate,
        Self::DistGraphCreate,
        Self::DistGraphCreateAdjacent,
        Self::IntercommCreate,
        Self::IntercommMerge,
        Self::CreateFromGroup,
    ];

    /// Its word: MPI's name in small letters.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Dup => "comm_dup",
            Self::Idup => "comm_idup",
            Self::Split => "comm_split",
            Self::SplitType => "comm_split_type",
            Self::Create => "comm_create",
            Self::CreateGroup => "comm_create_group",
            Self::CartCreate => "cart_create",
            Self::CartSub => "cart_sub",
            Self::GraphCreate => "graph_create",
            Self::DistGraphCreate => "dist_graph_create",
            Self::DistGraphCreateAdjacent => "dist_graph_create_adjacent",
            Self::IntercommCreate => "intercomm_create",
            Self::IntercommMerge => "intercomm_merge",
            Self::CreateFromGroup => "comm_create_from_group",
        }
    }
}

impl CollectiveOp {
    /// Its word; with an `i` before it, the non-blocking one's.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Bcast { .. } => "bcast",
            Self::Reduce { .. } => "reduce",
            Self::Allreduce { .. } => "allreduce",
            Self::Scan { .. } => "scan",
            Self::Exscan { .. } => "exscan",
            Self::ReduceScatter { .. } => "reducescatter",
            Self::ReduceScatterBlock { .. } => "reducescatter_block",
            Self::Gather { .. } => "gather",
            Self::Scatter { .. } => "scatter",
            Self::Allgather { .. } => "allgather",
            Self::Alltoall { .. } => "alltoall",
            Self::Gatherv { .. } => "gatherv",
            Self::Scatterv { .. } => "scatterv",
            Self::Allgatherv { .. } => "allgatherv",
            Self::Alltoallv { .. } => "alltoallv",
            Self::Alltoallw { .. } => "alltoallw",
        }
    }
}

impl CollectiveOp {
    /// Whether `word` names a blocking collective.
    pub(super) fn is_word(word: &[u8]) -> bool {
        const WORDS: [&str; 17] = [
            "barrier",
            "bcast",
            "reduce",
            "allreduce",
            "scan",
            "exscan",
            "reducescatter",
            "reducescatter_block",
            "gather",
            "scatter",
            "allgather",
            "alltoall",
            "gatherv",
            "scatterv",
            "allgatherv",
            "alltoallv",
            "alltoallw",
        ];
        WORDS.iter().any(|known| known.as_bytes() == word)
    }
}

/// What kind of event it is, for counting: the word of its line.
#[must_use]
pub fn event_kind(event: &Event) -> &'static str {
    match event {
        Event::Init => "init",
        Event::Finalize => "finalize",
        Event::Compute(_) => "compute",
        Event::Sleep(_) => "sleep",
        Event::Send(mode, _) => mode.word(),
        Event::Recv(_) => "recv",
        Event::Isend(mode, ..) => mode.nonblocking_word(),
        Event::Irecv(..) => "irecv",
        Event::Sendrecv(..) => "sendrecv",
        Event::Probe(_) => "probe",
        Event::Iprobe(..) => "iprobe",
        Event::SendInit(mode, ..) => mode.persistent_word(),
        Event::RecvInit(..) => "recv_init",
        Event::Start(_) => "start",
        Event::RequestFree(_) => "request_free",
        Event::Cancel(_) => "cancel",
        Event::Matched(..) => "matched",
        Event::Wait(ask, _) => ask.wait_word(),
        Event::Test(ask, _) => ask.test_word(),
        Event::Collective(collective) => collective.op.word(),
        Event::Icollective(collective, _) => nonblocking_word(&collective.op),
        Event::CollectiveInit(collective, _) => persistent_word(&collective.op),
        Event::Neighbor(call) => call.op.word(),
        Event::Ineighbor(call, _) => call.op.nonblocking_word(),
        Event::NeighborInit(call, _) => call.op.persistent_word(),
        Event::PsendInit(..) => "psend_init",
        Event::PrecvInit(..) => "precv_init",
        Event::Pready(..) => "pready",
        Event::OneSided(event) => event.word(),
        Event::File(event) => event.word(),
        Event::Other(_) => "call",
        Event::CommCreate(call, ..) => call.word(),
        Event::CommFree(_) => "comm_free",
        Event::Seen(Seen::Call(_)) => "called",
        Event::Seen(Seen::Message(message)) => message.end.word(),
    }
}

/// The word of a non-blocking collective.
pub(super) fn nonblocking_word(op: &CollectiveOp) -> &'static str {
    match op {
        CollectiveOp::Barrier => "ibarrier",
        CollectiveOp::Bcast { .. } => "ibcast",
        CollectiveOp::Reduce { .. } => "ireduce",
        CollectiveOp::Allreduce { .. } => "iallreduce",
        CollectiveOp::Scan { .. } => "iscan",
        CollectiveOp::Exscan { .. } => "iexscan",
        CollectiveOp::ReduceScatter { .. } => "ireducescatter",
        CollectiveOp::ReduceScatterBlock { .. } => "ireducescatter_block",
        CollectiveOp::Gather { .. } => "igather",
        CollectiveOp::Scatter { .. } => "iscatter",
        CollectiveOp::Allgather { .. } => "iallgather",
        CollectiveOp::Alltoall { .. } => "ialltoall",
        CollectiveOp::Gatherv { .. } => "igatherv",
        CollectiveOp::Scatterv { .. } => "iscatterv",
        CollectiveOp::Allgatherv { .. } => "iallgatherv",
        CollectiveOp::Alltoallv { .. } => "ialltoallv",
        CollectiveOp::Alltoallw { .. } => "ialltoallw",
    }
}

/// The word of the set-up of a persistent collective.
pub(super) fn persistent_word(op: &CollectiveOp) -> &'static str {
    match op {
        CollectiveOp::Barrier => "barrier_init",
        CollectiveOp::Bcast { .. } => "bcast_init",
        CollectiveOp::Reduce { .. } => "reduce_init",
        CollectiveOp::Allreduce { .. } => "allreduce_init",
        CollectiveOp::Scan { .. } => "scan_init",
        CollectiveOp::Exscan { .. } => "exscan_init",
        CollectiveOp::ReduceScatter { .. } => "reducescatter_init",
        CollectiveOp::ReduceScatterBlock { .. } => "reducescatter_block_init",
        CollectiveOp::Gather { .. } => "gather_init",
        CollectiveOp::Scatter { .. } => "scatter_init",
        CollectiveOp::Allgather { .. } => "allgather_init",
        CollectiveOp::Alltoall { .. } => "alltoall_init",
        CollectiveOp::Gatherv { .. } => "gatherv_init",
        CollectiveOp::Scatterv { .. } => "scatterv_init",
        CollectiveOp::Allgatherv { .. } => "allgatherv_init",
        CollectiveOp::Alltoallv { .. } => "alltoallv_init",
        CollectiveOp::Alltoallw { .. } => "alltoallw_init",
    }
}

/// Whether the requests are named by what they move or counted (`wait`, `waitall`), or listed (`wait_of`).
pub(super) fn suffix(requests: &Requests) -> &'static str {
    match requests {
        Requests::Outstanding(_) | Requests::One(..) => "",
        Requests::These(_) => "_of",
    }
}
