//! The events of a rank.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::event::{
    Collective, CollectiveKind, CommCall, CommId, Completion, Event, Group, Quantifier, Rank, RequestKey, SendMode,
    Span, Tag, ThreadId,
};
use titr_common::trace::{EventSource, Lines, LocatedEvents, Location, TraceError};
use titr_common::units::{Instructions, Nanoseconds};

use crate::input::functions::{self, MessageForm};
use crate::input::notes::{Notes, NotesOfRanks};
use crate::input::paraver::collectives::PrvCall;
use crate::input::paraver::line::{Message, PrvLine, is_of, parse};
use crate::input::paraver::survey::{CommNumber, Point, PrvSurvey};
use crate::input::rank_events::{CallTimes, is_local};
use crate::input::requests::Requests;

/// The most calls that wait for the line of a message. A call that waits longer has none: its peer is `MPI_PROC_NULL`.
const MOST_WAITING: usize = 1 << 14;
/// The number of calls that are read ahead for a start of persistent requests, which can have any number of messages.
const AFTER_START: usize = 256;
/// The most threads of a rank.
const MOST_THREADS: u32 = 1 << 12;

/// The events of a rank.
pub(super) struct PrvRankSource {
    lines: Lines,
    translation: PrvTranslation,
    notes_of_ranks: Arc<NotesOfRanks>,
    /// Whether the file was read to its end.
    is_read: bool,
    has_ended: bool,
}

/// What a call does.
#[derive(Clone, Debug)]
enum Action {
    Init,
    Finalize,
    Send(SendMode, MessageForm),
    Recv(MessageForm),
    Sendrecv,
    Start,
    /// The requests that are asked for, and whether they are only tested.
    Complete(Quantifier, bool),
    Collective(Box<Collective>),
    /// What takes time, but has no event.
    Nothing,
    /// Computation.
    Local,
}

/// A call that has begun.
#[derive(Clone, Debug)]
struct Begun {
    action: Action,
    begin: u64,
    counted: Option<u64>,
    line: u64,
}

/// A call that has ended.
struct Ended {
    call: Begun,
    end: u64,
    thread: ThreadId,
}

struct PrvTranslation {
    me: Rank,
    survey: Arc<PrvSurvey>,
    communicators: FxHashMap<CommNumber, (CommId, Arc<[Rank]>)>,
    /// The number of collectives on each communicator so far.
    before: FxHashMap<CommNumber, u64>,
    /// The call that each thread is in.
    begun: Vec<Option<Begun>>,
    waiting: VecDeque<Ended>,
    /// Messages without a call yet, by the time at which they were sent, and at which their receive was posted.
    sent: BTreeMap<u64, VecDeque<Message>>,
    posted: BTreeMap<u64, VecDeque<Message>>,
    requests: Requests<()>,
    made: u64,
    /// The active requests of receives by the time at which they complete, and those of sends.
    receiving: BTreeMap<u64, Vec<u64>>,
    sending: VecDeque<u64>,
    times: Vec<CallTimes>,
    origin: u64,
    is_begun: bool,
    is_finalized: bool,
    notes: Notes,
}

impl PrvRankSource {
    pub(super) fn new(lines: Lines, me: Rank, survey: &Arc<PrvSurvey>, notes_of_ranks: &Arc<NotesOfRanks>) -> Self {
        let origin = survey.began.get(me.0 as usize).copied().flatten().unwrap_or(0);
        let mut communicators = FxHashMap::default();
        let mut next = CommId::SELF.0;
        for (&number, members) in &survey.communicators {
            let is_world = members.len() as u32 == survey.header.tasks && members.is_sorted();
            let id = match &**members {
                _ if is_world => CommId::WORLD,
                [only] if *only == me => CommId::SELF,
                members if members.contains(&me) => {
                    next += 1;
                    CommId(next)
                }
                _ => continue,
            };
            communicators.insert(number, (id, Arc::clone(members)));
        }
        let translation = PrvTranslation {
            me,
            survey: Arc::clone(survey),
            communicators,
            before: FxHashMap::default(),
            begun: Vec::new(),
            waiting: VecDeque::new(),
            sent: BTreeMap::new(),
            posted: BTreeMap::new(),
            requests: Requests::default(),
            made: 0,
            receiving: BTreeMap::new(),
            sending: VecDeque::new(),
            times: Vec::new(),
            origin,
            is_begun: false,
            is_finalized: false,
            notes: Notes::default(),
        };
        Self { lines, translation, notes_of_ranks: Arc::clone(notes_of_ranks), is_read: false, has_ended: false }
    }

