//! What can be said of routers.

use serde::Deserialize;
use titr_common::units::Bytes;

/// `[network.packet]`: routers and packets, all alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Bytes a second that a channel carries.
    pub bandwidth: f64,
    /// What a channel carries in a cycle.
    pub phit: Bytes,
    /// Phits of a packet, its header among them.
    pub packet_phits: u32,
    /// Phits of its header.
    pub header_phits: u32,
    /// Queues at the end of each channel.
    pub virtual_channels: u32,
    /// Packets that each has room for.
    pub queue_packets: u32,
    /// Packets that each channel of a port has room for between crossbar and cable; 0: a grant is the cable's.
    pub output_queue: u32,
    /// How ways are chosen.
    pub routing: Routing,
    /// Who goes first.
    pub arbitration: Arbitration,
    /// Packets that a host can send at once.
    pub injection_ports: u32,
    /// Packets that a host can receive at once.
    pub consumption_ports: u32,
    /// Cycles that a header spends in a router before it asks for a port.
    pub router_delay: u32,
    /// Cycles that a phit spends on a cable beyond the one in which it enters.
    pub wire_delay: u32,
    /// What chance follows from.
    pub seed: u64,
}

impl Default for Parameters {
    /// FSIN's router: phits of 4 bytes, packets of 16, queues of 4 packets, no delays; at 1 GB/s.
    fn default() -> Self {
        Self {
            bandwidth: 1e9,
            phit: Bytes(4),
            packet_phits: 16,
            header_phits: 0,
            virtual_channels: 1,
            queue_packets: 4,
            output_queue: 0,
            routing: Routing::DimensionOrder,
            arbitration: Arbitration::RoundRobin,
            injection_ports: 1,
            consumption_ports: 1,
            router_delay: 0,
            wire_delay: 0,
            seed: 0,
        }
    }
}

impl Parameters {
    /// How many packets a message of `bytes` makes: at least one, as there is a header to carry.
    #[must_use]
    pub fn packets(&self, bytes: Bytes) -> u64 {
        bytes.0.div_ceil(self.payload()).max(1)
    }

    /// What a packet occupies.
    #[must_use]
    pub fn packet_bytes(&self) -> Bytes {
        self.phit.times(self.packet_phits.into())
    }

    /// Bytes of a message that a packet carries.
    #[must_use]
    pub fn payload(&self) -> u64 {
        self.phit.0 * u64::from(self.packet_phits - self.header_phits)
    }
}

/// How a packet chooses among channels that bring it nearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routing {
    /// In grids: one dimension after the other.
    DimensionOrder,
    /// In grids: any dimension; channel 0 of each cable is the escape.
    Adaptive,
    /// In trees: up to a nearest common ancestor, and down.
    UpDown(Ascent),
    /// In dragonflies: the one shortest way.
    Minimal,
}

/// How a packet chooses among a switch's ports upwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ascent {
    /// By its destination.
    DModK,
    /// By its source.
    SModK,
    /// By chance.
    Random,
    /// Where there is most room.
    Adaptive,
}

/// Which of the packets that ask for a port gets it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// The first one after the queue that was served last.
    #[default]
    RoundRobin,
    /// The one that came first to the router.
    Fifo,
    /// Any.
    Random,
    /// The one with most packets in its queue.
    Longest,
}
