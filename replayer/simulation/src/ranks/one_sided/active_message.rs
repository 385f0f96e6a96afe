//! The messages that implement one-sided communication, and the action of each on arrival.
//!
//! They have no receives. The message itself waits for the operation that its arrival completes, and then acts at its
//! target, like an active message.

use titr_common::event::{AccessOp, Rank, Tag};
use titr_common::units::{Bytes, Seconds};
use titr_platform::PassiveProgress;

use super::OneSided;
use super::window::{AccessMessage, LockClass, LockKind, LockState, Pair};
use crate::observe::{Observer, OperationId, Work};
use crate::ranks::ids::{ActiveMessageIndex, WindowIndex};
use crate::ranks::mpi::Mpi;
use crate::ranks::operation::Condition;
use crate::ranks::point_to_point::Envelope;
use crate::ranks::scheduler::{BackgroundWork, Task, Waiter};

/// A message of one-sided communication.
#[derive(Clone, Copy, Debug)]
pub(in crate::ranks) struct ActiveMessage {
    pub(super) pair: Pair,
    pub(super) content: Content,
    pub(super) stage: ActiveMessageStage,
    pub(in crate::ranks) work: BackgroundWork,
}

/// The way of an active message to its effect.
#[derive(Clone, Copy, Debug)]
pub(super) enum ActiveMessageStage {
    Travelling,
    /// The message is at its target, which has not taken it.
    Arrived,
    /// The target spends the time that the message costs.
    Taken,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    /// An access, with its data.
    Access(AccessMessage),
    /// The data that an access brings back.
    Data(Option<OperationId>),
    /// An access is done.
    Acknowledgement,
    /// A member requests a lock.
    Ask(LockKind),
    Grant,
    Release,
    Released,
    /// A member requests the lock of the whole window.
    AskLeader(LockClass),
    GrantLeader,
    ReleaseLeader,
    Post,
    Complete,
}

pub(super) fn brings_data(op: AccessOp) -> bool {
    match op {
        AccessOp::Put | AccessOp::Accumulate => false,
        AccessOp::Get | AccessOp::GetAccumulate | AccessOp::FetchAndOp | AccessOp::CompareAndSwap => true,
    }
}