    /// Reads the next line of the rank.
    fn read_line(&mut self) -> Result<(), TraceError> {
        let me = self.translation.me;
        loop {
            let Some(text) = self.lines.next()? else {
                self.is_read = true;
                return Ok(());
            };
            if !is_of(text, me) {
                continue;
            }
            let number = self.lines.line();
            let read = match parse(self.lines.again(), self.translation.survey.header.tasks) {
                Some(line) => self.translation.line(line, number),
                None => None,
            };
            return read.ok_or_else(|| {
                let (path, place) = (self.lines.path().to_owned(), format!("line {number}"));
                TraceError::Foreign { path, place, what: "fields that are not those of such a line".to_owned() }
            });
        }
    }
}

impl EventSource for PrvRankSource {
    fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        let before = events.len();
        while events.len() == before && !self.has_ended {
            if self.translation.next(events, self.is_read) {
                continue;
            }
            if !self.is_read {
                self.read_line()?;
                continue;
            }
            self.translation.end(events);
            self.notes_of_ranks.keep(self.translation.me, std::mem::take(&mut self.translation.notes));
            self.has_ended = true;
        }
        Ok(events.len() > before)
    }

    fn path(&self) -> Option<PathBuf> {
        Some(self.lines.path().to_owned())
    }
}

impl PrvTranslation {
    /// Takes note of a line; `None` if it is wrong.
    fn line(&mut self, line: PrvLine<'_>, number: u64) -> Option<()> {
        match line {
            PrvLine::Events(_, thread, time, pairs) => {
                let point = Point::of(pairs)?;
                let value = point.mpi;
                match value {
                    None => {}
                    Some(0) => self.leave(thread, time),
                    Some(value) => self.enter(thread, time, value, &point, number)?,
                }
            }
            PrvLine::Message(message) => {
                if message.sender == self.me {
                    self.sent.entry(message.sent).or_default().push_back(message);
                }
                if message.receiver == self.me {
                    self.posted.entry(message.posted).or_default().push_back(message);
                }
            }
            PrvLine::Communicator(..) | PrvLine::Other => {}
        }
        Some(())
    }

    fn enter(&mut self, thread: ThreadId, begin: u64, value: u64, point: &Point, line: u64) -> Option<()> {
        if thread.0 >= MOST_THREADS {
            return None;
        }
        let at = thread.0 as usize;
        if self.begun.len() <= at {
            self.begun.resize(at + 1, None);
            self.times.resize_with(at + 1, CallTimes::default);
        }
        if self.begun[at].is_some() {
            self.leave(thread, begin);
        }
        let action = self.action(value, point);
        self.begun[at] = Some(Begun { action, begin, counted: point.instructions, line });
        Some(())
    }

    fn leave(&mut self, thread: ThreadId, end: u64) {
        if let Some(call) = self.begun.get_mut(thread.0 as usize).and_then(Option::take) {
            // A clock that runs backwards makes no call end before it begins.
            let end = end.max(call.begin);
            self.waiting.push_back(Ended { call, end, thread });
        }
    }

