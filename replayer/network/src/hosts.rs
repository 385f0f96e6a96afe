//! A network with hosts that have an inside: messages between ranks of one host take its [levels](Node), and those between
//! hosts pass their cards, which send and receive a limited number of messages a second.
//!
//! A card passes messages one after the other, in the order in which they are sent. A message leaves when the card of its
//! host has passed the last one, and when the card of the other host has: so much later than without cards.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::time::Time;
use titr_common::units::Seconds;

use crate::indexed_heap::{Deadline, IndexedHeap};
use crate::network::{LinkLoad, Network, SharedWith, Transfer, TransferId, Unloaded, Unreachable};
use crate::topology::{HostId, Node, NodeTopology, Topology};

/// The network between hosts, and what is at its ends.
pub struct HostNetwork {
    between: Box<dyn Network>,
    within: Option<Within>,
    cards: Option<Cards>,
}

/// The insides of all hosts.
struct Within {
    topology: Arc<NodeTopology>,
    network: Box<dyn Network>,
    /// The number of the first link of the first host among all links.
    first_link: usize,
}

/// The cards of all hosts.
struct Cards {
    /// The time that a card takes for a message.
    gap: Seconds,
    /// When each card has passed all messages of its host, and all to its host.
    free: Vec<[Time; 2]>,
    /// The number of each pair of hosts between which messages have waited.
    pairs: FxHashMap<(HostId, HostId), u32>,
    /// Messages that have not left, by the number of their pair: they leave in the order in which they were sent.
    waiting: Vec<VecDeque<(Deadline, Transfer)>>,
    /// When the first message of each pair leaves.
    leaving: IndexedHeap,
    sent: u64,
}

impl Cards {
    /// When a message that is sent now leaves its host.
    fn leave(&mut self, now: Time, from: HostId, to: HostId) -> Time {
        let at = now.max(self.free[from.index()][0]).max(self.free[to.index()][1]);
        self.free[from.index()][0] = self.free[from.index()][0].max(now) + self.gap;
        self.free[to.index()][1] = self.free[to.index()][1].max(now) + self.gap;
        at
    }

    /// A message waits until it leaves.
    fn wait(&mut self, at: Time, transfer: Transfer) {
        let count = self.waiting.len() as u32;
        let pair = *self.pairs.entry((transfer.from, transfer.to)).or_insert(count);
        if pair == count {
            self.waiting.push(VecDeque::new());
        }
        let due = Deadline { at, sequence: self.sent };
        self.sent += 1;
        let queue = &mut self.waiting[pair as usize];
        if queue.is_empty() {
            self.leaving.set(pair, due);
        }
        queue.push_back((due, transfer));
    }

    /// Takes out the message that leaves first, if it leaves by `now`.
    fn next(&mut self, now: Time) -> Option<Transfer> {
        let (_, pair) = self.leaving.pop_by(now)?;
        let queue = &mut self.waiting[pair as usize];
        let (_, transfer) = queue.pop_front()?;
        if let Some(&(due, _)) = queue.front() {
            self.leaving.set(pair, due);
        }
        Some(transfer)
    }
}

impl HostNetwork {
    /// The network `between` hosts, with what is at its ends: the insides of the hosts, whose links are numbered from
    /// `first_link` on and whose messages are carried by the `model`; and cards that pass this number of messages a second.
    #[must_use]
    pub fn new(
        between: Box<dyn Network>,
        hosts: u32,
        node: Option<(Node, usize)>,
        messages_per_second: Option<f64>,
        model: impl FnOnce(Arc<dyn Topology>) -> Box<dyn Network>,
    ) -> Self {
        let within = node.map(|(node, first_link)| {
            let topology = Arc::new(NodeTopology::new(node, hosts));
            Within { network: model(Arc::clone(&topology) as _), topology, first_link }
        });
        let cards = messages_per_second.map(|rate| Cards {
            gap: Seconds(1.0 / rate),
            free: vec![[Time::ZERO; 2]; hosts as usize],
            pairs: FxHashMap::default(),
            waiting: Vec::new(),
            leaving: IndexedHeap::default(),
            sent: 0,
        });
        Self { between, within, cards }
    }

    /// The network between hosts, if `network` is one with hosts that have an inside, and otherwise `network`.
    pub(crate) fn between(network: &dyn Network) -> &dyn Network {
        (network as &dyn Any).downcast_ref().map_or(network, |Self { between, .. }| &**between)
    }

    /// The part that carries a message, and the message as that part knows it.
    fn part(&mut self, transfer: &Transfer) -> (&mut dyn Network, Transfer) {
        match &mut self.within {
            Some(Within { topology, network, .. }) if transfer.from == transfer.to => {
                let place = topology.place(transfer.from, transfer.inside);
                (&mut **network, Transfer { from: place, to: place, ..*transfer })
            }
            _ => (&mut *self.between, *transfer),
        }
    }
}

impl Network for HostNetwork {
    fn inject(&mut self, now: Time, transfer: Transfer) {
        if let Some(cards) = self.cards.as_mut().filter(|_| transfer.from != transfer.to) {
            let at = cards.leave(now, transfer.from, transfer.to);
            if at > now {
                cards.wait(at, transfer);
                return;
            }
        }
        let (network, transfer) = self.part(&transfer);
        network.inject(now, transfer);
    }

    fn unloaded(&mut self, transfer: &Transfer) -> Unloaded {
        let (network, transfer) = self.part(transfer);
        network.unloaded(&transfer)
    }

    fn unreachable(&mut self, now: Time, transfer: &Transfer) -> Option<Unreachable> {
        let (network, transfer) = self.part(transfer);
        network.unreachable(now, &transfer)
    }

    fn first_unreachable(&self) -> Unreachable {
        self.between.first_unreachable()
    }

    fn next_event(&mut self) -> Option<Time> {
        let within = self.within.as_mut().and_then(|within| within.network.next_event());
        let leaving = self.cards.as_ref().and_then(|cards| cards.leaving.first()).map(|(due, _)| due.at);
        self.between.next_event().into_iter().chain(within).chain(leaving).min()
    }

    fn advance(&mut self, now: Time, delivered: &mut Vec<TransferId>) {
        self.between.advance(now, delivered);
        if let Some(within) = &mut self.within {
            within.network.advance(now, delivered);
        }
        let Some(cards) = &mut self.cards else { return };
        while let Some(transfer) = cards.next(now) {
            self.between.inject(now, transfer);
        }
    }

    fn met(&mut self, id: TransferId) -> Vec<SharedWith> {
        self.between.met(id)
    }

    fn link_loads(&self) -> Vec<LinkLoad> {
        let mut loads = self.between.link_loads();
        if let Some(Within { network, first_link, .. }) = &self.within {
            for (load, within) in loads.iter_mut().skip(*first_link).zip(network.link_loads()) {
                *load = within;
            }
        }
        loads
    }
}
