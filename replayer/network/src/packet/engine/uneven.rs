//! Unequal links: the calendar of events that depend on them, packets that wait until they can be forwarded without a
//! gap, and links that several channels share.
//!
//! **Paces.** The phits of a packet arrive at the pace of the incoming link. A faster port would have to wait for each
//! phit, so a packet requests such a port only when the port can forward it at its own pace without a gap: its last
//! phit leaves when it has arrived. A port that is equally fast or slower is requested as soon as the header has
//! arrived.
//!
//! **Ports.** A packet crosses the crossbar at the pace of the clock or of its arrival, regardless of the link of the
//! port. A thin link therefore does not prevent the packet's queue from forwarding the next packet through another
//! port.
//!
//! **Shared links.** The channels of a half-duplex link, one for each direction, take turns: a channel with a packet
//! takes the link for the time of this packet, followed by the next channel that has one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::layout::Layout;
use super::super::link_timing::{LinkTiming, LinkTimings};
use super::super::spec::PacketSpec;
use super::RoutedEngine;
use crate::ids::{Optional, ids};
use crate::packet::input_queues::QueuedPacket;
use crate::packet::{OutputId, PacketId, QueueId};
use crate::topology::{ChannelIndex, RouterId, Routing};

ids! {
    /// A link that channels of a network take.
    MediumId
}

/// An event of a network whose links are not alike, in the order of the steps of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// A tail has gone through the crossbar to the output queues of a port.
    PortIdle(OutputId),
    /// A tail has left an input queue.
    QueueTail(QueueId),
    /// A tail has left a port over a link, by a channel of the port.
    LinkIdle(OutputId, ChannelIndex),
    /// The header of a packet arrives at a queue.
    Header(QueueId, PacketId),
    /// A packet in a router can be passed on without a gap.
    Ready(RouterId),
}

/// The state of links that are not alike.
#[derive(Debug)]
pub(super) struct Uneven {
    calendar: BinaryHeap<Reverse<(u64, Event)>>,
    media: Vec<Medium>,
    /// The link that each port leads to, if it leads to one.
    medium: Vec<Optional<MediumId>>,
    /// For each queue, the cycles from the first phit of an arriving packet to the last.
    arrival_span: Vec<u64>,
    /// For each queue, the last cycle for which its head scheduled another visit.
    wakes: Vec<u64>,
    /// Links that channels request in this cycle.
    asked: Vec<MediumId>,
    /// The packets that each virtual channel of a port has room for behind it.
    places: Vec<u32>,
    packet_phits: u64,
    router_delay: u64,
}

/// A link and its channels.
#[derive(Debug)]
struct Medium {
    timing: LinkTiming,
    /// Parts of a cycle that the packets so far are ahead of the link's bandwidth.
    remainder: u64,
    /// The ports of its channels.
    channels: Vec<OutputId>,
    /// The channel that had it last.
    served: usize,
    /// The best candidate in this cycle, by the number of its channel.
    best: Option<(usize, Candidate)>,
}

/// A packet that competes for a link shared by several channels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub output: OutputId,
    pub channel: ChannelIndex,
    /// The input queue that it heads, unless it is in an output queue.
    pub head: Option<QueueId>,
}

impl Uneven {
    /// The links of an idle network.
    pub(crate) fn new(spec: &PacketSpec, timings: &LinkTimings, layout: &Layout) -> Self {
        let mut number = vec![None; timings.len()];
        let mut media: Vec<Medium> = Vec::new();
        let mut medium = vec![Optional::none(); layout.outputs.len()];
        for router in spec.graph.routers() {
            let outputs = layout.routers[router.index()].all_outputs();
            for (output, port) in outputs.zip(spec.graph.ports(router)).filter(|(_, port)| port.to.is_some()) {
                let id = *number[port.link.index()].get_or_insert_with(|| {
                    media.push(Medium::new(*timings.get(port.link)));
                    MediumId(media.len() as u32 - 1)
                });
                media[id.index()].channels.push(output);
                medium[output.index()] = Optional::some(id);
            }
        }
        // The first turn goes to the first channel.
        media.iter_mut().for_each(|medium| medium.served = medium.channels.len() - 1);
        let packet_phits = u64::from(spec.parameters.packet_phits);
        let arrival_span = layout.queues.iter().map(|queue| {
            let link = layout.link(queue.source(), &spec.graph);
            link.map_or(packet_phits - 1, |(link, _)| timings.get(link).span)
        });
        Self {
            calendar: BinaryHeap::new(),
            arrival_span: arrival_span.collect(),
            wakes: vec![0; layout.queues.len()],
            media,
            medium,
            asked: Vec::new(),
            places: layout.outputs.iter().map(|output| output.first_room).collect(),
            packet_phits,
            router_delay: spec.parameters.router_delay.into(),
        }
    }

