//! The events of a rank.

mod requests;

use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::event::{
    Collective, CommId, Completion, Event, Extent, Group, Incoming, Outgoing, Rank, RequestId, RequestKey, Tag,
    Volumes, Wildcard,
};
use titr_common::trace::{EventSource, Lines, LocatedEvents, Location, TraceError};
use titr_common::units::{Bytes, Instructions, Nanoseconds};

use crate::input::liballprof::calls::{self, Block, LiballprofCall, LiballprofMessage, MakeComm, volume};
use crate::input::liballprof::communicators::{Identity, LiballprofCommunicators, SELF, WORLD};
use crate::input::liballprof::line::{LiballprofComm, LiballprofLine};
use crate::input::notes::{Notes, NotesOfRanks};
use crate::input::rank_events::CallTimes;
use crate::input::requests::{Named, Requests};

/// The numbers that an MPI library has for `MPI_ANY_SOURCE`; `MPI_ANY_TAG` is -1 everywhere.
const ANY_SOURCE_OF_OPEN_MPI: i64 = -1;
const ANY_SOURCE_OF_MPICH: i64 = -2;
const ANY_TAG: i64 = -1;
/// The handle of `MPI_COMM_WORLD` in MPICH and its relatives.
const WORLD_OF_MPICH: u64 = 0x4400_0000;
/// The events of a rank.
pub(super) struct LiballprofRankSource {
    lines: Lines,
    translation: LiballprofTranslation,
    notes_of_ranks: Arc<NotesOfRanks>,
    /// The number of the line that is read.
    number: u64,
    is_begun: bool,
    is_finalized: bool,
    has_ended: bool,
}

struct LiballprofTranslation {
    me: Rank,
    communicators: Arc<LiballprofCommunicators>,
    ids: FxHashMap<Identity, CommId>,
    /// The communicator that was named last.
    last: Option<(LiballprofComm, CommId, Arc<[Rank]>)>,
    /// The number of calls so far that make communicators.
    made: usize,
    any_source: i64,
    requests: Requests<()>,
    times: CallTimes,
    origin: Option<Nanoseconds>,
    notes: Notes,
}

/// The place where the events of a line go.
struct LiballprofSink<'s, 'l> {
    events: &'s mut LocatedEvents,
    location: Location,
    line: LiballprofLine<'l>,
    is_timed: bool,
}

impl LiballprofRankSource {
    pub(super) fn new(
        lines: Lines,
        me: Rank,
        communicators: &Arc<LiballprofCommunicators>,
        notes_of_ranks: &Arc<NotesOfRanks>,
    ) -> Self {
        let is_mpich = |comm: &LiballprofComm| comm.handle == WORLD_OF_MPICH;
        let any_source = match communicators.ranks.get(me.0 as usize) {
            Some(of) if of.known.keys().any(is_mpich) => ANY_SOURCE_OF_MPICH,
            _ => ANY_SOURCE_OF_OPEN_MPI,
        };
        let translation = LiballprofTranslation {
            me,
            communicators: Arc::clone(communicators),
            ids: [(WORLD, CommId::WORLD), (SELF, CommId::SELF)].into_iter().collect(),
            last: None,
            made: 0,
            any_source,
            requests: Requests::default(),
            times: CallTimes::default(),
            origin: None,
            notes: Notes::default(),
        };
        let notes_of_ranks = Arc::clone(notes_of_ranks);
        Self { lines, translation, notes_of_ranks, number: 0, is_begun: false, is_finalized: false, has_ended: false }
    }

