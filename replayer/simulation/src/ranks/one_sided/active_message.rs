//! The messages that implement one-sided communication, and the action of each on arrival.
//!
//! They have no receives. The message itself waits for the operation that its arrival completes, and then acts at its
//! target, like an active message.

use titr_common::event::{Rank, Tag};
use titr_common::units::{Bytes, Seconds};
use titr_platform::PassiveProgress;

use super::windows::{AccessMessage, ActiveMessage, ActiveMessageStage, Content, brings_data};
use crate::observe::{Observer, OperationId, Work};
use crate::ranks::ids::{ActiveMessageIndex, WindowIndex};
use crate::ranks::library::Library;
use crate::ranks::one_sided::windows::window::LockState;
use crate::ranks::operation::Condition;
use crate::ranks::point_to_point::Envelope;
use crate::ranks::scheduler::{Task, Waiter};

impl<O: Observer> Library<'_, O> {
    /// Sends a message that only synchronises. A member tells itself without one.
    pub(super) fn tell(&mut self, window: WindowIndex, from: Rank, to: Rank, content: Content) {
        if from == to {
            return self.act(window, from, to, content);
        }
        let bytes = self.one_sided.parameters.control;
        self.launch(window, from, to, bytes, content);
    }

    /// Sends a message.
    pub(super) fn launch(&mut self, window: WindowIndex, from: Rank, to: Rank, bytes: Bytes, content: Content) {
        let state = self.one_sided.windows.get_mut(window);
        state.in_flight += 1;
        let envelope = Envelope { context: state.context, source: from, tag: Tag(0) };
        let message = ActiveMessage { window, from, to, content, stage: ActiveMessageStage::Travelling };
        let index = ActiveMessageIndex(self.one_sided.messages.insert(message) as u32);
        let waiter = Waiter::ActiveMessage(index);
        self.observer.began(self.now, waiter, to);
        self.exchange.transfer((to, envelope, bytes), waiter, self.now, &mut self.observer);
    }

    /// The network has delivered a message, its target is in a call of MPI at last, or has had the time that it needs for
    /// the message. `is_inside`: whether a rank is in a call of MPI.
    pub(in crate::ranks) fn advance_active_message(
        &mut self,
        index: ActiveMessageIndex,
        is_inside: impl Fn(Rank) -> bool,
    ) {
        let message = &mut self.one_sided.messages[index.0 as usize];
        let ActiveMessage { window, from, to, content, stage } = *message;
        match stage {
            ActiveMessageStage::Travelling => message.stage = ActiveMessageStage::Arrived,
            ActiveMessageStage::Arrived => return self.begin_message(index),
            ActiveMessageStage::Taken => return self.finish_message(index),
        }
        if let Content::Access(AccessMessage { request, completes_on_arrival: true, .. }) = content {
            self.done_locally(window, from, to, request);
        }
        let shared = self.one_sided.windows.get(window).shared;
        let needs_target = self.one_sided.parameters.passive_progress == PassiveProgress::Target && !shared;
        if needs_target && from != to && !is_inside(to) {
            return self.deferred.defer(to, Task::Step(Waiter::ActiveMessage(index)));
        }
        self.begin_message(index);
    }

    /// The target takes a message, which may need time.
    fn begin_message(&mut self, index: ActiveMessageIndex) {
        let message = &mut self.one_sided.messages[index.0 as usize];
        let cost = match message.content {
            Content::Access(AccessMessage { access, .. }) => {
                self.one_sided.parameters.target_overhead.of(access.there + access.back)
            }
            _ => Seconds(0.0),
        };
        if cost.0 > 0.0 {
            message.stage = ActiveMessageStage::Taken;
            let (waiter, done) = (Waiter::ActiveMessage(index), self.now + cost);
            self.observer.works(waiter, Work::Overhead, self.now, done);
            return self.scheduler.set_timer(done, waiter);
        }
        self.finish_message(index);
    }

    /// A message acts at its target, unless it has to wait there for a fence.
    pub(super) fn finish_message(&mut self, index: ActiveMessageIndex) {
        let ActiveMessage { window, from, to, content, .. } = self.one_sided.messages[index.0 as usize];
        let side = self.one_sided.windows.side(window, to);
        if let Content::Access(AccessMessage { epoch: Some(epoch), .. }) = content
            && epoch > side.fences
        {
            return side.parked.push(index);
        }
        self.one_sided.messages.remove(index.0 as usize);
        self.observer.ended(Waiter::ActiveMessage(index));
        self.act(window, from, to, content);
        self.one_sided.windows.get_mut(window).in_flight -= 1;
        self.forget_window(window);
    }

    fn act(&mut self, window: WindowIndex, from: Rank, to: Rank, content: Content) {
        let side = self.one_sided.windows.side(window, to);
        match content {
            Content::Access(access) => self.carry_out(window, from, to, access),
            Content::Data(request) => {
                side.target(from).remote -= 1;
                self.done_locally(window, to, from, request);
                self.notify(window, to, Condition::Remote(from));
            }
            Content::Acknowledgement => {
                side.target(from).remote -= 1;
                self.notify(window, to, Condition::Remote(from));
            }
            Content::Ask(kind) => {
                if side.lock.ask(from, kind) {
                    self.tell(window, to, from, Content::Grant);
                }
            }
            Content::Grant => {
                let target = side.target(from);
                if let LockState::Asked(kind) = target.lock {
                    target.lock = LockState::Held(kind);
                }
                target.held_back = false;
                self.notify(window, to, Condition::Granted(from));
                self.issue(window, to, from);
            }
            Content::Release => {
                let origin = side.origin(from);
                if origin.incoming > 0 {
                    origin.owes_release = true;
                } else {
                    self.release(window, from, to);
                }
            }
            Content::Released => {
                side.target(from).releasing -= 1;
                self.notify(window, to, Condition::Released(from));
            }
            Content::AskLeader(class) => {
                if side.leader.ask(from, class) {
                    self.tell(window, to, from, Content::GrantLeader);
                }
            }
            Content::GrantLeader => {
                side.leader_asked -= 1;
                self.notify(window, to, Condition::Leader);
            }
            Content::ReleaseLeader => {
                let granted = side.leader.release(from);
                granted.into_iter().for_each(|rank| self.tell(window, to, rank, Content::GrantLeader));
            }
            Content::Post => {
                let is_started = side.started.contains(&from);
                let target = side.target(from);
                target.posts += 1;
                if is_started && target.held_back {
                    target.posts -= 1;
                    target.held_back = false;
                    self.notify(window, to, Condition::Posted(from));
                    self.issue(window, to, from);
                }
            }
            Content::Complete => {
                side.origin(from).completes += 1;
                self.notify(window, to, Condition::Completed(from));
            }
        }
    }

    /// An access is done at its target.
    fn carry_out(&mut self, window: WindowIndex, from: Rank, to: Rank, message: AccessMessage) {
        let AccessMessage { access, request, epoch, .. } = message;
        let side = self.one_sided.windows.side(window, to);
        if let Some(epoch) = epoch
            && let Some(bound) = side.bound.get_mut(&epoch)
        {
            *bound -= 1;
            if *bound == 0 {
                side.bound.remove(&epoch);
                self.notify(window, to, Condition::Arrived(epoch));
            }
        }
        let origin = self.one_sided.windows.side(window, to).origin(from);
        origin.incoming -= 1;
        let releases = origin.incoming == 0 && std::mem::take(&mut origin.owes_release);
        if brings_data(access.op) {
            self.launch(window, to, from, access.back, Content::Data(request));
        } else {
            self.tell(window, to, from, Content::Acknowledgement);
        }
        self.notify(window, to, Condition::Completed(from));
        if releases {
            self.release(window, from, to);
        }
    }

    /// `from` gives the lock of `to` back, where all its accesses are done.
    fn release(&mut self, window: WindowIndex, from: Rank, to: Rank) {
        let granted = self.one_sided.windows.side(window, to).lock.release(from);
        granted.into_iter().for_each(|rank| self.tell(window, to, rank, Content::Grant));
        if self.one_sided.parameters.await_unlock {
            self.tell(window, to, from, Content::Released);
        }
    }

    /// An access is done with the memory of its origin.
    pub(super) fn done_locally(
        &mut self,
        window: WindowIndex,
        origin: Rank,
        target: Rank,
        request: Option<OperationId>,
    ) {
        self.one_sided.windows.side(window, origin).target(target).local -= 1;
        if let Some(request) = request {
            self.observer.completed(self.now, request);
            self.exchange.operations.complete(request);
        }
        self.notify(window, origin, Condition::Local(target));
    }

    /// Completes everything that waits for a condition, if the condition holds.
    pub(super) fn notify(&mut self, window: WindowIndex, rank: Rank, condition: Condition) {
        let side = self.one_sided.windows.side(window, rank);
        if !side.waiting.is_empty()
            && side.holds(condition)
            && let Some(operations) = side.waiting.remove(&condition)
        {
            for operation in operations {
                self.observer.completed(self.now, operation);
                self.exchange.operations.complete(operation);
            }
        }
    }
}
