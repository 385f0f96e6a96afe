//! A reference implementation of the packet network, which visits every queue in every cycle and counts every phit. It is
//! slow, but simple enough to verify by reading; the engine has to give the same result for every message.

mod decisions;
mod injection;
mod links;

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::{OutputId, QueueIndex};
use crate::chance::chance;
use crate::packet::layout::{Layout, Output, Source};
use crate::packet::sources::Packet;
use crate::packet::{Arbitration, Delivery, Message, PacketParameters, PacketSpec};
use crate::topology::{ChannelIndex, LinkId, OutputVc, PacketAt, PortIndex, RouterId, Routing};

/// A network, the cycle that it is in, and all that is in it.
pub(crate) struct Reference<'a, R> {
    spec: &'a PacketSpec,
    routing: &'a R,
    layout: Layout,
    now: u64,
    messages: Vec<Progress>,
    packets: Vec<(Packet, Vec<i32>)>,
    /// Messages of each host that have packets to send.
    waiting: Vec<VecDeque<usize>>,
    sent: Vec<u64>,
    /// The cycles in which the packets began that the ports of each host are busy with.
    injecting: Vec<Vec<u64>>,
    /// Packets whose header is in each queue.
    queues: Vec<VecDeque<usize>>,
    /// Messages that reach their host's router after this many further cycles.
    offered: Vec<(u64, usize)>,
    /// Packets whose header requests a port of the next router after this many further cycles, with the place.
    underway: Vec<(u64, usize, usize)>,
    /// Packets that are crossing a port.
    crossing: Vec<Crossing>,
    /// Packets in the output queue of each channel of each port, those on the cable among them.
    output_queues: Vec<Vec<VecDeque<usize>>>,
    /// Packets that leave such a queue over a cable.
    sending: Vec<Sending>,
    /// The channel that each cable served last.
    last_channel: Vec<usize>,
    /// Packets whose last phit reaches its host after this many further cycles.
    landing: Vec<(u64, usize)>,
    /// The queue that each port served last.
    served: Vec<QueueIndex>,
    /// For each link, the port that took it last, and parts of a cycle that its packets so far are ahead of its bandwidth.
    links: FxHashMap<LinkId, (Option<usize>, u64)>,
}

struct Progress {
    message: Message,
    created: u64,
    injected: Option<u64>,
    unsent: u64,
    missing: u64,
    hops: u32,
}

/// A packet that leaves its queue, phit by phit.
struct Crossing {
    queue: usize,
    output: usize,
    /// Cycles until it has left its queue.
    cycles: u64,
    /// Cycles until it has left its port.
    port_cycles: u64,
}

/// A packet that leaves an output queue, phit by phit.
struct Sending {
    output: usize,
    channel: usize,
    cycles: u64,
}

/// A head that requests a port.
struct HeadRequest {
    router: RouterId,
    index: QueueIndex,
    queue: usize,
    output: usize,
    vc: OutputVc,
}

/// Counts down, and returns the items whose time is over.
fn elapse<T: Copy>(pending: &mut Vec<(u64, T)>) -> Vec<T> {
    pending.iter_mut().for_each(|(left, _)| *left -= 1);
    let over = pending.iter().filter(|(left, _)| *left == 0).map(|&(_, thing)| thing).collect();
    pending.retain(|(left, _)| *left > 0);
    over
}

impl<'a, R: Routing> Reference<'a, R> {
    pub(crate) fn new(spec: &'a PacketSpec, routing: &'a R) -> Self {
        let layout = Layout::new(spec);
        let hosts = spec.graph.hosts().len();
        let served = |output: &Output| layout.routers[output.router.index()].index(output.served);
        Self {
            spec,
            routing,
            now: 0,
            messages: Vec::new(),
            packets: Vec::new(),
            waiting: vec![VecDeque::new(); hosts],
            sent: vec![0; hosts],
            injecting: vec![Vec::new(); hosts],
            queues: vec![VecDeque::new(); layout.queues.len()],
            offered: Vec::new(),
            underway: Vec::new(),
            crossing: Vec::new(),
            output_queues: vec![vec![VecDeque::new(); spec.virtual_channels() as usize]; layout.outputs.len()],
            sending: Vec::new(),
            last_channel: vec![spec.virtual_channels() as usize - 1; layout.outputs.len()],
            landing: Vec::new(),
            served: layout.outputs.iter().map(served).collect(),
            links: FxHashMap::default(),
            layout,
        }
    }

    fn parameters(&self) -> &PacketParameters {
        &self.spec.parameters
    }

    /// The cycles of `wire_delay` that a host's cable takes, if hosts have cables.
    fn cable_delay(&self) -> u64 {
        self.spec.cable_delay()
    }

    /// Offers a message in the current cycle.
    pub(crate) fn offer(&mut self, message: Message) {
        let Message { packets, .. } = message;
        let progress =
            Progress { message, created: self.now, injected: None, unsent: packets, missing: packets, hops: 0 };
        self.messages.push(progress);
        let delay = 1 + self.cable_delay() + u64::from(self.parameters().router_delay);
        self.offered.push((delay, self.messages.len() - 1));
    }

