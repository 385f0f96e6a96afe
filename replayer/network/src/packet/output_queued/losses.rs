//! Packets that were lost because a memory was full, until their hosts know it.
//!
//! A host sends a lost packet again after a time T. At each further loss of the packet, T doubles, as the retransmission timeout
//! of TCP does (RFC 6298, section 5.5): packets that are sent again could otherwise fill a memory for ever. A random time is
//! added, from 0 to the growth of T: two packets that are lost to each other would otherwise meet again and again.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::super::ids::PacketId;
use super::super::spec::PacketSpec;
use super::super::switch::{Buffer, Switch, WhenFull};
use crate::chance::chance;

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
