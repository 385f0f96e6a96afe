//! Collectives (MPI 4.0 §6): their calls, and the messages of each member, by a library's algorithms or as they were recorded.

mod calls;
pub(super) mod recorded;
mod steps;

use std::collections::VecDeque;
use std::rc::Rc;

use slab::Slab;
use titr_common::collectives::{Member, Selection};
use titr_common::event::{Rank, SendMode, Tag};
use titr_common::program::{Context, Members};
use titr_common::time::Time;
use titr_common::units::{Bytes, Instructions, Seconds};

use super::Core;
use super::operation::OperationKind;
use super::point_to_point::exchange::{Exchange, Outbound};
use super::point_to_point::protocol::SendCost;
use super::point_to_point::{Envelope, Selector, communicator};
use super::scheduler::{Clock, Scheduler, Waiter};
use crate::observe::{Caller, CollectiveCall, CollectiveFlow, CollectiveId, Observer, OperationId, Work};
use steps::{CollectiveSteps, MessageStep, Schedules};

// Collectives in progress: every member follows its schedule, blocking or in the background.
//
// A collective consists of the messages in its schedule (`titr_common::collectives`). They use a separate context of
// the communicator, with the number of the collective as their tag. The part of one member is a
// [`CollectiveInstance`], with a clock of its own; the rank waits for it at once or later. The arithmetic of a
// reduction is computed once, after the last message, as in SimGrid.

/// The collectives in progress of all ranks.
#[derive(Default)]
pub(in crate::ranks) struct Collectives {
    instances: Slab<CollectiveInstance>,
    schedules: Schedules,
}

/// The part of one member in one collective in progress.
pub(in crate::ranks) struct CollectiveInstance {
    pub(in crate::ranks) rank: Rank,
    pub(in crate::ranks) word: &'static str,
    context: Context,
    members: Rc<Members>,
    /// The number of the collective on its communicator, which only distinguishes collectives that are open at the same
    /// time: it may wrap around, and all starts of a persistent one share it, because one is over before the next.
    tag: Tag,
    steps: CollectiveSteps,
    next: usize,
    /// Whether the software cost of the next step has been charged.
    paid: bool,
    /// Sends and receives that were started, in order; `None`: complete at once.
    started: VecDeque<Option<OperationId>>,
    /// Whether each step of a receive has the size that the member has asked for.
    has_rooms: bool,
    /// The computation at the end.
    work: Instructions,
    pub(in crate::ranks) clock: Clock,
    /// Whether the next step waits, or waited until now, for messages and not for a time.
    pub(in crate::ranks) has_waited: bool,
    /// The operation that the rank waits for.
    pub(in crate::ranks) operation: OperationId,
}

/// A collective that a member starts.
pub(in crate::ranks) struct CollectiveStart {
    pub(in crate::ranks) rank: Rank,
    pub(in crate::ranks) word: &'static str,
    /// The context of the communicator.
    pub(in crate::ranks) context: Context,
    pub(in crate::ranks) members: Rc<Members>,
    /// The number of the collective on the communicator.
    pub(in crate::ranks) number: u64,
    pub(in crate::ranks) flow: CollectiveFlow,
    pub(in crate::ranks) root: Option<Rank>,
    pub(in crate::ranks) steps: CollectiveSteps,
    /// The computation at the end.
    pub(in crate::ranks) work: Instructions,
}

/// The parts of MPI that a collective uses.
pub(in crate::ranks) struct CollectiveEnvironment<'r, O> {
    pub(in crate::ranks) now: Time,
    pub(in crate::ranks) exchange: &'r mut Exchange,
    pub(in crate::ranks) scheduler: &'r mut Scheduler,
    pub(in crate::ranks) cores: &'r [Core],
    pub(in crate::ranks) algorithms: &'r Selection,
    pub(in crate::ranks) observer: &'r mut O,
}

impl Collectives {
    pub(in crate::ranks) fn get(&self, index: CollectiveId) -> &CollectiveInstance {
        &self.instances[index.0 as usize]
    }

    pub(in crate::ranks) fn get_mut(&mut self, index: CollectiveId) -> &mut CollectiveInstance {
        &mut self.instances[index.0 as usize]
    }

    /// Starts a collective and takes its first steps; the operation that the rank is to wait for.
    pub(in crate::ranks) fn start(
        &mut self,
        start: CollectiveStart,
        environment: &mut CollectiveEnvironment<impl Observer>,
    ) -> OperationId {
        let CollectiveStart { rank, word, context, members, number, flow, root, steps, work } = start;
        let index = CollectiveId(self.instances.vacant_key() as u32);
        let operation = environment.exchange.operations.open(OperationKind::Collective);
        let call = CollectiveCall {
            id: index,
            rank,
            name: word,
            communicator: communicator(context),
            number,
            operation,
            flow,
            root,
            member: members.place(rank).unwrap_or_default(),
            members: members.len() as u32,
        };
        environment.observer.collective_entered(environment.now, call);
        self.instances.insert(CollectiveInstance {
            rank,
            word,
            context: context.of_collectives(),
            members,
            tag: Tag((number as u32).cast_signed()),
            steps,
            next: 0,
            paid: false,
            started: VecDeque::new(),
            has_rooms: matches!(flow, CollectiveFlow::Neighborhood),
            work,
            clock: Clock { time: environment.now, awaited: 0 },
            has_waited: false,
            operation,
        });
        self.advance(index, environment);
        operation
    }

