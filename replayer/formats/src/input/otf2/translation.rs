//! The state of the translation of one rank's records, and what the rank begins with: its communicators and windows.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::dense_slab::DenseSlab;
use titr_common::event::{
    Annotation, CommCall, CommId, Completed, Event, Group, Mark, Quantifier, Rank, RequestId, Span, Tag, ThreadId,
    WinId,
};
use titr_common::grammar::Parser;
use titr_common::trace::LocatedEvents;
use titr_common::units::Nanoseconds;

use super::Archive;
use super::call_sites::Otf2CallSites;
use super::communicators::{Members, Otf2Communicator};
use super::definitions::Region;
use super::functions::Otf2Function;
use super::in_order::{InOrder, Otf2Place};
use super::local::{Local, Otf2Clock, Otf2Kind};
use super::notes::Otf2Notes;
use crate::input::rank_events::CallTimes;
use crate::input::requests::Requests;

/// A reason why a record cannot be translated.
pub(super) enum Fault {
    /// The record is not what OTF2 says.
    Malformed,
    /// It contradicts other records.
    Contradiction(String),
}

impl Fault {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self::Contradiction(what.into())
    }
}

/// The state of the translation.
pub(super) struct Otf2Translation {
    pub(super) archive: Arc<Archive>,
    pub(super) rank: Rank,
    /// The thread of the current record, and the others, each at its number.
    pub(super) thread: Otf2Thread,
    others: Vec<Otf2Thread>,
    /// Communicators by their global numbers.
    pub(super) introduced: FxHashMap<u32, Arc<Otf2Comm>>,
    pub(super) requests: Otf2Requests,
    pub(super) windows: Otf2Windows,
    pub(super) order: InOrder,
    pub(super) call_sites: Otf2CallSites,
    pub(super) stage: Otf2Stage,
    /// The number of collectives with lists so far, by the definition of their communicator.
    pub(super) lists: FxHashMap<u32, usize>,
    /// Whether titr wrote the archive.
    pub(super) is_own: bool,
    pub(super) notes: Otf2Notes,
}

/// The state of a thread of the rank.
pub(super) struct Otf2Thread {
    pub(super) local: Local,
    pub(super) clock: Otf2Clock,
    /// What the numbers of regions in events mean.
    pub(super) regions: FxHashMap<u32, RegionMeaning>,
    /// Communicators by their numbers in events.
    pub(super) comms: FxHashMap<u32, Arc<Otf2Comm>>,
    /// The MPI function that the thread is in.
    pub(super) call: Option<Otf2Call>,
    /// What the records of the call say so far.
    pub(super) pending: Vec<Otf2Pending>,
    /// The requests that the call has completed.
    pub(super) completed: Vec<RequestId>,
    pub(super) times: CallTimes,
    pub(super) returned: Nanoseconds,
    /// The time of the first region.
    pub(super) began: Option<u64>,
    pub(super) counter: Counter,
    /// The regions of the program that are open.
    pub(super) open: Vec<u32>,
    pub(super) own: OwnAnnotations,
}

/// What is known of the calls that have a text.
pub(super) struct OwnAnnotations {
    pub(super) parser: Parser,
    /// The number of the text of the next record.
    pub next: Option<u32>,
    /// The number of the communicator that the call makes.
    pub created: Option<u32>,
}

/// The part of the program that a rank is in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Otf2Stage {
    /// Before `MPI_Init`.
    Before,
    Running,
    /// After `MPI_Finalize`.
    After,
}

/// The meaning of the number of a region.
#[derive(Clone, Copy)]
pub(super) enum RegionMeaning {
    Mpi(Otf2Function, u32),
    User(u32),
    Other,
}

/// A call of an MPI function.
#[derive(Clone, Copy)]
pub(super) struct Otf2Call {
    pub(super) function: Otf2Function,
    /// The number of its region.
    pub(super) region: Option<u32>,
    pub(super) begin: Nanoseconds,
    /// The number of calls that this one makes, and is in.
    pub(super) depth: u32,
    /// The instructions since the call before.
    pub(super) counted: f64,
    /// The number of the text with its events.
    pub(super) own: Option<u32>,
}

/// A communicator, as a rank knows it.
pub(super) struct Otf2Comm {
    pub(super) id: CommId,
    /// The members, or the own group of two.
    pub(super) mine: Arc<[Rank]>,
    /// The ranks that peers are numbered in: the members, or the other group of two.
    pub(super) peers: Arc<[Rank]>,
    /// The place of the rank among its members.
    pub(super) me: usize,
    pub(super) is_inter: bool,
}

