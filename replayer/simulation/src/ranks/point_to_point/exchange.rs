//! Point-to-point messages, from send and receive to the transfer and the completion of both.
//!
//! A send or receive that does not complete at once is an [operation](crate::ranks::operation). [`protocol`](super::protocol)
//! defines when a message travels, when its send completes, and what both cost in software.
//!
//! If ranks do not wait for the messages they receive ([`Causality::None`]), there are no receives and no matching, and
//! every message travels when it is sent.

use std::collections::{BTreeMap, VecDeque};

use titr_common::dense_slab::DenseSlab;
use titr_common::event::{Rank, SendMode};
use titr_common::time::Time;
use titr_common::units::{Bytes, Seconds};
use titr_platform::Mpi;

use super::half_duplex::{AnswerOrder, HalfDuplex};
use super::matching::Matching;
use super::protocol::{Causality, Protocol};
use super::{Envelope, Selector, communicator};
use crate::observe::{Caller, Observer, OperationId, Receive, SentMessage, TransferKind};
use crate::ranks::core::Core;
use crate::ranks::ids::MessageId;
use crate::ranks::operation::{Claim, CompletedWait, OperationKind, Operations};
use crate::ranks::scheduler::{Clock, Waiter};

/// All messages and operations.
pub(in crate::ranks) struct Exchange {
    pub(in crate::ranks) protocol: Protocol,
    pub(in crate::ranks) matching: Matching,
    /// The messages of each rank that are in the network, at most [`BACKLOG`], if the replay does no matching.
    backlogs: Option<Vec<VecDeque<OperationId>>>,
    messages: DenseSlab<Message>,
    pub(in crate::ranks) operations: Operations,
    /// The probes of each rank that wait: the waiter, and what it selects.
    probing: Vec<Vec<(Waiter, Selector)>>,
    /// Messages in the buffers of their senders: those that were sent in buffered mode, are too large to be eager, and have
    /// not arrived; and the waits for each.
    buffered: BTreeMap<(Rank, MessageId), Vec<OperationId>>,
    /// The answers of rendezvous that wait behind data, where they do.
    half_duplex: Option<HalfDuplex>,
    /// Messages that leave now, in order.
    pub(in crate::ranks) outbox: Vec<MessageId>,
}

/// The most messages in the network of a rank that never waits, so that memory does not grow with the trace: a further message
/// waits for the oldest one. This many messages of one host fill its injection path anyway, so the network would accept no more.
const BACKLOG: usize = 256;

impl Exchange {
    pub(in crate::ranks) fn new(cores: &[Core], mpi: &Mpi, causality: Causality) -> Self {
        let ranks = cores.len();
        Self {
            protocol: Protocol::new(mpi, cores),
            matching: Matching::new(ranks),
            backlogs: (!causality.has_receives()).then(|| vec![VecDeque::new(); ranks]),
            messages: DenseSlab::default(),
            operations: Operations::default(),
            probing: vec![Vec::new(); ranks],
            buffered: BTreeMap::new(),
            half_duplex: (!mpi.rendezvous_duplex && causality.has_receives()).then(HalfDuplex::default),
            outbox: Vec::new(),
        }
    }

    /// Sends a message. Returns the operation to wait for if the send does not complete at once.
    pub(in crate::ranks) fn send(
        &mut self,
        message: Outbound,
        now: Time,
        observer: &mut impl Observer,
    ) -> Option<OperationId> {
        if self.backlogs.is_some() {
            return self.send_unmatched(message, now, observer);
        }
        let Outbound { to, envelope, bytes, mode, .. } = message;
        let eager = self.protocol.is_eager(mode, bytes);
        let id = self.next_message();
        let sender = (!eager).then(|| self.operations.open(OperationKind::Send(id)));
        let receiver = self.matching.arrive(to, envelope, id);
        let synchronous = mode == SendMode::Synchronous;
        let stage = if self.protocol.travels_at_once(mode, bytes) {
            Stage::Travelling
        } else if receiver.is_none() {
            Stage::Held
        } else if self.protocol.needs_receiver(synchronous, bytes) {
            Stage::Requested
        } else {
            Stage::Travelling
        };
        let in_collective = envelope.context.is_collective();
        let (from, communicator) = (envelope.source, communicator(envelope.context));
        let sent = SentMessage { id: id.into(), from, to, communicator, operation: sender, in_collective, bytes };
        observer.sent(now, sent);
        if stage != Stage::Held {
            observer.may_depart(now, id.into());
            self.outbox.push(id);
        }
        if let Some(receiver) = receiver {
            observer.matched(now, receiver, id.into());
        }
        if mode == SendMode::Buffered && !self.protocol.is_eager(SendMode::Standard, bytes) {
            self.buffered.insert((envelope.source, id), Vec::new());
        }
        let was_posted = receiver.is_some();
        self.messages.insert(Message { was_posted, sender, receiver, ..Message::new(message, stage, now) });
        if stage == Stage::Held {
            self.found(to, now, observer);
        }
        sender
    }

