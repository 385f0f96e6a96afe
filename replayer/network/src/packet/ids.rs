//! Identifiers of the engine. Routers, ports and channels are numbered by the [topology](crate::topology).

use crate::ids::ids;

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
