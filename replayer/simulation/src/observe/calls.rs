//! The calls, operations and communicators that observers receive.

use rustc_hash::FxHashMap;
use titr_common::event::{Actor, CollectiveKind, Rank, Tag};
use titr_common::format::count;
use titr_common::time::Time;
use titr_common::trace::Trace;
use titr_common::units::Bytes;
use titr_network::TransferId;

use super::{Departure, Observer};

/// An operation that a waiter can wait for: a receive, a send that does not complete at once, or a collective. The id
/// is valid from the start of the operation until it is complete and has been waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperationId(pub u32);

/// The name of a communicator, which is the same for all its members and never given again. The world has the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommunicatorId(pub u32);

/// The name of a rank's part in a collective, until the rank has left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CollectiveId(pub u32);

/// The poster of a receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A thread, in the call that it is in.
    Thread(Actor),
    /// A collective, for a step of its schedule.
    Collective(CollectiveId),
}

/// A message that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentMessage {
    /// The name that the network will have for it.
    pub id: TransferId,
    /// The sender.
    pub from: Rank,
    /// The receiver.
    pub to: Rank,
    /// The communicator of the message.
    pub communicator: CommunicatorId,
    /// The operation that its arrival completes; `None`: its send is complete at once.
    pub operation: Option<OperationId>,
    /// Whether the message is part of a collective.
    pub in_collective: bool,
    /// The payload of the message.
    pub bytes: Bytes,
}

/// A receive that is posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receive {
    /// The operation that its completion completes.
    pub id: OperationId,
    /// The rank that receives.
    pub rank: Rank,
    /// The poster of the receive.
    pub caller: Caller,
    /// The communicator of the message.
    pub communicator: CommunicatorId,
    /// The sender; `None`: any.
    pub source: Option<Rank>,
    /// The tag; `None`: any.
    pub tag: Option<Tag>,
    /// The most bytes that a message may have; `None` if that is not known.
    pub room: Option<Bytes>,
}

/// A wait of a rank in a call that separates accesses in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowWait {
    /// The operation that the end of the wait completes.
    pub id: OperationId,
    /// The rank that waits.
    pub rank: Rank,
    /// The communicator of the window.
    pub communicator: CommunicatorId,
    /// The condition that the rank waits for.
    pub condition: WindowCondition,
}

/// A condition of a window that a rank waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowCondition {
    /// The lock of the part of `target`.
    Lock {
        /// The rank whose part is to be locked.
        target: Rank,
        /// Whether no other rank may have the lock at the same time.
        exclusive: bool,
    },
    /// The lock of the whole window.
    LockAll,
    /// This rank has released the lock that was given back to it.
    Release(Rank),
    /// This rank has posted.
    Post(Rank),
    /// This rank has completed its accesses to the rank that waits.
    Complete(Rank),
    /// Accesses to this rank are done.
    Accesses(Rank),
    /// The accesses of other ranks to the part of the rank that waits are done.
    Arrivals,
}

/// A collective that a rank enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectiveCall {
    /// The name of the rank's part in it.
    pub id: CollectiveId,
    /// The rank.
    pub rank: Rank,
    /// The word that the trace has for it, such as `bcast`; for a call that makes a communicator, the collective by which
    /// the members agree.
    pub name: &'static str,
    /// The communicator.
    pub communicator: CommunicatorId,
    /// The number of the collective on the communicator, from 0 and the same for all members. All starts of a
    /// persistent collective have the number assigned when it was set up.
    pub number: u64,
    /// The operation that its end completes.
    pub operation: OperationId,
    /// The direction of data between the members.
    pub flow: CollectiveFlow,
    /// The root, if it has one of this communicator's only group.
    pub root: Option<Rank>,
    /// The rank's place among the members.
    pub member: u32,
    /// The number of members.
    pub members: u32,
}

/// The dependences between the members of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectiveFlow {
    /// Each waits for all, and there is no data.
    Barrier,
    /// Each needs data of all.
    AllToAll,
    /// All need data of the root.
    OneToAll,
    /// The root needs data of all.
    AllToOne,
    /// Each needs data of those before it.
    Prefix,
    /// Each needs data of some.
    Neighborhood,
}

