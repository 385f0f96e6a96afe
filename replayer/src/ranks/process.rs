//! One rank's program: its events, one after another.

use titr_common::event::{CommCall, Event, Group, Incoming, Key, Outgoing, Rank, RequestId, Requests, SendMode, Tag};
use titr_common::units::Seconds;

use super::collective::agreement;
use super::error::{Fault, Place, ReplayError};
use super::exchange::{OperationId, Outbound};
use super::matching::{Envelope, Selector};
use super::request::{RequestTable, Template};
use super::{Agent, Ranks, Timeline};
use crate::observe::{Activity, Observer};
use crate::time::Time;
use crate::workload::Program;

/// Where a rank is in its program.
#[derive(Default)]
pub(super) struct Process {
    pub(super) timeline: Timeline,
    pub(super) requests: RequestTable,
    /// How many events it has taken.
    pub(super) events: u64,
    /// When the one it is at began.
    began: Time,
    /// An event whose time has not come: what it costs before others can see it is on the clock already.
    held: Option<Event>,
    /// What it waits in.
    pub(super) waiting: Option<Activity>,
    pub(super) finished: bool,
}

/// What became of an event.
enum Carried {
    /// It is done, or is once what is claimed is complete.
    Out(Activity),
    /// It is in part; the rest is another event.
    On(Event),
}

/// Why an event cannot be carried out.
enum Failure {
    Fault(Fault),
    Replay(ReplayError),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl<P: Program, O: Observer> Ranks<'_, P, O> {
    /// Carries out events of `rank` until one has to wait, or for a time that has not come.
    pub(super) fn run_rank(&mut self, rank: Rank) -> Result<(), ReplayError> {
        let at = rank.0 as usize;
        if let Some(activity) = self.processes[at].waiting.take() {
            self.account(rank, activity);
        }
        loop {
            let process = &mut self.processes[at];
            let event = match process.held.take() {
                Some(event) => event,
                None => {
                    let Some(event) = self.workload.next_event(rank)? else {
                        process.finished = true;
                        self.finished += 1;
                        return Ok(());
                    };
                    process.events += 1;
                    process.began = process.timeline.clock;
                    let cost = match event {
                        Event::Compute(work) => self.places[at].speed.time_for(work),
                        Event::Sleep(seconds) => seconds,
                        ref event => self.overhead(rank, event),
                    };
                    let timeline = &mut self.processes[at].timeline;
                    timeline.clock = timeline.clock + cost;
                    if let Event::Compute(_) | Event::Sleep(_) = event {
                        self.account(rank, Activity::Compute);
                        continue;
                    }
                    event
                }
            };
            let clock = self.processes[at].timeline.clock;
            if clock > self.now {
                if clock == Time::NEVER {
                    return Err(ReplayError::EndOfTime);
                }
                self.processes[at].held = Some(event);
                self.agenda.set_alarm(clock, Agent::Rank(rank));
                return Ok(());
            }
            match self.carry_out(rank, event) {
                Ok(Carried::Out(activity)) if self.processes[at].timeline.awaited > 0 => {
                    self.processes[at].waiting = Some(activity);
                    return Ok(());
                }
                Ok(Carried::Out(activity)) => self.account(rank, activity),
                Ok(Carried::On(rest)) => {
                    let cost = self.overhead(rank, &rest);
                    let process = &mut self.processes[at];
                    process.timeline.clock = process.timeline.clock + cost;
                    process.held = Some(rest);
                }
                Err(Failure::Fault(fault)) => return Err(ReplayError::Event { place: self.place(rank), fault }),
                Err(Failure::Replay(error)) => return Err(error),
            }
        }
    }

    /// The event that `rank` is at took until now.
    fn account(&mut self, rank: Rank, activity: Activity) {
        let process = &self.processes[rank.0 as usize];
        self.observer.spent(rank, activity, process.began, process.timeline.clock);
    }

    /// Where `rank` is in its trace.
    pub(super) fn place(&self, rank: Rank) -> Place {
        Place { rank, event: self.processes[rank.0 as usize].events, line: self.workload.line(rank) }
    }

