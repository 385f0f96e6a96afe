//! A network of several rails: which of them a message takes, and the networks of the rails beside each other.
//!
//! Rails have no link in common, so the network of each is simulated by itself. A striped message is in several of them,
//! in parts, and arrives with its last part. Messages within a host take the first rail's copy of the host.
//!
//! A message does not take a rail on which failures leave no route when it is sent. A striped message takes the other rails. A
//! message of one rail takes the next rail that has a route.

use std::any::Any;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use titr_common::time::Time;
use titr_common::units::Bytes;

use crate::hosts::HostNetwork;
use crate::network::{LinkLoad, Network, Transfer, TransferId, Unloaded, Unreachable, no_route};
use crate::packet::PacketStatistics;
use crate::topology::{HostId, LinkId, Paths, RailChoice, Rails, Topology, links_of_rail};

/// Chooses the rails of messages.
#[derive(Clone, Debug)]
pub struct RailChooser {
    topology: Arc<dyn Topology>,
    rails: Rails,
    /// The number of messages of each sender so far, where senders take rails in turn.
    sent: FxHashMap<Sender, u32>,
}

/// The sender of a message: the process of its connection, or its host if it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Sender {
    Process(u32),
    Host(HostId),
}

impl Sender {
    fn of(transfer: &Transfer) -> Self {
        transfer.connection.map_or(Self::Host(transfer.from), |connection| Self::Process(connection.sender))
    }

    fn number(self) -> u32 {
        match self {
            Self::Process(number) | Self::Host(HostId(number)) => number,
        }
    }
}

/// The rails of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stripes(SmallVec<[u32; 4]>);

impl Stripes {
    /// The first rail that carries a part of a message of `bytes`, and the size of this part.
    fn first_part(&self, bytes: Bytes) -> (u32, Bytes) {
        self.parts(bytes).next().unwrap_or((0, bytes))
    }

    /// Each rail that carries a part of a message of `bytes`, and the size of this part. Sizes differ by a byte at most,
    /// and the first part is a largest one.
    pub(crate) fn parts(&self, bytes: Bytes) -> impl Iterator<Item = (u32, Bytes)> {
        let count = self.0.len() as u64;
        self.0.iter().zip(0..).map(move |(&rail, place)| (rail, Bytes((bytes.0 + count - 1 - place) / count)))
    }

    /// Visits the links of a message that is sent at an instant, each with the bytes of the message that it carries.
    pub fn visit_links(
        &self,
        topology: &dyn Topology,
        (at, transfer): (Time, &Transfer),
        paths: &mut Paths,
        mut visit: impl FnMut(LinkId, f64),
    ) {
        let links = links_of_rail(topology);
        for (number, bytes) in self.parts(transfer.bytes) {
            let rail = topology.rail(number).unwrap_or(topology);
            paths.find(rail, rail.route_period(at), (transfer.from, transfer.to));
            paths.parts().for_each(|(link, part)| visit(LinkId(number * links + link.0), part * bytes.0 as f64));
        }
    }
}

impl RailChooser {
    /// A chooser among the rails of a machine, which no message has taken yet.
    #[must_use]
    pub fn new(topology: Arc<dyn Topology>) -> Self {
        Self { rails: topology.rails(), sent: FxHashMap::default(), topology }
    }

    /// The rails that a message takes if it is the next, and if all rails have a route for it.
    fn wanted(&self, transfer: &Transfer) -> Stripes {
        let Rails { count, choice } = self.rails;
        let one = |rail: u32| Stripes(smallvec![rail]);
        if transfer.from == transfer.to {
            return one(0);
        }
        let sender = Sender::of(transfer);
        match choice {
            RailChoice::Size { small } if transfer.bytes <= small => one(0),
            RailChoice::Size { .. } => Stripes(self.rails.numbers().collect()),
            RailChoice::Rank => one(sender.number() % count),
            RailChoice::RoundRobin => one(self.sent.get(&sender).copied().unwrap_or(0) % count),
        }
    }

