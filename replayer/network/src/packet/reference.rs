//! The same network, plainly: every queue of every router looked at in every cycle, and every phit counted. Slow, and
//! written to be seen to be right; the engine must say the same of every message.

use std::collections::VecDeque;

use super::chance::chance;
use super::design::Design;
use super::layout::{Layout, NOWHERE};
use super::packets::Packet;
use super::parameters::{Arbitration, Parameters};
use super::routing::Way;
use super::{Delivery, Message};

/// A network, the cycle that it is in, and all that is in it.
pub struct Reference<'a> {
    design: &'a Design,
    layout: Layout,
    now: u64,
    messages: Vec<Progress>,
    packets: Vec<(Packet, Vec<i32>)>,
    /// Messages of each host that have packets to send.
    waiting: Vec<VecDeque<usize>>,
    sent: Vec<u64>,
    /// Packets whose header is in each queue.
    queues: Vec<VecDeque<usize>>,
    /// Messages that reach their host's router after so many cycles more.
    offered: Vec<(u64, usize)>,
    /// Packets whose header asks for a port of the next router after so many cycles more, and where.
    underway: Vec<(u64, usize, usize)>,
    /// Packets that are crossing a port.
    crossing: Vec<Crossing>,
    /// Packets in the output queue of each channel of each port, those on the cable among them.
    output_queues: Vec<Vec<VecDeque<usize>>>,
    /// Packets that leave such a queue over a cable.
    sending: Vec<Sending>,
    /// The channel that each cable served last.
    last_channel: Vec<usize>,
    /// Packets whose last phit reaches its host after so many cycles more.
    landing: Vec<(u64, usize)>,
    /// The queue that each port served last, as its router counts.
    served: Vec<u32>,
}

struct Progress {
    message: Message,
    created: u64,
    injected: Option<u64>,
    unsent: u64,
    missing: u64,
}

/// A packet that leaves its queue, phit by phit.
struct Crossing {
    queue: usize,
    output: usize,
    phits: u32,
}

/// A packet that leaves an output queue, phit by phit.
struct Sending {
    output: usize,
    channel: usize,
    phits: u32,
}

/// A head that asks for a port.
struct Request {
    router: usize,
    place: u32,
    queue: usize,
    way: Way,
}

/// Counts down; what is over comes out.
fn elapse<T: Copy>(pending: &mut Vec<(u64, T)>) -> Vec<T> {
    pending.iter_mut().for_each(|(left, _)| *left -= 1);
    let over = pending.iter().filter(|(left, _)| *left == 0).map(|&(_, thing)| thing).collect();
    pending.retain(|(left, _)| *left > 0);
    over
}

impl<'a> Reference<'a> {
    pub fn new(design: &'a Design) -> Self {
        let layout = Layout::new(&design.fabric, &design.parameters);
        let hosts = design.fabric.sockets.len();
        Self {
            design,
            now: 0,
            messages: Vec::new(),
            packets: Vec::new(),
            waiting: vec![VecDeque::new(); hosts],
            sent: vec![0; hosts],
            queues: vec![VecDeque::new(); layout.inputs.len()],
            offered: Vec::new(),
            underway: Vec::new(),
            crossing: Vec::new(),
            output_queues: vec![
                vec![VecDeque::new(); design.parameters.virtual_channels as usize];
                layout.outputs.len()
            ],
            sending: Vec::new(),
            last_channel: vec![design.parameters.virtual_channels as usize - 1; layout.outputs.len()],
            landing: Vec::new(),
            served: layout.outputs.iter().map(|output| output.served).collect(),
            layout,
        }
    }

    fn parameters(&self) -> &Parameters {
        &self.design.parameters
    }

    /// What of `wire_delay` a host's cable takes, if hosts have cables.
    fn cable_delay(&self) -> u64 {
        let has_cable = self.design.fabric.sockets[0].cable.is_some();
        if has_cable { self.parameters().wire_delay.into() } else { 0 }
    }

    /// Offers a message in the current cycle.
    pub fn offer(&mut self, message: Message) {
        let Message { packets, .. } = message;
        let progress = Progress { message, created: self.now, injected: None, unsent: packets, missing: packets };
        self.messages.push(progress);
        let delay = 1 + self.cable_delay() + u64::from(self.parameters().router_delay);
        self.offered.push((delay, self.messages.len() - 1));
    }

    /// Whether anything is left to do.
    pub fn is_idle(&self) -> bool {
        self.messages.iter().all(|progress| progress.missing == 0)
    }

