//! A reference implementation of output-queued switches, which looks at every port and every packet in every cycle, and counts
//! the packets in each memory anew. The engine has to give the same result for every message.

mod injection;
mod memory;

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use super::none_awaits;
use crate::Connection;
use crate::chance::chance;
use crate::packet::layout::{Layout, Source};
use crate::packet::sources::Packet;
use crate::packet::{Buffer, Delivery, Message, OutputId, PacketSpec, QueueId, Switch, WhenFull};
use crate::topology::{ChannelIndex, HostId, OutputVc, PacketAt, RouterId, Routing};

/// A network, the cycle that it is in, and all that is in it.
pub(super) struct Reference<'a, R> {
    spec: &'a PacketSpec,
    routing: &'a R,
    layout: Layout,
    now: u64,
    messages: Vec<Progress>,
    packets: Vec<(Packet, Vec<i32>)>,
    /// Messages of each host that have packets to send.
    waiting: Vec<Vec<usize>>,
    begun: Vec<u64>,
    /// Messages of connections whose windows are closed.
    parked: Vec<usize>,
    /// Packets on their way, of each connection.
    in_transit: HashMap<Connection, u32>,
    /// Connections of which a packet has arrived, with the cycle in which its host knows it.
    acknowledgements: Vec<(u64, Connection)>,
    /// Packets of each host to send again.
    again: Vec<VecDeque<usize>>,
    /// Packets that were lost, with the cycle in which they will be sent again.
    lost: Vec<(u64, usize)>,
    /// How often each packet was lost.
    times: Vec<u32>,
    /// For each virtual channel of each port, its packets and the inputs by which they came, without the one being sent.
    queues: Vec<Vec<VecDeque<(usize, QueueId)>>>,
    /// The channel that each port served last.
    served: Vec<usize>,
    /// Phits in the buckets of ports and of injection ports, less than none during a transmission that has taken more.
    tokens: [Vec<i64>; 2],
    /// The phits of each packet.
    lengths: Vec<u64>,
    /// The cycle in which the tail of each packet is at its switch.
    tails: Vec<u64>,
    /// Packets on links.
    transmissions: Vec<Transmission>,
    /// Places in the memories that are taken.
    held: Vec<Place>,
    /// Losses in all.
    pub losses: u64,
}

struct Progress {
    message: Message,
    created: u64,
    injected: Option<u64>,
    unsent: u64,
    missing: u64,
    hops: u32,
}

/// A packet on a link.
#[derive(Clone, Copy)]
struct Transmission {
    packet: usize,
    began: u64,
    /// Cycles until its tail has left.
    cycles: u64,
    from: Origin,
    /// The input that it is on its way to, unless that is its host.
    to: Option<QueueId>,
}

#[derive(Clone, Copy, PartialEq)]
enum Origin {
    /// A port, and the input by which the packet came.
    Port(OutputId, QueueId),
    /// An injection port, by its input at the switch.
    Host(QueueId),
}

/// A place in a memory.
#[derive(Clone, Copy)]
struct Place {
    packet: usize,
    router: RouterId,
    input: QueueId,
    /// The queue, once the packet is in one.
    queue: Option<(OutputId, ChannelIndex)>,
}

impl<'a, R: Routing> Reference<'a, R> {
    pub(super) fn new(spec: &'a PacketSpec, routing: &'a R) -> Self {
        let layout = Layout::new(spec);
        let (hosts, channels) = (layout.hosts.len(), spec.virtual_channels() as usize);
        Self {
            spec,
            routing,
            now: 0,
            messages: Vec::new(),
            packets: Vec::new(),
            waiting: vec![Vec::new(); hosts],
            begun: vec![0; hosts],
            parked: Vec::new(),
            in_transit: HashMap::new(),
            acknowledgements: Vec::new(),
            again: vec![VecDeque::new(); hosts],
            lost: Vec::new(),
            times: Vec::new(),
            queues: vec![vec![VecDeque::new(); channels]; layout.outputs.len()],
            served: vec![channels - 1; layout.outputs.len()],
            tokens: [vec![i64::MAX; layout.outputs.len()], vec![i64::MAX; layout.queues.len()]],
            lengths: Vec::new(),
            tails: Vec::new(),
            transmissions: Vec::new(),
            held: Vec::new(),
            losses: 0,
            layout,
        }
    }

