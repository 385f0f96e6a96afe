//! The choice among equally short ports of the switches of a tree.
//!
//! At level l — hosts are level 0 — **d-mod-k** takes the port ⌊d / Π_{j≤l} w_j⌋ mod w_{l+1} of the destination d,
//! where each device of level j − 1 has w_j ports upwards (Zahavi, CCIT 776, 2010). **s-mod-k** uses the source's
//! number instead. **hashed** takes a hash of both hosts and the level, as switches with equal-cost multi-path routing
//! (ECMP, RFC 2992) hash the addresses of a packet: all messages between two hosts take one path. A real switch also
//! hashes the transport ports, so that each connection has a path.

use serde::Deserialize;

use super::{Direction, HostId};
use crate::chance::chance;

/// The choice among the ports of a switch that lead upwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ascent {
    /// Determined by the destination.
    #[default]
    DModK,
    /// Determined by the source.
    SModK,
    /// Determined by a hash of source and destination.
    Hashed,
    /// A random port for each packet.
    Random,
    /// The port with most room for each packet.
    Adaptive,
}

/// A choice of ports, with the seed of its hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortChoice {
    /// The choice of ports upwards.
    pub ascent: Ascent,
    /// The seed of the hash.
    pub seed: u64,
}

impl Ascent {
    /// Whether each packet of a message has its own choice.
    #[must_use]
    pub fn is_of_packets(self) -> bool {
        match self {
            Self::DModK | Self::SModK | Self::Hashed => false,
            Self::Random | Self::Adaptive => true,
        }
    }

    /// Its name in platform files.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::DModK => "d-mod-k",
            Self::SModK => "s-mod-k",
            Self::Hashed => "hashed",
            Self::Random => "random",
            Self::Adaptive => "adaptive",
        }
    }
}

impl PortChoice {
    /// The number from which the port upwards of a device follows, for a message between two hosts. `stage` counts the
    /// levels below the cable, and `stride` is Π w_j of these levels. Where packets choose, the number is that of d-mod-k.
    pub(super) fn upwards(self, (from, to): (HostId, HostId), stage: usize, stride: u32) -> u32 {
        match self.ascent {
            Ascent::DModK | Ascent::Random | Ascent::Adaptive => to.0 / stride,
            Ascent::SModK => from.0 / stride,
            Ascent::Hashed => self.hash((from, to), stage, Direction::Up),
        }
    }

    /// The number from which the parallel cable to a child follows. It is of the host that does not determine the switch.
    pub(super) fn downwards(self, (from, to): (HostId, HostId), stage: usize) -> u32 {
        match self.ascent {
            Ascent::DModK | Ascent::Random | Ascent::Adaptive => from.0,
            Ascent::SModK => to.0,
            Ascent::Hashed => self.hash((from, to), stage, Direction::Down),
        }
    }

    fn hash(self, (from, to): (HostId, HostId), stage: usize, direction: Direction) -> u32 {
        let flow = chance(self.seed, from.0.into(), to.0.into());
        (chance(flow, stage as u64, direction as u64) >> 33) as u32
    }
}
