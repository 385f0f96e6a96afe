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

use titr_common::units::{Bytes, Seconds};

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
