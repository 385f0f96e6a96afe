//! Routers, virtual channels and packets: the detailed network of FSIN, the simulator of INSEE.

mod arbitration;
mod chance;
mod clock;
mod delay_line;
mod delays;
mod design;
mod engine;
mod layout;
mod network;
mod packets;
mod parameters;
mod routing;
mod sources;
mod usage;

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;

pub use delays::Delays;
pub use design::Design;
pub use engine::Engine;
pub use network::PacketNetwork;
pub use parameters::{Arbitration, Ascent, Parameters, Routing};
pub use usage::Usage;

/// What a host sends to a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// What its sender calls it.
    pub tag: u64,
    /// The host it leaves.
    pub from: u32,
    /// The host it goes to, perhaps the same.
    pub to: u32,
    /// How many packets it is: at least one.
    pub packets: u64,
}

/// A message that has arrived. Times are cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The message.
    pub message: Message,
    /// When it was offered.
    pub created: u64,
    /// When its first packet left its host.
    pub injected: u64,
    /// When the tail of its last was consumed.
    pub at: u64,
    /// Channels that its last packet took.
    pub hops: u32,
}
