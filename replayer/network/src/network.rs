//! What carries messages between hosts, seen from above: [`Network`]. Nothing above it asks which model it is.

use titr_common::units::Bytes;

use crate::topology::HostId;
use titr_common::time::Time;

/// Names a message while it is under way; chosen by who injects it, free again once delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransferId(pub u32);

/// A message handed to the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Its name.
    pub id: TransferId,
    /// The host it leaves.
    pub from: HostId,
    /// The host it goes to, perhaps the same.
    pub to: HostId,
    /// Its payload.
    pub bytes: Bytes,
}

/// A model of the wires. Time moves by `advance` alone, and never backwards.
pub trait Network {
    /// `transfer` enters the network at `now`: the time last advanced to.
    fn inject(&mut self, now: Time, transfer: Transfer);

    /// When the network next has something to do by itself; `None` while nothing is under way.
    fn next_event(&mut self) -> Option<Time>;

    /// Moves on to `now`, which is no later than [`next_event`](Self::next_event), and appends what was delivered to
    /// `delivered`, in the order in which it arrived (ties: the order of injection).
    fn advance(&mut self, now: Time, delivered: &mut Vec<TransferId>);

    /// What passed over each link so far, by the topology's link number.
    fn link_loads(&self) -> Vec<LinkLoad>;

    /// What routers have seen so far, which is what they see up to `until`, where there are such.
    fn observation(&self, until: Time) -> Option<crate::packet::Observation> {
        let _ = until;
        None
    }

    /// Phits times channels that they took so far, where there are such.
    fn phit_hops(&self) -> Option<u64> {
        None
    }
}

/// What one link has carried.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkLoad {
    /// Payload that took the link.
    pub bytes: Bytes,
    /// Messages that took it.
    pub messages: u64,
}
