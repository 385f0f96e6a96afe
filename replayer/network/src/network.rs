//! Networks as seen from above: [`Network`] carries messages between hosts, and nothing that drives a network asks which
//! model it is. Statistics that a model keeps beside the loads of links are asked of their own type, such as
//! [`PacketStatistics::of`](crate::packet::PacketStatistics::of).

use std::any::Any;

use titr_common::time::Time;
use titr_common::units::{Bytes, Seconds};

use crate::topology::HostId;

/// The name of a message while it is under way: chosen by the code that injects the message, free again once delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransferId(pub u32);

/// A message handed to the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The message's name.
    pub id: TransferId,
    /// The host it leaves.
    pub from: HostId,
    /// The host it goes to, perhaps the same.
    pub to: HostId,
    /// The payload.
    pub bytes: Bytes,
    /// The connection that it takes; `None`: one of its own.
    pub connection: Option<Connection>,
}

/// The way from one process to another, such as a TCP connection or a queue pair. A model may let its messages travel one
/// after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Connection {
    /// The number of the process that sends.
    pub sender: u32,
    /// The number of the process that receives.
    pub receiver: u32,
}

/// The time that a message takes with the network to itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unloaded {
    /// Until the first byte arrives.
    pub latency: Seconds,
    /// From then on until the last byte arrives, at the rate of the slowest part of the way.
    pub transfer: Seconds,
}

/// A model of how messages travel. Time moves by `advance` alone, and never backwards.
pub trait Network: Any {
    /// `transfer` enters the network at `now`: the time last advanced to.
    fn inject(&mut self, now: Time, transfer: Transfer);

    /// The time that `transfer` would take if no other message were under way. Its sum is the time that the message then
    /// takes, but for rounding; a model whose messages can take several ways says it for a shortest one.
    fn unloaded(&mut self, transfer: &Transfer) -> Unloaded;

    /// The time at which the network next has something to do by itself; `None` while nothing is under way.
    fn next_event(&mut self) -> Option<Time>;

    /// Moves on to `now`, which is no later than [`next_event`](Self::next_event), and appends what was delivered to
    /// `delivered`, in the order in which it arrived (ties: the order of injection).
    fn advance(&mut self, now: Time, delivered: &mut Vec<TransferId>);

    /// The load that each link has carried so far, by the topology's link number.
    fn link_loads(&self) -> Vec<LinkLoad>;
}

/// The load that a link has carried.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkLoad {
    /// Payload that took the link.
    pub bytes: Bytes,
    /// Messages that took it.
    pub messages: u64,
}
