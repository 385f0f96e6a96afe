//! Switch traversal: the effects of a grant, and the way of a packet to the next queue.

use super::super::input_queues::QueuedPacket;
use super::super::layout::{HostPlaces, Source};
use super::super::output_queues::OutputQueues;
use super::RoutedEngine;
use crate::chance::chance;
use crate::packet::output_queues::Outputs;
use crate::packet::sources::Packet;
use crate::packet::{Message, OutputId, PacketId, QueueId};
use crate::topology::{ChannelIndex, Header, HostId, OutputVc, RouterId, Routing};

/// Packets that there is room for in a virtual channel of a port.
#[inline]
pub(super) fn room(
    outputs: &Outputs,
    output_queues: Option<&OutputQueues>,
    output: OutputId,
    channel: ChannelIndex,
) -> u32 {
    let behind = outputs.room(output, channel);
    match output_queues {
        None => behind,
        // There is room for at least one, and a packet that enters a ring leaves a free place in one of the two
        // queues.
        Some(queues) => match queues.room(output, channel) {
            0 => 0,
            room => room + behind,
        },
    }
}

impl<R: Routing, const UNEVEN: bool> RoutedEngine<R, UNEVEN> {
    /// Passes on the head of a queue.
    pub(super) fn grant(&mut self, queue: QueueId, output: OutputId, channel: ChannelIndex, now: u64) {
        let (id, state) = (self.queues.head(queue).packet, self.queues.get(queue));
        let port = self.outputs.get_mut(output);
        (port.busy, port.served) = (true, queue);
        let (next, to) = (port.queue(channel), port.to);
        let vc = OutputVc { port: state.port(output), channel };
        let packet = self.packets.get_mut(id);
        let since = packet.since;
        if let Source::Host(_) = state.source() {
            packet.left = now;
            self.sources.leaves(packet.message, now);
            self.usage.injected.add(0);
        }
        if next.is_some() {
            if self.reconsiders() {
                self.count_departure(id, output, now);
            }
            self.packets.get_mut(id).hops += 1;
            self.routing.hop(vc, to, self.packets.state_mut(id));
        }
        if UNEVEN && next.is_some() {
            return self.grant_uneven(queue, output, channel, id, now);
        }
        self.tails.push(now, (queue, output));
        self.usage.leave(queue, now - since + u64::from(self.parameters.packet_phits));
        match (next, &mut self.output_queues) {
            (None, _) => self.consumed.push(now, id),
            (Some(_), Some(queues)) => queues.push(output, channel, id),
            (Some(_), None) => self.send_header(id, output, channel, now),
        }
    }

    /// Frees the output queues and cables that tails have left.
    pub(super) fn release_cables(&mut self, now: u64) {
        let Some(mut queues) = self.output_queues.take_if(|queues| queues.tails.next() <= now) else { return };
        let tails = queues.tails.take(now);
        for &(output, channel) in &tails {
            queues.release_tail(output, channel);
            self.activate(output);
        }
        queues.tails.recycle(tails);
        self.output_queues = Some(queues);
    }

    /// Forwards the packets that wait in output queues.
    pub(super) fn drive_cables(&mut self, now: u64) {
        loop {
            let Some(output_queues) = &mut self.output_queues else { return };
            let outputs = &self.outputs;
            let room = |output: OutputId, channel: ChannelIndex| outputs.room(output, channel) > 0;
            let Some((output, channel, packet)) = output_queues.forward(now, room) else { return };
            self.send_header(packet, output, channel, now);
        }
    }

    /// Sends the header of a packet over a channel of a port to the queue at its end.
    fn send_header(&mut self, id: PacketId, output: OutputId, channel: ChannelIndex, now: u64) {
        let Some(next) = self.outputs.take_room(output, channel) else { return };
        self.packets.get_mut(id).since = self.headers.end(now);
        self.usage.carry(output, channel, 0);
        let to = self.outputs.get(output).to;
        self.headers.push(now, (next, self.look_ahead(id, to)));
    }

    /// Routes a packet ahead of its arrival at a router, if it has no choice there.
    pub(super) fn look_ahead(&self, id: PacketId, router: RouterId) -> QueuedPacket {
        let header = &self.packets.get(id).header;
        let output = if header.destination != router {
            self.routing.fixed_output(router, header, self.packets.state(id))
        } else {
            (self.parameters.consumption_ports == 1).then(|| self.hosts[header.to.index()].places.first_port)
        };
        // With unequal links, a packet may have to wait until a port can forward it without a gap.
        QueuedPacket { packet: id, output: output.filter(|_| !UNEVEN).into() }
    }

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