    /// Sends a message that has no receive. Returns the operation that has to arrive before the sender continues.
    fn send_unmatched(&mut self, message: Outbound, now: Time, observer: &mut impl Observer) -> Option<OperationId> {
        let source = message.envelope.source;
        let sent = self.operations.open(OperationKind::Send(self.next_message()));
        self.launch(message, sent, Stage::Travelling, now, observer);
        let backlog = self.backlogs.as_mut()?.get_mut(source.0 as usize)?;
        backlog.push_back(sent);
        if backlog.len() > BACKLOG { backlog.pop_front() } else { None }
    }

    /// Sends a message without a receive, at once; `waiter` is notified of its arrival.
    pub(in crate::ranks) fn transfer(
        &mut self,
        (to, envelope, bytes): (Rank, Envelope, Bytes),
        waiter: Waiter,
        now: Time,
        observer: &mut impl Observer,
    ) {
        let sent = self.operations.open(OperationKind::Background);
        self.operations.claim(sent, waiter);
        let message = Outbound::new(to, envelope, bytes, SendMode::Synchronous);
        self.launch(message, sent, Stage::OneSided, now, observer);
    }

    /// Gives the network a message that no receive waits for.
    fn launch(
        &mut self,
        message: Outbound,
        sender: OperationId,
        stage: Stage,
        now: Time,
        observer: &mut impl Observer,
    ) {
        let id = self.next_message();
        observer.may_depart(now, id.into());
        self.outbox.push(id);
        self.messages.insert(Message { sender: Some(sender), ..Message::new(message, stage, now) });
    }

    /// The id of the message that is sent next.
    fn next_message(&self) -> MessageId {
        MessageId(self.messages.vacant_key() as u32)
    }

    /// The oldest message of a rank at its end that has to arrive, where nothing is matched.
    pub(in crate::ranks) fn left_behind(&mut self, rank: Rank) -> Option<OperationId> {
        self.backlogs.as_mut()?.get_mut(rank.0 as usize)?.pop_front()
    }

    /// Operations that are complete when the messages in the buffer of `rank` have arrived.
    pub(in crate::ranks) fn buffered(&mut self, rank: Rank) -> Vec<OperationId> {
        let own = self.buffered.range_mut((rank, MessageId(0))..=(rank, MessageId(u32::MAX)));
        own.map(|(&(_, id), waits)| {
            let arrived = self.operations.open(OperationKind::Send(id));
            waits.push(arrived);
            arrived
        })
        .collect()
    }

