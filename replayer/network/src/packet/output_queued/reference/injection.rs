//! The reference's hosts: whose turn it is, and the windows of connections.

use super::Reference;
use crate::Connection;
use crate::chance::chance;
use crate::packet::sources::Packet;
use crate::packet::{InjectionOrder, Message, MessageId};
use crate::topology::{Header, Routing};

impl<R: Routing> Reference<'_, R> {
    /// Hosts learn of packets that have arrived, and connections whose windows were closed may send again.
    pub(super) fn learn_of_arrivals(&mut self) {
        let now = self.now;
        for (_, connection) in self.acknowledgements.extract_if(.., |(at, _)| *at == now).collect::<Vec<_>>() {
            *self.in_transit.get_mut(&connection).unwrap() -= 1;
            let open = self.parked.extract_if(.., |&mut id| self.messages[id].message.connection == Some(connection));
            for id in open.collect::<Vec<_>>() {
                self.waiting[self.messages[id].message.from.index()].push(id);
            }
        }
    }

    /// The connection of a message, if it has a window that may be closed.
    pub(super) fn windowed(&self, message: &Message) -> Option<Connection> {
        let parameters = &self.spec.parameters;
        let has_window =
            parameters.injection_order == InjectionOrder::RoundRobin && parameters.connection_window.is_some();
        message.connection.filter(|_| has_window)
    }

    /// Whether as many packets of a connection are on their way as its window allows.
    pub(super) fn is_closed(&self, connection: Connection) -> bool {
        let in_transit = self.in_transit.get(&connection).copied().unwrap_or(0);
        self.spec.parameters.connection_window.is_some_and(|window| in_transit >= window)
    }

    /// The next packet of a host that was not sent before.
    pub(super) fn begin(&mut self, host: usize) -> usize {
        let id = self.waiting[host][0];
        let progress = &mut self.messages[id];
        progress.unsent -= 1;
        progress.injected.get_or_insert(self.now);
        let Message { from, to, connection, period, last_phits, .. } = progress.message;
        let is_last = progress.unsent == 0;
        let length = last_phits.filter(|_| is_last).map_or(self.spec.parameters.packet_phits, |phits| phits).into();
        if is_last {
            self.waiting[host].remove(0);
        }
        if self.spec.parameters.injection_order == InjectionOrder::RoundRobin {
            // The packet's connection has its turn after all others.
            let is_same = |&other: &usize| {
                other == id || connection.is_some() && self.messages[other].message.connection == connection
            };
            let (same, mut others): (Vec<_>, Vec<_>) = self.waiting[host].iter().copied().partition(is_same);
            others.extend(same);
            self.waiting[host] = others;
        }
        if let Some(connection) = self.windowed(&self.messages[id].message) {
            *self.in_transit.entry(connection).or_default() += 1;
            if self.is_closed(connection) {
                let of_connection = |id: &mut usize| self.messages[*id].message.connection == Some(connection);
                self.parked.extend(self.waiting[host].extract_if(.., of_connection));
            }
        }
        let random = chance(self.spec.parameters.seed, host as u64, self.begun[host]);
        self.begun[host] += 1;
        let destination = self.spec.graph.hosts()[to.index()].router;
        let header = Header { from, to, destination, period, random };
        let packet = Packet { since: self.now, left: self.now, header, message: MessageId(id as u32), hops: 0 };
        self.packets.push((packet, vec![0; self.routing.state_words()]));
        self.times.push(0);
        self.tails.push(0);
        self.lengths.push(length);
        self.packets.len() - 1
    }
}
