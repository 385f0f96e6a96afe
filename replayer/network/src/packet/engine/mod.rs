//! The cycle, and what it costs: see the [module](super) for what happens in one, in which order.
//!
//! Only what can have changed is looked at. A router is **stirred** in a cycle if a packet came to head one of its
//! queues, one of its ports became free, or room appeared behind one — while packets wait in it; no other router can pass
//! on a packet in this cycle that it could not before. Every delay in a network of like routers and packets is one of a
//! few constants, so what is due when stands in queues ([`DelayLine`]) and needs no sorting.

mod allocation;

use super::chance::chance;
use super::delay_line::DelayLine;
use super::delays::Delays;
use super::design::Design;
use super::layout::{Input, Layout, NOWHERE, Output, Router};
use super::output_queues::OutputQueues;
use super::packets::{Packet, PacketId, Packets};
use super::parameters::Parameters;
use super::routing::{Way, Ways};
use super::sources::Sources;
use super::stirred::Stirred;
use super::usage::Usage;
use super::{Delivery, Message};
use crate::topology::{Fabric, LinkId};
use allocation::Contests;

/// A network of routers, and the cycle that it is at.
#[derive(Debug)]
pub struct Engine {
    parameters: Parameters,
    ways: Ways,
    routers: Vec<Router>,
    queues: Queues,
    outputs: Vec<Output>,
    output_queues: Option<OutputQueues>,
    hosts: Vec<Host>,
    packets: Packets,
    sources: Sources,
    /// For each router, which of its queues have a packet at their head that waits to be passed on.
    waiting: Vec<u64>,

    /// Messages on their way from a host to its router.
    offers: DelayLine<u32>,
    /// Headers on their way to a queue.
    headers: DelayLine<(PacketId, u32)>,
    /// Tails that have not left a queue.
    tails: DelayLine<(u32, u32)>,
    /// Packets that are being consumed.
    consumed: DelayLine<PacketId>,
    stirred: Stirred,
    /// Routers to look at in the next cycle, as a packet lost a port and may find another.
    again: Vec<u32>,
    again_at: u64,
    /// Hosts with an idle port that may have more to send.
    refill: Vec<u32>,
    contest: Contests,
    usage: Usage,
}

/// Rings of packets, side by side in one array.
#[derive(Debug)]
struct Queues {
    inputs: Vec<Input>,
    slots: Vec<PacketId>,
    capacity: u32,
}

/// A host's places at its router.
#[derive(Clone, Copy, Debug)]
struct Host {
    router: u32,
    /// Its queues.
    first_input: u32,
    /// Its ports, counted among the router's.
    first_port: u32,
    /// Packets that it has sent.
    sent: u64,
    received: u64,
}

impl Queues {
    fn head(&self, queue: u32) -> PacketId {
        let input = &self.inputs[queue as usize];
        self.slots[self.slot(queue, input.head)]
    }

    fn slot(&self, queue: u32, place: u32) -> usize {
        queue as usize * self.capacity as usize + place as usize
    }

    /// Appends a packet; whether it is the only one.
    fn push(&mut self, queue: u32, packet: PacketId) -> bool {
        let input = &mut self.inputs[queue as usize];
        let place = input.head + input.queued;
        let place = if place < self.capacity { place } else { place - self.capacity };
        input.queued += 1;
        let alone = input.queued == 1;
        let slot = self.slot(queue, place);
        self.slots[slot] = packet;
        alone
    }

    /// Takes the head out; whether there is another behind.
    fn pop(&mut self, queue: u32) -> bool {
        let input = &mut self.inputs[queue as usize];
        input.head = if input.head + 1 < self.capacity { input.head + 1 } else { 0 };
        input.queued -= 1;
        input.reserved -= 1;
        input.queued > 0
    }
}

