//! Collectives (MPI 4.0 §6): their calls, and the messages of each member, by a library's algorithms or as they were recorded.

mod calls;
mod recorded;
mod steps;

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use slab::Slab;
use titr_common::collectives::{Call, Member, Step};
use titr_common::event::{Collective, CollectiveKind, CommId, Rank, SendMode, Tag, Volumes};
use titr_common::program::{Context, Members};
use titr_common::units::{Bytes, Instructions, Seconds};
use titr_platform::{CollectiveFactors, Mpi as Parameters, Overhead};

use super::Core;
use super::mpi::Mpi;
use super::operation::OperationKind;
use super::point_to_point::exchange::Outbound;
use super::point_to_point::protocol::{Protocol, SendCost};
use super::point_to_point::{Envelope, Selector, communicator};
use super::scheduler::{BackgroundWork, Waiter};
use crate::observe::{Caller, CollectiveCall, CollectiveFlow, CollectiveId, Observer, OperationId, Work};
use steps::{Algorithms, CollectiveSteps, MessageStep, Schedules};

// Collectives in progress: every member follows its schedule, blocking or in the background.
//
// A collective consists of the messages in its schedule (`titr_common::collectives`). They use a separate context of
// the communicator, with the number of the collective as their tag. The part of one member is a
// [`CollectiveInstance`], with a clock of its own; the rank waits for it at once or later. The arithmetic of a
// reduction is computed once, after the last message, as in SimGrid.

/// The collectives in progress of all ranks.
pub(super) struct Collectives<'a> {
    pub(super) instances: Slab<CollectiveInstance>,
    algorithms: Algorithms<'a>,
    schedules: Schedules,
    /// Whether blocking collectives are the messages that an extended trace has of them.
    pub(super) recorded: bool,
    reduction: &'a Overhead,
    factors: &'a BTreeMap<CollectiveKind, CollectiveFactors>,
}

/// The messages of a member in a collective, and what they cost.
pub(super) struct MemberMessages {
    pub(super) rank: Rank,
    pub(super) word: &'static str,
    pub(super) members: Rc<Members>,
    pub(super) steps: CollectiveSteps,
    /// Whether a receive must have room for its message.
    pub(super) has_rooms: bool,
    /// The size of all buffers of the call.
    pub(super) working_set: Bytes,
    /// The factors on the costs of messages within hosts, and between them; `None`: 1.
    pub(super) factors: Option<[f32; 2]>,
    /// The computation at the end.
    pub(super) computation: Instructions,
}

impl MemberMessages {
    /// Messages at the typical cost, without room to check and without computation.
    pub(super) fn new(rank: Rank, word: &'static str, members: Rc<Members>, steps: CollectiveSteps) -> Self {
        let (working_set, computation) = (Bytes(0), Instructions(0.0));
        Self { rank, word, members, steps, has_rooms: false, working_set, factors: None, computation }
    }
}

/// The part of one member in one collective in progress.
pub(super) struct CollectiveInstance {
    messages: MemberMessages,
    context: Context,
    /// The number of the collective on its communicator, which only distinguishes collectives that are open at the same
    /// time: it may wrap around, and all starts of a persistent one share it, because one is over before the next.
    tag: Tag,
    next: usize,
    /// Whether the software cost of the next step has been charged.
    paid: bool,
    /// Sends and receives that were started, in order; `None`: complete at once.
    started: VecDeque<Option<OperationId>>,
    /// The next step needs the processor if it waits, or waited until now, for messages and not for a time.
    pub(super) work: BackgroundWork,
    /// The operation that the rank waits for.
    operation: OperationId,
}

impl<'a> Collectives<'a> {
    /// The collectives of a library, of ranks on these cores.
    pub(super) fn new(parameters: &'a Parameters, cores: &[Core], recorded: bool) -> Self {
        let Parameters { collectives: selection, reduction, collective_factors: factors, .. } = parameters;
        let algorithms = Algorithms::new(selection, cores);
        let (instances, schedules) = (Slab::new(), Schedules::default());
        Self { instances, algorithms, schedules, recorded, reduction, factors }
    }

    /// The steps of member `me` of `size` in a collective without a root.
    pub(super) fn steps(&self, call: &Collective, me: Member, size: u32) -> Vec<Step> {
        self.algorithms.selection.steps(&Call::of(call, me, size, 0))
    }

