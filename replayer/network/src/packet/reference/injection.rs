//! Injection: hosts give their packets to routers.

use super::Reference;
use crate::chance::chance;
use crate::packet::sources::Packet;
use crate::packet::{InjectionOrder, Message, MessageId};
use crate::topology::{Header, Routing};

impl<R: Routing> Reference<'_, R> {
    /// Each injection port that holds no packet takes one. A port with several queues takes one into an empty queue when
    /// the last has left the host.
    pub(super) fn fill_ports(&mut self) {
        for host in 0..self.waiting.len() {
            let places = self.layout.hosts[host];
            let begun = self.now.saturating_sub(u64::from(self.parameters().packet_phits) - 1);
            self.injecting[host].retain(|&at| at >= begun);
            for queue in (places.first_queue.index()..).take(self.parameters().queues_of_host() as usize) {
                if !self.queues[queue].is_empty() {
                    continue;
                }
                if self.injecting[host].len() == self.parameters().injection_ports as usize {
                    break;
                }
                let Some(&id) = self.waiting[host].front() else { break };
                if self.parameters().injection_queues > 1 {
                    self.injecting[host].push(self.now);
                }
                let progress = &mut self.messages[id];
                progress.unsent -= 1;
                let Message { from, to, connection, period, .. } = progress.message;
                if progress.unsent == 0 {
                    self.waiting[host].remove(0);
                }
                if self.parameters().injection_order == InjectionOrder::RoundRobin {
                    // The packet's connection has its turn after all others.
                    let is_same = |&other: &usize| {
                        let other = (other, self.messages[other].message.connection);
                        other.0 == id || connection.is_some() && other.1 == connection
                    };
                    let (same, mut others): (Vec<_>, Vec<_>) = self.waiting[host].iter().copied().partition(is_same);
                    others.extend(same);
                    self.waiting[host] = others.into();
                }
                let random = chance(self.parameters().seed, host as u64, self.sent[host]);
                self.sent[host] += 1;
                let destination = self.spec.graph.hosts()[to.index()].router;
                let header = Header { from, to, destination, period, random };
                let packet = Packet { since: self.now, left: 0, header, message: MessageId(id as u32), hops: 0 };
                let mut state = vec![0; self.routing.state_words()];
                self.routing.depart(places.router, &header, &mut state);
                self.queues[queue].push_back(self.packets.len());
                self.packets.push((packet, state));
            }
        }
    }
}
