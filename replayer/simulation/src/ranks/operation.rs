//! Operations: sends that do not complete at once, receives, and collectives, whose completion a waiter waits or tests
//! for.
//!
//! A [`Waiter`] *claims* an [`Operation`]: either it is complete, or the waiter is notified of its completion. An
//! operation is removed once it is both claimed and complete.

use titr_common::dense_slab::DenseSlab;
use titr_common::event::Rank;
use titr_common::units::Seconds;

use super::ids::{MessageId, PartIndex, PartitionedSide, WindowIndex};
use super::point_to_point::Selector;
use super::scheduler::Waiter;
use crate::observe::OperationId;

pub(super) struct Operation {
    pub(super) kind: OperationKind,
    state: State,
    /// The time that its completion takes the processor.
    cost: Seconds,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum OperationKind {
    Send(MessageId),
    Receive(Rank, Selector),
    /// A collective in progress; its claimant waits for all of it.
    Collective,
    /// Other work in the background, as a whole: a synchronisation of a window, a message of one-sided communication, a call
    /// on a file, or one of its accesses to the storage.
    Background,
    /// A rank waits for a condition on a window.
    Condition(WindowIndex, Rank, Condition),
    /// An access to the window of this rank, which has a request.
    Access(Rank),
    Partitioned(PartIndex, PartitionedSide),
}

/// A condition that a member of a window can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Condition {
    /// A target has posted.
    Posted(Rank),
    /// An origin has completed its accesses, and they are done.
    Completed(Rank),
    /// A target has granted its lock.
    Granted(Rank),
    /// A target has released its lock.
    Released(Rank),
    /// The first member has granted the lock of the whole window.
    Leader,
    /// The accesses to a target are done with the origin's memory.
    Local(Rank),
    /// The accesses to a target are known to be done there.
    Remote(Rank),
    /// All accesses to this member are complete that their origins made after this many fences.
    Arrived(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Pending,
    /// A waiter has claimed it.
    Awaited(Waiter),
    Done,
    /// It will never be claimed.
    Abandoned,
}

/// The answer to a claim: whether the operation is complete.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Claim {
    /// The operation is complete, which takes the processor this time.
    Done(Seconds),
    /// The operation is not complete; its completion will be announced.
    Awaited,
}

/// The completion of a wait, such as a wait for an operation.
pub(super) struct CompletedWait {
    pub(super) waiter: Waiter,
    /// The operation; `None`: the waiter is runnable for another reason, which observers already know.
    pub(super) operation: Option<OperationId>,
    /// The time that the completion takes the processor.
    pub(super) cost: Seconds,
}

#[derive(Default)]
pub(super) struct Operations {
    all: DenseSlab<Operation>,
    /// Announcements to be taken, in order.
    pub(super) completions: Vec<CompletedWait>,
}

impl Operations {
    #[inline]
    pub(super) fn open(&mut self, kind: OperationKind) -> OperationId {
        OperationId(self.all.insert(Operation { kind, state: State::Pending, cost: Seconds(0.0) }) as u32)
    }

    /// Completes a receive, which takes the processor this time.
    #[inline]
    pub(super) fn complete_receive(&mut self, receive: OperationId, cost: Seconds) {
        self.all[receive.0 as usize].cost = cost;
        self.complete(receive);
    }

    pub(super) fn kind(&self, operation: OperationId) -> OperationKind {
        self.all[operation.0 as usize].kind
    }

    /// `waiter` waits for `operation` from now on, unless it is done.
    #[inline]
    pub(super) fn claim(&mut self, operation: OperationId, waiter: Waiter) -> Claim {
        let entry = &mut self.all[operation.0 as usize];
        if entry.state == State::Done {
            return Claim::Done(self.all.remove(operation.0 as usize).cost);
        }
        entry.state = State::Awaited(waiter);
        Claim::Awaited
    }

    /// Declares that `operation` will never be claimed.
    pub(super) fn abandon(&mut self, operation: OperationId) {
        let entry = &mut self.all[operation.0 as usize];
        if entry.state == State::Done {
            self.all.remove(operation.0 as usize);
        } else {
            entry.state = State::Abandoned;
        }
    }

    /// Completes an operation, and notifies its waiter.
    #[inline]
    pub(super) fn complete(&mut self, operation: OperationId) {
        let entry = &mut self.all[operation.0 as usize];
        match entry.state {
            State::Pending | State::Done => entry.state = State::Done,
            State::Awaited(waiter) => {
                let Operation { cost, .. } = self.all.remove(operation.0 as usize);
                self.completions.push(CompletedWait { waiter, operation: Some(operation), cost });
            }
            State::Abandoned => {
                self.all.remove(operation.0 as usize);
            }
        }
    }

    pub(super) fn is_awaited(&self, operation: OperationId) -> bool {
        matches!(self.all[operation.0 as usize].state, State::Awaited(_))
    }

    /// The operations that are waited for, each with its waiter and its kind.
    pub(super) fn awaited(&self) -> impl Iterator<Item = (OperationId, Waiter, OperationKind)> {
        self.all.iter().filter_map(|(id, operation)| match operation.state {
            State::Awaited(waiter) => Some((OperationId(id as u32), waiter, operation.kind)),
            State::Pending | State::Done | State::Abandoned => None,
        })
    }
}
