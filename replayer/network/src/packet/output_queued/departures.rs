//! Tails that leave some cycles after their headers: all after the same, but for those of short packets and those that a token bucket
//! passes at once.
//!
//! # Spans
//!
//! Spans: cycles from a packet's header to its tail on a link, as many as its phits, or fewer with a token bucket.
//!
//! The last packet of a message is as short as its data allows, as a frame of Ethernet is.
//!
//! A limiter holds a link to a phit per cycle by a bucket of *B* phits, which gets one in each cycle. A packet of *L* phits that finds
//! *t* phits there takes *L* away, and its tail leaves after *L − t* cycles, or one. It leaves no earlier than it has come: a
//! packet that cuts through is as slow as on the link before. A bucket is the cycle in which it will be full again (the virtual
//! scheduling algorithm of ITU-T I.371, annex A).

use super::super::active_set::ones;
use super::super::delay_line::DelayLine;
use crate::packet::layout::Layout;
use crate::packet::spec::PacketSpec;
use crate::packet::{OutputId, PacketId, QueueId};

/// Items that come out a number of cycles after they went in, at most L.
#[derive(Debug)]
pub(super) struct Departures<T> {
    usual: DelayLine<T>,
    /// L.
    most: u64,
    /// Items that come out sooner, by their cycle modulo L.
    sooner: Vec<Vec<T>>,
    /// A bit for each of these lists that is not empty.
    occupied: Vec<u64>,
    /// The cycle of the first of these items; `u64::MAX` if there is none.
    first_sooner: u64,
    /// The last cycle in which items were taken.
    now: u64,
}

impl<T: Copy> Departures<T> {
    pub(crate) fn new(most: u64) -> Self {
        let slots = most as usize;
        Self {
            usual: DelayLine::new(most),
            most,
            sooner: (0..slots).map(|_| Vec::new()).collect(),
            occupied: vec![0; slots.div_ceil(64)],
            first_sooner: u64::MAX,
            now: 0,
        }
    }

    /// `cycles` is at least one and at most L.
    pub(crate) fn push(&mut self, now: u64, cycles: u64, thing: T) {
        if cycles == self.most {
            return self.usual.push(now, thing);
        }
        self.first_sooner = self.first_sooner.min(now + cycles);
        let slot = ((now + cycles) % self.most) as usize;
        self.sooner[slot].push(thing);
        self.occupied[slot / 64] |= 1 << (slot % 64);
    }

    /// The cycle in which the next thing comes out; `u64::MAX` if there is none.
    pub(crate) fn next(&self) -> u64 {
        self.usual.next().min(self.first_sooner)
    }

    /// The cycle of the first list that is not empty. Lists are in the order of their cycles from the one of `now` on, and then from
    /// the first.
    fn find_first(&self) -> u64 {
        let first = (self.now % self.most) as usize;
        let words = self.occupied.len();
        // The word of the first list is looked at twice: for the lists from that on, and at the end for those before it.
        for step in 0..=words {
            let word = (first / 64 + step) % words;
            let late = !0 << (first % 64);
            let mask = if step == 0 {
                late
            } else if step == words {
                !late
            } else {
                !0
            };
            if let Some(bit) = ones(self.occupied[word] & mask).next() {
                let after = (64 * word + bit as usize + self.most as usize - first) % self.most as usize;
                return self.now + after as u64;
            }
        }
        u64::MAX
    }

    /// Removes the items that come out at `now`, which is no later than [`next`](Self::next). Return the list with
    /// [`recycle`](Self::recycle).
    pub(crate) fn take(&mut self, now: u64) -> Vec<T> {
        self.now = now;
        let mut taken = self.usual.take(now);
        if self.first_sooner == now {
            let slot = (now % self.most) as usize;
            self.occupied[slot / 64] &= !(1 << (slot % 64));
            self.first_sooner = self.find_first();
            let sooner = &mut self.sooner[slot];
            if taken.is_empty() {
                std::mem::swap(&mut taken, sooner);
            } else {
                taken.append(sooner);
            }
        }
        taken
    }

