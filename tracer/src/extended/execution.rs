//! One collective carried out: the steps of a schedule as calls of MPI, and the messages they were.

use std::collections::VecDeque;

use titr_common::collectives::{Buffer, Member, Slice, Step};
use titr_common::event::{MessageEnd, Span};
use titr_common::units::{Bytes, Nanoseconds};
use titr_wrappers::Abi;
use titr_wrappers::argument::Comm;
use titr_wrappers::pmpi::exchange::{Exchange, Part, Side, Space};
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

/// MPI has no more communicators, and every member is told so.
const NO_COMMUNICATOR: ErrorCode = ErrorCode(1);

/// What is done about a message that is not through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// It is waited for.
    Wait,
    /// Something else is done first.
    Return,
}

impl Undertaking {
    /// Does it; returns when this member's part is done. `meanwhile` is done again and again until then, if there is such.
    #[must_use]
    pub fn carry_out(self, clock: Clock, meanwhile: Option<&mut dyn FnMut()>) -> Done {
        let private = self.private.or_else(|| pmpi::split(self.abi, self.comm));
        let Some(comm) = private else {
            return Done { private, result: Err(NO_COMMUNICATOR), messages: Vec::new() };
        };
        let mut run = self.begin(comm, clock);
        let result = match meanwhile {
            None => run.advance(Patience::Wait).map(|_| ()),
            Some(meanwhile) => loop {
                match run.advance(Patience::Return) {
                    Ok(true) => break Ok(()),
                    Ok(false) => meanwhile(),
                    Err(error) => break Err(error),
                }
            },
        };
        Done { private, result, messages: run.messages }
    }

    /// Takes the first steps of one that goes on in the background, with messages on `private`.
    #[must_use]
    pub fn begin(self, private: Comm, clock: Clock) -> Run {
        let tag = (self.number % TAGS) as i32;
        let exchange = Exchange::new(self.abi, private, tag, self.lens());
        let steps = self.steps.into_iter();
        let (open, awaited) = (VecDeque::new(), VecDeque::new());
        Run { exchange, clock, steps, data: self.data, is_packed: false, messages: Vec::new(), open, awaited }
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

/// One that is under way.
pub struct Run {
    exchange: Exchange,
    clock: Clock,
    steps: std::vec::IntoIter<Step>,
    data: Data,
    is_packed: bool,
    messages: Vec<Sighting>,
    /// Those that were started and not completed, by their place in `messages`.
    open: VecDeque<usize>,
    /// Which of them are to be completed before the next step, one after the other, each by its place among those left.
    awaited: VecDeque<usize>,
}

impl Run {
    /// Takes steps; whether all were taken, after which there is nothing more to do.
    ///
    /// # Errors
    /// The library's.
    pub fn advance(&mut self, patience: Patience) -> Result<bool, ErrorCode> {
        if !self.is_packed {
            self.is_packed = true;
            self.exchange.pack(Space::Send, &self.data.send)?;
            if self.data.has_recv {
                self.exchange.pack(Space::Recv, &self.data.recv)?;
            }
        }
        while self.settle(patience)? {
            let Some(step) = self.steps.next() else {
                if !self.data.has_recv {
                    self.exchange.unpack(Space::Recv, &self.data.recv)?;
                }
                return Ok(true);
            };
            self.step(step, patience)?;
        }
        Ok(false)
    }

    /// What it was made of so far.
    #[must_use]
    pub fn into_messages(self) -> Vec<Sighting> {
        self.messages
    }

    fn step(&mut self, step: Step, patience: Patience) -> Result<(), ErrorCode> {
        match (step, patience) {
            (Step::Send { to, data }, Patience::Wait) => {
                let seen = self.begin(MessageEnd::Sent, to, data);
                self.exchange.send(to, part(data))?;
                self.end(seen);
            }
            (Step::Recv { from, data }, Patience::Wait) => {
                let seen = self.begin(MessageEnd::Received, from, data);
                self.exchange.recv(from, part(data))?;
                self.end(seen);
            }
            (Step::Send { to, data }, Patience::Return) => {
                self.isend(to, data)?;
                self.awaited.push_back(self.open.len() - 1);
            }
            (Step::Recv { from, data }, Patience::Return) => {
                self.irecv(from, data)?;
                self.awaited.push_back(self.open.len() - 1);
            }
            (Step::Sendrecv { to, send, from, recv }, _) => {
                self.irecv(from, recv)?;
                self.isend(to, send)?;
                self.awaited.extend([self.open.len() - 1, self.open.len() - 2]);
            }
            (Step::Isend { to, data }, _) => self.isend(to, data)?,
            (Step::Irecv { from, data }, _) => self.irecv(from, data)?,
            (Step::Wait { nth }, _) => self.awaited.push_back(nth as usize),
            (Step::WaitAll, _) => self.awaited.extend(self.open.iter().map(|_| 0)),
            (Step::Copy { from, to }, _) => self.exchange.copy(part(from), part(to))?,
            (Step::ReduceLeft { from, into }, _) => self.reduce(from, Side::Left, into)?,
            (Step::ReduceRight { from, into }, _) => self.reduce(from, Side::Right, into)?,
        }
        Ok(())
    }

    /// Completes what is awaited; whether nothing is any more.
    fn settle(&mut self, patience: Patience) -> Result<bool, ErrorCode> {
        while let Some(&nth) = self.awaited.front() {
            match patience {
                Patience::Wait => self.exchange.wait(nth)?,
                Patience::Return if !self.exchange.test(nth)? => return Ok(false),
                Patience::Return => {}
            }
            self.awaited.pop_front();
            if let Some(seen) = self.open.remove(nth) {
                self.end(seen);
            }
        }
        Ok(true)
    }

    fn isend(&mut self, to: Member, data: Slice) -> Result<(), ErrorCode> {
        let seen = self.begin(MessageEnd::Sent, to, data);
        self.exchange.isend(to, part(data))?;
        self.open.push_back(seen);
        Ok(())
    }

    fn irecv(&mut self, from: Member, data: Slice) -> Result<(), ErrorCode> {
        let seen = self.begin(MessageEnd::Received, from, data);
        self.exchange.irecv(from, part(data))?;
        self.open.push_back(seen);
        Ok(())
    }

    fn reduce(&mut self, from: Slice, side: Side, into: Slice) -> Result<(), ErrorCode> {
        match &self.data.reduction {
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