    /// Posts a receive with room for this many bytes. Returns the operation to wait for, if the replay has receives.
    pub(in crate::ranks) fn receive(
        &mut self,
        receiver: Rank,
        (selector, room): (Selector, Option<Bytes>),
        caller: Caller,
        now: Time,
        observer: &mut impl Observer,
    ) -> Option<OperationId> {
        if self.backlogs.is_some() {
            return None;
        }
        let operation = self.operations.open(OperationKind::Receive(receiver, selector));
        let Selector { context, source, tag } = selector;
        let receive =
            Receive { id: operation, rank: receiver, caller, communicator: communicator(context), source, tag, room };
        observer.posted(now, receive);
        let Some(id) = self.matching.post(receiver, selector, operation) else {
            return Some(operation);
        };
        observer.matched(now, operation, id.into());
        let message = &mut self.messages[id.0 as usize];
        message.receiver = Some(operation);
        match message.stage {
            Stage::Held => {
                // A request that is sent at this moment is not there yet.
                message.stage =
                    if message.sent < now { message.answered(&self.protocol) } else { message.matched(&self.protocol) };
                observer.may_depart(now, id.into());
                self.outbox.push(id);
            }
            Stage::Requested | Stage::Answered | Stage::Travelling | Stage::OneSided => {}
            Stage::Arrived => {
                let cost = message.cost_of_receive(&self.protocol);
                self.messages.remove(id.0 as usize);
                observer.completed(now, operation);
                self.operations.complete_receive(operation, cost);
            }
        }
        Some(operation)
    }

    /// The rank that has to be in a call of MPI before a message can leave. `None`: it leaves.
    pub(in crate::ranks) fn missing(&mut self, id: MessageId, is_inside: impl Fn(Rank) -> bool) -> Option<Rank> {
        let message = &mut self.messages[id.0 as usize];
        if message.stage == Stage::Requested {
            if !is_inside(message.to) {
                return Some(message.to);
            }
            message.stage = message.answered(&self.protocol);
        }
        if message.stage == Stage::Answered {
            if !is_inside(message.envelope.source) {
                return Some(message.envelope.source);
            }
            message.stage = Stage::Travelling;
        }
        None
    }

    /// The rank that a message waited for is in a call of MPI.
    pub(in crate::ranks) fn shake_hands(&mut self, id: MessageId, now: Time, observer: &mut impl Observer) {
        let message = &mut self.messages[id.0 as usize];
        message.stage = match message.stage {
            Stage::Requested => message.answered(&self.protocol),
            Stage::Answered => Stage::Travelling,
            other @ (Stage::Held | Stage::Travelling | Stage::Arrived | Stage::OneSided) => other,
        };
        observer.may_depart(now, id.into());
        self.outbox.push(id);
    }

    /// Defers the departing messages whose answers wait behind data.
    pub(in crate::ranks) fn await_answers(&mut self, now: Time, share_host: impl Fn(Rank, Rank) -> bool) {
        let Self { half_duplex: Some(half_duplex), messages, protocol, outbox, .. } = self else { return };
        outbox.retain(|&id| {
            let message = &messages[id.0 as usize];
            let (from, to) = (message.envelope.source, message.to);
            let order = AnswerOrder { at: now, was_posted: message.was_posted };
            !message.is_answered(protocol) || share_host(from, to) || half_duplex.admit(id, (from, to), order)
        });
    }

    pub(in crate::ranks) fn deliver(&mut self, id: MessageId, now: Time, observer: &mut impl Observer) {
        let message = &mut self.messages[id.0 as usize];
        let is_answered = message.is_answered(&self.protocol);
        message.under_way.0 = now.0 - message.under_way.0;
        let is_one_sided = std::mem::replace(&mut message.stage, Stage::Arrived) == Stage::OneSided;
        let cost = message.cost_of_receive(&self.protocol);
        let (to, sender, receiver) = (message.to, message.sender.take(), message.receiver);
        let source = message.envelope.source;
        let waits = if self.buffered.is_empty() { None } else { self.buffered.remove(&(source, id)) };
        if let Some(half_duplex) = self.half_duplex.as_mut().filter(|_| is_answered) {
            let leaving = half_duplex.deliver(id, source, to);
            self.outbox.extend(leaving.inspect(|&id| observer.may_depart(now, id.into())));
        }
        if let Some(receiver) = receiver {
            self.messages.remove(id.0 as usize);
            observer.completed(now, receiver);
            self.operations.complete_receive(receiver, cost);
        } else if self.backlogs.is_some() || is_one_sided {
            self.messages.remove(id.0 as usize);
        } else {
            self.found(to, now, observer);
        }
        for sender in sender.into_iter().chain(waits.into_iter().flatten()) {
            observer.completed(now, sender);
            self.operations.complete(sender);
        }
    }

