//! The interface of network models. A [`Network`] carries messages between hosts; its users need not know which model
//! it is. Statistics that only one model keeps, beside the loads of links, are available from their own type, such as
//! [`RailNetwork::packet_statistics`](crate::RailNetwork::packet_statistics).

use std::any::Any;
use std::num::NonZero;

use thiserror::Error;
use titr_common::format::{count, volume};
use titr_common::time::Time;
use titr_common::units::{Bytes, Seconds};

use crate::topology::{HostId, Inside, Topology};

/// The identifier of a message in transit: chosen by the code that injects the message, free again once delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransferId(pub u32);

/// A message handed to the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    /// The message's name.
    pub id: TransferId,
    /// The host it leaves.
    pub from: HostId,
    /// The host it goes to, perhaps the same.
    pub to: HostId,
    /// The payload.
    pub bytes: Bytes,
    /// The connection that it uses; `None`: a separate one.
    pub connection: Option<Connection>,
    /// The factor on the time that it takes, 1 unless times vary at random: on its latency and on its transfer. In a packet
    /// network, it is the factor on the number of its packets.
    pub stretch: f64,
    /// Where it goes if it stays within its host.
    pub inside: Inside,
}

impl Transfer {
    /// A message by a separate connection, whose time does not vary, and which goes nowhere in particular within its host.
    #[must_use]
    pub fn new(id: TransferId, from: HostId, to: HostId, bytes: Bytes) -> Self {
        Self { id, from, to, bytes, connection: None, stretch: 1.0, inside: Inside::default() }
    }
}

/// A channel from one process to another, such as a TCP connection or a queue pair. A model may send its messages one
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
    /// Time from then until the last byte arrives, at the rate of the slowest part of the route.
    pub transfer: Seconds,
}

/// An error: a message can never arrive.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Unreachable {
    /// It would arrive after the end of simulated time.
    #[error("simulated time runs past 213 days: is a volume, a bandwidth or a speed wrong?")]
    EndOfTime,
    /// There is no route to its destination.
    #[error(
        "there is no route from {from} to {to}, between which a message is sent: add one to the platform, or place ranks \
         on other hosts"
    )]
    NoRoute {
        /// The name of the host that sends it.
        from: String,
        /// The name of the host that it is sent to.
        to: String,
    },
    /// Failures leave no route to its destination.
    #[error(
        "at {} s, a message is sent from {from} to {to}, and the failures of {failures} leave no route: place ranks on other \
         hosts, or leave out a failure",
        .at.seconds().0
    )]
    Failed {
        /// The name of the host that sends it.
        from: String,
        /// The name of the host that it is sent to.
        to: String,
        /// The time at which it is sent.
        at: Time,
        /// The names of all failures at that time.
        failures: String,
    },
    /// It consists of more packets than the packet model can simulate.
    #[error(
        "a message of {} is {} packets, and the packet model simulates each: at most {} of one message. Use \
         network.model = \"flow\", or larger packets (network.packet.packet)",
        volume(*.bytes), count(*.packets), count(*.most)
    )]
    Packets {
        /// Size of the message.
        bytes: Bytes,
        /// Packets of the message.
        packets: u64,
        /// Packets that a message may have.
        most: u64,
    },
    /// The message is injected after more cycles than there are numbers for.
    #[error(
        "the packet model counts cycles, here of {cycle:e} s, and cannot count as many as there are until {} s: is a \
         bandwidth wrong?",
        .now.seconds().0
    )]
    Cycles {
        /// Seconds of a cycle.
        cycle: f64,
        /// The time of injection.
        now: Time,
    },
}

/// There is no route between two hosts for a message that is sent at an instant.
pub(crate) fn no_route(topology: &dyn Topology, at: Time, (from, to): (HostId, HostId)) -> Unreachable {
    let present = topology.failures().iter().filter(|failure| failure.is_present(at));
    let failures = present.map(|failure| failure.name.as_str()).collect::<Vec<_>>().join(", ");
    let (from, to) = (topology.host_name(from), topology.host_name(to));
    match failures.is_empty() {
        true => Unreachable::NoRoute { from, to },
        false => Unreachable::Failed { from, to, at, failures },
    }
}

/// The reason why `transfer` could not arrive if it were injected at `now`, given its time `unloaded` in an idle
/// network; an infinite latency means that the topology has no such route.
pub(crate) fn unreachable(
    topology: &dyn Topology,
    now: Time,
    transfer: &Transfer,
    Unloaded { latency, transfer: time }: Unloaded,
) -> Option<Unreachable> {
    let no_route = || no_route(topology, now, (transfer.from, transfer.to));
    let why = || if latency.0 == f64::INFINITY { no_route() } else { Unreachable::EndOfTime };
    (now + latency + time == Time::NEVER).then(why)
}

/// A model of how messages travel. Time moves by `advance` alone, and never backwards.
pub trait Network: Any {
    /// `transfer` enters the network at `now`: the time last advanced to.
    fn inject(&mut self, now: Time, transfer: Transfer);

    /// The time of `transfer` in an otherwise idle network. Its sum is the time that the message then takes, except for
    /// rounding; a model with several routes per message uses a shortest one.
    fn unloaded(&mut self, transfer: &Transfer) -> Unloaded;

    /// The reason why `transfer` could not arrive if it were injected at `now`; `None` if it can arrive.
    fn unreachable(&mut self, now: Time, transfer: &Transfer) -> Option<Unreachable> {
        let Unloaded { latency, transfer } = self.unloaded(transfer);
        (now + latency + transfer == Time::NEVER).then_some(Unreachable::EndOfTime)
    }

    /// The reason why the first injected message that can never arrive cannot. Such a message is in transit until
    /// [`Time::NEVER`].
    fn first_unreachable(&self) -> Unreachable {
        Unreachable::EndOfTime
    }

    /// The time of the network's next event; `None` while nothing is in transit.
    fn next_event(&mut self) -> Option<Time>;

    /// Advances to `now`, which is no later than [`next_event`](Self::next_event), and appends the delivered messages
    /// to `delivered`, in order of arrival (ties: order of injection).
    fn advance(&mut self, now: Time, delivered: &mut Vec<TransferId>);

    /// Whose messages a transfer has met that was delivered when the network last advanced; asked at most once. Empty
    /// unless several programs share the network.
    fn met(&mut self, _id: TransferId) -> Vec<SharedWith> {
        Vec::new()
    }

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

/// A program or a load that shares the network with others, by its place in the list of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobOrLoadId(NonZero<u32>);

impl JobOrLoadId {
    /// The party at this place of the list.
    #[must_use]
    pub fn at(place: usize) -> Self {
        Self(NonZero::<u32>::MIN.saturating_add(u32::try_from(place).unwrap_or(u32::MAX)))
    }

    /// Its place in the list.
    #[must_use]
    pub fn place(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// The messages of one party on the links of a transfer, while the transfer was in transit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedWith {
    /// The party; `None` if it is the transfer's own.
    pub party: Option<JobOrLoadId>,
    /// The time that these messages were on the same link, summed over messages: on the link where it is the longest.
    pub time: Time,
}
