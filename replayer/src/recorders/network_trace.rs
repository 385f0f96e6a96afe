//! Records the messages that enter the network as a network trace.

mod dependences;

use std::collections::VecDeque;
use std::io::{self, Write};

use rustc_hash::FxHashMap;
use titr_common::event::Rank;
use titr_common::time::Time;
use titr_network::{Transfer, TransferId};
use titr_simulation::network_traces::{Kind, Label, NetworkTraceWriter, Node, TracedMessage};
use titr_simulation::observe::{CollectiveCall, CollectiveId, Observer, OperationId, TransferKind, Waiter, Work};

use dependences::Dependences;

/// Writes each message that enters the network to a network trace, in order of entry.
///
/// A message is written when it has arrived and all before it were written, so memory holds the messages in transit,
/// and those behind the oldest of them.
pub(crate) struct NetworkTraceRecorder<W: Write> {
    writer: NetworkTraceWriter<W>,
    /// The label of the first message that is kept.
    first: u64,
    /// The messages that are kept, by label.
    kept: VecDeque<TracedMessage>,
    /// The labels of the messages in transit, by transfer id.
    under_way: FxHashMap<TransferId, u64>,
    kinds: Vec<(TransferKind, Kind)>,
    dependences: Dependences,
    /// The first error of writing; nothing is written after it.
    failed: Option<io::Error>,
}

impl<W: Write> NetworkTraceRecorder<W> {
    /// A recorder whose trace goes to `writer`, which is for messages in order.
    pub(crate) fn new(writer: NetworkTraceWriter<W>) -> Self {
        let kind = |&kind: &TransferKind| Some((kind, Kind::named(kind.name())?));
        Self {
            writer,
            first: 0,
            kept: VecDeque::new(),
            under_way: FxHashMap::default(),
            kinds: TransferKind::ALL.iter().filter_map(kind).collect(),
            dependences: Dependences::default(),
            failed: None,
        }
    }

    /// Writes the rest: messages that never arrived, and the end.
    ///
    /// # Errors
    /// If the trace could not be written, now or before.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        while let Some(message) = self.kept.pop_front() {
            self.write(&message);
        }
        match self.failed {
            Some(error) => Err(error),
            None => self.writer.finish(),
        }
    }

    fn write(&mut self, message: &TracedMessage) {
        if self.failed.is_none() {
            self.failed = self.writer.write(message).err();
        }
    }
}

/// All callbacks are cold, and so out of the way of replays that record nothing.
impl<W: Write> Observer for NetworkTraceRecorder<W> {
    #[cold]
    fn carried(&mut self, now: Time, transfer: Transfer, kind: TransferKind) {
        let Some((_, kind)) = self.kinds.iter().find(|(other, _)| *other == kind) else { return };
        let label = self.first + self.kept.len() as u64;
        self.under_way.insert(transfer.id, label);
        self.kept.push_back(TracedMessage {
            label: Label(label),
            from: Node(transfer.from.0),
            to: Node(transfer.to.0),
            bytes: transfer.bytes,
            kind: kind.clone(),
            generated: now,
            arrived: None,
            address: None,
            causes: self.dependences.leaves(transfer.id, now),
            after: Vec::new(),
            triggers: 0,
        });
    }

    #[cold]
    fn arrived(&mut self, now: Time, id: TransferId) {
        let Some(label) = self.under_way.remove(&id) else { return };
        self.dependences.received(Label(label), now);
        if let Some(message) = self.kept.get_mut((label - self.first) as usize) {
            message.arrived = Some(now);
        }
        while let Some(message) = self.kept.pop_front_if(|message| message.arrived.is_some()) {
            self.write(&message);
            self.first += 1;
        }
    }

    #[cold]
    fn turn_began(&mut self, _: Time, waiter: Waiter) {
        self.dependences.turn_began(waiter);
    }

    #[cold]
    fn thread_began(&mut self, at: Time, waiter: Waiter, _: Rank, follows: Waiter) {
        self.dependences.follows(waiter, follows, at);
    }

    #[cold]
    fn began(&mut self, _: Time, waiter: Waiter, _: Rank) {
        self.dependences.began(waiter);
    }

    #[cold]
    fn ended(&mut self, waiter: Waiter) {
        self.dependences.ended(waiter);
    }

    #[cold]
    fn works(&mut self, waiter: Waiter, _: Work, _: Time, to: Time) {
        self.dependences.works(waiter, to);
    }

    #[cold]
    fn released(&mut self, now: Time, waiter: Waiter, operation: Option<OperationId>, cost: Time) {
        self.dependences.released(now, waiter, operation, cost);
    }

    #[cold]
    fn may_depart(&mut self, _: Time, message: TransferId) {
        self.dependences.may_depart(message);
    }

    #[cold]
    fn completed(&mut self, now: Time, operation: OperationId) {
        self.dependences.completed(operation, now);
    }

    #[cold]
    fn collective_entered(&mut self, _: Time, call: CollectiveCall) {
        self.dependences.began(Waiter::Collective(call.id));
    }

    #[cold]
    fn collective_left(&mut self, _: Time, id: CollectiveId) {
        self.dependences.ended(Waiter::Collective(id));
    }
}