    /// Whether anything is left to do.
    pub(crate) fn is_idle(&self) -> bool {
        self.messages.iter().all(|progress| progress.missing == 0)
    }

    /// Goes to the next cycle and lives through it.
    pub(crate) fn tick(&mut self, delivered: &mut Vec<Delivery>) {
        self.now += 1;
        self.cross();
        for packet in elapse(&mut self.landing) {
            self.land(packet, delivered);
        }
        let mut headers: Vec<_> =
            self.underway.drain(..).map(|(left, packet, queue)| (left, (packet, queue))).collect();
        let arrived = elapse(&mut headers);
        for &(packet, queue) in &arrived {
            self.packets[packet].0.since = self.now;
            self.queues[queue].push_back(packet);
        }
        self.underway = headers.into_iter().map(|(left, (packet, queue))| (left, packet, queue)).collect();
        for message in elapse(&mut self.offered) {
            let host = self.messages[message].message.from.index();
            self.waiting[host].push_back(message);
        }
        self.fill_ports();
        self.decide_heads();
        let requests = self.requests();
        let asked =
            (0..self.layout.outputs.len()).filter(|&output| requests.iter().any(|request| request.output == output));
        let mut granted: Vec<usize> = asked.collect();
        if self.parameters().output_queue == 0 {
            granted = self.without_losers(&granted);
        }
        for output in granted {
            self.arbitrate(output, &requests);
        }
        let ready: Vec<usize> =
            (0..self.layout.outputs.len()).filter(|&output| self.ready_to_send(output).is_some()).collect();
        for output in self.without_losers(&ready) {
            self.send(output);
        }
    }

    /// One phit of each packet that crosses a port.
    fn cross(&mut self) {
        for crossing in &mut self.crossing {
            crossing.port_cycles = crossing.port_cycles.saturating_sub(1);
            if crossing.cycles == 1 {
                self.queues[crossing.queue].pop_front();
            }
            crossing.cycles = crossing.cycles.saturating_sub(1);
        }
        self.crossing.retain(|crossing| crossing.cycles.max(crossing.port_cycles) > 0);
        for sending in &mut self.sending {
            sending.cycles -= 1;
            if sending.cycles == 0 {
                self.output_queues[sending.output][sending.channel].pop_front();
            }
        }
        self.sending.retain(|sending| sending.cycles > 0);
    }

    fn land(&mut self, packet: usize, delivered: &mut Vec<Delivery>) {
        let (packet, _) = &self.packets[packet];
        let progress = &mut self.messages[packet.message.index()];
        progress.missing -= 1;
        progress.hops = progress.hops.max(packet.hops);
        if progress.missing == 0 {
            let Progress { message, created, injected, hops, .. } = *progress;
            delivered.push(Delivery { message, created, injected: injected.unwrap(), at: self.now, hops });
        }
    }

    /// Whether the first packet of a queue is leaving it.
    fn is_leaving(&self, queue: usize) -> bool {
        self.crossing.iter().any(|crossing| crossing.cycles > 0 && crossing.queue == queue)
    }

    fn is_crossing(&self, output: OutputId) -> bool {
        let excludes = |other| match self.parameters().output_queue {
            0 => self.exclude_each_other(output.index(), other),
            _ => output.index() == other,
        };
        self.crossing.iter().any(|crossing| crossing.port_cycles > 0 && excludes(crossing.output))
    }

    /// Packets that a queue has room for: the rest of its places are taken by packets in it or on their way to it.
    fn room(&self, queue: usize) -> u32 {
        let coming = self.underway.iter().filter(|&&(_, _, to)| to == queue).count();
        let link = self.channel(queue);
        let places = link.map_or(self.parameters().queue_packets, |(link, _)| self.spec.places(link));
        places - (self.queues[queue].len() + coming) as u32
    }

    /// The number of packets that a channel of a port has room for. If packets pass an output queue first, this is zero
    /// if the output queue is full, or else the room of both queues together.
    fn room_for_requests(&self, output: OutputId, channel: ChannelIndex) -> u32 {
        let Some(next) = self.layout.outputs[output.index()].queue(channel) else { return 0 };
        let behind = self.room(next.index());
        let places = self.parameters().output_queue;
        let taken = self.output_queues[output.index()][channel.index()].len() as u32;
        if places == 0 {
            behind
        } else if taken == places {
            0
        } else {
            places - taken + behind
        }
    }