    /// Takes steps of a collective until one has to wait, or for a time that has not come.
    pub(in crate::ranks) fn advance(
        &mut self,
        index: CollectiveId,
        environment: &mut CollectiveEnvironment<impl Observer>,
    ) {
        let instance = &mut self.instances[index.0 as usize];
        // A deferred step begins now.
        instance.clock.time = instance.clock.time.max(environment.now);
        loop {
            instance.has_waited = instance.clock.awaited > 0;
            if instance.has_waited {
                return;
            }
            if instance.clock.time > environment.now {
                return environment.scheduler.set_timer(instance.clock.time, Waiter::Collective(index));
            }
            let Some(step) = instance.steps.get(instance.next, environment.algorithms) else {
                if !instance.started.is_empty() {
                    instance.wait_for_started(index, environment);
                } else if instance.work.0 > 0.0 {
                    let work = std::mem::take(&mut instance.work);
                    let core = &environment.cores[instance.rank.0 as usize];
                    instance.work_for(
                        core.time_for(work, instance.clock.time),
                        Work::Compute,
                        index,
                        environment.observer,
                    );
                } else {
                    let operation = instance.operation;
                    self.instances.remove(index.0 as usize);
                    environment.observer.collective_left(environment.now, index);
                    environment.observer.completed(environment.now, operation);
                    return environment.exchange.operations.complete(operation);
                }
                continue;
            };
            if !instance.paid {
                instance.paid = true;
                let cost = cost(step, environment.exchange);
                instance.work_for(cost.before, Work::Overhead, index, environment.observer);
                continue;
            }
            instance.paid = false;
            instance.next += 1;
            instance.take_step(index, step, environment);
        }
    }
}

/// The time that a step takes until its message leaves, and the rest of a send's time.
fn cost(step: MessageStep, exchange: &Exchange) -> SendCost {
    match step {
        MessageStep::Send { bytes, .. } => exchange.protocol.cost_of_send(SendMode::Standard, bytes),
        MessageStep::Isend { bytes, .. } | MessageStep::Sendrecv { sent: bytes, .. } => {
            exchange.protocol.cost_of_isend(bytes)
        }
        MessageStep::Recv { .. } | MessageStep::Irecv { .. } | MessageStep::Wait { .. } | MessageStep::WaitAll => {
            SendCost::default()
        }
    }
}

impl CollectiveInstance {
    /// The member works for `time`.
    #[inline]
    fn work_for(&mut self, time: Seconds, work: Work, index: CollectiveId, observer: &mut impl Observer) {
        let from = self.clock.time;
        self.clock.time = from + time;
        observer.works(Waiter::Collective(index), work, from, self.clock.time);
    }

    fn take_step(
        &mut self,
        index: CollectiveId,
        step: MessageStep,
        environment: &mut CollectiveEnvironment<impl Observer>,
    ) {
        match step {
            MessageStep::Send { to, bytes } => {
                let sent = self.send(to, bytes, environment);
                self.charge_rest(step, index, environment);
                self.wait_for(sent, index, environment);
            }
            MessageStep::Recv { from, bytes } => {
                let received = self.receive(from, bytes, index, environment);
                self.wait_for(received, index, environment);
            }
            MessageStep::Sendrecv { to, sent, from, received } => {
                let received = self.receive(from, received, index, environment);
                let sent = self.send(to, sent, environment);
                self.charge_rest(step, index, environment);
                self.wait_for(sent, index, environment);
                self.wait_for(received, index, environment);
            }
            MessageStep::Isend { to, bytes } => {
                let sent = self.send(to, bytes, environment);
                self.charge_rest(step, index, environment);
                self.started.push_back(sent);
            }
            MessageStep::Irecv { from, bytes } => {
                let received = self.receive(from, bytes, index, environment);
                self.started.push_back(received);
            }
            MessageStep::Wait { nth } => {
                if let Some(operation) = self.started.remove(nth as usize) {
                    self.wait_for(operation, index, environment);
                }
            }
            MessageStep::WaitAll => self.wait_for_started(index, environment),
        }
    }

    fn send(
        &self,
        to: Member,
        bytes: Bytes,
        environment: &mut CollectiveEnvironment<impl Observer>,
    ) -> Option<OperationId> {
        let envelope = Envelope { context: self.context, source: self.rank, tag: self.tag };
        let message = Outbound { to: self.members.rank(to), envelope, bytes, mode: SendMode::Standard };
        environment.exchange.send(message, environment.now, environment.observer)
    }

    /// The message of a step has left before the cost of its send was over.
    fn charge_rest(
        &mut self,
        step: MessageStep,
        index: CollectiveId,
        environment: &mut CollectiveEnvironment<impl Observer>,
    ) {
        let rest = cost(step, environment.exchange).after;
        if rest.0 > 0.0 {
            self.work_for(rest, Work::Overhead, index, environment.observer);
        }
    }

    fn receive(
        &self,
        from: Member,
        bytes: Bytes,
        index: CollectiveId,
        environment: &mut CollectiveEnvironment<impl Observer>,
    ) -> Option<OperationId> {
        let source = Some(self.members.rank(from));
        let selector = Selector { context: self.context, source, tag: Some(self.tag) };
        let caller = Caller::Collective(index);
        let wanted = (selector, self.has_rooms.then_some(bytes));
        environment.exchange.receive(self.rank, wanted, caller, environment.now, environment.observer)
    }

    fn wait_for(
        &mut self,
        operation: Option<OperationId>,
        index: CollectiveId,
        environment: &mut CollectiveEnvironment<impl Observer>,
    ) {
        let CollectiveEnvironment { now, exchange, observer, .. } = environment;
        exchange.wait_for(operation, Waiter::Collective(index), &mut self.clock, *now, *observer);
    }

    fn wait_for_started(&mut self, index: CollectiveId, environment: &mut CollectiveEnvironment<impl Observer>) {
        while let Some(operation) = self.started.pop_front() {
            self.wait_for(operation, index, environment);
        }
    }
}