impl OneSided<'_> {
    /// Sends a message that only synchronises. A member tells itself without one.
    pub(super) fn tell(&mut self, mpi: &mut Mpi<impl Observer>, pair: Pair, content: Content) {
        if pair.from == pair.to {
            return self.act(mpi, pair, content);
        }
        self.launch(mpi, pair, self.parameters.control, content);
    }

    pub(super) fn launch(&mut self, mpi: &mut Mpi<impl Observer>, pair: Pair, bytes: Bytes, content: Content) {
        let Pair { window, from, to } = pair;
        let state = self.windows.get_mut(window);
        state.in_flight += 1;
        let envelope = Envelope { context: state.context, source: from, tag: Tag(0) };
        // The message waits for its arrival.
        let mut work = BackgroundWork::new(to.into(), mpi.now());
        work.clock.awaited = 1;
        let message = ActiveMessage { pair, content, stage: ActiveMessageStage::Travelling, work };
        let index = ActiveMessageIndex(self.messages.insert(message) as u32);
        let waiter = Waiter::ActiveMessage(index);
        mpi.observer.began(mpi.now(), waiter, to);
        mpi.transfer((to, envelope, bytes), waiter);
    }

    /// The network has delivered a message, its target is in a call of MPI at last, or has had the time that it needs for
    /// the message. `is_inside`: whether a rank is in a call of MPI.
    pub(in crate::ranks) fn advance_message(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        index: ActiveMessageIndex,
        is_inside: impl Fn(Rank) -> bool,
    ) {
        let message = &mut self.messages[index.0 as usize];
        let ActiveMessage { pair, content, stage, .. } = *message;
        match stage {
            ActiveMessageStage::Travelling => message.stage = ActiveMessageStage::Arrived,
            ActiveMessageStage::Arrived => return self.begin_message(mpi, index),
            ActiveMessageStage::Taken => return self.finish_message(mpi, index),
        }
        // An access that brings no data back is done with the memory of its origin when it arrives, if it was not before.
        if let Content::Access(AccessMessage { access, request, is_eager: false, .. }) = content
            && !brings_data(access.op)
        {
            self.done_locally(mpi, pair, request);
        }
        let Pair { window, from, to } = pair;
        let shared = self.windows.get(window).shared;
        let needs_target = self.parameters.passive_progress == PassiveProgress::Target && !shared;
        if needs_target && from != to && !is_inside(to) {
            return mpi.deferred.defer(to, Task::Step(Waiter::ActiveMessage(index)));
        }
        self.begin_message(mpi, index);
    }

    /// The target takes a message, which may need time.
    fn begin_message(&mut self, mpi: &mut Mpi<impl Observer>, index: ActiveMessageIndex) {
        let message = &mut self.messages[index.0 as usize];
        let cost = match message.content {
            Content::Access(AccessMessage { access, .. }) => {
                self.parameters.target_overhead.of(access.there + access.back)
            }
            _ => Seconds(0.0),
        };
        if cost.0 > 0.0 {
            message.stage = ActiveMessageStage::Taken;
            let (waiter, done) = (Waiter::ActiveMessage(index), mpi.now() + cost);
            mpi.observer.works(waiter, Work::Overhead, mpi.now(), done);
            return mpi.scheduler.set_timer(done, waiter);
        }
        self.finish_message(mpi, index);
    }

    /// A message acts at its target, unless it has to wait there for a fence.
    pub(super) fn finish_message(&mut self, mpi: &mut Mpi<impl Observer>, index: ActiveMessageIndex) {
        let ActiveMessage { pair, content, .. } = self.messages[index.0 as usize];
        let side = self.windows.side(pair.window, pair.to);
        if let Content::Access(AccessMessage { epoch: Some(epoch), .. }) = content
            && epoch > side.fences
        {
            return side.parked.push(index);
        }
        self.messages.remove(index.0 as usize);
        mpi.observer.ended(Waiter::ActiveMessage(index));
        self.act(mpi, pair, content);
        self.windows.get_mut(pair.window).in_flight -= 1;
        self.forget_window(mpi, pair.window);
    }

    fn act(&mut self, mpi: &mut Mpi<impl Observer>, pair: Pair, content: Content) {
        let (Pair { window, from, to }, back) = (pair, pair.back());
        let side = self.windows.side(window, to);
        match content {
            Content::Access(access) => self.carry_out(mpi, pair, access),
            Content::Data(request) => {
                side.target(from).remote -= 1;
                self.done_locally(mpi, back, request);
                self.notify(mpi, window, to, Condition::Remote(from));
            }
            Content::Acknowledgement => {
                side.target(from).remote -= 1;
                self.notify(mpi, window, to, Condition::Remote(from));
            }
            Content::Ask(kind) => {
                if side.lock.ask(from, kind) {
                    self.tell(mpi, back, Content::Grant);
                }
            }
            Content::Grant => {
                let target = side.target(from);
                if let LockState::Asked(kind) = target.lock {
                    target.lock = LockState::Held(kind);
                }
                target.held_back = false;
                self.notify(mpi, window, to, Condition::Granted(from));
                self.issue(mpi, back);
            }
            Content::Release => {
                let origin = side.origin(from);
                if origin.incoming > 0 {
                    origin.owes_release = true;
                } else {
                    self.release(mpi, pair);
                }
            }
            Content::Released => {
                side.target(from).releasing -= 1;
                self.notify(mpi, window, to, Condition::Released(from));
            }
            Content::AskLeader(class) => {
                if side.leader.ask(from, class) {
                    self.tell(mpi, back, Content::GrantLeader);
                }
            }
            Content::GrantLeader => {
                side.leader_asked -= 1;
                self.notify(mpi, window, to, Condition::Leader);
            }
            Content::ReleaseLeader => {
                let granted = side.leader.release(from);
                granted.into_iter().for_each(|rank| self.tell(mpi, Pair { to: rank, ..back }, Content::GrantLeader));
            }
            Content::Post => {
                let is_started = side.started.contains(&from);
                let target = side.target(from);
                target.posts += 1;
                if is_started && target.held_back {
                    target.posts -= 1;
                    target.held_back = false;
                    self.notify(mpi, window, to, Condition::Posted(from));
                    self.issue(mpi, back);
                }
            }
            Content::Complete => {
                side.origin(from).completes += 1;
                self.notify(mpi, window, to, Condition::Completed(from));
            }
        }
    }

    /// An access is done at its target.
    fn carry_out(&mut self, mpi: &mut Mpi<impl Observer>, pair: Pair, message: AccessMessage) {
        let (Pair { window, from, to }, back) = (pair, pair.back());
        let AccessMessage { access, request, epoch, .. } = message;
        let side = self.windows.side(window, to);
        if let Some(epoch) = epoch
            && let Some(bound) = side.bound.get_mut(&epoch)
        {
            *bound -= 1;
            if *bound == 0 {
                side.bound.remove(&epoch);
                self.notify(mpi, window, to, Condition::Arrived(epoch));
            }
        }
        let origin = self.windows.side(window, to).origin(from);
        origin.incoming -= 1;
        let releases = origin.incoming == 0 && std::mem::take(&mut origin.owes_release);
        if brings_data(access.op) {
            self.launch(mpi, back, access.back, Content::Data(request));
        } else {
            self.tell(mpi, back, Content::Acknowledgement);
        }
        self.notify(mpi, window, to, Condition::Completed(from));
        if releases {
            self.release(mpi, pair);
        }
    }

    /// `from` gives the lock of `to` back, where all its accesses are done.
    fn release(&mut self, mpi: &mut Mpi<impl Observer>, pair: Pair) {
        let back = pair.back();
        let granted = self.windows.side(pair.window, pair.to).lock.release(pair.from);
        granted.into_iter().for_each(|rank| self.tell(mpi, Pair { to: rank, ..back }, Content::Grant));
        if self.parameters.await_unlock {
            self.tell(mpi, back, Content::Released);
        }
    }

    /// An access is done with the memory of its origin, the first of the pair.
    pub(super) fn done_locally(&mut self, mpi: &mut Mpi<impl Observer>, pair: Pair, request: Option<OperationId>) {
        self.windows.side(pair.window, pair.from).target(pair.to).local -= 1;
        if let Some(request) = request {
            mpi.complete(request);
        }
        self.notify(mpi, pair.window, pair.from, Condition::Local(pair.to));
    }

    /// Completes everything that waits for a condition, if the condition holds.
    fn notify(&mut self, mpi: &mut Mpi<impl Observer>, window: WindowIndex, rank: Rank, condition: Condition) {
        let side = self.windows.side(window, rank);
        if !side.waiting.is_empty()
            && side.holds(condition)
            && let Some(operations) = side.waiting.remove(&condition)
        {
            for operation in operations {
                mpi.complete(operation);
            }
        }
    }
}