    fn step(&mut self, events: &mut LocatedEvents) -> Result<(), TraceError> {
        self.number += 1;
        let Some(text) = self.lines.next()? else {
            if !self.is_begun {
                events.push(Event::Init, Location::default());
            }
            if !self.is_finalized {
                self.translation.notes.add("ranks have no MPI_Finalize: their traces end before");
                events.push(Event::Finalize, Location::default());
            }
            self.notes_of_ranks.keep(self.translation.me, std::mem::take(&mut self.translation.notes));
            self.has_ended = true;
            return Ok(());
        };
        let outcome = match LiballprofLine::parse(text) {
            Ok(None) => return Ok(()),
            Ok(Some(line)) => match LiballprofCall::of(&line) {
                Some(call) => {
                    let is_init = matches!(call, LiballprofCall::Init);
                    if !self.is_begun && !is_init {
                        events.push(Event::Init, Location::default());
                        self.translation.notes.add("ranks have no MPI_Init: their traces begin after it");
                    }
                    if self.is_finalized || (self.is_begun && is_init) {
                        Err("a call after the last one, or MPI_Init for the second time".to_owned())
                    } else {
                        self.is_begun = true;
                        self.is_finalized = matches!(call, LiballprofCall::Finalize);
                        let location = Location { line: Some(self.number), ..Location::default() };
                        let mut sink = LiballprofSink { events, location, line, is_timed: false };
                        let is_local = matches!(call, LiballprofCall::Local(_));
                        let outcome = self.translation.call(call, &mut sink);
                        // The time in other calls without an event is no computation.
                        if !is_local {
                            self.translation.time(&mut sink);
                        }
                        outcome
                    }
                }
                None => Err("a call whose arguments are not those of its function".to_owned()),
            },
            Err(what) => Err(what),
        };
        outcome.map_err(|what| {
            let (path, place) = (self.lines.path().to_owned(), format!("line {}", self.lines.line()));
            TraceError::Foreign { path, place, what }
        })
    }
}

impl EventSource for LiballprofRankSource {
    fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        let before = events.len();
        while !self.has_ended && events.len() == before {
            self.step(events)?;
        }
        Ok(events.len() > before)
    }

    fn path(&self) -> Option<PathBuf> {
        Some(self.lines.path().to_owned())
    }
}

type Outcome<T = ()> = Result<T, String>;

impl LiballprofTranslation {
    fn call(&mut self, call: LiballprofCall, sink: &mut LiballprofSink<'_, '_>) -> Outcome {
        match call {
            LiballprofCall::Init => self.push(sink, Event::Init),
            LiballprofCall::Finalize => {
                self.wait_for_the_rest(sink);
                self.push(sink, Event::Finalize);
            }
            LiballprofCall::Send(mode, sent, request) => {
                let message = self.outgoing(&sent)?;
                let from = Some(self.me);
                let key = message.map(|message| RequestKey { from, to: message.to, tag: Some(message.tag) });
                if let (Some(message), Some(completion)) = (message, self.completion(request, key, sink)) {
                    self.push(sink, Event::Send(mode, message, completion));
                }
            }
            LiballprofCall::Recv(received, request) => {
                let message = self.incoming(&received)?;
                let to = self.me;
                let key = message.map(|message| RequestKey { from: message.from, to, tag: message.tag });
                if let (Some(message), Some(completion)) = (message, self.completion(request, key, sink)) {
                    self.note_open(&message);
                    self.push(sink, Event::Recv(message, completion));
                }
            }
            LiballprofCall::Sendrecv(sent, received) => {
                let (send, recv) = (self.outgoing(&sent)?, self.incoming(&received)?);
                if let Some(message) = &recv {
                    self.note_open(message);
                }
                if send.is_some() || recv.is_some() {
                    self.push(sink, Event::Sendrecv(send, recv));
                }
            }
            LiballprofCall::Probe(received, is_blocking) => {
                if let Some(message) = self.incoming(&received)? {
                    let event = if is_blocking { Event::Probe(message) } else { Event::Iprobe(message, false) };
                    self.push(sink, event);
                }
            }
            LiballprofCall::Complete(quantifier, is_test, address, number) => {
                self.complete(quantifier, is_test, address, number, sink);
            }
            LiballprofCall::Start(address, number) => {
                let addresses = self.addresses(address, number, Named::Nothing);
                let ids: Vec<RequestId> = addresses.filter_map(|address| self.requests.start(address)).collect();
                if !ids.is_empty() {
                    self.push(sink, Event::Start(ids));
                }
            }
            LiballprofCall::RequestFree(address) => {
                if let Some(id) = self.requests.free(address) {
                    self.push(sink, Event::RequestFree(id));
                }
            }
            LiballprofCall::Collective(collective) => self.collective(&collective, sink)?,
            LiballprofCall::MakeComm(make) => self.make_comm(make, sink),
            LiballprofCall::Untranslated => {
                let name = String::from_utf8_lossy(sink.line.function).into_owned();
                self.notes.add(format!("calls of MPI_{name} have no event"));
            }
            LiballprofCall::Local(_) => {}
        }
        Ok(())
    }