/// The counter of instructions.
#[derive(Default)]
pub(super) struct Counter {
    /// Whether the archive has one.
    pub(super) exists: bool,
    /// The place of the counter in metrics, by their numbers in events.
    pub(super) places: FxHashMap<u32, Option<usize>>,
    pub(super) latest: u64,
    /// The count at the end of the last call.
    pub(super) returned: u64,
}

/// A part of a call.
#[derive(Default)]
pub(super) enum Otf2Pending {
    #[default]
    Nothing,
    Event(Event),
    /// An operation with the request of this name, which only the record of its completion describes.
    Open(u64),
}

/// The requests of a rank.
#[derive(Default)]
pub(super) struct Otf2Requests {
    pub(super) numbers: Requests<()>,
    /// The operations whose completion is not known yet, by the names of their requests.
    pub(super) open: FxHashMap<u64, Otf2Place>,
}

impl Otf2Thread {
    fn new(archive: &Archive, local: Local) -> Self {
        let clock = local.clock(archive.definitions.clock);
        let ranks = u32::try_from(archive.definitions.locations.len()).unwrap_or(u32::MAX);
        let own = OwnAnnotations { parser: Parser::new(ranks), next: None, created: None };
        let counter = Counter { exists: archive.definitions.counts_instructions(), ..Counter::default() };
        Self {
            local,
            clock,
            regions: FxHashMap::default(),
            comms: FxHashMap::default(),
            call: None,
            pending: Vec::new(),
            completed: Vec::new(),
            times: CallTimes::default(),
            returned: Nanoseconds(0),
            began: None,
            counter,
            open: Vec::new(),
            own,
        }
    }

    /// The event of a call that has completed requests.
    pub(super) fn completion(&mut self, function: Otf2Function) -> Option<Event> {
        if self.completed.is_empty() {
            return None;
        }
        let requests = std::mem::take(&mut self.completed);
        let fitting = |quantifier| match quantifier {
            Quantifier::Single if requests.len() > 1 => Quantifier::All,
            Quantifier::Any if requests.len() > 1 => Quantifier::Some,
            quantifier => quantifier,
        };
        Some(match function {
            Otf2Function::Test(quantifier) => Event::Test(fitting(quantifier), Some(Completed::These(requests))),
            Otf2Function::Wait(quantifier) => Event::Wait(fitting(quantifier), Completed::These(requests)),
            // A tool that records completions where it finds out about them.
            _ => Event::Wait(Quantifier::All, Completed::These(requests)),
        })
    }
}

/// A window that exists.
#[derive(Clone)]
pub(super) struct Otf2Window {
    pub(super) id: WinId,
    pub(super) comm: CommId,
    pub(super) members: Arc<[Rank]>,
}

/// The windows of a rank, by their global numbers.
#[derive(Default)]
pub(super) struct Otf2Windows {
    pub(super) existing: FxHashMap<u32, Otf2Window>,
    /// The numbers in use.
    pub(super) numbers: DenseSlab<u32>,
}

impl Otf2Translation {
    /// The translation of a rank whose threads have these definitions.
    pub(super) fn new(archive: Arc<Archive>, rank: Rank, locals: Vec<Local>) -> Self {
        let is_own = archive.is_own();
        let others = locals.into_iter().map(|local| Otf2Thread::new(&archive, local)).collect();
        let thread = Otf2Thread::new(&archive, Local::default());
        let mut this = Self {
            archive,
            rank,
            thread,
            others,
            introduced: FxHashMap::default(),
            requests: Otf2Requests::default(),
            windows: Otf2Windows::default(),
            order: InOrder::default(),
            call_sites: Otf2CallSites::default(),
            stage: Otf2Stage::Before,
            lists: FxHashMap::default(),
            is_own,
            notes: Otf2Notes::default(),
        };
        this.exchange();
        this
    }

    /// Exchanges the current thread and the one at its number.
    fn exchange(&mut self) {
        let current = self.order.thread.0 as usize;
        std::mem::swap(&mut self.thread, &mut self.others[current]);
    }

    /// Goes on with the records of another thread.
    #[inline]
    pub(super) fn switch(&mut self, thread: ThreadId) {
        if self.order.thread != thread {
            self.exchange();
            self.order.thread = thread;
            self.exchange();
            self.call_sites.move_on();
        }
    }

    /// Does something for each thread.
    pub(super) fn of_each_thread(&mut self, mut act: impl FnMut(&mut Self)) {
        let current = self.order.thread;
        for thread in 0..self.others.len() as u32 {
            self.switch(ThreadId(thread));
            act(self);
        }
        self.switch(current);
    }

    pub(super) fn start_if_needed(&mut self, events: &mut LocatedEvents) {
        if self.stage == Otf2Stage::Before {
            let began = self.thread.began.map_or(Nanoseconds(0), |ticks| self.thread.clock.nanoseconds(ticks));
            self.start(began, events);
        }
    }

