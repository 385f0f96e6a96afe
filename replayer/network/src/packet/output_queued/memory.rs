//! The memories of switches: the packets that each has room for.
//!
//! Memory is counted in packets, which are all of one size, and for **accounts**. If packets are lost when a memory is full,
//! each queue has an account. If senders pause, each input has one, and each virtual channel of an input its own, as each
//! priority has with priority flow control. Each of these accounts has a place of its own, and only the rest of the memory is
//! shared: a packet then waits only for packets that came by the same channel, so that packets cannot deadlock where the
//! channels of their routes do not depend on each other in a cycle.
//!
//! # Losses
//!
//! Packets that were lost because a memory was full, until their hosts know it.
//!
//! A host sends a lost packet again after a time T. At each further loss of the packet, T doubles, as the retransmission timeout
//! of TCP does (RFC 6298, section 5.5): packets that are sent again could otherwise fill a memory for ever. A random time is
//! added, from 0 to the growth of T: two packets that are lost to each other would otherwise meet again and again.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::super::layout::Layout;
use super::super::spec::PacketSpec;
use crate::chance::chance;
use crate::packet::parameters::{Buffer, BufferSharing, MemoryDivision, Switch, WhenFull};
use crate::packet::{OutputId, PacketId, QueueId};
use crate::topology::{ChannelIndex, RouterId};

/// The memories of all switches.
#[derive(Debug)]
pub(super) struct Memories {
    limits: Option<Limits>,
    virtual_channels: u32,
}

/// The memories of switches, if they are limited.
#[derive(Debug)]
struct Limits {
    sharing: BufferSharing,
    pauses: bool,
    divisions: Arc<[MemoryDivision]>,
    /// Packets of each account.
    taken: Vec<u32>,
    /// For each switch, the places of the shared part that are free.
    free: Vec<u32>,
}

/// A packet's account at a switch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Account {
    pub router: RouterId,
    /// The input by which the packet comes.
    pub input: QueueId,
    /// The queue that it waits in.
    pub output: (OutputId, ChannelIndex),
}

impl Memories {
    pub(crate) fn new(spec: &PacketSpec, layout: &Layout) -> Self {
        let virtual_channels = spec.virtual_channels();
        let limits = |(Buffer { sharing, when_full, .. }, divisions): (Buffer, &Arc<[MemoryDivision]>)| {
            let pauses = matches!(when_full, WhenFull::Pause);
            let queues = layout.outputs.len() * virtual_channels as usize;
            Limits {
                sharing,
                pauses,
                taken: vec![0; if pauses { layout.queues.len() } else { queues }],
                free: divisions.iter().map(|division| division.shared).collect(),
                divisions: Arc::clone(divisions),
            }
        };
        let buffer = match spec.parameters.switch {
            Switch::OutputQueued(buffer) => buffer,
            Switch::InputQueued => None,
        };
        Self { limits: buffer.zip(spec.memories.as_ref()).map(limits), virtual_channels }
    }

    /// Whether senders wait for memory.
    pub(crate) fn pauses(&self) -> bool {
        self.limits.as_ref().is_some_and(|limits| limits.pauses)
    }

    /// Whether there is room for another packet of an account.
    pub(crate) fn admits(&self, account: Account) -> bool {
        let Some(limits) = &self.limits else { return true };
        let router = account.router.index();
        let (taken, own) = (limits.taken[self.number(account)], limits.divisions[router].own);
        taken < own
            || match limits.sharing {
                BufferSharing::Partitioned => false,
                BufferSharing::Shared { alpha } => f64::from(taken - own) < alpha * f64::from(limits.free[router]),
            }
    }

    /// Takes a place for a packet that is admitted.
    pub(crate) fn take(&mut self, account: Account) {
        let number = self.number(account);
        let Some(limits) = &mut self.limits else { return };
        let router = account.router.index();
        if limits.taken[number] >= limits.divisions[router].own {
            limits.free[router] -= 1;
        }
        limits.taken[number] += 1;
    }

    /// Frees the place of a packet that has left.
    pub(crate) fn free(&mut self, account: Account) {
        let number = self.number(account);
        let Some(limits) = &mut self.limits else { return };
        let router = account.router.index();
        limits.taken[number] -= 1;
        if limits.taken[number] >= limits.divisions[router].own {
            limits.free[router] += 1;
        }
    }

    fn number(&self, Account { input, output: (output, channel), .. }: Account) -> usize {
        if self.pauses() { input.index() } else { output.index() * self.virtual_channels as usize + channel.index() }
    }
}

/// Lost packets.
#[derive(Debug)]
pub(super) struct Losses {
    /// Cycles from the first loss of a packet until its host sends it again.
    after: u64,
    /// The packets that hosts will send again, by the cycle in which these learn of it.
    due: BTreeMap<u64, Vec<PacketId>>,
    /// How often each packet in transit was lost, if it was.
    times: FxHashMap<PacketId, u32>,
}

/// How often the time until a packet is sent again doubles at most.
const DOUBLINGS: u32 = 16;

/// Cycles from the first loss of a packet until it is sent again, at most.
const MOST_CYCLES: f64 = (1_u64 << 40) as f64;

impl Losses {
    pub(crate) fn new(spec: &PacketSpec) -> Self {
        let after = match spec.parameters.switch {
            Switch::OutputQueued(Some(Buffer { when_full: WhenFull::Drop { retransmit_after }, .. })) => {
                (retransmit_after.0 / spec.cycle()).ceil().clamp(1.0, MOST_CYCLES) as u64
            }
            Switch::OutputQueued(_) | Switch::InputQueued => 1,
        };
        Self { after, due: BTreeMap::new(), times: FxHashMap::default() }
    }

    /// A packet is lost at `now`. `random` is its own number.
    pub(crate) fn lose(&mut self, now: u64, packet: PacketId, random: u64) {
        let times = self.times.entry(packet).or_default();
        let after = self.after << (*times).min(DOUBLINGS);
        let more = chance(random, (*times).into(), 0) % (after - self.after + 1);
        *times += 1;
        self.due.entry(now + after + more).or_default().push(packet);
    }

    /// A packet has arrived at its host.
    pub(crate) fn forget(&mut self, packet: PacketId) {
        if !self.times.is_empty() {
            self.times.remove(&packet);
        }
    }

    /// The next cycle in which a host learns of a loss; `u64::MAX` if there is none.
    pub(crate) fn next(&self) -> u64 {
        self.due.keys().next().copied().unwrap_or(u64::MAX)
    }

    /// The packets whose hosts learn at `now` that they were lost, in the order of their losses.
    pub(crate) fn take(&mut self, now: u64) -> Vec<PacketId> {
        self.due.remove(&now).unwrap_or_default()
    }
}