    /// What a send costs before its message leaves.
    fn overhead(&self, rank: Rank, event: &Event) -> Seconds {
        match event {
            Event::Send(mode, message)
                if *mode == SendMode::Synchronous || self.exchange.is_eager(*mode, message.bytes) =>
            {
                self.mpi.send_overhead.of(message.bytes)
            }
            Event::Isend(_, message, _) | Event::Sendrecv(Some(message), _) => {
                self.mpi.isend_overhead.of(message.bytes)
            }
            Event::Start(requests) => {
                let first = requests.first().and_then(|&id| self.processes[rank.0 as usize].requests.template(id));
                match first {
                    Some(Template::Send(_, message)) => self.mpi.isend_overhead.of(message.bytes),
                    Some(Template::Receive(_)) | None => Seconds(0.0),
                }
            }
            _ => Seconds(0.0),
        }
    }

    fn carry_out(&mut self, rank: Rank, event: Event) -> Result<Carried, Failure> {
        let me = Agent::Rank(rank);
        let at = rank.0 as usize;
        let activity = match event {
            Event::Init | Event::Finalize | Event::Compute(_) | Event::Sleep(_) | Event::Matched(..) => {
                Activity::Compute
            }
            Event::Send(mode, message) => {
                let sent = self.send(rank, mode, &message)?;
                self.claim(me, sent);
                Activity::Send
            }
            Event::Recv(message) => {
                let received = self.receive(rank, &message, None)?;
                self.claim(me, Some(received));
                Activity::Recv
            }
            Event::Sendrecv(outgoing, incoming) => {
                let sent = outgoing.map_or(Ok(None), |message| self.send(rank, SendMode::Standard, &message))?;
                let received = incoming.map(|message| self.receive(rank, &message, None)).transpose()?;
                self.claim(me, sent);
                self.claim(me, received);
                Activity::Recv
            }
            Event::Isend(mode, message, request) => {
                let sent = self.send(rank, mode, &message)?;
                let requests = &mut self.processes[at].requests;
                match request {
                    Some(id) => requests.add(id, sent)?,
                    None => {
                        let key = Key { from: Some(rank), to: message.to, tag: Some(message.tag) };
                        requests.add_keyed(key, sent);
                    }
                }
                Activity::Send
            }
            Event::Irecv(message, request) => {
                let recorded = self.recorded(rank, &message, request)?;
                let received = Some(self.receive(rank, &message, recorded)?);
                let requests = &mut self.processes[at].requests;
                match request {
                    Some(id) => requests.add(id, received)?,
                    None => {
                        let key = Key { from: message.from, to: rank, tag: message.tag };
                        requests.add_keyed(key, received);
                    }
                }
                Activity::Recv
            }
            Event::Probe(message) | Event::Iprobe(message, true) => {
                let selector = self.selector(rank, &message)?;
                if !self.exchange.probe(rank, selector) {
                    self.processes[at].timeline.awaited = 1;
                }
                Activity::Recv
            }
            Event::Iprobe(_, false) => Activity::Recv,
            Event::SendInit(mode, message, id) => {
                self.processes[at].requests.add_persistent(id, Template::Send(mode, message))?;
                Activity::Send
            }
            Event::RecvInit(message, id) => {
                self.processes[at].requests.add_persistent(id, Template::Receive(message))?;
                Activity::Recv
            }
            Event::Start(requests) => return self.start(rank, requests),
            Event::RequestFree(id) => {
                if let Some(operation) = self.processes[at].requests.free(id)? {
                    self.exchange.abandon(operation);
                }
                Activity::Wait
            }
            Event::Cancel(id) => {
                if let Some(operation) = self.processes[at].requests.activity(id)? {
                    self.exchange.cancel(operation);
                }
                Activity::Wait
            }
            Event::Wait(_, requests) | Event::Test(_, Some(requests)) => {
                self.complete(rank, requests)?;
                Activity::Wait
            }
            Event::Test(_, None) => Activity::Wait,
            Event::Collective(collective) => {
                let operation = self.start_collective(rank, &collective)?;
                self.claim(me, Some(operation));
                Activity::Collective
            }
            Event::Icollective(collective, id) => {
                let operation = self.start_collective(rank, &collective)?;
                self.processes[at].requests.add(id, Some(operation))?;
                Activity::Collective
            }
            Event::CommCreate(call, parent, group) => {
                let parent = self.communicators.find(rank, parent)?;
                let made = group.map(|group: Group| self.communicators.create(rank, &group)).transpose()?;
                let on = match call {
                    CommCall::Idup => None,
                    CommCall::CreateGroup | CommCall::IntercommCreate => made,
                    _ => Some(parent),
                };
                if let Some(on) = on {
                    let colours = matches!(call, CommCall::Split | CommCall::SplitType | CommCall::CartSub);
                    let (op, element) = agreement(colours);
                    let operation = self.start_collective_on(rank, on, &op, element)?;
                    self.claim(me, Some(operation));
                }
                Activity::Collective
            }
            Event::CommFree(id) => {
                self.communicators.free(rank, id)?;
                Activity::Collective
            }
        };
        Ok(Carried::Out(activity))
    }

