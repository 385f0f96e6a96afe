//! Arrival: headers at switches, where packets join queues or are lost, and tails at hosts.

use std::ops::Range;

use super::super::Delivery;
use super::{OutputQueuedEngine, Queued, none_awaits};
use crate::packet::{OutputId, PacketId, QueueId};
use crate::topology::{ChannelIndex, PacketAt, PortIndex, RouterId, Routing};

/// Packets that a queue has room for, in the eyes of the routing. The memory has its own limits.
const ROOM: u32 = 1 << 30;

impl<R: Routing> OutputQueuedEngine<R> {
    /// Delivers the packets whose tails are at their hosts.
    pub(super) fn consume(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        let consumed = self.consumed.take(now);
        for &id in &consumed {
            self.losses.forget(id);
            let packet = self.packets.remove(id);
            let missing = self.missing_phits(id);
            self.usage.consume(packet.hops, now - packet.left, missing);
            self.hosts[packet.header.to.index()].received.add(missing);
            if self.parameters.connection_window.is_some()
                && let Some(connection) = self.sources.get(packet.message).message.connection
            {
                let [aside, hop] = self.way_back;
                let known = now + aside + u64::from(packet.hops) * hop;
                self.acknowledgements.entry(known).or_default().push((packet.header.from, connection));
            }
            delivered.extend(self.sources.arrives(packet.message, packet.hops).map(|last| last.delivery(now)));
        }
        self.consumed.recycle(consumed);
    }

    /// Lets the packets whose headers have come join their queues.
    pub(super) fn take_in(&mut self, now: u64) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        for line in [&mut self.headers, &mut self.injected] {
            let arrived = line.take(now);
            arrivals.extend_from_slice(&arrived);
            line.recycle(arrived);
        }
        arrivals.sort_unstable_by_key(|&(input, _)| self.turn(input, now));
        arrivals.drain(..).for_each(|(input, packet)| self.arrive(input, packet, now));
        self.arrivals = arrivals;
    }

    /// The place of an input in the order of a cycle.
    fn turn(&self, input: QueueId, now: u64) -> (RouterId, u64) {
        let router = self.layout.queues[input.index()].router;
        let state = &self.layout.routers[router.index()];
        let inputs = u64::from(state.queues);
        (router, (u64::from(state.index(input).0) + inputs - now % inputs) % inputs)
    }

    fn arrive(&mut self, input: QueueId, id: PacketId, now: u64) {
        self.packets.get_mut(id).since = now;
        let (output, channel) = self.route(input, id);
        let account = self.account(input, output, channel);
        if !self.memories.pauses() {
            if !self.memories.admits(account) {
                return self.losses.lose(now, id, self.packets.get(id).header.random);
            }
            self.memories.take(account);
        }
        let queue = self.queue(output, channel);
        self.queues[queue].push_back(Queued { packet: id, input });
        self.ports[output.index()].queued += 1;
        self.active_ports.add(output);
    }

    /// The queue that a packet joins.
    fn route(&mut self, input: QueueId, id: PacketId) -> (OutputId, ChannelIndex) {
        let at = self.layout.queues[input.index()].router;
        let header = self.packets.get(id).header;
        let this = &self.layout.routers[at.index()];
        if header.destination == at {
            let first = this.output(self.layout.hosts[header.to.index()].first_port);
            let ports = (first.0..first.0 + self.parameters.consumption_ports).map(OutputId);
            let shortest = ports.min_by_key(|output| self.in_port(*output)).unwrap_or(first);
            return (shortest, ChannelIndex(0));
        }
        let (layout, queues, virtual_channels) = (&self.layout, &self.queues, self.virtual_channels as usize);
        let queued = |router: RouterId, port: PortIndex, channel: ChannelIndex| {
            let output = layout.routers[router.index()].output(port);
            queues[output.index() * virtual_channels + channel.index()].len() as u32
        };
        if R::DECIDES && self.routing.is_undecided(self.packets.state(id)) {
            let queued = |router, port, channels: Range<u32>| {
                channels.map(|channel| queued(router, port, ChannelIndex(channel))).sum()
            };
            self.routing.decide(at, &header, self.packets.state_mut(id), queued, none_awaits);
        }
        let state = self.packets.state(id);
        let arrival = self.layout.queues[input.index()].source().arrival();
        let room = |port, channel| ROOM - queued(at, port, channel);
        let vc = match self.routing.fixed_output(at, &header, state) {
            Some(port) => self.routing.choose_channel(port, arrival, room),
            None => self.routing.choose(PacketAt { at, header: &header, state, arrival }, room),
        };
        // A routing always finds a way where there is room.
        vc.map_or((this.first_output, ChannelIndex(0)), |vc| (this.output(vc.port), vc.channel))
    }

    /// Packets in the queues of a port, and the packet that it sends.
    fn in_port(&self, output: OutputId) -> u32 {
        let port = &self.ports[output.index()];
        port.queued + u32::from(port.is_busy)
    }
}
