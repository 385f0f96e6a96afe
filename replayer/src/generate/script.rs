//! The events of one rank in a phase of a generated program.

use std::collections::BTreeSet;

use titr_common::collectives::Step;
use titr_common::event::{
    Collective, CommId, Completed, Completion, Event, Incoming, Outgoing, Quantifier, Rank, RequestId, RequestKey,
    SendMode, Tag, Wildcard,
};
use titr_common::units::{Bytes, Instructions, Seconds};

/// A rank's pause between two exchanges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pause {
    /// The rank computes: how long that takes, the machine says.
    Compute(Instructions),
    /// The rank sleeps: as long on any machine.
    Sleep(Seconds),
}

/// The events of one rank in one phase, in order.
#[derive(Debug)]
pub struct Script {
    me: Rank,
    pause: Option<Pause>,
    events: Vec<Event>,
    /// Requests that are started and not yet completed, in order.
    started: Vec<(RequestId, RequestKey)>,
    /// Numbers that no request has.
    free: BTreeSet<RequestId>,
    /// The lowest number that no request has ever had.
    unused: RequestId,
}

impl Script {
    pub(super) fn new(me: u32, pause: Option<Pause>) -> Self {
        let (started, free, unused) = (Vec::new(), BTreeSet::new(), RequestId(1));
        Self { me: Rank(me), pause, events: Vec::new(), started, free, unused }
    }

    /// Takes the events so far out of the script.
    pub(super) fn take(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    fn push(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Adds the requested action between exchanges, such as computation; nothing by default.
    pub(crate) fn pause(&mut self) {
        self.events.extend(self.pause.map(|pause| match pause {
            Pause::Compute(work) => Event::Compute(work),
            Pause::Sleep(span) => Event::Sleep(span),
        }));
    }

    /// Waits for all ranks.
    pub(crate) fn barrier(&mut self) {
        self.push(Event::Collective(Collective::barrier(CommId::WORLD), Completion::Blocking));
    }

    /// Sends, and waits until that is done.
    pub(crate) fn send(&mut self, to: u32, tag: i32, bytes: Bytes) {
        self.push(Event::Send(SendMode::Standard, outgoing(to, tag, bytes), Completion::Blocking));
    }

    /// Receives a message, and waits for it.
    pub(crate) fn recv(&mut self, from: u32, tag: i32, bytes: Bytes) {
        self.push(Event::Recv(incoming(from, tag, bytes), Completion::Blocking));
    }

    /// Starts to send a message.
    pub(crate) fn isend(&mut self, to: u32, tag: i32, bytes: Bytes) {
        let request = self.start(self.me, Rank(to), tag);
        self.push(Event::Send(SendMode::Standard, outgoing(to, tag, bytes), Completion::Request(Some(request))));
    }

    /// Starts to receive a message.
    pub(crate) fn irecv(&mut self, from: u32, tag: i32, bytes: Bytes) {
        let request = self.start(Rank(from), self.me, tag);
        self.push(Event::Recv(incoming(from, tag, bytes), Completion::Request(Some(request))));
    }

    /// Sends a message and receives another at once, and waits for both.
    pub(crate) fn sendrecv(&mut self, to: u32, sent: Bytes, from: u32, received: Bytes) {
        self.push(Event::Sendrecv(Some(outgoing(to, 0, sent)), Some(incoming(from, 0, received))));
    }

    /// Completes one of those that are started: the `nth` of them, 0 the oldest.
    pub(crate) fn wait(&mut self, nth: usize) {
        if nth < self.started.len() {
            let (request, key) = self.started.remove(nth);
            self.free.insert(request);
            self.push(Event::Wait(Quantifier::Single, Completed::One(key, Some(request))));
        }
    }

    /// Completes all that is started, if anything is.
    pub(crate) fn waitall(&mut self) {
        if !self.started.is_empty() {
            self.free.extend(self.started.drain(..).map(|(request, _)| request));
            self.push(Event::Wait(Quantifier::All, Completed::Outstanding(None)));
        }
    }

    /// Executes a step of a schedule. Local operations on data are ignored.
    pub(crate) fn step(&mut self, step: &Step) {
        match *step {
            Step::Send { to, data } => self.send(to, 0, data.len),
            Step::Recv { from, data } => self.recv(from, 0, data.len),
            Step::Isend { to, data } => self.isend(to, 0, data.len),
            Step::Irecv { from, data } => self.irecv(from, 0, data.len),
            Step::Sendrecv { to, send, from, recv } => self.sendrecv(to, send.len, from, recv.len),
            Step::Wait { nth } => self.wait(nth as usize),
            Step::WaitAll => self.waitall(),
            Step::Copy { .. } | Step::ReduceLeft { .. } | Step::ReduceRight { .. } => {}
        }
    }

    /// A request by the lowest number that is free.
    fn start(&mut self, from: Rank, to: Rank, tag: i32) -> RequestId {
        let request = self.free.pop_first().unwrap_or_else(|| {
            let next = RequestId(self.unused.0 + 1);
            std::mem::replace(&mut self.unused, next)
        });
        self.started.push((request, RequestKey { from: Some(from), to, tag: Some(Tag(tag)) }));
        request
    }
}

fn outgoing(to: u32, tag: i32, bytes: Bytes) -> Outgoing {
    Outgoing { comm: CommId::WORLD, to: Rank(to), tag: Tag(tag), bytes }
}

fn incoming(from: u32, tag: i32, bytes: Bytes) -> Incoming {
    let (from, tag) = (Some(Rank(from)), Some(Tag(tag)));
    Incoming { comm: CommId::WORLD, from, tag, bytes, wildcard: Wildcard::NONE }
}