    /// Appends the time of a call; its event has to follow.
    fn time(&mut self, sink: &mut LiballprofSink<'_, '_>) {
        if std::mem::replace(&mut sink.is_timed, true) {
            return;
        }
        let mut span = sink.line.span;
        let origin = self.origin.get_or_insert(span.begin).0;
        span.begin = Nanoseconds(span.begin.0.saturating_sub(origin));
        span.end = Nanoseconds(span.end.0.saturating_sub(origin));
        self.times.call(sink.events, sink.location, span, None);
    }

    fn push(&mut self, sink: &mut LiballprofSink<'_, '_>, event: Event) {
        self.time(sink);
        sink.events.push(event, sink.location);
    }

    /// The number of a communicator and its members; `None` if they are unknown.
    fn comm(&mut self, comm: LiballprofComm) -> Option<(CommId, Arc<[Rank]>)> {
        if let Some((last, id, members)) = &self.last
            && *last == comm
        {
            return Some((*id, Arc::clone(members)));
        }
        let found = self.find(comm);
        match &found {
            Some((id, members)) => self.last = Some((comm, *id, Arc::clone(members))),
            None => {
                self.notes.add("calls are left out: the trace does not say who the members of their communicator are")
            }
        }
        found
    }

    fn find(&self, comm: LiballprofComm) -> Option<(CommId, Arc<[Rank]>)> {
        let identity = *self.communicators.ranks.get(self.me.0 as usize)?.known.get(&comm)?;
        let members =
            if identity == SELF { Arc::from([self.me]) } else { Arc::clone(self.communicators.members(identity)?) };
        Some((*self.ids.get(&identity)?, members))
    }

    /// `None` for a message to `MPI_PROC_NULL`, which has no event.
    fn outgoing(&mut self, sent: &LiballprofMessage) -> Outcome<Option<Outgoing>> {
        if sent.peer < 0 {
            return Ok(None);
        }
        let Some((comm, members)) = self.comm(sent.comm) else { return Ok(None) };
        let to = peer(&members, sent.peer)?;
        Ok(Some(Outgoing { comm, to, tag: tag(sent.tag)?, bytes: Bytes(sent.bytes) }))
    }

    fn incoming(&mut self, received: &LiballprofMessage) -> Outcome<Option<Incoming>> {
        let is_any = received.peer == self.any_source;
        if received.peer < 0 && !is_any {
            return Ok(None);
        }
        let Some((comm, members)) = self.comm(received.comm) else { return Ok(None) };
        let from = if is_any { None } else { Some(peer(&members, received.peer)?) };
        let is_any_tag = received.tag == ANY_TAG;
        let tag = if is_any_tag { None } else { Some(tag(received.tag)?) };
        let wildcard = Wildcard { source: is_any, tag: is_any_tag };
        Ok(Some(Incoming { comm, from, tag, bytes: Bytes(received.bytes), wildcard }))
    }

    fn note_open(&mut self, message: &Incoming) {
        if message.is_open() {
            self.notes.add("receives with a wildcard: the trace does not say what they got, and a replay matches them in the order of arrival");
        }
    }

