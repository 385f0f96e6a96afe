//! Decisions of packets that wait at the heads of queues.

use std::ops::Range;

use super::{Reference, Sending};
use crate::packet::QueueIndex;
use crate::packet::sources::Packet;
use crate::topology::{ChannelIndex, PortIndex, RouterId, Routing};

impl<R: Routing> Reference<'_, R> {
    /// Lets the first packet of each queue decide, unless it is leaving. All decide by the same queues and earlier decisions.
    pub(super) fn decide_heads(&mut self) {
        let heads = self.layout.queues.iter().zip(&self.queues).enumerate();
        let waiting = heads.filter(|&(queue, _)| !self.is_leaving(queue));
        let decided: Vec<(usize, Vec<i32>)> = waiting
            .filter_map(|(_, (queue, packets))| {
                let &packet = packets.front()?;
                Some((packet, self.decision(packet, queue.router)))
            })
            .collect();
        for (packet, state) in decided {
            self.packets[packet].1 = state;
        }
    }

    /// The state of a packet that has decided at a router.
    fn decision(&self, packet: usize, at: RouterId) -> Vec<i32> {
        let (Packet { header, .. }, mut state) = self.packets[packet].clone();
        let queued = |router: RouterId, port, channels: Range<u32>| {
            let output = self.layout.routers[router.index()].output(port);
            let of_channel = |channel: ChannelIndex| {
                let next = self.layout.outputs[output.index()].queue(channel).unwrap();
                let places = self.channel(next.index()).map(|(link, _)| self.spec.places(link));
                let behind = places.unwrap_or_default() - self.room(next.index());
                let in_queue = self.output_queues[output.index()][channel.index()].len();
                let leaves =
                    |sending: &&Sending| (sending.output, sending.channel) == (output.index(), channel.index());
                behind + (in_queue - self.sending.iter().filter(leaves).count()) as u32
            };
            channels.map(|channel| of_channel(ChannelIndex(channel))).sum()
        };
        if R::DECIDES && header.destination != at && self.routing.is_undecided(&state) {
            self.routing.decide(at, &header, &mut state, queued, |router, port| self.awaiting(router, port));
        }
        state
    }

    /// The packets in the queues of a router that await a port.
    fn awaiting(&self, router: RouterId, port: PortIndex) -> u32 {
        let this = &self.layout.routers[router.index()];
        let queues = (0..this.queues).map(|index| &self.queues[this.queue(QueueIndex(index)).index()]);
        let states = queues.flatten().map(|&packet| &self.packets[packet].1);
        states.filter(|state| self.routing.awaited(state) == Some(port)).count() as u32
    }
}
