//! The words of the grammar, each spelled once for writing, reading and reports.

use crate::event::{
    Annotation, CollectiveKind, CommCall, Completion, Event, MessageEnd, NeighborOp, Quantifier, SendMode,
};

/// Writes the variants of an enum and their words side by side: `ALL`, `word`, and the variant of a word.
macro_rules! words {
    ($type:ident { $($variant:ident = $word:literal,)+ }) => {
        impl $type {
            /// All variants.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The word of the grammar.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The variant whose word this is.
            pub(in crate::grammar) fn of_word(word: &[u8]) -> Option<Self> {
                Self::ALL.into_iter().find(|variant| variant.word().as_bytes() == word)
            }
        }
    };
}
pub(super) use words;

/// Writes the variants of an enum and the words of their blocking forms side by side. The other two forms have the same
/// word with `i` before it and with `_init` behind it.
macro_rules! forms {
    ($type:ident { $($variant:ident = $word:literal,)+ }) => {
        impl $type {
            /// All variants.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The word of the blocking form.
            #[must_use]
            pub const fn word(self) -> &'static str {
                self.forms().blocking
            }

            pub(super) const fn forms(self) -> Forms {
                match self {
                    $(Self::$variant => Forms {
                        blocking: $word,
                        nonblocking: concat!("i", $word),
                        persistent: concat!($word, "_init"),
                    },)+
                }
            }

            /// The variant and the form whose word this is.
            pub(super) fn of_word(word: &[u8]) -> Option<(Self, Form)> {
                Self::ALL.into_iter().find_map(|variant| Some((variant, variant.forms().find(word)?)))
            }
        }
    };
}

/// The words of an operation that MPI has in three forms.
#[derive(Clone, Copy)]
pub(super) struct Forms {
    blocking: &'static str,
    nonblocking: &'static str,
    persistent: &'static str,
}

/// A form of an operation: how it completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Blocking,
    Nonblocking,
    Persistent,
}

/// The words of receives.
pub(super) const RECV: Forms = Forms { blocking: "recv", nonblocking: "irecv", persistent: "recv_init" };

impl Forms {
    /// The word of the form that completes as `completion` says.
    #[inline]
    pub(super) const fn of<R>(self, completion: &Completion<R>) -> &'static str {
        match completion {
            Completion::Blocking => self.blocking,
            Completion::Request(_) => self.nonblocking,
            Completion::Persistent(_) => self.persistent,
        }
    }

    /// The form whose word this is.
    pub(super) fn find(self, word: &[u8]) -> Option<Form> {
        let Self { blocking, nonblocking, persistent } = self;
        let forms = [(blocking, Form::Blocking), (nonblocking, Form::Nonblocking), (persistent, Form::Persistent)];
        forms.into_iter().find(|(known, _)| known.as_bytes() == word).map(|(_, form)| form)
    }
}

forms! { SendMode { Standard = "send", Synchronous = "ssend", Buffered = "bsend", Ready = "rsend", } }

forms! {
    CollectiveKind {
        Barrier = "barrier",
        Bcast = "bcast",
        Reduce = "reduce",
        Allreduce = "allreduce",
        Scan = "scan",
        Exscan = "exscan",
        ReduceScatter = "reducescatter",
        ReduceScatterBlock = "reducescatter_block",
        Gather = "gather",
        Scatter = "scatter",
        Allgather = "allgather",
        Alltoall = "alltoall",
        Gatherv = "gatherv",
        Scatterv = "scatterv",
        Allgatherv = "allgatherv",
        Alltoallv = "alltoallv",
        Alltoallw = "alltoallw",
    }
}

forms! {
    NeighborOp {
        Allgather = "neighbor_allgather",
        Allgatherv = "neighbor_allgatherv",
        Alltoall = "neighbor_alltoall",
        Alltoallv = "neighbor_alltoallv",
        Alltoallw = "neighbor_alltoallw",
    }
}

words! { MessageEnd { Sent = "sent", Received = "received", } }

words! {
    CommCall {
        Dup = "comm_dup",
        Idup = "comm_idup",
        Split = "comm_split",
        SplitType = "comm_split_type",
        Create = "comm_create",
        CreateGroup = "comm_create_group",
        CartCreate = "cart_create",
        CartSub = "cart_sub",
        GraphCreate = "graph_create",
        DistGraphCreate = "dist_graph_create",
        DistGraphCreateAdjacent = "dist_graph_create_adjacent",
        IntercommCreate = "intercomm_create",
        IntercommMerge = "intercomm_merge",
        CreateFromGroup = "comm_create_from_group",
        Spawn = "comm_spawn",
        Parent = "comm_parent",
        Accept = "comm_accept",
        Connect = "comm_connect",
        Join = "comm_join",
        World = "comm_world",
    }
}

impl Quantifier {
    /// All four quantifiers.
    pub const ALL: [Self; 4] = [Self::Single, Self::All, Self::Any, Self::Some];

    pub(crate) const fn wait_word(self) -> &'static str {
        match self {
            Self::Single => "wait",
            Self::All => "waitall",
            Self::Any => "waitany",
            Self::Some => "waitsome",
        }
    }

    pub(crate) const fn test_word(self) -> &'static str {
        match self {
            Self::Single => "test",
            Self::All => "testall",
            Self::Any => "testany",
            Self::Some => "testsome",
        }
    }
}

impl Event {
    /// The word of the event's line, without `_of`: the kind of event, for counting.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Finalize => "finalize",
            Self::Compute(_) => "compute",
            Self::Sleep(_) => "sleep",
            Self::Send(mode, _, completion) => mode.forms().of(completion),
            Self::Recv(_, completion) => RECV.of(completion),
            Self::Sendrecv(..) => "sendrecv",
            Self::Probe(_) => "probe",
            Self::Iprobe(..) => "iprobe",
            Self::Partitioned(event) => event.word(),
            Self::Start(_) => "start",
            Self::RequestFree(_) => "request_free",
            Self::Cancel(_) => "cancel",
            Self::Matched(..) => "matched",
            Self::Wait(quantifier, _) => quantifier.wait_word(),
            Self::Test(quantifier, _) => quantifier.test_word(),
            Self::Collective(call, completion) => call.kind.forms().of(completion),
            Self::Neighborhood(call, completion) => call.op.forms().of(completion),
            Self::OneSided(event) => event.word(),
            Self::File(event) => event.word(),
            Self::Other(_) => "call",
            Self::CommCreate(call, ..) => call.word(),
            Self::CommFree(_) => "comm_free",
            Self::Mark(event) => event.word(),
            Self::Task(_) => super::task::WORD,
            Self::Annotation(Annotation::Call(_)) => "called",
            Self::Annotation(Annotation::Message(message)) => message.end.word(),
        }
    }
}
