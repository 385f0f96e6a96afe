//! The events of a rank.

use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::event::{
    Collective, CommId, Completed, Completion, Event, Extent, Group, Incoming, Outgoing, Quantifier, Rank, RequestId,
    RequestKey, Tag, Volumes, Wildcard,
};
use titr_common::trace::{EventSource, Lines, LocatedEvents, Location, TraceError};
use titr_common::units::{Bytes, Instructions, Nanoseconds};

use super::calls::{self, Block, Call, Complete, IsBlocking, MakeComm, Received, Sent, volume};
use super::communicators::{Communicators, Identity, SELF, WORLD};
use super::line::{Comm, Line};
use crate::input::notes::{Notes, NotesOfRanks};
use crate::input::rank_events::CallTimes;
use crate::input::requests::{Named, Requests};

/// The numbers that an MPI library has for `MPI_ANY_SOURCE`; `MPI_ANY_TAG` is -1 everywhere.
const ANY_SOURCE_OF_OPEN_MPI: i64 = -1;
const ANY_SOURCE_OF_MPICH: i64 = -2;
const ANY_TAG: i64 = -1;
/// The handle of `MPI_COMM_WORLD` in MPICH and its relatives.
const WORLD_OF_MPICH: u64 = 0x4400_0000;
/// The sizes of a request in MPI libraries: an array of requests has one after another.
const REQUEST_SIZES: [u64; 2] = [8, 4];
/// The most requests of a call that are searched for: a number that lies must not take forever.
const MOST_REQUESTS: u64 = 1 << 20;

/// The events of a rank.
pub(super) struct RankSource {
    lines: Lines,
    translation: Translation,
    notes_of_ranks: Arc<NotesOfRanks>,
    /// The number of the line that is read.
    number: u64,
    is_begun: bool,
    is_finalized: bool,
    has_ended: bool,
}

struct Translation {
    me: Rank,
    communicators: Arc<Communicators>,
    ids: FxHashMap<Identity, CommId>,
    /// The communicator that was named last.
    last: Option<(Comm, CommId, Arc<[Rank]>)>,
    /// The number of calls so far that make communicators.
    made: usize,
    any_source: i64,
    requests: Requests<()>,
    times: CallTimes,
    origin: Option<Nanoseconds>,
    notes: Notes,
}

/// The place where the events of a line go.
struct Sink<'s, 'l> {
    events: &'s mut LocatedEvents,
    location: Location,
    line: Line<'l>,
    is_timed: bool,
}

