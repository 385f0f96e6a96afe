//! `switch` and `buffer` of `[network.packet]`: the kind of all routers, and the memory of output-queued ones.

use serde::Deserialize;

/// `[network.packet] switch`
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SwitchKind {
    /// A router of an interconnect: queues at the ends of channels.
    #[default]
    InputQueued,
    /// A switch of Ethernet: one memory, and a queue for each port.
    OutputQueued,
}

/// `[network.packet] buffer_sharing`
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// Dynamic thresholds.
    #[default]
    Shared,
    /// Equal parts.
    Partitioned,
}

/// `[network.packet] when_full`
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Full {
    /// Senders wait.
    #[default]
    Pause,
    /// Packets are lost, and sent again.
    Drop,
}