    /// The packets that each virtual channel of a port has room for behind it.
    pub(crate) fn places(&self, output: OutputId) -> u32 {
        self.places[output.index()]
    }

    /// The cycle of the next event; `u64::MAX` if there is none.
    pub(crate) fn next(&self) -> u64 {
        self.calendar.peek().map_or(u64::MAX, |Reverse((at, _))| *at)
    }

    /// Takes out an event that is due at `now`.
    pub(crate) fn take(&mut self, now: u64) -> Option<Event> {
        if self.next() > now {
            return None;
        }
        self.calendar.pop().map(|Reverse((_, event))| event)
    }

    /// Puts an event into the calendar.
    pub(crate) fn at(&mut self, cycle: u64, event: Event) {
        self.calendar.push(Reverse((cycle, event)));
    }

    fn of(&mut self, output: OutputId) -> Option<&mut Medium> {
        self.medium[output.index()].get().map(|id| &mut self.media[id.index()])
    }

    /// Whether a packet that arrived at a queue at `since` has to wait before it takes a port; if so, its router is
    /// visited again later.
    pub(crate) fn holds_back(
        &mut self,
        router: RouterId,
        queue: QueueId,
        output: OutputId,
        since: u64,
        now: u64,
    ) -> bool {
        let at_hosts = self.packet_phits - 1;
        let leaves = self.of(output).map_or(at_hosts, |medium| medium.timing.span);
        let ready = since + self.arrival_span[queue.index()].saturating_sub(leaves);
        if ready > now && std::mem::replace(&mut self.wakes[queue.index()], ready) != ready {
            self.at(ready, Event::Ready(router));
        }
        ready > now
    }

    /// Gives a channel its link at `now`. Returns the cycle until which no channel of the link is idle, and the cycle
    /// in which the header is in the next queue.
    pub(crate) fn occupy(&mut self, output: OutputId, now: u64, mut set_busy: impl FnMut(OutputId)) -> (u64, u64) {
        let router_delay = self.router_delay;
        let Some(Medium { timing, remainder, channels, .. }) = self.of(output) else { return (now, now) };
        channels.iter().for_each(|&output| set_busy(output));
        (now + timing.packet_cycles(remainder), now + timing.phit + timing.wire + router_delay)
    }

    /// The cycle in which the tail of a packet has gone through a crossbar, which it enters at `now`: its last phit has come
    /// by then.
    pub(crate) fn crossed(&self, queue: QueueId, since: u64, now: u64) -> u64 {
        (now + self.packet_phits).max(since + self.arrival_span[queue.index()] + 1)
    }

    /// The channels of the link of a port.
    pub(crate) fn channels(&self, output: OutputId) -> &[OutputId] {
        self.medium[output.index()].get().map_or(&[], |id| &self.media[id.index()].channels)
    }

    /// Whether a port shares its link with others.
    pub(crate) fn is_shared(&self, output: OutputId) -> bool {
        self.medium[output.index()].get().is_some_and(|id| self.media[id.index()].channels.len() > 1)
    }

    /// Enters a packet for a link in this cycle.
    pub(crate) fn enter(&mut self, candidate: Candidate) {
        let Some(id) = self.medium[candidate.output.index()].get() else { return };
        let medium = &mut self.media[id.index()];
        let Some(place) = medium.channels.iter().position(|&output| output == candidate.output) else { return };
        let after = (place + medium.channels.len() - medium.served - 1) % medium.channels.len();
        if medium.best.is_none() {
            self.asked.push(id);
        }
        if medium.best.is_none_or(|(best, _)| after < best) {
            medium.best = Some((after, candidate));
        }
    }

    /// Takes out a packet that passes its link in this cycle.
    pub(crate) fn pop(&mut self) -> Option<Candidate> {
        let medium = &mut self.media[self.asked.pop()?.index()];
        let (after, winner) = medium.best.take()?;
        medium.served = (medium.served + 1 + after) % medium.channels.len();
        Some(winner)
    }
}

impl Medium {
    fn new(timing: LinkTiming) -> Self {
        Self { timing, remainder: 0, channels: Vec::new(), served: 0, best: None }
    }
}