    fn collective(&mut self, call: &calls::Collective, sink: &mut LiballprofSink<'_, '_>) -> Outcome {
        let Some((comm, members)) = self.comm(call.comm) else { return Ok(()) };
        let root = match call.root {
            Some(root) => Some(peer(&members, root)?),
            None => None,
        };
        let is_root = root.is_none_or(|root| root == self.me);
        let signature = call.kind.signature();
        let only_root_gives = matches!(call.kind.name(), "scatter" | "scatterv");
        let only_root_gets = matches!(call.kind.name(), "gather" | "gatherv");
        let mut volumes = |block: &Block, extent, is_used| self.volumes(block, extent, is_used, members.len());
        let (send, send_element) = volumes(&call.send, signature.send, is_root || !only_root_gives)?;
        let (recv, recv_element) = volumes(&call.recv, signature.recv, is_root || !only_root_gets)?;
        let element = if signature.recv == Extent::None || only_root_gets { send_element } else { recv_element };
        let element = element.max(1);
        let all = recv.per_member().iter().fold(send.each().0, |all, bytes| all.saturating_add(bytes.0));
        let work = Instructions(if signature.reduces { (all / element) as f64 } else { 0.0 });
        let element = Bytes(element);
        let operation = Collective { comm, kind: call.kind, root, send, recv, element, work, is_commutative: true };
        self.push(sink, Event::Collective(operation, Completion::Blocking));
        Ok(())
    }

    /// The volumes of a buffer, and the size of an element.
    fn volumes(&mut self, block: &Block, extent: Extent, is_used: bool, members: usize) -> Outcome<(Volumes, u64)> {
        Ok(match (extent, block) {
            (Extent::None, _) => (Volumes::None, 1),
            (Extent::Each, Block::Equal(count, size)) if is_used => {
                (Volumes::Each(Bytes(volume(*count, *size))), *size)
            }
            (Extent::Each, _) => (Volumes::Each(Bytes(0)), 1),
            (Extent::PerMember, Block::Each(Some(counts), size)) if is_used => {
                if counts.len() != members {
                    return Err(format!("{} counts on a communicator of {members}", counts.len()));
                }
                let volumes = counts.iter().map(|count| Bytes(count.saturating_mul(*size))).collect();
                (Volumes::PerMember(volumes), *size)
            }
            (Extent::PerMember, block) => {
                if is_used && matches!(block, Block::Each(None, _)) {
                    self.notes.add(
                        "calls have the address of their counts and not the counts: they move no data in a replay",
                    );
                }
                (Volumes::PerMember(vec![Bytes(0); members]), 1)
            }
        })
    }

    fn make_comm(&mut self, make: MakeComm, sink: &mut LiballprofSink<'_, '_>) {
        let made = self.communicators.ranks.get(self.me.0 as usize).and_then(|of| of.made.get(self.made).copied());
        self.made += 1;
        let Some((parent, _)) = make.parent.and_then(|comm| self.comm(comm)) else {
            self.notes.add("communicators between groups or worlds: calls on them are left out");
            return;
        };
        let group = made.flatten().and_then(|identity| {
            let members = self.communicators.members(identity)?.to_vec();
            let id = CommId(self.ids.len() as u32);
            self.ids.insert(identity, id);
            Some(Group { id, members, remote: Vec::new(), tag: None })
        });
        self.push(sink, Event::CommCreate(make.function, parent, group));
    }
}

fn peer(members: &[Rank], rank: i64) -> Outcome<Rank> {
    let found = usize::try_from(rank).ok().and_then(|rank| members.get(rank).copied());
    found.ok_or_else(|| format!("rank {rank} of a communicator of {}", members.len()))
}

fn tag(tag: i64) -> Outcome<Tag> {
    i32::try_from(tag).map(Tag).map_err(|_| format!("tag {tag}, which is no tag of MPI"))
}