    /// Gives back the memory of things that have come out at `now`.
    pub(crate) fn recycle(&mut self, mut things: Vec<T>) {
        let slot = (self.now % self.most) as usize;
        if self.sooner[slot].capacity() == 0 {
            things.clear();
            self.sooner[slot] = things;
        } else {
            self.usual.recycle(things);
        }
    }
}

/// The lengths of all packets, and the buckets of all links.
#[derive(Debug)]
pub(super) struct Spans {
    /// Phits that each bucket has room for; 0: there are none.
    burst: u64,
    /// The cycles in which the buckets of ports and of injection ports are full.
    ports: Vec<u64>,
    injection_ports: Vec<u64>,
    packets: Vec<PacketSpan>,
}

#[derive(Clone, Copy, Debug, Default)]
struct PacketSpan {
    phits: u32,
    /// Its span on the link that it took last.
    last: u32,
}

/// Where a packet enters a link.
#[derive(Clone, Copy, Debug)]
pub(super) enum LinkStart {
    /// A port of a switch, and the cycle in which the header came that it sends on.
    Port(OutputId, u64),
    /// An injection port, by its input at the switch.
    Host(QueueId),
}

impl Spans {
    /// Full buckets.
    pub(crate) fn new(spec: &PacketSpec, layout: &Layout) -> Self {
        let burst = spec.burst_phits();
        let full = |links: usize| if burst > 0 { vec![0; links] } else { Vec::new() };
        let (ports, injection_ports) = (full(layout.outputs.len()), full(layout.queues.len()));
        Self { burst, ports, injection_ports, packets: Vec::new() }
    }

    /// A host cuts a packet of some phits.
    pub(crate) fn cut(&mut self, packet: PacketId, phits: u32) {
        if self.packets.len() <= packet.index() {
            self.packets.resize(packet.index() + 1, PacketSpan::default());
        }
        self.packets[packet.index()].phits = phits;
    }

    pub(crate) fn phits(&self, packet: PacketId) -> u32 {
        self.packets[packet.index()].phits
    }

    /// Cycles until the tail of a packet has left that is sent from `now` on.
    pub(crate) fn pass(&mut self, packet: PacketId, start: LinkStart, now: u64) -> u64 {
        let PacketSpan { phits, last } = &mut self.packets[packet.index()];
        let phits = u64::from(*phits);
        if self.burst == 0 {
            return phits;
        }
        let (full_at, tail_comes) = match start {
            LinkStart::Port(output, header) => (&mut self.ports[output.index()], header + u64::from(*last)),
            LinkStart::Host(input) => (&mut self.injection_ports[input.index()], now),
        };
        let tokens = self.burst.saturating_sub(full_at.saturating_sub(now));
        *full_at = (*full_at).max(now) + phits;
        let span = phits.saturating_sub(tokens).max(tail_comes.saturating_sub(now)).max(1);
        // No span is longer than the packet.
        *last = span as u32;
        span
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_come_out_on_time_whenever_that_is() {
        for most in [1, 5, 64, 65, 200] {
            let mut departures = Departures::new(most);
            let mut expected = Vec::new();
            for now in 0..1000 {
                let taken = departures.take(now);
                let due: Vec<u64> = expected.extract_if(.., |at| *at == now).collect();
                assert_eq!(taken, due, "{most} at {now}");
                departures.recycle(taken);
                for cycles in [now * 7919 % most + 1, most].into_iter().take((now % 3) as usize) {
                    departures.push(now, cycles, now + cycles);
                    expected.push(now + cycles);
                }
                assert_eq!(departures.next(), expected.iter().copied().min().unwrap_or(u64::MAX), "{most} at {now}");
            }
        }
    }
}
