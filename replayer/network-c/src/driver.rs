//! A network that another simulator drives: messages wait for their times, and arrivals until they are taken.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::path::Path;

use thiserror::Error;
use titr_common::time::Time;
use titr_common::units::Bytes;
use titr_network::topology::HostId;
use titr_network::{Network, Transfer, TransferId, Unreachable};
use titr_platform::{Platform, PlatformError};

/// A mistake of the simulator that drives the network, or in its platform.
#[derive(Debug, Error)]
pub(crate) enum DriverError {
    /// There is no such platform.
    #[error(transparent)]
    Platform(#[from] PlatformError),
    /// A message has a node that the platform does not have.
    #[error("message {label}: there is no node {node}: the platform has {nodes}, from 0")]
    NoSuchNode { label: u64, node: u32, nodes: u32 },
    /// A time has passed already.
    #[error("time cannot go back to {asked} ps: the network has been advanced to {now} ps")]
    Past { asked: u64, now: u64 },
    /// Too many messages are in transit.
    #[error("message {label}: four billion messages are under way")]
    Full { label: u64 },
    /// A message could never arrive.
    #[error("message {label}: {why}")]
    Unreachable { label: u64, why: Unreachable },
    /// The end of time, which no message and no network reaches.
    #[error("simulated time is less than 2^64 - 1 ps (213 days): is a time not in picoseconds?")]
    EndOfTime,
}

/// A message of the simulator that drives the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DrivenMessage {
    /// The name that its simulator knows it by.
    pub label: u64,
    /// The node that it leaves.
    pub from: u32,
    /// The node that it goes to.
    pub to: u32,
    /// Its payload.
    pub bytes: u64,
}

/// A network, its time, and the messages in it.
pub(crate) struct Driver {
    network: Box<dyn Network>,
    nodes: u32,
    now: Time,
    /// Messages that were injected for a later time: the time, their number in the order of injection, and their key.
    pending: BinaryHeap<Reverse<(Time, u64, usize)>>,
    injected: u64,
    messages: slab::Slab<DrivenMessage>,
    /// Messages that have arrived and were not taken.
    arrived: VecDeque<(Time, DrivenMessage)>,
    /// Kept to be used again.
    delivered: Vec<TransferId>,
}

impl Driver {
    /// The idle network of the platform that a file describes, at time 0.
    pub(crate) fn open(platform: &Path) -> Result<Self, DriverError> {
        let platform = Platform::load(platform, &[])?;
        Ok(Self {
            network: platform.network(0),
            nodes: platform.topology.hosts(),
            now: Time::ZERO,
            pending: BinaryHeap::new(),
            injected: 0,
            messages: slab::Slab::new(),
            arrived: VecDeque::new(),
            delivered: Vec::new(),
        })
    }

    /// The number of nodes that the network connects.
    pub(crate) fn nodes(&self) -> u32 {
        self.nodes
    }

    /// A message enters the network at `at`, which is not before the time that the network has been advanced to.
    pub(crate) fn inject(&mut self, at: Time, message: DrivenMessage) -> Result<(), DriverError> {
        let DrivenMessage { label, from, to, .. } = message;
        if let Some(node) = [from, to].into_iter().find(|&node| node >= self.nodes) {
            return Err(DriverError::NoSuchNode { label, node, nodes: self.nodes });
        }
        if at < self.now {
            return Err(DriverError::Past { asked: at.0, now: self.now.0 });
        }
        if at == Time::NEVER {
            return Err(DriverError::EndOfTime);
        }
        if self.messages.len() >= u32::MAX as usize {
            return Err(DriverError::Full { label });
        }
        let (from, to, bytes) = (HostId(from), HostId(to), Bytes(message.bytes));
        let transfer = Transfer::new(TransferId(0), from, to, bytes);
        if let Some(why) = self.network.unreachable(at, &transfer) {
            return Err(DriverError::Unreachable { label, why });
        }
        let key = self.messages.insert(message);
        self.pending.push(Reverse((at, self.injected, key)));
        self.injected += 1;
        Ok(())
    }

    /// The time of the next event: a message enters the network, or the network has an event of its own. `None`: no
    /// message is in transit, or none that arrives before the end of time.
    pub(crate) fn next_event(&mut self) -> Option<Time> {
        let pending = self.pending.peek().map(|Reverse((at, ..))| *at);
        [self.network.next_event(), pending].into_iter().flatten().min().filter(|&next| next < Time::NEVER)
    }

    /// Moves time on to `to`, and with it all that happens until then and at that time. Whether that is possible is
    /// known before anything happens, so that a failure leaves the network as it was.
    pub(crate) fn advance(&mut self, to: Time) -> Result<(), DriverError> {
        if to < self.now {
            return Err(DriverError::Past { asked: to.0, now: self.now.0 });
        }
        if to == Time::NEVER {
            return Err(DriverError::EndOfTime);
        }
        while let Some(now) = self.next_event().filter(|&next| next <= to) {
            self.now = now;
            self.network.advance(now, &mut self.delivered);
            for TransferId(id) in self.delivered.drain(..) {
                self.arrived.extend(self.messages.try_remove(id as usize).map(|message| (now, message)));
            }
            while let Some(&Reverse((_, _, key))) = self.pending.peek().filter(|Reverse((at, ..))| *at <= now) {
                self.pending.pop();
                let Some(&DrivenMessage { from, to, bytes, .. }) = self.messages.get(key) else { continue };
                let (from, to) = (HostId(from), HostId(to));
                let id = TransferId(key as u32);
                self.network.inject(now, Transfer::new(id, from, to, Bytes(bytes)));
            }
        }
        self.now = to;
        Ok(())
    }

    /// Takes the first message that has arrived and was not taken, and when it arrived.
    pub(crate) fn take(&mut self) -> Option<(Time, DrivenMessage)> {
        self.arrived.pop_front()
    }
}