    /// The rails that a message takes if it is the next; `None` if failures leave no route on any rail.
    fn next(&self, now: Time, transfer: &Transfer) -> Option<Stripes> {
        let mut wanted = self.wanted(transfer);
        if transfer.from == transfer.to || !self.topology.failures().iter().any(|failure| failure.is_present(now)) {
            return Some(wanted);
        }
        let first = wanted.0.first().copied().unwrap_or_default();
        wanted.0.retain(|rail| self.has_route(*rail, now, transfer));
        if !wanted.0.is_empty() {
            return Some(wanted);
        }
        let others = (1..self.rails.count.get()).map(|more| (first + more) % self.rails.count);
        let mut usable = others.filter(|&rail| self.has_route(rail, now, transfer));
        usable.next().map(|rail| Stripes(smallvec![rail]))
    }

    /// Whether a rail has a route for a message that is sent at `now`.
    fn has_route(&self, number: u32, now: Time, transfer: &Transfer) -> bool {
        let Some(rail) = self.topology.rail(number) else { return true };
        let mut route = Vec::new();
        rail.route_in(rail.route_period(now), transfer.from, transfer.to, &mut route);
        !route.is_empty()
    }

    /// The rails that the next message takes, which is sent at `now`. Without a route on any rail, they are those that it
    /// would otherwise take.
    pub fn choose(&mut self, now: Time, transfer: &Transfer) -> Stripes {
        let stripes = self.next(now, transfer).unwrap_or_else(|| self.wanted(transfer));
        if self.rails.choice == RailChoice::RoundRobin && transfer.from != transfer.to {
            let sent = self.sent.entry(Sender::of(transfer)).or_default();
            *sent = (*sent + 1) % self.rails.count;
        }
        stripes
    }

    /// The reason why a message that is sent at `now` has no route on any rail; `None` if it has one.
    fn without_route(&self, now: Time, transfer: &Transfer) -> Option<Unreachable> {
        let ends = (transfer.from, transfer.to);
        self.next(now, transfer).is_none().then(|| no_route(&*self.topology, now, ends))
    }
}

/// The networks of all rails of a machine.
pub struct RailNetwork {
    rails: Vec<Box<dyn Network>>,
    chooser: RailChooser,
    in_transit: FxHashMap<TransferId, StripedMessage>,
    injected: u64,
    /// The error of the first message without a route on any rail.
    unreachable: Option<Unreachable>,
    /// The time advanced to.
    now: Time,
    /// Kept to be used again.
    arrived: Vec<TransferId>,
}

/// A message that is in transit, in one or more parts.
struct StripedMessage {
    sequence: u64,
    /// The number of parts that have not arrived.
    missing: u32,
}

impl RailNetwork {
    /// The network of a machine, each rail of which has one of the idle networks.
    #[must_use]
    pub fn new(topology: Arc<dyn Topology>, networks: Vec<Box<dyn Network>>) -> Self {
        Self {
            rails: networks,
            chooser: RailChooser::new(topology),
            in_transit: FxHashMap::default(),
            injected: 0,
            unreachable: None,
            now: Time::ZERO,
            arrived: Vec::new(),
        }
    }

    /// The statistics of a packet network, or of the packet networks of all rails, from the start until `until`; `None` if
    /// messages are not packets.
    #[must_use]
    pub fn packet_statistics(network: &dyn Network, until: Time) -> Option<PacketStatistics> {
        let network = HostNetwork::between(network);
        let Some(Self { rails, .. }) = (network as &dyn Any).downcast_ref() else {
            return PacketStatistics::of(network, until);
        };
        let of_each = rails.iter().map(|rail| PacketStatistics::of(&**rail, until));
        let of_each: Vec<PacketStatistics> = of_each.collect::<Option<_>>()?;
        let links = rails.first()?.link_loads().len() as u32;
        Some(PacketStatistics::of_rails(of_each, links))
    }

    /// The first part of a message, and the network that carries it.
    fn first_part(&mut self, transfer: &Transfer) -> (&mut dyn Network, Transfer) {
        let stripes = self.chooser.next(self.now, transfer).unwrap_or_else(|| self.chooser.wanted(transfer));
        let (rail, bytes) = stripes.first_part(transfer.bytes);
        (&mut *self.rails[rail as usize], Transfer { bytes, ..*transfer })
    }
}