    /// The word of the trace for a collective, and the operation that its rank waits for.
    pub(super) fn describe(&self, index: CollectiveId) -> (&'static str, OperationId) {
        let CollectiveInstance { messages, operation, .. } = &self.instances[index.0 as usize];
        (messages.word, *operation)
    }

    /// Starts a collective, the one with this number on the communicator with this context, and takes its first steps; the
    /// operation that the rank is to wait for.
    pub(super) fn start(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        (context, number): (Context, u64),
        (flow, root): (CollectiveFlow, Option<Rank>),
        messages: MemberMessages,
    ) -> OperationId {
        let (rank, members) = (messages.rank, &messages.members);
        let index = CollectiveId(self.instances.vacant_key() as u32);
        let operation = mpi.open(OperationKind::Collective);
        let call = CollectiveCall {
            id: index,
            rank,
            name: messages.word,
            communicator: communicator(context),
            number,
            operation,
            flow,
            root,
            member: members.place(rank).unwrap_or_default(),
            members: members.len() as u32,
        };
        mpi.observer.collective_entered(mpi.now(), call);
        self.instances.insert(CollectiveInstance {
            messages,
            context: context.of_collectives(),
            tag: Tag((number as u32).cast_signed()),
            next: 0,
            paid: false,
            started: VecDeque::new(),
            work: BackgroundWork::new(rank.into(), mpi.now()),
            operation,
        });
        self.advance(mpi, index);
        operation
    }

    /// Takes steps of a collective until one has to wait, or for a time that has not come.
    pub(super) fn advance(&mut self, mpi: &mut Mpi<impl Observer>, index: CollectiveId) {
        let instance = &mut self.instances[index.0 as usize];
        // A deferred step begins now.
        let clock = &mut instance.work.clock;
        clock.time = clock.time.max(mpi.now());
        loop {
            instance.work.needs_processor = instance.work.clock.awaited > 0;
            if instance.work.needs_processor {
                return;
            }
            if instance.work.clock.time > mpi.now() {
                return mpi.scheduler.set_timer(instance.work.clock.time, Waiter::Collective(index));
            }
            let Some(step) = instance.messages.steps.get(instance.next, &self.algorithms) else {
                if !instance.started.is_empty() {
                    instance.wait_for_started(mpi, index);
                } else if instance.messages.computation.0 > 0.0 {
                    let computation = std::mem::take(&mut instance.messages.computation);
                    let time = mpi.core(instance.messages.rank).time_for(computation, instance.work.clock.time);
                    instance.work_for(mpi, index, time, Work::Compute);
                } else {
                    let operation = instance.operation;
                    self.instances.remove(index.0 as usize);
                    mpi.observer.collective_left(mpi.now(), index);
                    return mpi.complete(operation);
                }
                continue;
            };
            if !instance.paid {
                instance.paid = true;
                let time = match step {
                    MessageStep::Reduce { bytes } => self.reduction.of(bytes),
                    _ => instance.cost(step, &mpi.exchange.protocol).before,
                };
                instance.work_for(mpi, index, time, Work::Overhead);
                continue;
            }
            instance.paid = false;
            instance.next += 1;
            instance.take_step(mpi, index, step);
        }
    }
}

/// A collective without a root, with this many bytes per member.
pub(super) fn rootless(kind: CollectiveKind, bytes: Bytes) -> Collective {
    let each = Volumes::Each(bytes);
    let (send, recv) = match kind {
        CollectiveKind::Allgather => (each.clone(), each),
        CollectiveKind::Barrier => (Volumes::None, Volumes::None),
        _ => (each, Volumes::None),
    };
    Collective { kind, send, recv, element: bytes, ..Collective::barrier(CommId::WORLD) }
}

impl CollectiveInstance {
    /// The time that a step takes until its message leaves, and the rest of a send's time.
    fn cost(&self, step: MessageStep, protocol: &Protocol) -> SendCost {
        let ends = |to: Member| (self.messages.rank, self.messages.members.rank(to));
        match step {
            MessageStep::Send { to, bytes } => {
                protocol.cost_of_send(SendMode::Standard, bytes, ends(to)).times(self.factor(to, protocol))
            }
            MessageStep::Isend { to, bytes } | MessageStep::Sendrecv { to, sent: bytes, .. } => {
                protocol.cost_of_isend(bytes, ends(to)).times(self.factor(to, protocol))
            }
            _ => SendCost::default(),
        }
    }

