//! Injection: hosts put packets of their messages into queues at their routers.

use super::super::Message;
use super::super::ids::QueueId;
use super::super::layout::HostPlaces;
use super::super::packets::Packet;
use super::RoutedEngine;
use crate::chance::chance;
use crate::topology::{Header, HostId, Routing};

impl<R: Routing, const UNEVEN: bool> RoutedEngine<R, UNEVEN> {
    /// Fills the queues of all hosts that have a message to begin or an injection port that became idle.
    #[inline]
    pub(super) fn fill_queues_of_hosts(&mut self, now: u64) {
        let offers = self.offers.take(now);
        for &message in &offers {
            let host = self.sources.ready(message);
            self.refill.push(host);
        }
        self.offers.recycle(offers);
        let injected = self.injecting.take(now);
        for &host in &injected {
            self.hosts[host.index()].injecting -= 1;
            self.refill.push(host);
        }
        self.injecting.recycle(injected);
        while let Some(host) = self.refill.pop() {
            self.inject(host, now);
        }
    }

    /// Gives each idle injection port of a host a packet, the first port first.
    fn inject(&mut self, host: HostId, now: u64) {
        let HostPlaces { router, first_queue, .. } = self.hosts[host.index()].places;
        for queue in (first_queue.0..first_queue.0 + self.parameters.queues_of_host()).map(QueueId) {
            if self.queues.get(queue).queued > 0 {
                continue;
            }
            if self.hosts[host.index()].injecting == self.parameters.injection_ports {
                return;
            }
            let Some(message) = self.sources.send(host) else { return };
            // A port with one queue is busy until the queue is empty.
            if self.parameters.injection_queues > 1 {
                self.hosts[host.index()].injecting += 1;
                self.injecting.push(now, host);
            }
            let Message { from, to, period, .. } = self.sources.get(message).message;
            let sent = &mut self.hosts[host.index()].sent;
            let random = chance(self.parameters.seed, host.0.into(), *sent);
            *sent += 1;
            let header = Header { from, to, destination: self.hosts[to.index()].places.router, period, random };
            let id = self.packets.insert(Packet { since: now, left: now, header, message, hops: 0 });
            self.packets.depart(id, router, &self.routing);
            self.arrive(queue, self.look_ahead(id, router));
        }
    }
}