impl RankSource {
    pub(super) fn new(
        lines: Lines,
        me: Rank,
        communicators: &Arc<Communicators>,
        notes_of_ranks: &Arc<NotesOfRanks>,
    ) -> Self {
        let is_mpich = |comm: &Comm| comm.handle == WORLD_OF_MPICH;
        let any_source = match communicators.ranks.get(me.0 as usize) {
            Some(of) if of.known.keys().any(is_mpich) => ANY_SOURCE_OF_MPICH,
            _ => ANY_SOURCE_OF_OPEN_MPI,
        };
        let translation = Translation {
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
        let outcome = match Line::parse(text) {
            Ok(None) => return Ok(()),
            Ok(Some(line)) => match Call::of(&line) {
                Some(call) => {
                    let is_init = matches!(call, Call::Init);
                    if !self.is_begun && !is_init {
                        events.push(Event::Init, Location::default());
                        self.translation.notes.add("ranks have no MPI_Init: their traces begin after it");
                    }
                    if self.is_finalized || (self.is_begun && is_init) {
                        Err("a call after the last one, or MPI_Init for the second time".to_owned())
                    } else {
                        self.is_begun = true;
                        self.is_finalized = matches!(call, Call::Finalize);
                        let location = Location { line: Some(self.number), ..Location::default() };
                        let mut sink = Sink { events, location, line, is_timed: false };
                        let outcome = self.translation.call(call, &mut sink);
                        // The time in a call without an event is no computation.
                        self.translation.time(&mut sink);
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

impl EventSource for RankSource {
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

impl Translation {
    fn call(&mut self, call: Call, sink: &mut Sink<'_, '_>) -> Outcome {
        match call {
            Call::Init => self.push(sink, Event::Init),
            Call::Finalize => {
                self.wait_for_the_rest(sink);
                self.push(sink, Event::Finalize);
            }
            Call::Send(mode, sent) => {
                if let Some(message) = self.outgoing(&sent)? {
                    self.push(sink, Event::Send(mode, message, Completion::Blocking));
                }
            }
            Call::StartSend(mode, sent, address, is_persistent) => {
                let message = self.outgoing(&sent)?;
                let from = Some(self.me);
                let key = message.map(|message| RequestKey { from, to: message.to, tag: Some(message.tag) });
                if let (Some(message), Some(id)) = (message, self.start(address, key, is_persistent, sink)) {
                    self.push(sink, Event::Send(mode, message, completion(id, is_persistent)));
                }
            }
            Call::Recv(received) => {
                if let Some(message) = self.incoming(&received)? {
                    self.note_open(&message);
                    self.push(sink, Event::Recv(message, Completion::Blocking));
                }
            }
            Call::StartRecv(received, address, is_persistent) => {
                let message = self.incoming(&received)?;
                let to = self.me;
                let key = message.map(|message| RequestKey { from: message.from, to, tag: message.tag });
                if let (Some(message), Some(id)) = (message, self.start(address, key, is_persistent, sink)) {
                    self.note_open(&message);
                    self.push(sink, Event::Recv(message, completion(id, is_persistent)));
                }
            }
            Call::Sendrecv(sent, received) => {
                let (send, recv) = (self.outgoing(&sent)?, self.incoming(&received)?);
                if let Some(message) = &recv {
                    self.note_open(message);
                }
                if send.is_some() || recv.is_some() {
                    self.push(sink, Event::Sendrecv(send, recv));
                }
            }
            Call::Probe(received, IsBlocking(is_blocking)) => {
                if let Some(message) = self.incoming(&received)? {
                    let event = if is_blocking { Event::Probe(message) } else { Event::Iprobe(message, false) };
                    self.push(sink, event);
                }
            }
            Call::Complete(complete, address, number) => self.complete(complete, address, number, sink),
            Call::Start(address, number) => {
                let addresses = self.addresses(address, number, Named::Nothing);
                let ids: Vec<RequestId> = addresses.filter_map(|address| self.requests.start(address)).collect();
                if !ids.is_empty() {
                    self.push(sink, Event::Start(ids));
                }
            }
            Call::RequestFree(address) => {
                if let Some(id) = self.requests.free(address) {
                    self.push(sink, Event::RequestFree(id));
                }
            }
            Call::Collective(collective) => self.collective(&collective, sink)?,
            Call::MakeComm(make) => self.make_comm(make, sink),
            Call::Untranslated => {
                let name = String::from_utf8_lossy(sink.line.function).into_owned();
                self.notes.add(format!("calls of MPI_{name} have no event"));
            }
            Call::Local(_) => {}
        }
        Ok(())
    }

    /// Appends the time of a call; its event has to follow.
    fn time(&mut self, sink: &mut Sink<'_, '_>) {
        if std::mem::replace(&mut sink.is_timed, true) {
            return;
        }
        let mut span = sink.line.span;
        let origin = self.origin.get_or_insert(span.begin).0;
        span.begin = Nanoseconds(span.begin.0.saturating_sub(origin));
        span.end = Nanoseconds(span.end.0.saturating_sub(origin));
        self.times.call(sink.events, sink.location, span, None);
    }

    fn push(&mut self, sink: &mut Sink<'_, '_>, event: Event) {
        self.time(sink);
        sink.events.push(event, sink.location);
    }

    /// The number of a communicator and its members; `None` if they are unknown.
    fn comm(&mut self, comm: Comm) -> Option<(CommId, Arc<[Rank]>)> {
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

    fn find(&self, comm: Comm) -> Option<(CommId, Arc<[Rank]>)> {
        let identity = *self.communicators.ranks.get(self.me.0 as usize)?.known.get(&comm)?;
        let members =
            if identity == SELF { Arc::from([self.me]) } else { Arc::clone(self.communicators.members(identity)?) };
        Some((*self.ids.get(&identity)?, members))
    }

    /// `None` for a message to `MPI_PROC_NULL`, which has no event.
    fn outgoing(&mut self, sent: &Sent) -> Outcome<Option<Outgoing>> {
        if sent.to < 0 {
            return Ok(None);
        }
        let Some((comm, members)) = self.comm(sent.comm) else { return Ok(None) };
        let to = peer(&members, sent.to)?;
        Ok(Some(Outgoing { comm, to, tag: tag(sent.tag)?, bytes: Bytes(sent.bytes) }))
    }

    fn incoming(&mut self, received: &Received) -> Outcome<Option<Incoming>> {
        let is_any = received.from == self.any_source;
        if received.from < 0 && !is_any {
            return Ok(None);
        }
        let Some((comm, members)) = self.comm(received.comm) else { return Ok(None) };
        let from = if is_any { None } else { Some(peer(&members, received.from)?) };
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

    /// Makes a request at an address; `None` if no event has it.
    fn start(
        &mut self,
        address: u64,
        key: Option<RequestKey>,
        is_persistent: bool,
        sink: &mut Sink<'_, '_>,
    ) -> Option<RequestId> {
        match self.requests.named(address) {
            Named::Unknown => {}
            // A request that a test has completed, or an array of which some were waited for.
            Named::Active => self.wait_for(address, sink),
            Named::Nothing => _ = self.requests.free(address),
        }
        match key {
            Some(_) => self.requests.make(address, (), key, is_persistent),
            None => {
                self.requests.make_for_nobody(address, is_persistent);
                None
            }
        }
    }

    /// Waits for a request whose completion the trace does not show.
    fn wait_for(&mut self, address: u64, sink: &mut Sink<'_, '_>) {
        self.requests.begin();
        self.requests.complete(address, None, false, |_| {});
        if let Some(completed) = self.requests.tested() {
            self.notes.add("requests were completed by a test, or by a wait for some of several: they are waited for where their memory is used again");
            sink.events.push(Event::Wait(Quantifier::Single, completed), sink.location);
        }
    }

    /// Waits for all requests that are active when the program ends.
    fn wait_for_the_rest(&mut self, sink: &mut Sink<'_, '_>) {
        for address in self.requests.active() {
            self.wait_for(address, sink);
        }
    }

    /// The addresses of requests in an array, by the size of a request with which most of them are in this state.
    fn addresses(&self, address: u64, number: u64, state: Named) -> impl Iterator<Item = u64> + use<> {
        let number = number.min(MOST_REQUESTS);
        let at = move |size: u64| (0..number).map(move |index| address.wrapping_add(index.wrapping_mul(size)));
        let found = |size: u64| at(size).filter(|&address| self.requests.named(address) == state).count();
        let size = if number > 1 && found(REQUEST_SIZES[1]) > found(REQUEST_SIZES[0]) {
            REQUEST_SIZES[1]
        } else {
            REQUEST_SIZES[0]
        };
        at(size)
    }

    fn complete(&mut self, complete: Complete, address: u64, number: u64, sink: &mut Sink<'_, '_>) {
        let active: Vec<u64> = self
            .addresses(address, number, Named::Active)
            .filter(|&address| self.requests.named(address) == Named::Active)
            .collect();
        let null: Vec<u64> = self
            .addresses(address, number, Named::Active)
            .filter(|&address| self.requests.named(address) == Named::Nothing)
            .collect();
        let (quantifier, completes) = match complete {
            Complete::Wait => (Quantifier::Single, &active[..]),
            Complete::Waitall => (Quantifier::All, &active[..]),
            Complete::Waitany => (Quantifier::Any, &active[..active.len().min(1)]),
            Complete::Waitsome => (Quantifier::Some, &active[..active.len().min(1)]),
            Complete::Test => (Quantifier::Single, &active[..0]),
            Complete::Testall => (Quantifier::All, &active[..0]),
            Complete::Testany => (Quantifier::Any, &active[..0]),
            Complete::Testsome => (Quantifier::Some, &active[..0]),
        };
        if completes.len() < active.len() && !completes.is_empty() {
            self.notes.add("calls of MPI_Waitany or MPI_Waitsome: the trace does not say what they completed, and the first active request is taken");
        }
        self.requests.begin();
        for &address in completes {
            self.requests.complete(address, None, false, |_| {});
        }
        if matches!(complete, Complete::Wait | Complete::Waitall) {
            for &address in &null {
                self.requests.complete(address, None, false, |_| {});
            }
        }
        let completed: Option<Completed> = self.requests.waited_for(quantifier);
        match completed {
            Some(completed) => self.push(sink, Event::Wait(quantifier, completed)),
            None if !active.is_empty() => self.push(sink, Event::Test(quantifier, None)),
            None => {}
        }
    }

    fn collective(&mut self, call: &calls::Collective, sink: &mut Sink<'_, '_>) -> Outcome {
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

    fn make_comm(&mut self, make: MakeComm, sink: &mut Sink<'_, '_>) {
        let made = self.communicators.ranks.get(self.me.0 as usize).and_then(|of| of.made.get(self.made).copied());
        self.made += 1;
        let Some((parent, _)) = make.parent().and_then(|comm| self.comm(comm)) else {
            self.notes.add("communicators between groups or worlds: calls on them are left out");
            return;
        };
        let group = made.flatten().and_then(|identity| {
            let members = self.communicators.members(identity)?.to_vec();
            let id = CommId(self.ids.len() as u32);
            self.ids.insert(identity, id);
            Some(Group { id, members, remote: Vec::new(), tag: None })
        });
        self.push(sink, Event::CommCreate(make.function(), parent, group));
    }
}

fn completion(id: RequestId, is_persistent: bool) -> Completion<Option<RequestId>> {
    if is_persistent { Completion::Persistent(id) } else { Completion::Request(Some(id)) }
}

fn peer(members: &[Rank], rank: i64) -> Outcome<Rank> {
    let found = usize::try_from(rank).ok().and_then(|rank| members.get(rank).copied());
    found.ok_or_else(|| format!("rank {rank} of a communicator of {}", members.len()))
}

fn tag(tag: i64) -> Outcome<Tag> {
    i32::try_from(tag).map(Tag).map_err(|_| format!("tag {tag}, which is no tag of MPI"))
}