    /// The factor on the costs of a message to a member.
    fn factor(&self, to: Member, protocol: &Protocol) -> f32 {
        match self.messages.factors {
            None => 1.0,
            Some([node, _]) if protocol.share_host((self.messages.rank, self.messages.members.rank(to))) => node,
            Some([_, network]) => network,
        }
    }

    #[inline]
    fn work_for(&mut self, mpi: &mut Mpi<impl Observer>, index: CollectiveId, time: Seconds, work: Work) {
        let clock = &mut self.work.clock;
        let from = clock.time;
        clock.time = from + time;
        mpi.observer.works(Waiter::Collective(index), work, from, clock.time);
    }

    fn take_step(&mut self, mpi: &mut Mpi<impl Observer>, index: CollectiveId, step: MessageStep) {
        match step {
            MessageStep::Send { to, bytes } => {
                let sent = self.send(mpi, to, bytes);
                self.charge_rest(mpi, index, step);
                self.wait_for(mpi, index, sent);
            }
            MessageStep::Recv { from, bytes } => {
                let received = self.receive(mpi, index, from, bytes);
                self.wait_for(mpi, index, received);
            }
            MessageStep::Sendrecv { to, sent, from, received } => {
                let received = self.receive(mpi, index, from, received);
                let sent = self.send(mpi, to, sent);
                self.charge_rest(mpi, index, step);
                self.wait_for(mpi, index, sent);
                self.wait_for(mpi, index, received);
            }
            MessageStep::Isend { to, bytes } => {
                let sent = self.send(mpi, to, bytes);
                self.charge_rest(mpi, index, step);
                self.started.push_back(sent);
            }
            MessageStep::Irecv { from, bytes } => {
                let received = self.receive(mpi, index, from, bytes);
                self.started.push_back(received);
            }
            MessageStep::Wait { nth } => {
                if let Some(operation) = self.started.remove(nth as usize) {
                    self.wait_for(mpi, index, operation);
                }
            }
            MessageStep::WaitAll => self.wait_for_started(mpi, index),
            MessageStep::Reduce { .. } => {}
        }
    }

    fn send(&self, mpi: &mut Mpi<impl Observer>, to: Member, bytes: Bytes) -> Option<OperationId> {
        let envelope = Envelope { context: self.context, source: self.messages.rank, tag: self.tag };
        let factor = self.factor(to, &mpi.exchange.protocol);
        let (to, mode, working_set) = (self.messages.members.rank(to), SendMode::Standard, self.messages.working_set);
        mpi.send_message(Outbound { to, envelope, bytes, mode, working_set, factor })
    }

    /// The message of a step has left before the cost of its send was over.
    fn charge_rest(&mut self, mpi: &mut Mpi<impl Observer>, index: CollectiveId, step: MessageStep) {
        let rest = self.cost(step, &mpi.exchange.protocol).after;
        if rest.0 > 0.0 {
            self.work_for(mpi, index, rest, Work::Overhead);
        }
    }

    fn receive(
        &self,
        mpi: &mut Mpi<impl Observer>,
        index: CollectiveId,
        from: Member,
        bytes: Bytes,
    ) -> Option<OperationId> {
        let source = Some(self.messages.members.rank(from));
        let selector = Selector { context: self.context, source, tag: Some(self.tag) };
        let caller = Caller::Collective(index);
        let wanted = (selector, self.messages.has_rooms.then_some(bytes));
        mpi.post_receive(self.messages.rank, wanted, caller)
    }

    fn wait_for(&mut self, mpi: &mut Mpi<impl Observer>, index: CollectiveId, operation: Option<OperationId>) {
        mpi.wait(Waiter::Collective(index), &mut self.work.clock, operation);
    }

    fn wait_for_started(&mut self, mpi: &mut Mpi<impl Observer>, index: CollectiveId) {
        while let Some(operation) = self.started.pop_front() {
            self.wait_for(mpi, index, operation);
        }
    }
}
