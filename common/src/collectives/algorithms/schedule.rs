//! Builds the steps of one member.

use crate::collectives::step::{Member, Slice, Step};

/// The fate of a message that carries nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::collectives) enum Empty {
    /// The message is sent: the receiver may rely on it.
    #[default]
    Sent,
    /// Neither side starts anything.
    Skipped,
}

/// A list of steps under construction. Moves and reductions of nothing are left out.
#[derive(Debug, Default)]
pub(in crate::collectives) struct Schedule {
    steps: Vec<Step>,
    empty: Empty,
}

impl Schedule {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A schedule without steps that treats empty messages as `empty` says.
    pub(crate) fn with(empty: Empty) -> Self {
        Self { steps: Vec::new(), empty }
    }

    /// Makes room for so many more steps.
    pub(crate) fn reserve(&mut self, steps: u32) {
        self.steps.reserve(steps as usize);
    }

    pub(crate) fn into_steps(self) -> Vec<Step> {
        self.steps
    }

    fn carries(&self, data: Slice) -> bool {
        self.empty == Empty::Sent || data.len.0 > 0
    }

    pub(crate) fn send(&mut self, to: Member, data: Slice) {
        if self.carries(data) {
            self.steps.push(Step::Send { to, data });
        }
    }

    pub(crate) fn recv(&mut self, from: Member, data: Slice) {
        if self.carries(data) {
            self.steps.push(Step::Recv { from, data });
        }
    }

    pub(crate) fn isend(&mut self, to: Member, data: Slice) {
        if self.carries(data) {
            self.steps.push(Step::Isend { to, data });
        }
    }

    pub(crate) fn irecv(&mut self, from: Member, data: Slice) {
        if self.carries(data) {
            self.steps.push(Step::Irecv { from, data });
        }
    }

    pub(crate) fn sendrecv(&mut self, to: Member, send: Slice, from: Member, recv: Slice) {
        match (self.carries(send), self.carries(recv)) {
            (true, true) => self.steps.push(Step::Sendrecv { to, send, from, recv }),
            (true, false) => self.send(to, send),
            (false, true) => self.recv(from, recv),
            (false, false) => {}
        }
    }

    /// Exchanges data with one partner.
    pub(crate) fn exchange(&mut self, with: Member, send: Slice, recv: Slice) {
        self.sendrecv(with, send, with, recv);
    }

    pub(crate) fn wait(&mut self, nth: u32) {
        self.steps.push(Step::Wait { nth });
    }

    pub(crate) fn wait_all(&mut self) {
        self.steps.push(Step::WaitAll);
    }

    pub(crate) fn copy(&mut self, from: Slice, to: Slice) {
        if from.len.0 > 0 {
            self.steps.push(Step::Copy { from, to });
        }
    }

    /// `into = from ⊕ into`.
    pub(crate) fn reduce_left(&mut self, from: Slice, into: Slice) {
        if into.len.0 > 0 {
            self.steps.push(Step::ReduceLeft { from, into });
        }
    }

    /// `into = into ⊕ from`.
    pub(crate) fn reduce_right(&mut self, from: Slice, into: Slice) {
        if into.len.0 > 0 {
            self.steps.push(Step::ReduceRight { from, into });
        }
    }

    /// Reduces data from `peer` so that the operands keep the order of their ranks.
    pub(crate) fn reduce_in_order(&mut self, peer: u32, me: u32, from: Slice, into: Slice) {
        if peer < me {
            self.reduce_left(from, into);
        } else {
            self.reduce_right(from, into);
        }
    }

    /// Goes on with the steps of another schedule.
    pub(crate) fn append(&mut self, next: Schedule) {
        self.extend(next.steps);
    }

    /// Goes on with the steps of another schedule, with each slice replaced by `place`.
    pub(crate) fn append_placed(&mut self, next: Schedule, place: impl Fn(Slice) -> Slice) {
        self.extend(next.steps.into_iter().map(|step| relocate(step, &place)));
    }

    /// Goes on with steps written elsewhere.
    pub(crate) fn extend(&mut self, steps: impl IntoIterator<Item = Step>) {
        self.steps.extend(steps);
    }
}

/// A step with each slice replaced by `place`: so one collective becomes a part of another.
pub(in crate::collectives) fn relocate(step: Step, place: impl Fn(Slice) -> Slice) -> Step {
    translate(step, |member| member, place)
}

/// A step with each slice replaced by `place`, and each member by `member`: so a collective of some members becomes a part
/// of one of all.
pub(in crate::collectives) fn translate(
    step: Step,
    member: impl Fn(Member) -> Member,
    place: impl Fn(Slice) -> Slice,
) -> Step {
    match step {
        Step::Send { to, data } => Step::Send { to: member(to), data: place(data) },
        Step::Recv { from, data } => Step::Recv { from: member(from), data: place(data) },
        Step::Sendrecv { to, send, from, recv } => {
            Step::Sendrecv { to: member(to), send: place(send), from: member(from), recv: place(recv) }
        }
        Step::Isend { to, data } => Step::Isend { to: member(to), data: place(data) },
        Step::Irecv { from, data } => Step::Irecv { from: member(from), data: place(data) },
        Step::Wait { .. } | Step::WaitAll => step,
        Step::Copy { from, to } => Step::Copy { from: place(from), to: place(to) },
        Step::ReduceLeft { from, into } => Step::ReduceLeft { from: place(from), into: place(into) },
        Step::ReduceRight { from, into } => Step::ReduceRight { from: place(from), into: place(into) },
    }
}