impl From<CollectiveKind> for CollectiveFlow {
    fn from(kind: CollectiveKind) -> Self {
        match kind {
            CollectiveKind::Barrier => Self::Barrier,
            CollectiveKind::Bcast | CollectiveKind::Scatter | CollectiveKind::Scatterv => Self::OneToAll,
            CollectiveKind::Reduce | CollectiveKind::Gather | CollectiveKind::Gatherv => Self::AllToOne,
            CollectiveKind::Scan | CollectiveKind::Exscan => Self::Prefix,
            CollectiveKind::Allreduce
            | CollectiveKind::ReduceScatter
            | CollectiveKind::ReduceScatterBlock
            | CollectiveKind::Allgather
            | CollectiveKind::Allgatherv
            | CollectiveKind::Alltoall
            | CollectiveKind::Alltoallv
            | CollectiveKind::Alltoallw => Self::AllToAll,
        }
    }
}

/// Messages that entered the network, those within collectives too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// The number of messages.
    pub messages: u64,
    /// Payload of these messages.
    pub bytes: Bytes,
}

impl Observer for Traffic {
    fn injected(&mut self, _: Time, message: Departure) {
        self.messages += 1;
        self.bytes += message.bytes;
    }
}

/// The kind of a transfer, as the simulated MPI library distinguishes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransferKind {
    /// A message below the eager threshold, between two ranks.
    Eager,
    /// The data of a rendezvous, between two ranks.
    Rendezvous,
    /// A message of a collective, below the eager threshold.
    CollectiveEager,
    /// The data of a rendezvous in a collective.
    CollectiveRendezvous,
    /// A message of one-sided communication.
    OneSided,
    /// A request, data or an answer of an access to a file.
    File,
}

impl TransferKind {
    /// All kinds.
    pub const ALL: [Self; 6] =
        [Self::Eager, Self::Rendezvous, Self::CollectiveEager, Self::CollectiveRendezvous, Self::OneSided, Self::File];

    /// The kind's name in network traces.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Eager => "eager",
            Self::Rendezvous => "rendezvous",
            Self::CollectiveEager => "collective-eager",
            Self::CollectiveRendezvous => "collective-rendezvous",
            Self::OneSided => "one-sided",
            Self::File => "file",
        }
    }
}

/// Maximum number of truncated messages that are reported one by one.
const TOLD: usize = 16;

/// Compares each message with the room of its receive.
#[derive(Default)]
pub(crate) struct Truncations {
    /// Receives that are posted, and not matched.
    posted: FxHashMap<OperationId, (Receive, Bytes)>,
    /// Messages that are sent, and not matched.
    sent: FxHashMap<TransferId, (Rank, Bytes)>,
    told: Vec<String>,
    further: u64,
    /// Whether a receive of size zero is known to have no room. SimGrid's traces may have a negative size there, for
    /// any message.
    knows_empty: bool,
}

impl Truncations {
    pub(crate) fn new(trace: &Trace) -> Self {
        let knows_empty = trace.manifest().is_some_and(|manifest| !manifest.command.is_empty());
        Self { knows_empty, ..Self::default() }
    }

    /// A sentence for each message that is too long.
    pub(crate) fn findings(self) -> Vec<String> {
        let further = (self.further > 0).then(|| format!("and {} further truncated messages", count(self.further)));
        self.told.into_iter().chain(further).collect()
    }
}

impl Observer for Truncations {
    fn posted(&mut self, _: Time, receive: Receive) {
        if let Some(room) = receive.room.filter(|room| self.knows_empty || *room > Bytes(0)) {
            self.posted.insert(receive.id, (receive, room));
        }
    }

    /// A receive that is cancelled completes without a message, and another may have its name then.
    fn completed(&mut self, _: Time, operation: OperationId) {
        self.posted.remove(&operation);
    }

    fn sent(&mut self, _: Time, message: SentMessage) {
        self.sent.insert(message.id, (message.from, message.bytes));
    }

    fn matched(&mut self, _: Time, receive: OperationId, message: TransferId) {
        let (posted, sent) = (self.posted.remove(&receive), self.sent.remove(&message));
        let Some(((receive, room), (from, bytes))) = posted.zip(sent).filter(|((_, room), (_, bytes))| bytes > room)
        else {
            return;
        };
        if self.told.len() == TOLD {
            self.further += 1;
            return;
        }
        let tag = receive.tag.map_or_else(String::new, |tag| format!(", tag {}", tag.0));
        self.told.push(format!(
            "rank {}: a receive of {} bytes takes a message of {} bytes from rank {}{tag}: the message is truncated",
            receive.rank.0, room.0, bytes.0, from.0
        ));
    }
}
