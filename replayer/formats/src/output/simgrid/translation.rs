//! The state of a translation, and the writing of its actions.

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use slab::Slab;
use titr_common::collectives::Step;
use titr_common::event::{Actor, CommId, Event, Rank, Tag, ThreadId};
use titr_common::grammar::write_event;
use titr_common::program::{CommIndex, Communicators, Context, Fault, Members, NodeMaps, RequestTable};
use titr_common::trace::EventSource;
use titr_common::units::{Bytes, Instructions};
use titr_workload::Workload;

use super::differences::Differences;
use super::request_storage::{Name, RequestStorage, StoredRequest};
use super::{Collectives, Rules};
use crate::output::rank_files::RankFiles;

/// The longest message: SimGrid counts the elements of one in a C `int`.
pub(super) const LONGEST: Bytes = Bytes(i32::MAX as u64);

/// A translation in progress: its state, and its output.
pub(super) struct Translation<'a, S> {
    pub(super) workload: Workload<S>,
    pub(super) rules: &'a Rules,
    pub(super) communicators: Communicators,
    pub(super) nodes: NodeMaps,
    pub(super) tags: Tags,
    pub(super) ranks: Vec<RankState>,
    pub(super) files: RankFiles,
    pub(super) differences: Differences,
    pub(super) actions: u64,
    /// The sends of each name that have no receive, or, below 0, the receives that have no send.
    pub(super) unpaired: FxHashMap<Name, i64>,
    /// Which collectives stay collectives.
    pub(super) collectives: Collectives,
}

#[derive(Default)]
pub(super) struct RankState {
    /// The rank's requests, as the program names them.
    pub(super) requests: RequestTable<OperationId>,
    /// The operations of the requests.
    pub(super) operations: Slab<Operation>,
    /// The rank's requests, as SimGrid names them.
    pub(super) storage: RequestStorage,
    /// Sends that are complete for the program, and whose messages are in its buffer.
    pub(super) buffered: Vec<StoredRequest>,
    pub(super) events: u64,
    pub(super) finalized: bool,
    /// The thread of the current event.
    pub(super) thread: ThreadId,
    /// Where each thread begins, which is where the event before its first one does.
    pub(super) threads: Vec<ThreadBeginning>,
    /// The number of actions, and that before the last event that has some.
    pub(super) actions: u64,
    pub(super) begun: u64,
    /// What each thread waits for before its next event, where all threads became one.
    pub(super) owed: FxHashMap<ThreadId, Vec<OperationId>>,
}

/// A further thread, and the number of the rank's actions before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::output) struct ThreadBeginning {
    pub thread: ThreadId,
    pub actions: u64,
}

/// Names an [`Operation`] of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OperationId(pub(super) u32);

/// An operation that completing a request has to wait for.
pub(super) enum Operation {
    Message(StoredRequest),
    /// A collective in the background.
    Collective(Box<CollectiveProgress>),
    /// Nothing any more: a receive that was cancelled, a collective that went to its end because a later one did.
    Over,
}

/// The rest of one member's part in a collective.
pub(super) struct CollectiveProgress {
    pub(super) context: Context,
    /// The number of the collective on its communicator.
    pub(super) number: u64,
    pub(super) members: Rc<Members>,
    pub(super) tag: Tag,
    pub(super) steps: Vec<Step>,
    pub(super) next: usize,
    /// Sends and receives that the rank waits for before the next step.
    pub(super) owed: Vec<StoredRequest>,
    /// Sends and receives that were started, in order.
    pub(super) started: VecDeque<StoredRequest>,
    pub(super) work: Instructions,
}

impl<'a, S: EventSource> Translation<'a, S> {
    pub(super) fn new(workload: Workload<S>, rules: &'a Rules, files: RankFiles, collectives: Collectives) -> Self {
        let count = workload.windows.len();
        let communicators = Communicators::new(count);
        let nodes = NodeMaps::new(&rules.collectives, rules.hosts.iter().copied());
        let tags = Tags::new(communicators.get(CommIndex::WORLD).context);
        let ranks = (0..count).map(|_| RankState::default()).collect();
        let differences = Differences::default();
        let unpaired = FxHashMap::default();
        Self {
            workload,
            rules,
            communicators,
            nodes,
            tags,
            ranks,
            files,
            differences,
            actions: 0,
            unpaired,
            collectives,
        }
    }

    pub(super) fn state(&mut self, rank: Rank) -> &mut RankState {
        &mut self.ranks[rank.0 as usize]
    }

    /// Writes an action of `rank`. SimGrid's ranks have one thread.
    pub(super) fn emit(&mut self, rank: Rank, action: &Event) {
        self.actions += 1;
        let is_threaded = self.collectives == Collectives::AsMessages;
        let state = self.state(rank);
        state.actions += 1;
        let thread = if is_threaded { state.thread } else { ThreadId::MAIN };
        write_event(self.files.of(rank), Actor { rank, thread }, action);
    }

    /// Writes a send, or a receive, of a message with this name.
    pub(super) fn emit_half(&mut self, name: Name, action: &Event) {
        let (rank, half) = if matches!(action, Event::Send(..)) { (name.from, 1) } else { (name.to, -1) };
        self.emit(rank, action);
        let unpaired = self.unpaired.entry(name).or_default();
        *unpaired += half;
        if *unpaired == 0 {
            self.unpaired.remove(&name);
        }
    }

    /// The tag that represents `tag` of the communicator that `rank` calls `comm`.
    pub(super) fn tag(&mut self, rank: Rank, comm: CommId, tag: Tag) -> Result<Tag, Fault> {
        let index = self.communicators.find(rank, comm)?;
        let context = self.communicators.get(index).context;
        Ok(self.tags.of(context, tag))
    }

    /// Assigns an id to the operation of a request of `rank`.
    pub(super) fn operation(&mut self, rank: Rank, operation: Operation) -> OperationId {
        OperationId(self.state(rank).operations.insert(operation) as u32)
    }

    /// The bytes of a message, or as many of them as SimGrid can count.
    pub(super) fn cut(&mut self, bytes: Bytes) -> Bytes {
        self.differences.cut += u64::from(bytes > LONGEST);
        bytes.min(LONGEST)
    }

    /// Fails where there is no such rank.
    pub(super) fn known(&self, peer: Rank) -> Result<(), Fault> {
        let world = self.ranks.len();
        if (peer.0 as usize) < world { Ok(()) } else { Err(Fault::NoSuchRank { rank: peer, world }) }
    }
}

/// Tags from here on represent those of other communicators. SimGrid's tags are 32-bit integers, and its collectives
/// use negative ones.
const FIRST: u32 = 1 << 30;

/// The tags assigned so far. The world's own tags do not change, so memory only grows with the tags on other
/// communicators.
pub(super) struct Tags {
    world: Context,
    given: FxHashMap<(Context, Tag), u32>,
}

impl Tags {
    /// A table that has given no tags yet.
    pub(super) fn new(world: Context) -> Self {
        Self { world, given: FxHashMap::default() }
    }

    /// The tag that represents `tag` in `context`, and no other.
    pub(super) fn of(&mut self, context: Context, tag: Tag) -> Tag {
        if context == self.world && (0..FIRST.cast_signed()).contains(&tag.0) {
            return tag;
        }
        let next = self.given.len() as u32;
        let number = *self.given.entry((context, tag)).or_insert(next);
        Tag((FIRST | (number % FIRST)).cast_signed())
    }
}
