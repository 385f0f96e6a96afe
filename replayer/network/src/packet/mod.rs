//! Routers, virtual channels and packets: the detailed network of FSIN, the simulator of INSEE (J. Miguel-Alonso,
//! J. Navaridas, F. J. Ridruejo, "Interconnection network simulation using traces of MPI applications", International Journal
//! of Parallel Programming 37(2), 2009; F. J. Ridruejo, J. Miguel-Alonso, "INSEE: an Interconnection Network Simulation and
//! Evaluation Environment", Euro-Par 2005).
//!
//! # Vocabulary
//!
//! Time is counted in **cycles**. A **channel** carries one **phit** per cycle from a **port** of one router to the
//! next. A message is divided into **packets** of L phits, all of the same size, as in FSIN: the last one is padded. At
//! the end of each channel are the **queues** of its **virtual channels**, each with room for a fixed number of
//! packets. A host has **injection ports**, queues of its router with one packet each, and **consumption ports**, ports
//! of its router that lead to the host.
//!
//! Switching is **virtual cut-through** (P. Kermani, L. Kleinrock, Computer Networks 3(4), 1979): a packet is forwarded
//! as soon as its header has arrived, but only to a queue with room for all of it, so it never stops half way. A port
//! forwards one packet at a time, and a queue releases one at a time. The simulation therefore needs no smaller unit
//! than a packet: once it is granted a port, its phits follow its header, one per cycle.
//!
//! # A cycle
//!
//! Each step is executed for the whole network before the next one; the order within a step does not matter:
//!
//! 1. **Tails.** A packet that was granted a port L cycles ago has left: the port is free, and so is its place in the
//!    queue.
//! 2. **Headers.** A packet that was granted a port 1 + w + r cycles ago is in the next queue: one cycle to enter the
//!    wire, the `wire_delay` w, and the `router_delay` r of the next router.
//! 3. **Offers.** A message offered 1 + r cycles ago (plus w, if its host has a cable) is at its router. Every empty
//!    injection port takes the next packet of the oldest message of its host, the first port first.
//! 4. **Consumption.** A packet granted a consumption port L cycles ago (plus w, if its host has a cable) is with its
//!    host. A message is delivered with its last packet.
//! 5. **Requests.** The packet at the head of each queue, unless it is already leaving, decides between paths, if its
//!    [routing](crate::topology::Routing) compares them. It then requests at most one channel of one free port with room
//!    behind it, chosen by the routing. Packets decide by the queues as they are before any request is granted. Room is the number of
//!    places of a queue, less the packets in it and those granted a way to it. A packet at its destination requests a
//!    free consumption port, the first one starting at a port determined by the number of its queue.
//! 6. **Grants.** [Arbitration](parameters) grants each port to one of the packets that request it. The packet takes
//!    its place in the next queue now.
//! 7. **Cables**, if `output_queue` gives the channels of each port [queues](output_queues) of their own. In that case,
//!    a grant takes a packet through the crossbar to such a queue. A port with a free cable sends the first packet of
//!    one of these queues with room behind it, in round-robin order of the channels. The packet takes its place in the
//!    next queue now, and its tail leaves L cycles later. Step 5 requires room in the output queue, and also counts the
//!    room behind it.
//!
//! A router's requests depend on its own queues and on the room behind its own ports, which no other router takes, so
//! routers can be visited in any order. A random choice is a function of the seed and of its subject, not of the order
//! of its use ([chance](crate::chance)), so a run repeats exactly.
//!
//! A single packet in an idle network takes, over h channels, **(1 + r) + h·(1 + w + r) + L** cycles from its offer,
//! and 2w more if hosts have cables ([`Delays::alone`]).
//!
//! # Unequal links
//!
//! Where packets follow explicit routes, a link may be thinner than the fastest one, which sets the clock, have a
//! latency of its own, and be shared by channels of both directions. Steps 1 and 2 then happen at times that depend on
//! the link (`link_timing`), a head requests a port in step 5 when the port can forward the packet without a gap, and
//! step 6 grants a shared link to its channels in turn. A packet leaves its queue L cycles after its grant, or when it
//! has arrived completely, regardless of the time that the port takes.
//!
//! # Switches with output queues
//!
//! All of this is about routers with input queues. The switches of Ethernet have [queues at their outputs](output_queued), in a
//! memory for all ports, and an engine of their own.
//!
//! # Parts
//!
//! [`Engine`] simulates only cycles in which something happens, and visits only ports and routers where something can
//! happen. `reference` (in tests) visits everything in every cycle, and has to give the same results. Ports know the
//! room behind them from **credits** (`outputs`), queues are in `input_queues`, and the connections of both are in `layout`.
//! [`PacketNetwork`] runs the engine under a workload.

mod active_set;
mod delay_line;
mod engine;
mod figures;
mod input_queues;
mod layout;
mod link_timing;
mod network;
mod output_queued;
mod output_queues;
mod parameters;
mod sources;
mod spec;
mod usage;

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;

use crate::Connection;
use crate::ids::ids;
use crate::topology::{HostId, RoutePeriod};

pub use engine::Engine;
pub use figures::{Batch, ChannelFigures, Figures, Observation};
pub use network::{PacketNetwork, PacketStatistics};
pub use parameters::{Arbitration, Buffer, BufferSharing, PacketParameters, Switch, WhenFull};
pub use sources::InjectionOrder;
pub use spec::{Delays, PacketSpec};
pub use usage::{PacketCount, Usage};

ids! {
    /// An input queue, numbered across all routers.
    QueueId
    /// An input queue, numbered from 0 at its router.
    QueueIndex
    /// An output port, numbered across all routers.
    OutputId
    /// A packet in transit.
    PacketId
    /// A message in transit.
    MessageId
}

/// An idle network, with the engine for the kind of its routers.
#[must_use]
pub fn engine(spec: &PacketSpec) -> Box<dyn Engine> {
    match spec.parameters.switch {
        Switch::InputQueued => engine::input_queued(spec),
        Switch::OutputQueued(_) => output_queued::output_queued(spec),
    }
}

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
    /// Phits of its last packet, if that is shorter than others; only output-queued switches have packets of different lengths.
    pub last_phits: Option<u32>,
    /// The connection that it uses; `None`: a separate one.
    pub connection: Option<Connection>,
    /// The period of its route, where packets follow the routes of the topology.
    pub period: RoutePeriod,
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
