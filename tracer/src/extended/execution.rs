//! Executes one collective: the steps of a plan as MPI calls, and a record of their messages.

use std::collections::VecDeque;

use titr_common::collectives::{Buffer, Member, Slice, Step};
use titr_wrappers::observation::ObservedMessage;
use titr_wrappers::pmpi::ErrorCode;
use titr_wrappers::pmpi::exchange::{Exchange, Part, Side, Space};

use super::clock::Clock;
use super::data::Data;
use crate::ranks::Ranks;

/// The way in which a run is advanced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Waits for each message.
    Blocking,
    /// Returns where a message is not through.
    Nonblocking,
}

/// A collective in progress.
pub(super) struct Run {
    exchange: Exchange,
    clock: Clock,
    members: Ranks,
    steps: std::vec::IntoIter<Step>,
    data: Data,
    is_packed: bool,
    messages: Vec<ObservedMessage>,
    /// The messages that were started and not completed, by their index in `messages`.
    open: VecDeque<usize>,
    /// The open messages that have to be completed before the next step, in order, each by its index among the
    /// remaining ones.
    awaited: VecDeque<usize>,
    /// The first error.
    error: Option<ErrorCode>,
}

impl Run {
    /// A run that has not taken a step.
    pub(super) fn new(exchange: Exchange, clock: Clock, members: Ranks, steps: Vec<Step>, data: Data) -> Self {
        let (open, awaited) = (VecDeque::new(), VecDeque::new());
        let steps = steps.into_iter();
        Self {
            exchange,
            clock,
            members,
            steps,
            data,
            is_packed: false,
            messages: Vec::new(),
            open,
            awaited,
            error: None,
        }
    }

    /// Takes steps; returns whether all were taken, after which there is nothing more to do. A failing step is still
    /// taken as far as possible, because other members wait for the steps behind it.
    pub(super) fn advance(&mut self, progress: Progress) -> bool {
        if !self.is_packed {
            self.is_packed = true;
            let packed = self.exchange.pack(Space::Send, &self.data.send);
            self.note(packed);
            if self.data.has_recv {
                let packed = self.exchange.pack(Space::Recv, &self.data.recv);
                self.note(packed);
            }
        }
        while self.complete(progress) {
            let Some(step) = self.steps.next() else {
                if !self.data.has_recv {
                    let unpacked = self.exchange.unpack(Space::Recv, &self.data.recv);
                    self.note(unpacked);
                }
                return true;
            };
            let taken = self.step(step, progress);
            self.note(taken);
        }
        false
    }

    /// Ends the run: its messages, in the order in which they were started, and the first error.
    pub(super) fn end(self) -> (Vec<ObservedMessage>, Result<(), ErrorCode>) {
        (self.messages, self.error.map_or(Ok(()), Err))
    }

    /// The number that was agreed on, if the run was an agreement.
    pub(super) fn number(&self) -> u64 {
        self.exchange.get(Space::Recv).unwrap_or(0)
    }

    fn note(&mut self, result: Result<(), ErrorCode>) {
        self.error = self.error.or(result.err());
    }

    fn step(&mut self, step: Step, progress: Progress) -> Result<(), ErrorCode> {
        match (step, progress) {
            (Step::Send { to, data }, Progress::Blocking) => {
                let message = self.begin(true, to, data);
                let sent = self.exchange.send(self.rank(to), part(data));
                self.complete_one(message);
                sent
            }
            (Step::Recv { from, data }, Progress::Blocking) => {
                let message = self.begin(false, from, data);
                let received = self.exchange.recv(self.rank(from), part(data));
                self.complete_one(message);
                received
            }
            (Step::Send { to, data }, Progress::Nonblocking) => {
                let started = self.isend(to, data);
                self.awaited.push_back(self.open.len() - 1);
                started
            }
            (Step::Recv { from, data }, Progress::Nonblocking) => {
                let started = self.irecv(from, data);
                self.awaited.push_back(self.open.len() - 1);
                started
            }
            (Step::Sendrecv { to, send, from, recv }, _) => {
                let receives = self.irecv(from, recv);
                let sends = self.isend(to, send);
                self.awaited.extend([self.open.len() - 1, self.open.len() - 2]);
                receives.and(sends)
            }
            (Step::Isend { to, data }, _) => self.isend(to, data),
            (Step::Irecv { from, data }, _) => self.irecv(from, data),
            (Step::Wait { nth }, _) => {
                self.awaited.push_back(nth as usize);
                Ok(())
            }
            (Step::WaitAll, _) => {
                self.awaited.extend(self.open.iter().map(|_| 0));
                Ok(())
            }
            (Step::Copy { from, to }, _) => self.exchange.copy(part(from), part(to)),
            (Step::ReduceLeft { from, into }, _) => self.reduce(from, Side::Left, into),
            (Step::ReduceRight { from, into }, _) => self.reduce(from, Side::Right, into),
        }
    }

    /// Completes the messages that are awaited; returns whether none is awaited any more.
    fn complete(&mut self, progress: Progress) -> bool {
        while let Some(&nth) = self.awaited.front() {
            let completed = match progress {
                Progress::Blocking => self.exchange.wait(nth).map(|()| true),
                Progress::Nonblocking => self.exchange.test(nth),
            };
            if completed == Ok(false) {
                return false;
            }
            self.note(completed.map(|_| ()));
            self.awaited.pop_front();
            if let Some(message) = self.open.remove(nth) {
                self.complete_one(message);
            }
        }
        true
    }

    /// The rank of a member in the world.
    fn rank(&self, member: Member) -> u32 {
        self.members.get(member as i32).map_or(member, |rank| rank.0)
    }

    fn isend(&mut self, to: Member, data: Slice) -> Result<(), ErrorCode> {
        let message = self.begin(true, to, data);
        self.open.push_back(message);
        self.exchange.isend(self.rank(to), part(data))
    }

    fn irecv(&mut self, from: Member, data: Slice) -> Result<(), ErrorCode> {
        let message = self.begin(false, from, data);
        self.open.push_back(message);
        self.exchange.irecv(self.rank(from), part(data))
    }

    fn reduce(&mut self, from: Slice, side: Side, into: Slice) -> Result<(), ErrorCode> {
        match &self.data.reduction {
            Some(by) => self.exchange.reduce(by, part(from), side, part(into)),
            None => Ok(()),
        }
    }

    fn begin(&mut self, sent: bool, peer: Member, data: Slice) -> usize {
        let begin = self.clock.now().0;
        self.messages.push(ObservedMessage { sent, peer: Some(peer), bytes: data.len.0, begin, end: 0 });
        self.messages.len() - 1
    }

    fn complete_one(&mut self, message: usize) {
        if let Some(message) = self.messages.get_mut(message) {
            message.end = self.clock.now().0;
        }
    }
}

pub(super) fn space(buffer: Buffer) -> Space {
    match buffer {
        Buffer::Send => Space::Send,
        Buffer::Recv => Space::Recv,
        Buffer::Scratch => Space::Scratch,
    }
}

fn part(slice: Slice) -> Part {
    Part { space: space(slice.buffer), offset: slice.offset.0, len: slice.len.0 }
}

/// The slices that a step reads and writes.
pub(super) fn slices(step: &Step) -> impl Iterator<Item = Slice> + use<> {
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
