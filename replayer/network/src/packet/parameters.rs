//! Parameters of routers and packets, which are the same for all.
//!
//! # Arbitration
//!
//! Arbitration: the order in which packets that request one port are granted the port.
//!
//! The queues of a router form a circle. Under every rule, packets of equal priority are served in the circular order
//! of their queues, starting after the queue that the port served last.
//!
//! # Switches
//!
//! The two kinds of router, and the memory of the second.
//!
//! An **input-queued** router, as in interconnects, keeps a packet at the input by which it came until a port is granted. Under
//! uniform traffic, with a queue for each input, it passes at most 2 − √2 = 58.6 % of its bandwidth, because a packet that waits
//! for a port delays the packets behind it, which may be for other ports (M. J. Karol, M. G. Hluchyj, S. P. Morgan, "Input
//! Versus Output Queueing on a Space-MemoryDivision Packet Switch", IEEE Trans. on Communications 35(12), 1987).
//!
//! An **output-queued** switch, as in Ethernet, writes each packet into one memory for all ports as it arrives, and has a queue
//! for each port. No packet waits for a packet to another port, until the memory is full.

use std::fmt;

use serde::Deserialize;
use titr_common::units::{Bytes, Seconds};

use super::sources::InjectionOrder;
use super::{OutputId, QueueIndex};
use crate::chance::chance;
use crate::network::Unreachable;
use crate::topology::RoutingOptions;

/// Parameters of a packet network (`[network.packet]` in platform files).
#[derive(Clone, Debug, PartialEq)]
pub struct PacketParameters {
    /// Bytes a second that a channel carries.
    pub bandwidth: f64,
    /// Bytes that a channel carries in a cycle.
    pub phit: Bytes,
    /// Phits of a packet, its header among them. With output-queued switches, the last packet of a message may have fewer.
    pub packet_phits: u32,
    /// Phits of its header.
    pub header_phits: u32,
    /// Packets that each input queue has room for.
    pub queue_packets: u32,
    /// Packets that each channel of a port has room for between crossbar and cable; 0: a packet is on the cable when it is
    /// granted the port.
    pub output_queue: u32,
    /// The routing of packets, and the number of virtual channels.
    pub routing: RoutingOptions,
    /// The rule by which a port chooses among several requests.
    pub arbitration: Arbitration,
    /// The order in which a host sends the packets of its messages.
    pub injection_order: InjectionOrder,
    /// Packets of a connection that may be on their way at once, if connections take turns and switches are output-queued, as a window
    /// of TCP limits them. `None`: any number.
    pub connection_window: Option<u32>,
    /// Packets that a host can send at once.
    pub injection_ports: u32,
    /// Packets of each injection port that wait at the router of their host, each in a queue of its own. With 1, the next
    /// packet follows when the last has left the router.
    pub injection_queues: u32,
    /// Packets that a host can receive at once.
    pub consumption_ports: u32,
    /// Cycles that a header spends in a router before it requests a port.
    pub router_delay: u32,
    /// Cycles that a phit spends on a cable beyond the one in which it enters.
    pub wire_delay: u32,
    /// Bytes that each link passes at once after a pause, as a limiter with a token bucket does; only with output-queued switches.
    pub burst: Bytes,
    /// The kind of all routers. Output-queued switches do without `queue_packets`, `output_queue`, `arbitration` and
    /// `injection_queues`.
    pub switch: Switch,
    /// The seed of all random choices.
    pub seed: u64,
}

impl Default for PacketParameters {
    /// FSIN's router: phits of 4 bytes, packets of 16, queues of 4 packets, no delays; at 1 GB/s.
    fn default() -> Self {
        Self {
            bandwidth: 1e9,
            phit: Bytes(4),
            packet_phits: 16,
            header_phits: 0,
            queue_packets: 4,
            output_queue: 0,
            routing: RoutingOptions::default(),
            arbitration: Arbitration::RoundRobin,
            injection_order: InjectionOrder::default(),
            connection_window: None,
            injection_ports: 1,
            injection_queues: 1,
            consumption_ports: 1,
            router_delay: 0,
            wire_delay: 0,
            burst: Bytes(0),
            switch: Switch::default(),
            seed: 0,
        }
    }
}

/// Packets that a message may have: about an hour of simulation, and a terabyte in packets of 64 bytes.
pub(super) const MOST_PACKETS: u64 = 1 << 34;

impl PacketParameters {
    /// The number of packets of a message of `bytes`: at least one, as there is a header to carry.
    pub(crate) fn packets(&self, bytes: Bytes) -> u64 {
        bytes.0.div_ceil(self.payload()).max(1)
    }

    /// Checks that a message of `bytes` has no more packets than can be simulated.
    ///
    /// # Errors
    /// If it has more.
    pub fn check_size(&self, bytes: Bytes) -> Result<(), Unreachable> {
        let packets = self.packets(bytes);
        let too_many = Unreachable::Packets { bytes, packets, most: MOST_PACKETS };
        if packets > MOST_PACKETS { Err(too_many) } else { Ok(()) }
    }

    /// Phits of the last packet of a message of `bytes`, if switches have packets of different lengths and it is shorter.
    pub(crate) fn last_phits(&self, bytes: Bytes) -> Option<u32> {
        if !matches!(self.switch, Switch::OutputQueued(_)) {
            return None;
        }
        let rest = bytes.0 - bytes.0.saturating_sub(1) / self.payload() * self.payload();
        let phits = (self.header_phits + rest.div_ceil(self.phit.0) as u32).max(1);
        Some(phits).filter(|&phits| phits < self.packet_phits)
    }