impl Engine {
    /// An idle network.
    #[must_use]
    pub fn new(design: &Design) -> Self {
        let Design { fabric, ways, parameters } = design;
        let layout = Layout::new(fabric, parameters);
        let widest = layout.routers.iter().map(|router| router.outputs).max().unwrap_or_default();
        let Delays { offer, hop, tail, consumption } = Delays::of(design);
        let hosts = fabric.sockets.iter().zip(&layout.hosts).map(|(socket, &(first_input, first_port))| Host {
            router: socket.router,
            first_input,
            first_port,
            sent: 0,
            received: 0,
        });
        Self {
            hosts: hosts.collect(),
            sources: Sources::new(fabric.sockets.len()),
            packets: Packets::new(ways.dimensions()),
            waiting: vec![0; layout.words as usize],
            output_queues: OutputQueues::new(&layout, parameters.virtual_channels, parameters.output_queue, tail),
            offers: DelayLine::new(offer),
            headers: DelayLine::new(hop),
            tails: DelayLine::new(tail),
            consumed: DelayLine::new(consumption),
            stirred: Stirred::new(layout.routers.len()),
            again: Vec::new(),
            again_at: 0,
            refill: Vec::new(),
            contest: Contests::new(widest),
            usage: Usage::new(layout.inputs.iter().map(|input| input.channel(fabric))),
            queues: Queues {
                slots: vec![0; layout.inputs.len() * parameters.queue_packets as usize],
                inputs: layout.inputs,
                capacity: parameters.queue_packets,
            },
            routers: layout.routers,
            outputs: layout.outputs,
            ways: ways.clone(),
            parameters: parameters.clone(),
        }
    }

    /// Hands over a message at cycle `now`, which is not before the last that was advanced to, and at which something may
    /// still happen: it is that of the next [`advance`](Self::advance), or earlier.
    pub fn offer(&mut self, now: u64, message: Message) {
        let id = self.sources.insert(message, now);
        self.offers.push(now, id);
    }

    /// The next cycle in which something happens.
    #[must_use]
    pub fn next_cycle(&self) -> Option<u64> {
        let again = if self.again.is_empty() { u64::MAX } else { self.again_at };
        let behind = self.output_queues.as_ref().map_or(u64::MAX, OutputQueues::next);
        let arrivals = self.offers.next().min(self.headers.next());
        let departures = self.tails.next().min(self.consumed.next());
        Some(arrivals.min(departures).min(again).min(behind)).filter(|&next| next != u64::MAX)
    }

    /// What was carried, and where.
    #[must_use]
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    /// What was carried, and where, since this was last asked.
    pub fn take_usage(&mut self) -> Usage {
        let empty = self.usage.empty();
        std::mem::replace(&mut self.usage, empty)
    }

    /// How many packets each link of `fabric`, which this network was made of, has carried.
    pub fn carried(&self, fabric: &Fabric) -> impl Iterator<Item = (LinkId, u64)> {
        let channels = self.usage.channels().map(|channel| (channel.link, channel.packets));
        let cables = self.hosts.iter().zip(&fabric.sockets).filter_map(|(host, socket)| {
            let (to_router, to_host) = socket.cable?;
            Some([(to_router, host.sent), (to_host, host.received)])
        });
        channels.chain(cables.flatten())
    }

    /// Lives through cycle `now`, which is no later than [`next_cycle`](Self::next_cycle), and appends what was delivered.
    pub fn advance(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        for _ in 0..self.tails.due(now) {
            let Some((queue, output)) = self.tails.take() else { break };
            self.release(queue, output);
        }
        for _ in 0..self.output_queues.as_mut().map_or(0, |queues| queues.due(now)) {
            let Some(router) = self.output_queues.as_mut().and_then(OutputQueues::release) else { break };
            self.stir(router);
        }
        for _ in 0..self.headers.due(now) {
            let Some((packet, queue)) = self.headers.take() else { break };
            self.packets.get_mut(packet).since = now;
            if self.queues.push(queue, packet) {
                self.head_waits(queue);
            }
        }
        for _ in 0..self.offers.due(now) {
            let Some(message) = self.offers.take() else { break };
            let host = self.sources.ready(message);
            self.refill.push(host);
        }
        while let Some(host) = self.refill.pop() {
            self.fill_ports(host, now);
        }
        for _ in 0..self.consumed.due(now) {
            let Some(packet) = self.consumed.take() else { break };
            self.deliver(packet, now, delivered);
        }
        if self.again_at <= now {
            while let Some(router) = self.again.pop() {
                self.stirred.add(router);
            }
        }
        let mut place = 0;
        while let Some((first, mut left)) = self.stirred.take(&mut place) {
            while left != 0 {
                self.pass_on(first + left.trailing_zeros(), now);
                left &= left - 1;
            }
        }
        self.drive_cables(now);
    }