    fn buffer(&self) -> Option<Buffer> {
        let Switch::OutputQueued(buffer) = self.spec.parameters.switch else { panic!("not output-queued") };
        buffer
    }

    fn pauses(&self) -> bool {
        self.buffer().is_some_and(|buffer| buffer.when_full == WhenFull::Pause)
    }

    fn length(&self) -> u64 {
        self.spec.parameters.packet_phits.into()
    }

    fn cable(&self) -> u64 {
        if self.spec.graph.has_host_cables() { self.spec.parameters.wire_delay.into() } else { 0 }
    }

    /// Whether anything is left to do.
    pub(super) fn is_idle(&self) -> bool {
        self.messages.iter().all(|progress| progress.missing == 0)
    }

    /// Lives through the next cycle, in which these messages are offered.
    pub(super) fn tick(&mut self, now: u64, offers: &[Message], delivered: &mut Vec<Delivery>) {
        self.now = now;
        let burst = (self.spec.parameters.burst.0 / self.spec.parameters.phit.0) as i64;
        self.tokens.iter_mut().flatten().for_each(|tokens| *tokens = tokens.saturating_add(1).min(burst));
        for Transmission { packet, from, .. } in self.that_began(|sent| sent.cycles, |_| true) {
            if let Origin::Port(_, input) = from {
                self.held.retain(|place| (place.packet, place.input) != (packet, input));
            }
        }
        for Transmission { packet, .. } in self.that_began(|sent| sent.cycles + self.cable(), |sent| sent.to.is_none())
        {
            self.land(packet, delivered);
        }
        self.take_in();
        for (_, packet) in self.lost.extract_if(.., |(at, _)| *at == now).collect::<Vec<_>>() {
            self.again[self.packets[packet].0.header.from.index()].push_back(packet);
        }
        self.learn_of_arrivals();
        self.finish(offers);
    }

    /// Offers and sending.
    fn finish(&mut self, offers: &[Message]) {
        for &message in offers {
            let Message { packets, from, .. } = message;
            let created = self.now;
            let waiting = match self.windowed(&message) {
                Some(connection) if self.is_closed(connection) => &mut self.parked,
                _ => &mut self.waiting[from.index()],
            };
            waiting.push(self.messages.len());
            self.messages.push(Progress {
                message,
                created,
                injected: None,
                unsent: packets,
                missing: packets,
                hops: 0,
            });
        }
        (0..self.layout.outputs.len() as u32).for_each(|output| self.send_from_port(OutputId(output)));
        (0..self.layout.hosts.len()).for_each(|host| self.send_from_host(host));
        let latest = self.length()
            + self.cable()
            + 2
            + u64::from(self.spec.parameters.router_delay + self.spec.parameters.wire_delay);
        self.transmissions.retain(|sent| sent.began + latest > self.now);
        self.check_memories();
    }

    fn retransmit_after(&self) -> u64 {
        match self.buffer().unwrap().when_full {
            WhenFull::Pause => panic!("packets are not lost"),
            WhenFull::Drop { retransmit_after } => ((retransmit_after.0 / self.spec.cycle()).ceil() as u64).max(1),
        }
    }

    /// The packets on links that began so many cycles ago.
    fn that_began(
        &self,
        ago: impl Fn(&Transmission) -> u64,
        which: impl Fn(&Transmission) -> bool,
    ) -> Vec<Transmission> {
        self.transmissions.iter().copied().filter(|sent| sent.began + ago(sent) == self.now && which(sent)).collect()
    }