impl Network for RailNetwork {
    fn inject(&mut self, now: Time, transfer: Transfer) {
        let mut missing = 0;
        if self.unreachable.is_none() {
            self.unreachable = self.chooser.without_route(now, &transfer);
        }
        for (rail, bytes) in self.chooser.choose(now, &transfer).parts(transfer.bytes) {
            self.rails[rail as usize].inject(now, Transfer { bytes, ..transfer });
            missing += 1;
        }
        self.in_transit.insert(transfer.id, StripedMessage { sequence: self.injected, missing });
        self.injected += 1;
    }

    /// The time of the first part, which is a largest one.
    fn unloaded(&mut self, transfer: &Transfer) -> Unloaded {
        let (network, part) = self.first_part(transfer);
        network.unloaded(&part)
    }

    fn unreachable(&mut self, now: Time, transfer: &Transfer) -> Option<Unreachable> {
        if let Some(why) = self.chooser.without_route(now, transfer) {
            return Some(why);
        }
        let (network, part) = self.first_part(transfer);
        network.unreachable(now, &part)
    }

    fn first_unreachable(&self) -> Unreachable {
        if let Some(why) = &self.unreachable {
            return why.clone();
        }
        let mut errors = self.rails.iter().map(|network| network.first_unreachable());
        errors.find(|why| *why != Unreachable::EndOfTime).unwrap_or(Unreachable::EndOfTime)
    }

    fn next_event(&mut self) -> Option<Time> {
        self.rails.iter_mut().filter_map(|network| network.next_event()).min()
    }

    fn advance(&mut self, now: Time, delivered: &mut Vec<TransferId>) {
        self.now = now;
        let mut complete = Vec::new();
        for network in &mut self.rails {
            network.advance(now, &mut self.arrived);
            for id in self.arrived.drain(..) {
                let Some(message) = self.in_transit.get_mut(&id) else { continue };
                message.missing -= 1;
                if message.missing == 0 {
                    complete.push((message.sequence, id));
                    self.in_transit.remove(&id);
                }
            }
        }
        complete.sort_unstable();
        delivered.extend(complete.into_iter().map(|(_, id)| id));
    }

