//! Parameters of routers and packets, which are the same for all.

use titr_common::units::Bytes;

use super::arbitration::Arbitration;
use super::sources::InjectionOrder;
use super::switch::Switch;
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

impl PacketParameters {
    /// The number of packets of a message of `bytes`: at least one, as there is a header to carry.
    #[must_use]
    pub(crate) fn packets(&self, bytes: Bytes) -> u64 {
        bytes.0.div_ceil(self.payload()).max(1)
    }

    /// Phits of the last packet of a message of `bytes`, if switches have packets of different lengths and it is shorter.
    #[must_use]
    pub(crate) fn last_phits(&self, bytes: Bytes) -> Option<u32> {
        if !matches!(self.switch, Switch::OutputQueued(_)) {
            return None;
        }
        let rest = bytes.0 - bytes.0.saturating_sub(1) / self.payload() * self.payload();
        let phits = (self.header_phits + rest.div_ceil(self.phit.0) as u32).max(1);
        Some(phits).filter(|&phits| phits < self.packet_phits)
    }

    /// The number of queues of a host at its router.
    #[must_use]
    pub(crate) fn queues_of_host(&self) -> u32 {
        self.injection_ports.saturating_mul(self.injection_queues)
    }

    /// The size of a packet.
    #[must_use]
    pub(crate) fn packet_bytes(&self) -> Bytes {
        self.phit.times(self.packet_phits.into())
    }

    /// Bytes of a message that a packet carries.
    #[must_use]
    pub(crate) fn payload(&self) -> u64 {
        self.phit.0 * u64::from(self.packet_phits - self.header_phits)
    }
}