    /// Appends the events of the oldest call that waits, if its messages are there; false if it waits for them.
    fn next(&mut self, events: &mut LocatedEvents, is_read: bool) -> bool {
        let Some(Ended { call, end, .. }) = self.waiting.front() else { return false };
        let (begin, end) = (call.begin, *end);
        let is_due = |messages: &BTreeMap<u64, VecDeque<Message>>| messages.range(begin..=end).next().is_some();
        let gives_up = is_read || self.waiting.len() > MOST_WAITING;
        let is_ready = match call.action {
            Action::Send(..) => is_due(&self.sent),
            Action::Recv(_) => is_due(&self.posted),
            Action::Sendrecv => is_due(&self.sent) && is_due(&self.posted),
            Action::Start => self.waiting.len() > AFTER_START,
            Action::Init
            | Action::Finalize
            | Action::Complete(..)
            | Action::Collective(_)
            | Action::Local
            | Action::Nothing => true,
        };
        if !is_ready && !gives_up {
            return false;
        }
        if let Some(ended) = self.waiting.pop_front() {
            self.translate(ended, events);
        }
        true
    }

    fn translate(&mut self, Ended { call, end, thread }: Ended, events: &mut LocatedEvents) {
        let location = Location { thread, line: Some(call.line) };
        if !self.is_begun {
            self.is_begun = true;
            if !matches!(call.action, Action::Init) {
                events.push(Event::Init, location);
                self.define(events, location);
            }
        }
        if self.is_finalized {
            return;
        }
        let mut sink = PrvSink { events, location, begin: call.begin, end, counted: call.counted, is_timed: false };
        let sink = &mut sink;
        match call.action {
            Action::Init => {
                self.push(sink, Event::Init);
                self.define(sink.events, location);
            }
            Action::Finalize => {
                self.complete_all(sink);
                self.push(sink, Event::Finalize);
                self.is_finalized = true;
            }
            Action::Send(mode, form) => match take(&mut self.sent, call.begin, end) {
                Some(message) => self.send(message, mode, form, sink),
                None => {
                    self.notes.add("sends have no message: they are to MPI_PROC_NULL, or their messages are missing")
                }
            },
            Action::Recv(form) => match take(&mut self.posted, call.begin, end) {
                Some(message) => self.receive(message, form, sink),
                None => {
                    self.notes
                        .add("receives have no message: they are from MPI_PROC_NULL, or their messages are missing");
                }
            },
            Action::Sendrecv => {
                let send = take(&mut self.sent, call.begin, end).map(|message| message.outgoing());
                let recv = take(&mut self.posted, call.begin, end).map(|message| message.incoming());
                if send.is_some() || recv.is_some() {
                    self.push(sink, Event::Sendrecv(send, recv));
                }
            }
            // Every start makes a request of its own, which is not persistent.
            Action::Start => {
                while let Some(message) = take(&mut self.posted, call.begin, end) {
                    self.receive(message, MessageForm::Nonblocking, sink);
                }
                while let Some(message) = take(&mut self.sent, call.begin, end) {
                    self.send(message, SendMode::Standard, MessageForm::Nonblocking, sink);
                }
            }
            Action::Complete(ask, is_test) => self.complete(ask, is_test, sink),
            Action::Collective(collective) => self.push(sink, Event::Collective(*collective, Completion::Blocking)),
            Action::Local => return,
            Action::Nothing => {}
        }
        // The time in other calls without an event is no computation.
        self.time(sink);
    }

    /// Introduces the communicators that the trace defines.
    fn define(&mut self, events: &mut LocatedEvents, location: Location) {
        let mut defined: Vec<_> = self.communicators.iter().filter(|(_, (id, _))| *id > CommId::SELF).collect();
        defined.sort_unstable_by_key(|(_, (id, _))| *id);
        for (&number, (id, members)) in defined {
            let tag = i32::try_from(number).ok().map(Tag);
            let group = Group { id: *id, members: members.to_vec(), remote: Vec::new(), tag };
            events.push(Event::CommCreate(CommCall::World, CommId::WORLD, Some(group)), location);
        }
    }

