//! Sending: ports and hosts begin to send packets, whose tails leave L cycles later.

use super::super::Message;
use super::super::layout::Source;
use super::memory::Account;
use super::{OutputQueuedEngine, PausedSender, Queued};
use crate::chance::chance;
use crate::packet::output_queued::departures::LinkStart;
use crate::packet::sources::Packet;
use crate::packet::{OutputId, PacketId, QueueId};
use crate::topology::{ChannelIndex, Header, HostId, OutputVc, Routing};

impl<R: Routing> OutputQueuedEngine<R> {
    /// Ports and hosts whose tails have left are idle, and switches have room again.
    pub(super) fn release_tails(&mut self, now: u64) {
        let tails = self.tails.take(now);
        for &account in &tails {
            let (output, _) = account.output;
            self.ports[output.index()].is_busy = false;
            self.active_ports.add(output);
            self.memories.free(account);
            for sender in self.paused[account.router.index()].drain(..) {
                match sender {
                    PausedSender::Port(output) => {
                        self.ports[output.index()].is_paused = false;
                        self.active_ports.add(output);
                    }
                    PausedSender::Host(host) => {
                        self.hosts[host.index()].is_paused = false;
                        self.active_hosts.add(host);
                    }
                }
            }
        }
        self.tails.recycle(tails);
        let injecting = self.injecting.take(now);
        for &input in &injecting {
            let Source::Host(host) = self.layout.queues[input.index()].source() else { continue };
            let place = input.0 - self.layout.hosts[host.index()].first_queue.0;
            self.hosts[host.index()].busy[place as usize] = false;
            self.active_hosts.add(host);
        }
        self.injecting.recycle(injecting);
    }

    /// Hosts learn of their losses and of their messages.
    pub(super) fn learn_of_losses(&mut self, now: u64) {
        for id in self.losses.take(now) {
            let host = self.packets.get(id).header.from;
            self.hosts[host.index()].lost.push_back(id);
            self.active_hosts.add(host);
        }
        if let Some(known) = self.acknowledgements.first_entry().filter(|first| *first.key() <= now) {
            for (host, connection) in known.remove() {
                self.sources.acknowledge(connection);
                self.active_hosts.add(host);
            }
        }
        let offers = self.offers.take(now);
        for &message in &offers {
            let host = self.sources.ready(message);
            self.active_hosts.add(host);
        }
        self.offers.recycle(offers);
    }

    /// Each idle port begins to send a packet.
    pub(super) fn send_from_ports(&mut self, now: u64) {
        let ports = self.active_ports.take();
        ports.iter().for_each(|&output| self.send_from_port(output, now));
        self.active_ports.recycle(ports);
    }

    fn send_from_port(&mut self, output: OutputId, now: u64) {
        let port = self.ports[output.index()];
        if port.is_busy || port.queued == 0 {
            return;
        }
        let channels = self.virtual_channels;
        for channel in (1..=channels).map(|after| ChannelIndex((port.served.0 + after) % channels)) {
            let queue = self.queue(output, channel);
            let Some(&Queued { packet, input }) = self.queues[queue].front() else { continue };
            let next = self.layout.outputs[output.index()].queue(channel);
            if next.is_some_and(|next| !self.reserve(next)) {
                continue;
            }
            self.queues[queue].pop_front();
            let port = &mut self.ports[output.index()];
            (port.is_busy, port.served, port.queued) = (true, channel, port.queued - 1);
            let account = self.account(input, output, channel);
            return self.send(packet, account, next, now);
        }
        if !std::mem::replace(&mut self.ports[output.index()].is_paused, true) {
            let to = self.layout.outputs[output.index()].to;
            self.paused[to.index()].push(PausedSender::Port(output));
        }
    }

    /// Takes a place at the switch behind a channel, if senders wait for one. Returns whether there is room.
    fn reserve(&mut self, next: QueueId) -> bool {
        if !self.memories.pauses() {
            return true;
        }
        let account = self.account(next, OutputId(0), ChannelIndex(0));
        let admits = self.memories.admits(account);
        if admits {
            self.memories.take(account);
        }
        admits
    }

    /// A port begins to send a packet, to `next` or to the packet's host.
    fn send(&mut self, id: PacketId, account: Account, next: Option<QueueId>, now: u64) {
        let (output, channel) = account.output;
        let packet = self.packets.get_mut(id);
        let cycles = self.spans.pass(id, LinkStart::Port(output, packet.since), now);
        self.tails.push(now, cycles, account);
        self.usage.leave(account.input, now - packet.since + cycles);
        let Some(next) = next else { return self.consumed.push(now, cycles + self.to_host, id) };
        packet.hops += 1;
        let port = self.layout.queues[account.input.index()].port(output);
        let to = self.layout.outputs[output.index()].to;
        self.routing.hop(OutputVc { port, channel }, to, self.packets.state_mut(id));
        self.usage.carry(output, channel, self.missing_phits(id));
        self.headers.push(now, (next, id));
    }

    /// Each idle injection port of a host begins to send a packet.
    pub(super) fn send_from_hosts(&mut self, now: u64) {
        let hosts = self.active_hosts.take();
        hosts.iter().for_each(|&host| self.send_from_host(host, now));
        self.active_hosts.recycle(hosts);
    }

    fn send_from_host(&mut self, host: HostId, now: u64) {
        let places = self.layout.hosts[host.index()];
        for port in 0..self.parameters.injection_ports {
            let state = &self.hosts[host.index()];
            if state.busy[port as usize] {
                continue;
            }
            if state.lost.is_empty() && !self.sources.has_packet(host) {
                return;
            }
            let input = QueueId(places.first_queue.0 + port);
            if !self.reserve(input) {
                if !std::mem::replace(&mut self.hosts[host.index()].is_paused, true) {
                    self.paused[places.router.index()].push(PausedSender::Host(host));
                }
                continue;
            }
            let Some(id) = self.next_packet(host, now) else { return };
            self.hosts[host.index()].busy[port as usize] = true;
            let missing = self.missing_phits(id);
            self.hosts[host.index()].sent.add(missing);
            self.usage.injected.add(missing);
            self.injecting.push(now, self.spans.pass(id, LinkStart::Host(input), now), input);
            self.injected.push(now, (input, id));
        }
    }

    /// The next packet of a host: one that was lost before others.
    fn next_packet(&mut self, host: HostId, now: u64) -> Option<PacketId> {
        let router = self.layout.hosts[host.index()].router;
        let state = &mut self.hosts[host.index()];
        if let Some(id) = state.lost.pop_front() {
            self.packets.get_mut(id).hops = 0;
            self.packets.depart(id, router, &self.routing);
            return Some(id);
        }
        let message = self.sources.send(host)?;
        self.sources.leaves(message, now);
        let Message { from, to, period, .. } = self.sources.get(message).message;
        let random = chance(self.parameters.seed, host.0.into(), state.begun);
        state.begun += 1;
        let header = Header { from, to, destination: self.layout.hosts[to.index()].router, period, random };
        let id = self.packets.insert(Packet { since: now, left: now, header, message, hops: 0 });
        self.spans.cut(id, self.sources.phits_of_last_sent(message).unwrap_or(self.parameters.packet_phits));
        self.packets.depart(id, router, &self.routing);
        Some(id)
    }
}