    /// The number of queues of a host at its router.
    pub(crate) fn queues_of_host(&self) -> u32 {
        self.injection_ports.saturating_mul(self.injection_queues)
    }

    /// The size of a packet.
    pub(crate) fn packet_bytes(&self) -> Bytes {
        self.phit.times(self.packet_phits.into())
    }

    /// Bytes of a message that a packet carries.
    pub(crate) fn payload(&self) -> u64 {
        self.phit.0 * u64::from(self.packet_phits - self.header_phits)
    }
}

/// A rule by which a port chooses among the packets that request it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// The first one after the queue that was served last.
    #[default]
    RoundRobin,
    /// The one that came first to the router.
    Fifo,
    /// Any, each as likely.
    Random,
    /// The one with most packets in its queue.
    Longest,
}

/// The priority of a request: the smallest wins.
pub(super) type Priority = (u64, u32);

/// A packet that requests a port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<S> {
    /// The queue that it heads.
    pub queue: QueueIndex,
    /// Tells the cycle in which its header came to the router, which is asked only where it matters.
    pub since: S,
    /// Packets in its queue.
    pub queued: u32,
}

/// The state of a port's arbiter at a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArbiterState {
    /// Queues in the circle.
    pub queues: u32,
    /// The queue that was served last.
    pub last: QueueIndex,
    pub output: OutputId,
    pub now: u64,
    pub seed: u64,
}

impl Arbitration {
    pub(super) fn priority(self, request: Request<impl FnOnce() -> u64>, state: ArbiterState) -> Priority {
        let ArbiterState { queues, last, output, now, seed } = state;
        let (queue, last) = (request.queue.0, last.0);
        let after = if queue > last { queue - last - 1 } else { queue + queues - last - 1 };
        let first = match self {
            Self::RoundRobin => 0,
            Self::Fifo => (request.since)(),
            Self::Random => chance(seed ^ now, output.0.into(), queue.into()),
            Self::Longest => u64::MAX - u64::from(request.queued),
        };
        (first, after)
    }
}

/// The kind of all routers of a network.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Switch {
    /// Queues at the inputs, virtual cut-through, and a bubble in rings.
    #[default]
    InputQueued,
    /// Queues at the outputs, in one memory. `None`: the memory is never full.
    OutputQueued(Option<Buffer>),
}

/// The memory of an output-queued switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buffer {
    /// Bytes of packets, in a whole number of packets, rounded down.
    pub size: Bytes,
    /// The division of the memory.
    pub sharing: BufferSharing,
    /// What happens to a packet for which there is no room.
    pub when_full: WhenFull,
}

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::InputQueued => f.write_str("input-queued"),
            Self::OutputQueued(None) => f.write_str("output-queued, with memory without limit"),
            Self::OutputQueued(Some(buffer)) => write!(f, "output-queued, with {buffer}"),
        }
    }
}

impl fmt::Display for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let when_full = match self.when_full {
            WhenFull::Pause => "pause their senders",
            WhenFull::Drop { .. } => "drop packets",
        };
        match self.sharing {
            BufferSharing::Partitioned => write!(f, "{} bytes in equal parts; {when_full} when full", self.size.0),
            BufferSharing::Shared { alpha } => {
                write!(f, "{} shared bytes (alpha {alpha}); {when_full} when full", self.size.0)
            }
        }
    }
}

/// The memory of one switch, in packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MemoryDivision {
    /// Places of each account's own.
    pub own: u32,
    /// Places that all accounts share.
    pub shared: u32,
}

impl Buffer {
    /// The division of a memory of `places` packets among `accounts`. `None` if it is too small.
    pub(super) fn divide(&self, places: u32, accounts: u32) -> Option<MemoryDivision> {
        match (self.sharing, self.when_full) {
            (BufferSharing::Partitioned, _) => {
                let own = places.checked_div(accounts).unwrap_or(0);
                (own > 0 || accounts == 0).then_some(MemoryDivision { own, shared: 0 })
            }
            (BufferSharing::Shared { .. }, WhenFull::Pause) => {
                places.checked_sub(accounts).map(|shared| MemoryDivision { own: 1, shared })
            }
            (BufferSharing::Shared { .. }, WhenFull::Drop { .. }) => {
                (places > 0).then_some(MemoryDivision { own: 0, shared: places })
            }
        }
    }
}

/// The division of a switch's memory, among inputs if a full switch pauses its senders, or else among outputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BufferSharing {
    /// Equal parts.
    Partitioned,
    /// Dynamic thresholds (A. K. Choudhury, E. L. Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches",
    /// IEEE/ACM Trans. on Networking 6(2), 1998): a queue may grow while it is shorter than `alpha` times the free memory.
    Shared {
        /// Length that a queue may have, as a multiple of the free memory; positive.
        alpha: f64,
    },
}

/// What happens to a packet for which a switch has no room.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WhenFull {
    /// It waits where it comes from: its sender pauses, as with the priority flow control of IEEE 802.1Qbb.
    Pause,
    /// It is lost, and its host sends it again.
    Drop {
        /// The time from the loss of a packet until its host may send it again.
        retransmit_after: Seconds,
    },
}