    /// Appends what belongs after the last call.
    fn end(&mut self, events: &mut LocatedEvents) {
        let location = Location::default();
        if !self.is_begun {
            events.push(Event::Init, location);
        }
        if !self.is_finalized {
            events.push(Event::Finalize, location);
            self.notes.add("ranks have no MPI_Finalize: their traces end before");
        }
        let left = self.sent.values().chain(self.posted.values()).map(VecDeque::len).sum::<usize>();
        for _ in 0..left {
            self.notes.add("ends of messages belong to no call, and are left out");
        }
    }

    /// Appends the time of a call and its event.
    fn push(&mut self, sink: &mut PrvSink<'_>, event: Event) {
        self.time(sink);
        sink.events.push(event, sink.location);
    }

    /// Appends the time of a call; its event has to follow.
    fn time(&mut self, sink: &mut PrvSink<'_>) {
        if !std::mem::replace(&mut sink.is_timed, true) {
            let unit = self.survey.header.unit;
            let time = |time: u64| Nanoseconds(time.saturating_sub(self.origin).saturating_mul(unit));
            let span = Span { begin: time(sink.begin), end: time(sink.end) };
            let counted = sink.counted.map(|counted| Instructions(counted as f64));
            if let Some(times) = self.times.get_mut(sink.location.thread.0 as usize) {
                times.call(sink.events, sink.location, span, counted);
            }
        }
    }
}

/// The place where the events of a call go.
struct PrvSink<'s> {
    events: &'s mut LocatedEvents,
    location: Location,
    begin: u64,
    end: u64,
    counted: Option<u64>,
    is_timed: bool,
}

/// The first message of a call.
fn take(messages: &mut BTreeMap<u64, VecDeque<Message>>, begin: u64, end: u64) -> Option<Message> {
    let (&time, queue) = messages.range_mut(begin..=end).next()?;
    let message = queue.pop_front();
    if queue.is_empty() {
        messages.remove(&time);
    }
    message
}

impl PrvTranslation {
    /// What the function of a value does.
    fn action(&mut self, value: u64, point: &Point) -> Action {
        let survey = Arc::clone(&self.survey);
        let Some(name) = survey.names.get(value) else {
            self.notes.add("calls of functions that the .pcf file does not name have no event");
            return Action::Nothing;
        };
        if let Some(kind) = functions::collective(name) {
            return self.collective(kind, point);
        }
        if let Some((ask, is_test)) = functions::completion(name) {
            return Action::Complete(ask, is_test);
        }
        // The messages of its starts say what a persistent request is.
        match (functions::send(name), functions::receive(name)) {
            (Some((_, MessageForm::Persistent)), _) | (_, Some(MessageForm::Persistent)) => return Action::Nothing,
            (Some((mode, form)), _) => return Action::Send(mode, form),
            (None, Some(form)) => return Action::Recv(form),
            (None, None) => {}
        }
        match name {
            "Init" | "Init_thread" => Action::Init,
            "Finalize" => Action::Finalize,
            "Mrecv" => Action::Recv(MessageForm::Blocking),
            "Imrecv" => Action::Recv(MessageForm::Nonblocking),
            "Sendrecv" | "Sendrecv_replace" => Action::Sendrecv,
            "Start" | "Startall" => Action::Start,
            // In vain, or followed by a receive.
            "Iprobe" | "Improbe" | "Probe" | "Mprobe" => Action::Nothing,
            name if is_local(name) => Action::Local,
            name => {
                self.notes.add(format!("calls of MPI_{name} have no event"));
                Action::Nothing
            }
        }
    }

