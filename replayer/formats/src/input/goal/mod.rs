//! GOAL, the graphs of LogGOPSim and ATLAHS, as text and in the binary form that `txt2bin` makes of it (T. Hoefler, C.
//! Siebert and A. Lumsdaine, "Group Operation Assembly Language", ICPP 2009; "LogGOPSim", LSAP 2010).
//!
//! A rank is a graph of sends, receives and computations. `a requires b` means that `a` begins when `b` has ended, `a
//! irequires b` that it begins when `b` has begun; an operation without requirements begins at the start. A graph becomes
//! [tasks](titr_common::event::Task): each operation is a blocking send or receive, or a time that passes.
//!
//! An operation follows those that it requires, so the order of the tasks differs from the order of a text. The reader
//! of a text needs memory for the operations between one and the last line that names it; the reader of a binary file
//! for those that wait for others.

mod binary;
mod text;

use titr_common::event::{CommId, Completion, Event, Incoming, Outgoing, Rank, SendMode, Tag, Task, Wildcard};
use titr_common::trace::manifest::Mode;
use titr_common::trace::{LocatedEvents, Location, Manifest};
use titr_common::units::{Bytes, Seconds};

pub(super) use binary::GoalBinary;
pub(super) use text::GoalText;

/// The name of the format.
const NAME: &str = "GOAL";
/// Any source, or any tag.
pub(crate) const ANY: u32 = u32::MAX;

/// The magic number of a binary file.
pub(crate) const MAGIC: u64 = 4223;
/// The number of bytes before the table of ranks in a binary file, and of an entry of it.
pub(crate) const HEADER: u64 = 14;
pub(crate) const RANK: u64 = 16;
/// The byte that places of ranks are counted from.
pub(crate) const ORIGIN: u64 = 8;

/// An operation of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GoalOperation {
    pub(crate) kind: GoalKind,
    /// The number of bytes, or of nanoseconds.
    pub(crate) size: u64,
    /// The other end of a message; [`ANY`] source.
    pub(crate) peer: u32,
    pub(crate) tag: u32,
    pub(crate) core: u32,
    pub(crate) interface: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GoalKind {
    Send = 1,
    Receive = 2,
    Compute = 3,
}

impl GoalOperation {
    pub(crate) fn new(kind: GoalKind, size: u64) -> Self {
        Self { kind, size, peer: 0, tag: 0, core: 0, interface: 0 }
    }

    /// The same in a trace of titr's.
    fn event(&self) -> Event {
        let &Self { kind, size, peer, tag, .. } = self;
        let (comm, bytes) = (CommId::WORLD, Bytes(size));
        match kind {
            GoalKind::Send => {
                let message = Outgoing { comm, to: Rank(peer), tag: Tag(tag.cast_signed()), bytes };
                Event::Send(SendMode::Standard, message, Completion::Blocking)
            }
            GoalKind::Receive => {
                let wildcard = Wildcard { source: peer == ANY, tag: tag == ANY };
                let from = (peer != ANY).then_some(Rank(peer));
                let tag = (tag != ANY).then_some(Tag(tag.cast_signed()));
                Event::Recv(Incoming { comm, from, tag, bytes, wildcard }, Completion::Blocking)
            }
            GoalKind::Compute => Event::Sleep(Seconds(size as f64 / 1e9)),
        }
    }

    /// The reason why the operation is impossible in a world of `ranks` ranks.
    fn fault(&self, ranks: u32) -> Option<String> {
        let is_any = self.kind == GoalKind::Receive && self.peer == ANY;
        (self.kind != GoalKind::Compute && !is_any && self.peer >= ranks)
            .then(|| format!("rank {} is not one of the {ranks} ranks", self.peer))
    }
}

/// The tasks of a rank, as they are written: `MPI_Init` is the first.
#[derive(Debug, Default)]
pub(super) struct TaskWriter {
    /// The number of tasks so far.
    pub(super) tasks: u64,
}

impl TaskWriter {
    /// Appends `MPI_Init`, on which the `roots` operations without requirements depend.
    pub(super) fn init(&mut self, events: &mut LocatedEvents, roots: u32) {
        self.tasks = 1;
        events.push(Event::Task(Task { dependents: roots, ..Task::default() }), Location::default());
        events.push(Event::Init, Location::default());
    }

    /// Appends an event on this core, and returns the number of its task. `ended` and `begun` are the numbers of tasks that it
    /// requires; `None` if two tasks are too far apart for their distance to be written.
    pub(super) fn task(
        &mut self,
        events: &mut LocatedEvents,
        (event, core): (Event, u32),
        dependents: u32,
        [ended, begun]: [&[u64]; 2],
        line: Option<u64>,
    ) -> Option<u64> {
        let number = self.tasks;
        self.tasks += 1;
        let back = |list: &[u64]| -> Option<Box<[u32]>> {
            list.iter().map(|&other| u32::try_from(number - other).ok()).collect()
        };
        let ended = if ended.is_empty() && begun.is_empty() { back(&[0])? } else { back(ended)? };
        let task = Task { core, dependents, ended, begun: back(begun)? };
        let location = Location { line, ..Location::default() };
        events.push(Event::Task(task), location);
        events.push(event, location);
        Some(number)
    }
}

/// The manifest of a graph. Its computations are times, and it has no other times.
fn manifest(ranks: u32) -> Manifest {
    Manifest { mode: Mode::Ti, ..Manifest::of_foreign(ranks, NAME, "") }
}

/// What the format does not say, and what a replay leaves out.
fn untranslated(interfaces: u32) -> Vec<String> {
    let format = "GOAL has only messages and times: its writer has replaced communicators, collectives and requests by \
                  messages and dependences";
    let several = (interfaces > 1).then(|| {
        format!(
            "the file distributes messages over {interfaces} network interfaces of a rank (nic): a replay uses the links of \
             the platform's hosts"
        )
    });
    std::iter::once(format.to_owned()).chain(several).collect()
}