    /// Begins the rank's events, with an `MPI_Init` that ends at this time. The time before is a part of it: when a process
    /// started is no computation.
    pub(super) fn start(&mut self, end: Nanoseconds, events: &mut LocatedEvents) {
        self.stage = Otf2Stage::Running;
        let (_, span) = self.thread.times.next(Span { begin: Nanoseconds(0), end }, None);
        self.thread.returned = span.end;
        self.thread.counter.returned = self.thread.counter.latest;
        self.order.push(Event::Annotation(Annotation::Call(span)), events);
        self.order.push(Event::Init, events);
        if self.is_own {
            return;
        }
        let communicators = &self.archive.definitions.communicators;
        let mut comms: Vec<u32> = match self.thread.local.globals(Otf2Kind::Communicator) {
            Some(globals) => globals.collect(),
            None => communicators.of_rank(self.rank).iter().copied().chain(communicators.itself()).collect(),
        };
        comms.sort_unstable();
        comms.dedup();
        for comm in comms {
            // A communicator of others, or of another paradigm.
            let _ = self.introduce(comm, events);
        }
        self.introduce_windows(events);
        self.of_each_thread(|this| {
            for region in this.thread.open.clone() {
                this.mark(region, Mark::RegionBegin, events);
            }
        });
    }

    /// Introduces the communicator with this global number, if the rank is a member.
    pub(super) fn introduce(&mut self, global: u32, events: &mut LocatedEvents) -> Option<Arc<Otf2Comm>> {
        if let Some(known) = self.introduced.get(&global) {
            return Some(Arc::clone(known));
        }
        let communicators = &self.archive.definitions.communicators;
        let definition: &Otf2Communicator = communicators.get(global)?;
        let place = |members: &[Rank]| members.iter().position(|&member| member == self.rank);
        let (id, mine, peers) = match &definition.members {
            Members::World => (Some(CommId::WORLD), Arc::clone(communicators.world()), None),
            Members::Itself => {
                let is_self = communicators.itself() == Some(global);
                (is_self.then_some(CommId::SELF), Arc::from([self.rank]), None)
            }
            Members::Group(members) => (None, Arc::clone(members), None),
            Members::Between(first, second) => {
                let (mine, peers) = if place(first).is_some() { (first, second) } else { (second, first) };
                (None, Arc::clone(mine), Some(Arc::clone(peers)))
            }
        };
        let me = if id == Some(CommId::WORLD) { self.rank.0 as usize } else { place(&mine)? };
        let is_inter = peers.is_some();
        // The numbers 0 and 1 are those of the world and of the rank itself.
        let next = CommId(2 + u32::try_from(self.introduced.len()).unwrap_or(u32::MAX - 2));
        let comm =
            Otf2Comm { id: id.unwrap_or(next), peers: peers.unwrap_or_else(|| Arc::clone(&mine)), mine, me, is_inter };
        if id.is_none() {
            let group = Group {
                id: comm.id,
                members: comm.mine.to_vec(),
                remote: if is_inter { comm.peers.to_vec() } else { Vec::new() },
                tag: Some(Tag(definition.id.cast_signed())),
            };
            self.order.push(Event::CommCreate(CommCall::World, CommId::WORLD, Some(group)), events);
        }
        let comm = Arc::new(comm);
        self.introduced.insert(global, Arc::clone(&comm));
        Some(comm)
    }

    /// The communicator with this number in events.
    #[inline]
    pub(super) fn comm(&mut self, local: u32, events: &mut LocatedEvents) -> Result<Arc<Otf2Comm>, Fault> {
        if let Some(comm) = self.thread.comms.get(&local) {
            return Ok(Arc::clone(comm));
        }
        let global = self.thread.local.global(Otf2Kind::Communicator, local);
        self.start_if_needed(events);
        let Some(comm) = self.introduce(global, events) else {
            return Err(Fault::new(match self.archive.definitions.communicators.get(global) {
                Some(_) => format!("rank {} is no member of communicator {global}", self.rank.0),
                None => format!("no definition of communicator {global}"),
            }));
        };
        self.thread.comms.insert(local, Arc::clone(&comm));
        Ok(comm)
    }

    /// Marks the beginning or the end of a region of the program.
    pub(super) fn mark(&mut self, region: u32, mark: fn(Box<str>) -> Mark, events: &mut LocatedEvents) {
        if self.stage == Otf2Stage::Running
            && let Some(Region::User { name, .. }) = self.archive.definitions.regions.get(&region)
        {
            self.order.push(Event::Mark(mark(name.clone())), events);
        }
    }
}