    fn land(&mut self, packet: usize, delivered: &mut Vec<Delivery>) {
        let (packet, _) = &self.packets[packet];
        if let Some(connection) = self.windowed(&self.messages[packet.message.index()].message) {
            let [router, wire] = [self.spec.parameters.router_delay, self.spec.parameters.wire_delay].map(u64::from);
            let back = 1 + self.cable() + router + u64::from(packet.hops) * (1 + wire + router);
            self.acknowledgements.push((self.now + back, connection));
        }
        let progress = &mut self.messages[packet.message.index()];
        progress.missing -= 1;
        progress.hops = progress.hops.max(packet.hops);
        if progress.missing == 0 {
            let Progress { message, created, injected, hops, .. } = *progress;
            delivered.push(Delivery { message, created, injected: injected.unwrap(), at: self.now, hops });
        }
    }

    /// Headers join queues or are lost, switch by switch, from another input on in each cycle.
    fn take_in(&mut self) {
        let [router, wire] = [self.spec.parameters.router_delay, self.spec.parameters.wire_delay].map(u64::from);
        let from_ports = self.that_began(|_| 1 + wire + router, |sent| matches!(sent.from, Origin::Port(..)));
        let from_hosts = self.that_began(|_| 1 + self.cable() + router, |sent| matches!(sent.from, Origin::Host(_)));
        let arrivals: Vec<_> = from_ports.into_iter().chain(from_hosts).collect();
        for state in self.layout.routers.clone() {
            for place in 0..state.queues {
                let input =
                    QueueId(state.first_queue.0 + ((u64::from(place) + self.now) % u64::from(state.queues)) as u32);
                for sent in arrivals.iter().filter(|sent| sent.to == Some(input)) {
                    self.arrive(sent.packet, input);
                }
            }
        }
    }

    fn arrive(&mut self, packet: usize, input: QueueId) {
        let (output, channel) = self.route(packet, input);
        let router = self.layout.queues[input.index()].router;
        let place = Place { packet, router, input, queue: Some((output, channel)) };
        if self.pauses() {
            let reserved = self.held.iter_mut().find(|held| (held.packet, held.input) == (packet, input)).unwrap();
            *reserved = place;
        } else if self.admits(place) {
            self.held.push(place);
        } else {
            let (first, times) = (self.retransmit_after(), self.times[packet]);
            let more = chance(self.packets[packet].0.header.random, times.into(), 0) % ((first << times) - first + 1);
            let again = self.now + (first << times) + more;
            self.times[packet] += 1;
            self.losses += 1;
            return self.lost.push((again, packet));
        }
        self.queues[output.index()][channel.index()].push_back((packet, input));
    }

    fn route(&mut self, packet: usize, input: QueueId) -> (OutputId, ChannelIndex) {
        let at = self.layout.queues[input.index()].router;
        let (Packet { header, .. }, mut state) = self.packets[packet].clone();
        let this = self.layout.routers[at.index()];
        if header.destination == at {
            let first = this.output(self.layout.hosts[header.to.index()].first_port);
            let length =
                |output: &u32| self.queues[*output as usize][0].len() + usize::from(self.is_busy(OutputId(*output)));
            let shortest = (first.0..first.0 + self.spec.parameters.consumption_ports).min_by_key(length).unwrap();
            return (OutputId(shortest), ChannelIndex(0));
        }
        let queued = |router: RouterId, port, channel: ChannelIndex| {
            let output = self.layout.routers[router.index()].output(port);
            self.queues[output.index()][channel.index()].len() as u32
        };
        if R::DECIDES && self.routing.is_undecided(&state) {
            let queued = |router, port, channels: Range<u32>| {
                channels.map(|channel| queued(router, port, ChannelIndex(channel))).sum()
            };
            self.routing.decide(at, &header, &mut state, queued, none_awaits);
        }
        let arrival = self.layout.queues[input.index()].source().arrival();
        let room = |port, channel| 1_000_000 - queued(at, port, channel);
        let vc = match self.routing.fixed_output(at, &header, &state) {
            Some(port) => self.routing.choose_channel(port, arrival, room),
            None => self.routing.choose(PacketAt { at, header: &header, state: &state, arrival }, room),
        };
        self.packets[packet].1 = state;
        let vc = vc.unwrap();
        (this.output(vc.port), vc.channel)
    }