    fn send(&mut self, rank: Rank, mode: SendMode, message: &Outgoing) -> Result<Option<OperationId>, Fault> {
        self.known(message.to)?;
        let index = self.communicators.find(rank, message.comm)?;
        let context = self.communicators.get(index).context;
        let envelope = Envelope { context, source: rank, tag: message.tag };
        let message = Outbound { to: message.to, envelope, bytes: message.bytes, mode };
        Ok(self.exchange.send(Agent::Rank(rank), message))
    }

    /// Posts a receive, of what is recorded that it got where `message` leaves that open.
    fn receive(&mut self, rank: Rank, message: &Incoming, recorded: Option<(Rank, Tag)>) -> Result<OperationId, Fault> {
        let mut selector = self.selector(rank, message)?;
        if let Some((source, tag)) = recorded {
            self.known(source)?;
            selector = Selector { source: Some(source), tag: Some(tag), ..selector };
        }
        if selector.source.is_none() || selector.tag.is_none() {
            self.warnings.open_wildcards += 1;
        }
        Ok(self.exchange.receive(Agent::Rank(rank), rank, selector))
    }

    /// What the trace says later about a receive that it leaves open.
    fn recorded(
        &mut self,
        rank: Rank,
        message: &Incoming,
        request: Option<RequestId>,
    ) -> Result<Option<(Rank, Tag)>, Failure> {
        match request {
            Some(id) if message.from.is_none() || message.tag.is_none() => {
                self.workload.matched(rank, id).map_err(|error| Failure::Replay(error.into()))
            }
            _ => Ok(None),
        }
    }

    fn selector(&mut self, rank: Rank, message: &Incoming) -> Result<Selector, Fault> {
        message.from.map_or(Ok(()), |from| self.known(from))?;
        let index = self.communicators.find(rank, message.comm)?;
        Ok(Selector { context: self.communicators.get(index).context, source: message.from, tag: message.tag })
    }

    fn known(&self, peer: Rank) -> Result<(), Fault> {
        let ranks = self.processes.len();
        if (peer.0 as usize) < ranks { Ok(()) } else { Err(Fault::NoSuchRank { rank: peer, world: ranks }) }
    }

    /// Starts the first of some persistent requests.
    fn start(&mut self, rank: Rank, mut requests: Vec<RequestId>) -> Result<Carried, Failure> {
        if requests.is_empty() {
            return Ok(Carried::Out(Activity::Send));
        }
        let id = requests.remove(0);
        let at = rank.0 as usize;
        let (operation, activity) = match self.processes[at].requests.template(id) {
            Some(Template::Send(mode, message)) => (self.send(rank, mode, &message)?, Activity::Send),
            Some(Template::Receive(message)) => {
                let recorded = self.recorded(rank, &message, Some(id))?;
                (Some(self.receive(rank, &message, recorded)?), Activity::Recv)
            }
            None => return Err(Fault::NotStartable(id).into()),
        };
        self.processes[at].requests.start(id, operation)?;
        Ok(if requests.is_empty() { Carried::Out(activity) } else { Carried::On(Event::Start(requests)) })
    }

    /// Claims what a wait or a test completed.
    fn complete(&mut self, rank: Rank, requests: Requests) -> Result<(), Fault> {
        let table = &mut self.processes[rank.0 as usize].requests;
        let operations = match requests {
            Requests::One(_, Some(id)) => {
                let activity = table.complete(id)?;
                self.claim(Agent::Rank(rank), activity);
                return Ok(());
            }
            Requests::One(key, None) => {
                let Some(activity) = table.complete_keyed(&key) else {
                    // SimGrid lets it pass, too.
                    self.warnings.idle_waits += 1;
                    return Ok(());
                };
                self.claim(Agent::Rank(rank), activity);
                return Ok(());
            }
            Requests::These(ids) => ids
                .into_iter()
                .map(|id| table.complete(id))
                .filter_map(Result::transpose)
                .collect::<Result<Vec<_>, _>>()?,
            Requests::Outstanding(_) => table.complete_all(),
        };
        for operation in operations {
            self.claim(Agent::Rank(rank), Some(operation));
        }
        Ok(())
    }
}