    /// Goes to the next cycle and lives through it.
    pub fn tick(&mut self, delivered: &mut Vec<Delivery>) {
        self.now += 1;
        self.cross();
        for packet in elapse(&mut self.landing) {
            self.land(packet, delivered);
        }
        let mut headers: Vec<_> =
            self.underway.drain(..).map(|(left, packet, queue)| (left, (packet, queue))).collect();
        for (packet, queue) in elapse(&mut headers) {
            self.packets[packet].0.since = self.now;
            self.queues[queue].push_back(packet);
        }
        self.underway = headers.into_iter().map(|(left, (packet, queue))| (left, packet, queue)).collect();
        for message in elapse(&mut self.offered) {
            let host = self.messages[message].message.from as usize;
            self.waiting[host].push_back(message);
        }
        self.fill_ports();
        let requests = self.requests();
        for output in 0..self.layout.outputs.len() {
            self.arbitrate(output, &requests);
        }
        for output in 0..self.layout.outputs.len() {
            self.send(output);
        }
    }

    /// One phit of each packet that crosses a port.
    fn cross(&mut self) {
        for crossing in &mut self.crossing {
            crossing.phits -= 1;
            if crossing.phits == 0 {
                self.queues[crossing.queue].pop_front();
            }
        }
        self.crossing.retain(|crossing| crossing.phits > 0);
        for sending in &mut self.sending {
            sending.phits -= 1;
            if sending.phits == 0 {
                self.output_queues[sending.output][sending.channel].pop_front();
            }
        }
        self.sending.retain(|sending| sending.phits > 0);
    }

    fn land(&mut self, packet: usize, delivered: &mut Vec<Delivery>) {
        let (packet, _) = &self.packets[packet];
        let progress = &mut self.messages[packet.message as usize];
        progress.missing -= 1;
        if progress.missing == 0 {
            let Progress { message, created, injected, .. } = *progress;
            delivered.push(Delivery { message, created, injected: injected.unwrap(), at: self.now, hops: packet.hops });
        }
    }

    /// Each injection port that holds no packet takes one.
    fn fill_ports(&mut self) {
        for host in 0..self.waiting.len() {
            let (first, _) = self.layout.hosts[host];
            for queue in first..first + self.parameters().injection_ports {
                if !self.queues[queue as usize].is_empty() {
                    continue;
                }
                let Some(&id) = self.waiting[host].front() else { break };
                let progress = &mut self.messages[id];
                progress.unsent -= 1;
                if progress.unsent == 0 {
                    self.waiting[host].pop_front();
                }
                let Message { from, to, .. } = self.messages[id].message;
                let goal = self.design.fabric.sockets[to as usize].router;
                let ties = chance(self.parameters().seed, host as u64, self.sent[host]);
                self.sent[host] += 1;
                let packet = Packet { since: self.now, left: 0, message: id as u32, from, to, goal, ties, hops: 0 };
                let mut steps = vec![0; self.design.ways.dimensions()];
                self.design.ways.depart(self.design.fabric.sockets[host].router, &packet, &mut steps);
                self.queues[queue as usize].push_back(self.packets.len());
                self.packets.push((packet, steps));
            }
        }
    }

    fn is_crossing(&self, output: usize) -> bool {
        self.crossing.iter().any(|crossing| crossing.output == output)
    }

    /// Packets that a queue has room for: the rest of its places are taken by packets in it or on their way to it.
    fn room(&self, queue: usize) -> u32 {
        let coming = self.underway.iter().filter(|&&(_, _, to)| to == queue).count();
        self.parameters().queue_packets - (self.queues[queue].len() + coming) as u32
    }

    /// Likewise, where a packet may have to pass an output queue first: none if that is full, or else both together.
    fn room_for_requests(&self, output: usize, channel: u32) -> u32 {
        let behind = self.room((self.layout.outputs[output].first_queue + channel) as usize);
        let places = self.parameters().output_queue;
        let taken = self.output_queues[output][channel as usize].len() as u32;
        if places == 0 {
            behind
        } else if taken == places {
            0
        } else {
            places - taken + behind
        }
    }