    /// `waiter` waits until `operation` is complete, if that is none that was complete at once.
    pub(in crate::ranks) fn wait_for(
        &mut self,
        operation: Option<OperationId>,
        waiter: Waiter,
        clock: &mut Clock,
        now: Time,
        observer: &mut impl Observer,
    ) {
        let Some(operation) = operation else { return };
        clock.awaited += 1;
        if let Claim::Done(cost) = self.operations.claim(operation, waiter) {
            let cost = clock.complete(now, cost);
            observer.released(now, waiter, Some(operation), cost);
        }
    }

    /// Whether a message is available that a receive would match. If not, `waiter` of `rank` is notified when one
    /// arrives.
    pub(in crate::ranks) fn probe(&mut self, waiter: Waiter, rank: Rank, selector: Selector) -> bool {
        let found = self.backlogs.is_some() || self.has_message(rank, selector);
        if !found {
            self.probing[rank.0 as usize].push((waiter, selector));
        }
        found
    }

    fn has_message(&mut self, rank: Rank, selector: Selector) -> bool {
        self.matching.probe(rank, selector).is_some_and(|id| {
            let message = &self.messages[id.0 as usize];
            message.stage != Stage::Travelling
        })
    }

    /// The probes of `rank` that wait: the waiter, and what it selects.
    pub(in crate::ranks) fn probing(&self, rank: Rank) -> &[(Waiter, Selector)] {
        &self.probing[rank.0 as usize]
    }

    /// A message can now be found by a probe.
    fn found(&mut self, receiver: Rank, now: Time, observer: &mut impl Observer) {
        if !self.probing[receiver.0 as usize].is_empty() {
            self.tell_probing(receiver, now, observer);
        }
    }

    #[cold]
    fn tell_probing(&mut self, receiver: Rank, now: Time, observer: &mut impl Observer) {
        for (waiter, selector) in std::mem::take(&mut self.probing[receiver.0 as usize]) {
            if self.probe(waiter, receiver, selector) {
                observer.released(now, waiter, None, Time::ZERO);
                self.operations.completions.push(CompletedWait { waiter, operation: None, cost: Seconds(0.0) });
            }
        }
    }

    /// Cancels a send or a receive that has no match yet and has not departed; any other completes normally (MPI 4.0
    /// §3.8.4: either it completes or it is cancelled).
    pub(in crate::ranks) fn cancel(&mut self, operation: OperationId, now: Time, observer: &mut impl Observer) {
        let cancelled = match self.operations.kind(operation) {
            OperationKind::Receive(receiver, selector) => self.matching.withdraw(receiver, selector, operation),
            OperationKind::Send(id) => match self.messages.get(id.0 as usize) {
                Some(message) if message.stage == Stage::Held && message.sender == Some(operation) => {
                    let recalled = self.matching.recall(message.to, message.envelope, id);
                    if recalled {
                        self.messages.remove(id.0 as usize);
                    }
                    recalled
                }
                _ => false,
            },
            OperationKind::Collective | OperationKind::Background | OperationKind::Partitioned(..) => false,
            OperationKind::Condition(..) | OperationKind::Access(_) => false,
        };
        if cancelled {
            observer.completed(now, operation);
            self.operations.complete(operation);
        }
    }

    pub(in crate::ranks) fn leave(&mut self, id: MessageId, now: Time) {
        self.messages[id.0 as usize].under_way = now;
    }

    pub(in crate::ranks) fn message(&self, id: MessageId) -> &Message {
        &self.messages[id.0 as usize]
    }

    /// Messages that no receive has taken and whose sender does not wait for that.
    pub(in crate::ranks) fn unmatched(&self) -> impl Iterator<Item = &Message> {
        let is_awaited = |id| self.operations.is_awaited(id);
        let left = move |message: &&Message| message.receiver.is_none() && !message.sender.is_some_and(is_awaited);
        self.messages.iter().map(|(_, message)| message).filter(left)
    }
}