    /// Passes on what waits in output queues.
    fn drive_cables(&mut self, now: u64) {
        let Some(output_queues) = &mut self.output_queues else { return };
        loop {
            let (inputs, outputs, capacity) = (&self.queues.inputs, &self.outputs, self.queues.capacity);
            let room = |output: u32, channel: u32| {
                inputs[(outputs[output as usize].first_queue + channel) as usize].reserved < capacity
            };
            let Some((output, channel, packet)) = output_queues.pass_on(now, room) else { return };
            let next = self.outputs[output as usize].first_queue + channel;
            self.usage.carry(next);
            self.queues.inputs[next as usize].reserved += 1;
            self.headers.push(now, (packet, next));
        }
    }

    /// A packet's tail has left `queue` through `output`.
    fn release(&mut self, queue: u32, output: u32) {
        self.outputs[output as usize].busy = false;
        let Input { router, upstream, host, arrival, .. } = self.queues.inputs[queue as usize];
        let more = self.queues.pop(queue);
        if more {
            self.head_waits(queue);
        } else if upstream == NOWHERE {
            self.refill.push(host);
        }
        if upstream != NOWHERE {
            self.stir(upstream);
            if let (Some(queues), Some(Way { port, .. })) = (&mut self.output_queues, arrival) {
                queues.stir(self.routers[upstream as usize].first_output + port);
            }
        }
        self.stir(router);
    }

    /// Looks at a router in this cycle, if any packet waits in it.
    fn stir(&mut self, router: u32) {
        if self.routers[router as usize].waiting > 0 {
            self.stirred.add(router);
        }
    }

    /// The head of a queue waits from now on.
    fn head_waits(&mut self, queue: u32) {
        let id = self.queues.head(queue);
        let (packet, steps) = (self.packets.get(id), self.packets.steps(id));
        let input = &mut self.queues.inputs[queue as usize];
        let router = input.router;
        let settled = if packet.goal != router {
            self.ways.settle(router, packet, steps)
        } else {
            (self.parameters.consumption_ports == 1).then(|| self.hosts[packet.to as usize].first_port)
        };
        input.settled = settled.unwrap_or(NOWHERE);
        let Router { first_input, first_word, waiting, .. } = &mut self.routers[router as usize];
        *waiting += 1;
        let place = queue - *first_input;
        self.waiting[(*first_word + place / 64) as usize] |= 1 << (place % 64);
        self.stirred.add(router);
    }

    /// Gives each idle injection port of a host, the first first, a packet.
    fn fill_ports(&mut self, host: u32, now: u64) {
        let Host { router, first_input, .. } = self.hosts[host as usize];
        for queue in first_input..first_input + self.parameters.injection_ports {
            if self.queues.inputs[queue as usize].queued > 0 {
                continue;
            }
            let Some(id) = self.sources.send(host) else { return };
            let Message { from, to, .. } = self.sources.get(id).message;
            let sent = &mut self.hosts[host as usize].sent;
            let ties = chance(self.parameters.seed, host.into(), *sent);
            *sent += 1;
            let goal = self.hosts[to as usize].router;
            let packet = Packet { since: now, left: now, message: id, from, to, goal, ties, hops: 0 };
            let packet = self.packets.insert(packet);
            self.packets.depart(packet, router, &self.ways);
            self.queues.inputs[queue as usize].reserved += 1;
            self.queues.push(queue, packet);
            self.head_waits(queue);
        }
    }

    /// A packet is consumed to its last phit.
    fn deliver(&mut self, id: PacketId, now: u64, delivered: &mut Vec<Delivery>) {
        let packet = self.packets.remove(id);
        self.usage.consume(packet.hops, now - packet.left);
        self.hosts[packet.to as usize].received += 1;
        if let Some(progress) = self.sources.arrives(packet.message) {
            let message = progress.message;
            let injected = progress.injected.unwrap_or(now);
            delivered.push(Delivery { message, created: progress.created, injected, at: now, hops: packet.hops });
        }
    }
}