    fn collective(&mut self, kind: CollectiveKind, point: &Point) -> Action {
        let number = self.before.entry(point.comm).or_default();
        let instance = (point.comm, *number);
        *number += 1;
        let Some((comm, members)) = self.communicators.get(&point.comm) else {
            self.notes.add("collectives are left out, whose communicators the trace does not define");
            return Action::Nothing;
        };
        let volumes = self.survey.volumes(instance, members);
        if matches!(kind, CollectiveKind::Alltoallv | CollectiveKind::Alltoallw) {
            self.notes.add("calls of MPI_Alltoallv have only sums of their counts: members get shares in proportion");
        }
        let root = self.survey.root(instance, members);
        let (sent, received, me) = (point.sent, point.received, self.me);
        let call = PrvCall { kind, comm: *comm, members, me, root, sent, received, volumes };
        match call.collective() {
            Some(collective) => Action::Collective(Box::new(collective)),
            None => {
                self.notes.add("collectives are left out, whose root is no member of their communicator");
                Action::Nothing
            }
        }
    }
}

impl PrvTranslation {
    fn send(&mut self, message: Message, mode: SendMode, form: MessageForm, sink: &mut PrvSink<'_>) {
        let outgoing = message.outgoing();
        let key = RequestKey { from: Some(self.me), to: outgoing.to, tag: Some(outgoing.tag) };
        let completion = if form == MessageForm::Blocking {
            Completion::Blocking
        } else {
            self.made += 1;
            self.sending.push_back(self.made);
            Completion::Request(self.requests.make(self.made, (), Some(key), false))
        };
        self.push(sink, Event::Send(mode, outgoing, completion));
    }

    fn receive(&mut self, message: Message, form: MessageForm, sink: &mut PrvSink<'_>) {
        let incoming = message.incoming();
        let key = RequestKey { from: incoming.from, to: self.me, tag: incoming.tag };
        let completion = if form == MessageForm::Blocking {
            Completion::Blocking
        } else {
            self.made += 1;
            self.receiving.entry(message.completed).or_default().push(self.made);
            Completion::Request(self.requests.make(self.made, (), Some(key), false))
        };
        self.push(sink, Event::Recv(incoming, completion));
    }

    /// Completes the receives whose messages came in a call. The trace does not say which sends a call completes: one for all
    /// requests completes all, and another one the oldest, if no receive completes in it.
    fn complete(&mut self, ask: Quantifier, is_test: bool, sink: &mut PrvSink<'_>) {
        let later = self.receiving.split_off(&sink.end.saturating_add(1));
        let mut done: Vec<u64> = std::mem::replace(&mut self.receiving, later).into_values().flatten().collect();
        if ask == Quantifier::All {
            done.extend(self.sending.drain(..));
        } else if done.is_empty() {
            done.extend(self.sending.pop_front());
        }
        self.requests.begin();
        for name in done {
            self.requests.complete(name, None, false, |_| {});
        }
        let event = if is_test {
            self.requests.tested().map(|completed| Event::Test(ask, Some(completed)))
        } else {
            self.requests.waited_for(ask).map(|completed| Event::Wait(ask, completed))
        };
        match event {
            // A wait for one request may be the last of several that came together.
            Some(Event::Wait(Quantifier::Single | Quantifier::Any, completed)) => {
                let ask =
                    if matches!(completed, titr_common::event::Completed::One(..)) { ask } else { Quantifier::Some };
                self.push(sink, Event::Wait(ask, completed));
            }
            Some(event) => self.push(sink, event),
            None => {}
        }
    }

    /// Waits for all requests that no call has completed.
    fn complete_all(&mut self, sink: &mut PrvSink<'_>) {
        self.requests.begin();
        for name in self.requests.active() {
            self.requests.complete(name, None, false, |_| {});
        }
        if let Some(completed) = self.requests.waited_for(Quantifier::All) {
            self.notes
                .add("ranks complete requests without a call that the trace has: they wait for them in MPI_Finalize");
            sink.events.push(Event::Wait(Quantifier::All, completed), sink.location);
        }
    }
}