/// A message as it is sent.
#[derive(Clone, Copy, Debug)]
pub(in crate::ranks) struct Outbound {
    pub(in crate::ranks) to: Rank,
    pub(in crate::ranks) envelope: Envelope,
    pub(in crate::ranks) bytes: Bytes,
    pub(in crate::ranks) mode: SendMode,
    /// The size of all buffers of the call at a rank.
    pub(in crate::ranks) working_set: Bytes,
    /// The factor on its costs for the processors of both ranks.
    pub(in crate::ranks) factor: f32,
}

impl Outbound {
    /// A message of a call with no other data than what it sends and receives.
    pub(in crate::ranks) fn new(to: Rank, envelope: Envelope, bytes: Bytes, mode: SendMode) -> Self {
        Self { to, envelope, bytes, mode, working_set: bytes + bytes, factor: 1.0 }
    }
}

/// A message from when it is sent until it is both delivered and received.
#[derive(Debug)]
pub(in crate::ranks) struct Message {
    pub(in crate::ranks) to: Rank,
    pub(in crate::ranks) envelope: Envelope,
    pub(in crate::ranks) bytes: Bytes,
    pub(in crate::ranks) working_set: Bytes,
    factor: f32,
    pub(super) sent: Time,
    /// When it left; once it has arrived, for how long it was under way.
    under_way: Time,
    /// Whether the send waits for its message whatever the size.
    pub(in crate::ranks) synchronous: bool,
    pub(super) stage: Stage,
    /// Whether its receive was posted before it was sent.
    pub(super) was_posted: bool,
    /// The send operation that the arrival of the message completes; `None` if the send is complete already.
    pub(super) sender: Option<OperationId>,
    /// The receive that it is matched with.
    pub(super) receiver: Option<OperationId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The message waits at its sender until a receive matches it.
    Held,
    /// The message waits at its sender, as the receiver has to answer first, which has posted a receive before.
    Requested,
    /// The message waits at its sender, which has to see the answer.
    Answered,
    Travelling,
    Arrived,
    /// The message travels, and no receive takes it.
    OneSided,
}

impl Message {
    /// A message that is sent now, whose send is complete, and that no receive was posted for.
    #[inline]
    fn new(Outbound { to, envelope, bytes, mode, working_set, factor }: Outbound, stage: Stage, now: Time) -> Self {
        Self {
            to,
            envelope,
            bytes,
            working_set,
            factor,
            sent: now,
            under_way: Time::ZERO,
            synchronous: mode == SendMode::Synchronous,
            stage,
            was_posted: false,
            sender: None,
            receiver: None,
        }
    }

    /// The stage of a message that travels when it is matched, and whose receive is posted when the request comes.
    pub(super) fn matched(&self, protocol: &Protocol) -> Stage {
        if protocol.needs_receiver(self.synchronous, self.bytes) { Stage::Requested } else { Stage::Travelling }
    }

    /// Whether the message has data that leaves once the receiver has answered.
    pub(super) fn is_answered(&self, protocol: &Protocol) -> bool {
        self.stage != Stage::OneSided && protocol.has_separate_data(self.bytes)
    }

    /// The time that the completion of its receive takes. Of a rendezvous, the data is there when the network has it.
    fn cost_of_receive(&self, protocol: &Protocol) -> Seconds {
        let ends = (self.envelope.source, self.to);
        let cost = protocol.cost_of_receive(self.sender.is_none(), self.bytes, ends, self.under_way);
        Seconds(cost.0 * f64::from(self.factor))
    }

    /// The kind of a message that leaves.
    pub(in crate::ranks) fn kind(&self, protocol: &Protocol) -> TransferKind {
        if self.stage == Stage::OneSided {
            return TransferKind::OneSided;
        }
        match (self.envelope.context.is_collective(), protocol.has_separate_data(self.bytes)) {
            (false, false) => TransferKind::Eager,
            (false, true) => TransferKind::Rendezvous,
            (true, false) => TransferKind::CollectiveEager,
            (true, true) => TransferKind::CollectiveRendezvous,
        }
    }

    /// The stage of a message whose request the receiver answers.
    pub(super) fn answered(&self, protocol: &Protocol) -> Stage {
        if protocol.needs_sender(self.bytes) { Stage::Answered } else { Stage::Travelling }
    }
}

#[cfg(test)]
mod tests;
