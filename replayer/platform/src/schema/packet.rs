//! `[network.packet]`: packets, routers and their queues.

use serde::Deserialize;
use titr_common::units::{Bytes, Quantity, Seconds};
use titr_network::packet::{Arbitration, InjectionOrder};
use titr_network::topology::{Ascent, RoutingName};
use toml::Spanned;

use super::switch::{Full, Sharing, SwitchKind};

/// `[network.packet]`: parameters of `model = "packet"`. The defaults are those of FSIN's router.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PacketTable {
    /// Bytes that a channel carries in a cycle, so that bandwidth / phit is the clock's frequency. Default: 4 bytes.
    pub phit: Option<Spanned<Quantity<Bytes>>>,
    /// Packets' size, a whole number of phits. Default: 64 bytes.
    pub packet: Option<Spanned<Quantity<Bytes>>>,
    /// The part of a packet that is header, which messages' bytes are not counted in. Default: none.
    pub header: Option<Spanned<Quantity<Bytes>>>,
    /// Queues at the end of each channel. Default: 1 in dimension order and in trees, 3 if adaptive, 2 in
    /// dragonflies, 3 if packets may pass other groups, 4 with `"par"`, one for each hop in graphs of routers.
    pub virtual_channels: Option<Spanned<u32>>,
    /// Packets that each virtual channel has room for. Default: 4.
    pub queue_packets: Option<Spanned<u32>>,
    /// Packets that each channel of a port has room for between crossbar and cable. Default: none.
    pub output_queue: Option<Spanned<u32>>,
    /// Default: `"dor"` in grids, `"up-down"` in trees, `"minimal"` in dragonflies and graphs of
    /// routers. `"up-down"` in graphs of routers needs one virtual channel. `"updown"` is the same as `"up-down"`.
    pub routing: Option<Spanned<RoutingName>>,
    /// The choice of ports upwards in trees. Default: `"adaptive"` if the routing is, otherwise the ascent of the topology.
    pub ascent: Option<Spanned<Ascent>>,
    /// Default: `"bubble"` where there are rings.
    pub flow_control: Option<Spanned<FlowControl>>,
    /// Default: `"round-robin"`.
    pub arbitration: Option<Spanned<Arbitration>>,
    /// The order in which a host sends the packets of its messages. Default: `"fifo"`.
    pub injection_order: InjectionOrder,
    /// Bytes of a connection that may be on their way at once, with output-queued switches and `injection_order = "round-robin"`.
    /// Default: any number.
    pub connection_window: Option<Spanned<Quantity<Bytes>>>,
    /// Packets that a host can send at once. Default: 1.
    pub injection_ports: Option<Spanned<u32>>,
    /// Packets of each injection port that wait at the router of their host, each in a queue of its own. Default: 1.
    pub injection_queues: Option<Spanned<u32>>,
    /// Packets that a host can receive at once. Default: 1.
    pub consumption_ports: Option<Spanned<u32>>,
    /// Cycles that a header spends in a router before it requests a port. Default: 0.
    pub router_delay: u32,
    /// Cycles that a phit spends on a cable beyond the one in which it enters. Default: 0.
    pub wire_delay: Option<u32>,
    /// Bytes that a link passes at once after a pause, with output-queued switches: a limiter with a token bucket does. Default: none.
    pub burst: Option<Spanned<Quantity<Bytes>>>,
    /// Default: `"input-queued"`.
    pub switch: SwitchKind,
    /// The memory of an output-queued switch. Default: without limit.
    pub buffer: Option<Spanned<Quantity<Bytes>>>,
    /// The division of the memory. Default: `"shared"`.
    pub buffer_sharing: Option<Spanned<Sharing>>,
    /// Packets that a queue in a shared memory may have, as a multiple of those that the free memory has room for. Default: 1.
    pub alpha: Option<Spanned<f64>>,
    /// What happens to packets that a full memory has no room for. Default: `"pause"`.
    pub when_full: Option<Spanned<Full>>,
    /// Time from the first loss of a packet until its host sends it again. Default: 200 ms.
    pub retransmit_after: Option<Spanned<Quantity<Seconds>>>,
    /// The seed of everything that chance decides. Default: 0.
    pub seed: u64,
}

/// `[network.packet] flow_control`
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowControl {
    /// Virtual cut-through, where a packet that enters a ring leaves a bubble in it.
    Bubble,
    /// Virtual cut-through alone, where there are no rings.
    Vct,
}
