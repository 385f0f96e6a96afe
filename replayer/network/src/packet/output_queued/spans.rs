//! Spans: cycles from a packet's header to its tail on a link, as many as its phits, or fewer with a token bucket.
//!
//! The last packet of a message is as short as its data allows, as a frame of Ethernet is.
//!
//! A limiter holds a link to a phit per cycle by a bucket of *B* phits, which gets one in each cycle. A packet of *L* phits that finds
//! *t* phits there takes *L* away, and its tail leaves after *L − t* cycles, or one. It leaves no earlier than it has come: a
//! packet that cuts through is as slow as on the link before. A bucket is the cycle in which it will be full again (the virtual
//! scheduling algorithm of ITU-T I.371, annex A).

use super::super::ids::{OutputId, PacketId, QueueId};
use super::super::layout::Layout;
use super::super::spec::PacketSpec;

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

    /// The phits of a packet.
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