impl<R: Routing, const UNEVEN: bool> RoutedEngine<R, UNEVEN> {
    /// Tails and headers of this cycle.
    pub(super) fn process_events(&mut self, now: u64) {
        while let Some(event) = self.uneven.as_mut().and_then(|uneven| uneven.take(now)) {
            match event {
                Event::PortIdle(output) => {
                    self.outputs.get_mut(output).busy = false;
                    self.activate(output);
                }
                Event::QueueTail(queue) => self.free_place(queue),
                Event::LinkIdle(output, channel) => self.free_link(output, channel),
                Event::Header(queue, packet) => {
                    self.packets.get_mut(packet).since = now;
                    self.arrive(queue, QueuedPacket { packet, output: Optional::none() });
                }
                Event::Ready(router) => self.active_routers.add(router),
            }
        }
    }

    /// A packet has left a port over its link, which is idle now for all ports that share it.
    fn free_link(&mut self, output: OutputId, channel: ChannelIndex) {
        let Some(uneven) = self.uneven.take() else { return };
        if let Some(queues) = &mut self.output_queues {
            queues.release_tail(output, channel);
            uneven.channels(output).iter().for_each(|&output| queues.set_idle(output));
            self.activate(output);
        } else {
            for &output in uneven.channels(output) {
                self.outputs.get_mut(output).busy = false;
                self.activate(output);
            }
        }
        self.uneven = Some(uneven);
    }

    /// Whether the head of a queue has to wait until it can be forwarded without a gap.
    pub(super) fn is_held_back(&mut self, router: RouterId, queue: QueueId, output: OutputId, now: u64) -> bool {
        let since = self.packets.get(self.queues.head(queue).packet).since;
        self.uneven.as_mut().is_some_and(|uneven| uneven.holds_back(router, queue, output, since, now))
    }

    /// Whether a port competes with others for its link; if so, registers the packet as a candidate.
    pub(super) fn competes(&mut self, queue: QueueId, output: OutputId, channel: ChannelIndex) -> bool {
        let Some(uneven) = self.uneven.as_mut().filter(|_| self.output_queues.is_none()) else { return false };
        let is_shared = uneven.is_shared(output);
        if is_shared {
            uneven.enter(Candidate { output, channel, head: Some(queue) });
        }
        is_shared
    }

    /// Passes on the head of a queue, a packet, over a link or to an output queue.
    pub(super) fn grant_uneven(
        &mut self,
        queue: QueueId,
        output: OutputId,
        channel: ChannelIndex,
        id: PacketId,
        now: u64,
    ) {
        let since = self.packets.get(id).since;
        let Some(uneven) = &mut self.uneven else { return };
        let tail = uneven.crossed(queue, since, now);
        uneven.at(tail, Event::QueueTail(queue));
        self.usage.leave(queue, tail - since);
        if let Some(queues) = &mut self.output_queues {
            uneven.at(tail, Event::PortIdle(output));
            return queues.push(output, channel, id);
        }
        self.take_link(output, channel, id, now);
    }

    /// Forwards the packets that compete for links, and those that wait in output queues.
    pub(super) fn drive_uneven_links(&mut self, now: u64) {
        self.enter_output_queues();
        while let Some(Candidate { output, channel, head }) = self.uneven.as_mut().and_then(Uneven::pop) {
            if let Some(queue) = head {
                self.grant_choice(queue, output, channel, now);
            } else if let Some(id) = self.output_queues.as_mut().and_then(|queues| queues.pop(output, channel)) {
                self.take_link(output, channel, id, now);
            }
        }
    }

    /// Sends a packet over the link of a port.
    fn take_link(&mut self, output: OutputId, channel: ChannelIndex, id: PacketId, now: u64) {
        let (Some(next), Some(uneven)) = (self.outputs.take_room(output, channel), &mut self.uneven) else { return };
        let (idle, header) = uneven.occupy(output, now, |output| match &mut self.output_queues {
            Some(queues) => queues.set_busy(output),
            None => self.outputs.get_mut(output).busy = true,
        });
        uneven.at(idle, Event::LinkIdle(output, channel));
        uneven.at(header, Event::Header(next, id));
        self.usage.carry(output, channel, 0);
    }

    /// Enters the packets in output queues that can be passed on for their links.
    fn enter_output_queues(&mut self) {
        let (Some(output_queues), Some(uneven)) = (&mut self.output_queues, &mut self.uneven) else { return };
        let outputs = &self.outputs;
        let room = |output: OutputId, channel: ChannelIndex| outputs.room(output, channel) > 0;
        while let Some((output, channel)) = output_queues.ready(room) {
            uneven.enter(Candidate { output, channel, head: None });
        }
    }
}