    fn is_busy(&self, output: OutputId) -> bool {
        self.is_sending(|sender| matches!(sender, Origin::Port(port, _) if port == output))
    }

    fn is_sending(&self, which: impl Fn(Origin) -> bool) -> bool {
        self.transmissions.iter().any(|sent| which(sent.from) && sent.began + sent.cycles > self.now)
    }

    fn send_from_port(&mut self, output: OutputId) {
        if self.is_busy(output) {
            return;
        }
        let (channels, last) = (self.spec.virtual_channels() as usize, self.served[output.index()]);
        for channel in (1..=channels).map(|after| (last + after) % channels) {
            let Some(&(packet, input)) = self.queues[output.index()][channel].front() else { continue };
            let to = self.layout.outputs[output.index()].queue(ChannelIndex(channel as u32));
            if to.is_some_and(|to| !self.reserve(packet, to)) {
                continue;
            }
            self.served[output.index()] = channel;
            self.queues[output.index()][channel].pop_front();
            let (header, state) = &mut self.packets[packet];
            if to.is_some() {
                header.hops += 1;
                let port = self.layout.queues[input.index()].port(output);
                let taken = OutputVc { port, channel: ChannelIndex(channel as u32) };
                self.routing.hop(taken, self.layout.outputs[output.index()].to, state);
            }
            return self.transmit(packet, Origin::Port(output, input), to);
        }
    }

    /// Begins to send a packet.
    fn transmit(&mut self, packet: usize, from: Origin, to: Option<QueueId>) {
        let (length, now) = (self.lengths[packet], self.now);
        let (tokens, tail) = match from {
            Origin::Port(output, _) => (&mut self.tokens[0][output.index()], self.tails[packet]),
            Origin::Host(input) => (&mut self.tokens[1][input.index()], now),
        };
        let enough = u64::try_from(*tokens).unwrap_or(0);
        let cycles = (length.saturating_sub(enough)).max((tail + 1).saturating_sub(now)).max(1);
        *tokens -= length as i64;
        let [router, wire] = [self.spec.parameters.router_delay, self.spec.parameters.wire_delay].map(u64::from);
        let header = match from {
            Origin::Port(..) => now + 1 + wire + router,
            Origin::Host(_) => now + 1 + self.cable() + router,
        };
        self.tails[packet] = header + cycles - 1;
        self.transmissions.push(Transmission { packet, began: now, cycles, from, to });
    }

    /// Takes a place at the switch of an input, where senders pause; returns whether there is one.
    fn reserve(&mut self, packet: usize, input: QueueId) -> bool {
        let place = Place { packet, router: self.layout.queues[input.index()].router, input, queue: None };
        if !self.pauses() {
            return true;
        }
        let admits = self.admits(place);
        if admits {
            self.held.push(place);
        }
        admits
    }

    fn send_from_host(&mut self, host: usize) {
        let first = self.layout.hosts[host].first_queue;
        for input in (first.0..first.0 + self.spec.parameters.injection_ports).map(QueueId) {
            if self.is_sending(|sender| sender == Origin::Host(input))
                || self.again[host].is_empty() && self.waiting[host].is_empty()
            {
                continue;
            }
            assert!(
                matches!(self.layout.queues[input.index()].source(), Source::Host(HostId(of)) if of as usize == host)
            );
            // A place for a packet that is yet to be numbered.
            if !self.reserve(usize::MAX, input) {
                continue;
            }
            let packet = self.again[host].pop_front().unwrap_or_else(|| self.begin(host));
            self.held.iter_mut().filter(|place| place.packet == usize::MAX).for_each(|place| place.packet = packet);
            let (header, state) = &mut self.packets[packet];
            header.hops = 0;
            state.fill(0);
            self.routing.depart(self.layout.hosts[host].router, &header.header, state);
            self.transmit(packet, Origin::Host(input), Some(input));
        }
    }
}
