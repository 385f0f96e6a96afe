//! Routers, virtual channels and packets: the detailed network of FSIN, the simulator of INSEE (J. Miguel-Alonso,
//! J. Navaridas, F. J. Ridruejo, "Interconnection network simulation using traces of MPI applications", International Journal
//! of Parallel Programming 37(2), 2009; F. J. Ridruejo, J. Miguel-Alonso, "INSEE: an Interconnection Network Simulation and
//! Evaluation Environment", Euro-Par 2005).
//!
//! # Vocabulary
//!
//! Time is counted in **cycles**. A **channel** carries a **phit** a cycle from a **port** of one router to the next. A message
//! is cut into **packets** of L phits, all of one size, as FSIN does: the last is filled up. At the end of each channel stand
//! the **queues** of its **virtual channels**, each with room for so many packets. A host has **injection ports**, queues of its
//! router with one packet each, and **consumption ports**, ports of its router that lead to the host.
//!
//! Switching is **virtual cut-through** (P. Kermani, L. Kleinrock, Computer Networks 3(4), 1979): a packet is passed on as
//! soon as its header is there, but only to a queue with room for all of it, so that it never stops half way. A port passes on
//! one packet at a time, and a queue gives one at a time. That is why a packet is all there is to simulate: once it is
//! granted a port, its phits follow its header one a cycle, whatever else happens.
//!
//! # A cycle
//!
//! Each of these steps is taken for the whole network before the next, and within a step the order does not matter:
//!
//! 1. **Tails.** A packet that was granted a port L cycles ago has left: the port is free, and so is its place in the queue.
//! 2. **Headers.** A packet that was granted a port 1 + w + r cycles ago is in the next queue: one cycle to enter the wire, the
//!    `wire_delay` w, and the `router_delay` r of the router that it comes to.
//! 3. **Offers.** A message offered 1 + r cycles ago (and w, if its host has a cable) is at its router. Every injection port that
//!    is empty takes the next packet of the oldest message of its host, the first port first.
//! 4. **Consumption.** A packet granted a consumption port L cycles ago (and w, likewise) is with its host. With the last of its
//!    packets a message is delivered.
//! 5. **Requests.** The packet at the head of each queue, if it is not already leaving, asks for at most one channel of one
//!    port that is free and behind which there is room, as [routing](crate::topology::Routing) says. Room is what is left of
//!    a queue's places after the packets in it and those granted a way to it. A packet at its destination asks for a free
//!    consumption port, the first from the one that the number of its queue gives.
//! 6. **Grants.** Of the packets that ask for a port [arbitration](arbitration) grants it to one. It takes its place in the next
//!    queue now.
//! 7. **Cables**, where `output_queue` gives the channels of each port [queues](output_queues) of their own. There a grant takes a
//!    packet through the crossbar to such a queue. A port whose cable is free passes on the first packet of one of them that
//!    has room behind it, channel by channel in turn; it takes its place in the next queue now, and its tail leaves L cycles
//!    later. Step 5 asks for room in the output queue, and counts what is behind it too.
//!
//! A router's requests depend on its own queues and on the room behind its own ports, which nobody else takes: that is
//! why routers can be looked at in any order. Chance is a function of the seed and of what it decides, not of when it
//! is asked ([chance](crate::chance)), so that a run repeats to the cycle.
//!
//! A packet alone takes, over h channels, **(1 + r) + h·(1 + w + r) + L** cycles from its offer, and 2w more where hosts have
//! cables ([`Delays::alone`]).
//!
//! # Links that are not alike
//!
//! Where packets follow written routes, a link may be thinner than the fastest one, which gives the clock, have a latency of
//! its own, and be shared by channels of both directions. Then steps 1 and 2 happen when the link says so
//! (`link_timing`), a head asks in step 5 for a port when the port can pass the packet on without a gap, and step 6 grants a
//! shared link to one of its channels, in turn. A packet that a port passes on has left its queue after L cycles, or when it
//! has come, however long the port takes.
//!
//! # What is where
//!
//! [`Engine`] lives through cycles in which something happens, and looks at ports and routers where something can;
//! `reference` (in tests) lives through all and looks at all, and must say the same. So must the slabs that a large network is
//! cut into for several threads (`engine::slabs`). A router's ports know the room behind
//! them from **credits** (`outputs`), its queues are `input_queues`, and what each is joined to is in `layout`.
//! [`PacketNetwork`] puts the engine under a workload.

mod active_set;
mod arbitration;
mod clock;
mod delay_line;
mod delays;
mod engine;
mod figures;
mod ids;
mod input_queues;
mod layout;
mod link_timing;
mod network;
mod output_queues;
mod outputs;
mod packets;
mod parameters;
mod prefetch;
mod sources;
mod spec;
mod usage;

#[cfg(test)]
mod reference;
#[cfg(test)]
mod slab_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod uneven_tests;

use crate::Connection;
use crate::topology::HostId;

pub use arbitration::Arbitration;
pub use delays::Delays;
pub use engine::{Engine, engine};
pub use figures::{Batch, ChannelFigures, Figures, Observation};
pub use network::{PacketNetwork, PacketStatistics};
pub use parameters::PacketParameters;
pub use sources::InjectionOrder;
pub use spec::PacketSpec;
pub use usage::{ChannelUsage, Usage};

/// A message from a host to a host, cut into packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its name, chosen by its sender.
    pub tag: u64,
    /// The host it leaves.
    pub from: HostId,
    /// The host it goes to, perhaps the same.
    pub to: HostId,
    /// The number of its packets: at least one.
    pub packets: u64,
    /// The connection that it takes; `None`: one of its own.
    pub connection: Option<Connection>,
}

/// A message that has arrived. Times are cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The message.
    pub message: Message,
    /// The cycle in which it was offered.
    pub created: u64,
    /// The cycle in which its first packet left its host.
    pub injected: u64,
    /// The cycle in which the tail of its last packet was consumed.
    pub at: u64,
    /// The most channels that a packet of it took.
    pub hops: u32,
}
