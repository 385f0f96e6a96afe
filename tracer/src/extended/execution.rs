//! One collective carried out: the steps of a schedule as calls of MPI, and the messages they were.

use std::collections::VecDeque;

use titr_common::collectives::{Buffer, Member, Slice, Step};
use titr_common::event::{MessageEnd, Span};
use titr_common::units::{Bytes, Nanoseconds};
use titr_wrappers::Abi;
use titr_wrappers::argument::Comm;
use titr_wrappers::pmpi::exchange::{Exchange, Part, Reduction, Side, Space};
use titr_wrappers::pmpi::region::Region;
use titr_wrappers::pmpi::{self, ErrorCode};

use super::clock::Clock;
use super::data::Data;

/// A collective that is to be carried out.
pub struct Undertaking {
    pub(crate) abi: &'static Abi,
    /// The program's communicator, and the one for messages if there is one yet.
    pub(crate) comm: Comm,
    pub(crate) private: Option<Comm>,
    pub(crate) number: u64,
    pub(crate) steps: Vec<Step>,
    pub(crate) data: Data,
}

/// One that was.
#[derive(Debug)]
pub struct Done {
    /// The communicator for messages.
    pub private: Option<Comm>,
    /// What the program is told.
    pub result: Result<(), ErrorCode>,
    /// In the order in which they were started.
    pub messages: Vec<Sighting>,
}

/// A message as one end saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// Which end.
    pub end: MessageEnd,
    /// The other one.
    pub peer: Member,
    /// How much it carried.
    pub bytes: Bytes,
    /// From its start to its completion.
    pub span: Span,
}

/// All tags that MPI guarantees (MPI 4.0 §3.2.2): more collectives than these are never under way at once.
const TAGS: u64 = 1 << 15;

impl Undertaking {
    /// Does it; returns when this member's part is done.
    #[must_use]
    pub fn carry_out(self, clock: &Clock) -> Done {
        let private = self.private.or_else(|| pmpi::split(self.abi, self.comm));
        let Some(comm) = private else {
            // MPI has no more communicators, and every member is told so.
            return Done { private, result: Err(ErrorCode(1)), messages: Vec::new() };
        };
        let tag = (self.number % TAGS) as i32;
        let exchange = Exchange::new(self.abi, comm, tag, self.lens());
        let mut run = Run { exchange, clock, messages: Vec::new(), open: VecDeque::new() };
        let result = run.all(&self.steps, &self.data);
        Done { private, result, messages: run.messages }
    }

    /// How long the three buffers are: as long as the data, and as the slices want them.
    fn lens(&self) -> [u64; 3] {
        let total = |regions: &[Region]| regions.iter().map(Region::bytes).sum();
        let mut lens = [total(&self.data.send), total(&self.data.recv), 0];
        for slice in self.steps.iter().flat_map(slices) {
            let end = slice.offset.0.saturating_add(slice.len.0);
            if let Some(len) = lens.get_mut(space(slice.buffer) as usize) {
                *len = end.max(*len);
            }
        }
        lens
    }
}

struct Run<'c> {
    exchange: Exchange,
    clock: &'c Clock,
    messages: Vec<Sighting>,
    /// Those that were started and not completed, by their place in `messages`.
    open: VecDeque<usize>,
}

impl Run<'_> {
    fn all(&mut self, steps: &[Step], data: &Data) -> Result<(), ErrorCode> {
        self.exchange.pack(Space::Send, &data.send)?;
        if data.has_recv {
            self.exchange.pack(Space::Recv, &data.recv)?;
        }
        for step in steps {
            self.step(*step, data.reduction.as_ref())?;
        }
        if !data.has_recv {
            self.exchange.unpack(Space::Recv, &data.recv)?;
        }
        Ok(())
    }

    fn step(&mut self, step: Step, reduction: Option<&Reduction>) -> Result<(), ErrorCode> {
        match step {
            Step::Send { to, data } => {
                let seen = self.begin(MessageEnd::Sent, to, data);
                self.exchange.send(to, part(data))?;
                self.end(seen);
            }
            Step::Recv { from, data } => {
                let seen = self.begin(MessageEnd::Received, from, data);
                self.exchange.recv(from, part(data))?;
                self.end(seen);
            }
            Step::Sendrecv { to, send, from, recv } => {
                let received = self.begin(MessageEnd::Received, from, recv);
                self.exchange.irecv(from, part(recv))?;
                let sent = self.begin(MessageEnd::Sent, to, send);
                self.exchange.send(to, part(send))?;
                self.end(sent);
                self.exchange.wait(self.exchange.pending().saturating_sub(1))?;
                self.end(received);
            }
            Step::Isend { to, data } => {
                let seen = self.begin(MessageEnd::Sent, to, data);
                self.exchange.isend(to, part(data))?;
                self.open.push_back(seen);
            }
            Step::Irecv { from, data } => {
                let seen = self.begin(MessageEnd::Received, from, data);
                self.exchange.irecv(from, part(data))?;
                self.open.push_back(seen);
            }
            Step::Wait { nth } => self.wait(nth as usize)?,
            Step::WaitAll => {
                while !self.open.is_empty() {
                    self.wait(0)?;
                }
            }
            Step::Copy { from, to } => self.exchange.copy(part(from), part(to))?,
            Step::ReduceLeft { from, into } => self.reduce(reduction, from, Side::Left, into)?,
            Step::ReduceRight { from, into } => self.reduce(reduction, from, Side::Right, into)?,
        }
        Ok(())
    }

    fn wait(&mut self, nth: usize) -> Result<(), ErrorCode> {
        self.exchange.wait(nth)?;
        if let Some(seen) = self.open.remove(nth) {
            self.end(seen);
        }
        Ok(())
    }

    fn reduce(&mut self, by: Option<&Reduction>, from: Slice, side: Side, into: Slice) -> Result<(), ErrorCode> {
        match by {
            Some(by) => self.exchange.reduce(by, part(from), side, part(into)),
            None => Ok(()),
        }
    }

    fn begin(&mut self, end: MessageEnd, peer: Member, data: Slice) -> usize {
        let span = Span { begin: self.clock.now(), end: Nanoseconds(0) };
        self.messages.push(Sighting { end, peer, bytes: data.len, span });
        self.messages.len() - 1
    }

    fn end(&mut self, seen: usize) {
        if let Some(message) = self.messages.get_mut(seen) {
            message.span.end = self.clock.now();
        }
    }
}

fn space(buffer: Buffer) -> Space {
    match buffer {
        Buffer::Send => Space::Send,
        Buffer::Recv => Space::Recv,
        Buffer::Scratch => Space::Scratch,
    }
}

fn part(slice: Slice) -> Part {
    Part { space: space(slice.buffer), offset: slice.offset.0, len: slice.len.0 }
}

/// What a step reads and writes.
fn slices(step: &Step) -> impl Iterator<Item = Slice> + use<> {
    let (first, second) = match *step {
        Step::Send { data, .. } | Step::Recv { data, .. } | Step::Isend { data, .. } | Step::Irecv { data, .. } => {
            (Some(data), None)
        }
        Step::Sendrecv { send, recv, .. } => (Some(send), Some(recv)),
        Step::Copy { from, to } => (Some(from), Some(to)),
        Step::ReduceLeft { from, into } | Step::ReduceRight { from, into } => (Some(from), Some(into)),
        Step::Wait { .. } | Step::WaitAll => (None, None),
    };
    first.into_iter().chain(second)
}