    fn link_loads(&self) -> Vec<LinkLoad> {
        self.rails.iter().flat_map(|network| network.link_loads()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;
    use titr_common::units::Seconds;

    use super::*;
    use crate::Connection;
    use crate::flow::{Flow, Preset};
    use crate::topology::{Cable, Duplex, LinkId, MultiRail, OneRail, Star, Topology};

    /// 4 hosts on a switch for each rail, by cables of 1 GB/s and 1 µs.
    fn machine(count: u32, choice: RailChoice) -> Arc<dyn Topology> {
        let cable = Cable { bandwidth: 1e9, latency: Seconds(1e-6), duplex: Duplex::Full };
        let rails = Rails { count: NonZero::new(count).unwrap(), choice };
        Arc::new(MultiRail::new(vec![Box::new(Star::new(4, cable, None))], rails))
    }

    fn rail_network(machine: &Arc<dyn Topology>) -> RailNetwork {
        let one = |number| Flow::new(Arc::new(OneRail::of(Arc::clone(machine), number)), Preset::Plain.into());
        let networks = machine.rails().numbers().map(|number| Box::new(one(number)) as Box<dyn Network>);
        RailNetwork::new(Arc::clone(machine), networks.collect())
    }

    fn message(id: u32, (sender, receiver): (u32, u32), bytes: u64) -> Transfer {
        let connection = Some(Connection { sender, receiver });
        let (from, to) = (HostId(sender % 4), HostId(receiver % 4));
        Transfer { connection, ..Transfer::new(TransferId(id), from, to, Bytes(bytes)) }
    }

    /// The picoseconds at which messages that are sent at the start arrive.
    fn arrivals(network: &mut RailNetwork, messages: &[Transfer]) -> Vec<u64> {
        messages.iter().for_each(|message| network.inject(Time::ZERO, *message));
        let (mut arrivals, mut delivered) = (vec![0; messages.len()], Vec::new());
        while let Some(now) = network.next_event() {
            network.advance(now, &mut delivered);
            delivered.drain(..).for_each(|id| arrivals[id.0 as usize] = now.0);
        }
        assert!(network.in_transit.is_empty());
        arrivals
    }

    /// 2 µs of latency, and a nanosecond for each byte.
    #[test]
    fn as_many_messages_as_rails_take_as_long_as_one_on_one_rail() {
        for rails in 1..5 {
            let machine = machine(rails, RailChoice::RoundRobin);
            let messages: Vec<_> = (0..rails).map(|id| message(id, (0, 1), 1_000_000)).collect();
            let mut network = rail_network(&machine);
            assert_eq!(arrivals(&mut network, &messages), vec![1_002_000_000; rails as usize]);
            // The first of two more messages takes the first rail again, and the other the next rail, if there is one.
            let more: Vec<_> = (0..rails + 2).map(|id| message(id, (0, 1), 1_000_000)).collect();
            let expected = if rails == 1 { 3_002_000_000 } else { 2_002_000_000 };
            assert_eq!(arrivals(&mut rail_network(&machine), &more).last(), Some(&expected));
            let loads = network.link_loads();
            let names = (0..).map(LinkId).zip(&loads).filter(|(_, load)| load.messages > 0);
            let names: Vec<_> = names.map(|(link, _)| machine.link_name(link)).collect();
            let ends = |rail| [format!("rail-{rail} node-0 up"), format!("rail-{rail} node-1 down")];
            assert_eq!(names, (0..rails).flat_map(ends).collect::<Vec<_>>());
        }
    }

    /// Ranks 0, 4 and 8 are on one host, and take the rails 0, 1 and 2.
    #[test]
    fn ranks_have_their_rails() {
        let machine = machine(3, RailChoice::Rank);
        let messages = [message(0, (0, 1), 2000), message(1, (4, 1), 2000), message(2, (8, 1), 2000)];
        assert_eq!(arrivals(&mut rail_network(&machine), &messages), [4_000_000; 3]);
        let messages = [message(0, (0, 1), 2000), message(1, (12, 1), 2000)];
        assert_eq!(arrivals(&mut rail_network(&machine), &messages), [6_000_000; 2]);
    }

    /// A message of 3001 bytes is in three parts, the first of 1001 bytes. Messages of up to 1000 bytes share one rail.
    #[test]
    fn large_messages_are_striped() {
        let machine = machine(3, RailChoice::Size { small: Bytes(1000) });
        let mut network = rail_network(&machine);
        let large = message(0, (0, 1), 3001);
        let unloaded = Unloaded { latency: Seconds(2e-6), transfer: Seconds(1.001e-6) };
        assert_eq!(network.unloaded(&large), unloaded);
        assert_eq!(arrivals(&mut network, &[large]), [3_001_000]);
        let carried: Vec<u64> =
            network.link_loads().iter().map(|load| load.bytes.0).filter(|bytes| *bytes > 0).collect();
        assert_eq!(carried, [1001, 1001, 1000, 1000, 1000, 1000]);
        let small = [message(0, (0, 1), 1000), message(1, (2, 1), 1000)];
        assert_eq!(arrivals(&mut rail_network(&machine), &small), [4_000_000; 2]);
    }

    #[test]
    fn parts_are_all_of_a_message() {
        for (rails, bytes) in (1..9).flat_map(|rails| (0..40).map(move |bytes| (rails, Bytes(bytes)))) {
            let stripes = Stripes((0..rails).collect());
            let parts: Vec<_> = stripes.parts(bytes).collect();
            assert_eq!(parts.first(), Some(&stripes.first_part(bytes)));
            assert_eq!(parts.iter().map(|(rail, _)| *rail).collect::<Vec<_>>(), (0..rails).collect::<Vec<_>>());
            assert_eq!(parts.iter().map(|(_, part)| part.0).sum::<u64>(), bytes.0);
            assert!(parts.iter().all(|(_, part)| parts[0].1.0 - part.0 <= 1));
        }
    }
}