    /// The requests of the heads of all queues that do not leave already.
    fn requests(&self) -> Vec<HeadRequest> {
        let mut requests = Vec::new();
        for (router, this) in (0..).map(RouterId).zip(&self.layout.routers) {
            for index in (0..this.queues).map(QueueIndex) {
                let queue = this.queue(index).index();
                let Some(&head) = self.queues[queue].front() else { continue };
                if self.is_leaving(queue) {
                    continue;
                }
                let (Packet { header, .. }, state) = &self.packets[head];
                let is_free = |port: &PortIndex| !self.is_crossing(this.output(*port));
                let vc = if header.destination == router {
                    let first = self.layout.hosts[header.to.index()].first_port;
                    let ports = self.parameters().consumption_ports;
                    let mut ports = (0..ports).map(|port| PortIndex(first.0 + (index.0 + port) % ports));
                    ports.find(is_free).map(|port| OutputVc { port, channel: ChannelIndex(0) })
                } else {
                    let arrival = self.layout.queues[queue].source().arrival();
                    let room = |port, channel| match is_free(&port) {
                        true => self.room_for_requests(this.output(port), channel),
                        false => 0,
                    };
                    match self.routing.fixed_output(router, header, state) {
                        Some(port) => self.routing.choose_channel(port, arrival, room),
                        None => self.routing.choose(PacketAt { at: router, header, state, arrival }, room),
                    }
                };
                // If the last phit would not have arrived when the port is ready for it, the packet waits.
                let arrival = self.channel(queue).map(|(link, _)| link);
                let has_come = |vc: &OutputVc| {
                    let leaving = self.span(self.link(this.output(vc.port).index()));
                    self.packets[head].0.since + self.span(arrival) <= self.now + leaving
                };
                let vc = vc.filter(has_come);
                requests.extend(vc.map(|vc| HeadRequest {
                    router,
                    index,
                    queue,
                    output: this.output(vc.port).index(),
                    vc,
                }));
            }
        }
        requests
    }

    /// Grants a port to one of the requests.
    fn arbitrate(&mut self, output: usize, requests: &[HeadRequest]) {
        let routers = &self.layout.routers;
        let asking: Vec<&HeadRequest> = requests.iter().filter(|request| request.output == output).collect();
        let Some(first) = asking.first() else { return };
        // In the circular order of queues, starting after the queue served last.
        let circle = routers[first.router.index()].queues;
        let in_turn = (1..=circle).map(|after| QueueIndex((self.served[output].0 + after) % circle));
        let in_turn = in_turn.filter_map(|index| asking.iter().find(|request| request.index == index));
        let since = |request: &HeadRequest| self.packets[self.queues[request.queue][0]].0.since;
        let winner = match self.parameters().arbitration {
            Arbitration::RoundRobin => in_turn.into_iter().next(),
            Arbitration::Fifo => in_turn.min_by_key(|request| since(request)),
            Arbitration::Longest => in_turn.min_by_key(|request| std::cmp::Reverse(self.queues[request.queue].len())),
            Arbitration::Random => {
                let seed = self.parameters().seed ^ self.now;
                in_turn.min_by_key(|request| chance(seed, output as u64, request.index.0.into()))
            }
        };
        let &HeadRequest { index, queue, vc, .. } = winner.copied().unwrap();
        self.served[output] = index;
        self.pass(queue, output, vc);
    }

    fn pass(&mut self, queue: usize, output: usize, vc: OutputVc) {
        let packet_phits = u64::from(self.parameters().packet_phits);
        let id = self.queues[queue][0];
        let cable = self.cable_delay();
        let (packet, state) = &mut self.packets[id];
        if let Source::Host(_) = self.layout.queues[queue].source() {
            self.messages[packet.message.index()].injected.get_or_insert(self.now);
        }
        let Some(next) = self.layout.outputs[output].queue(vc.channel) else {
            self.crossing.push(Crossing { queue, output, cycles: packet_phits, port_cycles: packet_phits });
            self.landing.push((packet_phits + cable, id));
            return;
        };
        let since = packet.since;
        packet.hops += 1;
        self.routing.hop(vc, self.layout.queues[next.index()].router, state);
        let arrival = self.channel(queue).map(|(link, _)| link);
        let cycles = packet_phits.max((since + self.span(arrival) + 1).saturating_sub(self.now));
        if self.parameters().output_queue > 0 {
            self.output_queues[output][vc.channel.index()].push_back(id);
            self.crossing.push(Crossing { queue, output, cycles, port_cycles: cycles });
            return;
        }
        let (port_cycles, header) = self.take_link(output);
        self.crossing.push(Crossing { queue, output, cycles, port_cycles });
        self.underway.push((header, id, next.index()));
    }

    /// The channel whose packet a port can send from an output queue, with the packet and its destination.
    fn ready_to_send(&self, output: usize) -> Option<(usize, usize, usize)> {
        if self.sending.iter().any(|sending| self.exclude_each_other(sending.output, output)) {
            return None;
        }
        let channels = self.spec.virtual_channels() as usize;
        let mut in_turn = (1..=channels).map(|after| (self.last_channel[output] + after) % channels);
        let next = |channel: usize| self.layout.outputs[output].queue(ChannelIndex(channel as u32));
        in_turn.find_map(|channel| {
            let (head, next) = (self.output_queues[output][channel].front().copied()?, next(channel)?.index());
            (self.room(next) > 0).then_some((channel, head, next))
        })
    }

    /// Lets one of the packets in a port's output queues onto its cable.
    fn send(&mut self, output: usize) {
        let Some((channel, id, next)) = self.ready_to_send(output) else { return };
        let (cycles, header) = self.take_link(output);
        self.underway.push((header, id, next));
        self.last_channel[output] = channel;
        self.sending.push(Sending { output, channel, cycles });
    }
}