    /// What the head of each queue asks for, if it does not leave already.
    fn requests(&self) -> Vec<Request> {
        let mut requests = Vec::new();
        for (router, this) in self.layout.routers.iter().enumerate() {
            for place in 0..this.inputs {
                let queue = (this.first_input + place) as usize;
                let Some(&head) = self.queues[queue].front() else { continue };
                if self.crossing.iter().any(|crossing| crossing.queue == queue) {
                    continue;
                }
                let (packet, steps) = &self.packets[head];
                let output = |port: u32| (this.first_output + port) as usize;
                let way = if packet.goal == router as u32 {
                    let (first, ports) = (self.layout.hosts[packet.to as usize].1, self.parameters().consumption_ports);
                    let mut ports = (0..ports).map(|port| first + (place + port) % ports);
                    ports.find(|&port| !self.is_crossing(output(port))).map(|port| Way { port, channel: 0 })
                } else {
                    let arrival = self.layout.inputs[queue].arrival;
                    let room = |port, channel| match self.is_crossing(output(port)) {
                        true => 0,
                        false => self.room_for_requests(output(port), channel),
                    };
                    match self.design.ways.settle(router as u32, packet, steps) {
                        Some(port) => self.design.ways.choose_channel(port, arrival, room),
                        None => self.design.ways.choose(router as u32, (packet, steps), arrival, room),
                    }
                };
                requests.extend(way.map(|way| Request { router, place, queue, way }));
            }
        }
        requests
    }

    /// Lets one of those that ask for a port pass.
    fn arbitrate(&mut self, output: usize, requests: &[Request]) {
        let routers = &self.layout.routers;
        let asks = |request: &&Request| (routers[request.router].first_output + request.way.port) as usize == output;
        let asking: Vec<&Request> = requests.iter().filter(asks).collect();
        let Some(first) = asking.first() else { return };
        // In the order in which queues follow the one served last.
        let circle = routers[first.router].inputs;
        let in_turn = (1..=circle).map(|after| (self.served[output] + after) % circle);
        let in_turn = in_turn.filter_map(|place| asking.iter().find(|request| request.place == place));
        let since = |request: &Request| self.packets[self.queues[request.queue][0]].0.since;
        let winner = match self.parameters().arbitration {
            Arbitration::RoundRobin => in_turn.into_iter().next(),
            Arbitration::Fifo => in_turn.min_by_key(|request| since(request)),
            Arbitration::Longest => in_turn.min_by_key(|request| std::cmp::Reverse(self.queues[request.queue].len())),
            Arbitration::Random => {
                let seed = self.parameters().seed ^ self.now;
                in_turn.min_by_key(|request| chance(seed, output as u64, request.place.into()))
            }
        };
        let &Request { place, queue, way, .. } = winner.copied().unwrap();
        self.served[output] = place;
        self.pass(queue, output, way);
    }

    fn pass(&mut self, queue: usize, output: usize, way: Way) {
        let Parameters { packet_phits, wire_delay, router_delay, .. } = *self.parameters();
        let id = self.queues[queue][0];
        self.crossing.push(Crossing { queue, output, phits: packet_phits });
        let cable = self.cable_delay();
        let (packet, steps) = &mut self.packets[id];
        if self.layout.inputs[queue].arrival.is_none() {
            self.messages[packet.message as usize].injected.get_or_insert(self.now);
        }
        if self.layout.outputs[output].first_queue == NOWHERE {
            self.landing.push((u64::from(packet_phits) + cable, id));
            return;
        }
        packet.hops += 1;
        self.design.ways.step(way.port, steps);
        if self.parameters().output_queue > 0 {
            self.output_queues[output][way.channel as usize].push_back(id);
            return;
        }
        let next = (self.layout.outputs[output].first_queue + way.channel) as usize;
        self.underway.push((1 + u64::from(wire_delay) + u64::from(router_delay), id, next));
    }

    /// Lets one of the packets in a port's output queues onto its cable.
    fn send(&mut self, output: usize) {
        let Parameters { packet_phits, wire_delay, router_delay, virtual_channels, .. } = *self.parameters();
        if self.sending.iter().any(|sending| sending.output == output) {
            return;
        }
        let channels = virtual_channels as usize;
        let in_turn = (1..=channels).map(|after| (self.last_channel[output] + after) % channels);
        let next = |channel: usize| self.layout.outputs[output].first_queue as usize + channel;
        let head = |channel: usize| self.output_queues[output][channel].front().copied();
        let mut able = in_turn.filter_map(|channel| Some((channel, head(channel)?)));
        let Some((channel, id)) = able.find(|&(channel, _)| self.room(next(channel)) > 0) else { return };
        self.underway.push((1 + u64::from(wire_delay) + u64::from(router_delay), id, next(channel)));
        self.last_channel[output] = channel;
        self.sending.push(Sending { output, channel, phits: packet_phits });
    }
}
