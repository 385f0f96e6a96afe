//! Switch allocation: which packets a router passes on in a cycle, and on which channel. Each head asks for one port, each
//! port goes to the head that stands best, and who loses asks again when something has changed.

use super::super::arbitration::{Bid, Contest, Rank};
use super::super::layout::{NOWHERE, Output, Router};
use super::super::routing::Way;
use super::Engine;

/// Who asks for the ports of the router that is being looked at.
#[derive(Debug)]
pub(super) struct Contests {
    /// For each port, the place of the queue that stands best, and the channel that its head asks for.
    best: Vec<(u32, u32)>,
    /// Ports that are asked for.
    asked: Vec<u32>,
}

/// No place.
const NOBODY: u32 = u32::MAX;

impl Contests {
    /// For routers of at most so many ports.
    pub(super) fn new(ports: u32) -> Self {
        Self { best: vec![(NOBODY, 0); ports as usize], asked: Vec::new() }
    }
}

impl Engine {
    /// Passes on what a router can in this cycle.
    pub(super) fn pass_on(&mut self, router: u32, now: u64) {
        let this = self.routers[router as usize];
        let mut losers = false;
        for word in 0..this.inputs.div_ceil(64) {
            let mut left = self.waiting[(this.first_word + word) as usize];
            while left != 0 {
                let place = 64 * word + left.trailing_zeros();
                left &= left - 1;
                if let Some(way) = self.ask(router, this, place) {
                    losers |= self.contest(this, place, way, now);
                }
            }
        }
        self.routers[router as usize].waiting -= self.contest.asked.len() as u32;
        while let Some(port) = self.contest.asked.pop() {
            let (place, channel) = std::mem::replace(&mut self.contest.best[port as usize], (NOBODY, 0));
            self.grant(this, place, Way { port, channel }, now);
        }
        if losers && (self.parameters.consumption_ports > 1 || self.ways.may_turn()) {
            self.again.push(router);
            self.again_at = now + 1;
        }
    }

    /// What the head of the queue at `place` asks for.
    fn ask(&self, router: u32, this: Router, place: u32) -> Option<Way> {
        let queue = this.first_input + place;
        let input = &self.queues.inputs[queue as usize];
        let free = |port: u32| Some(&self.outputs[(this.first_output + port) as usize]).filter(|output| !output.busy);
        if input.settled != NOWHERE {
            let port = input.settled;
            let output = free(port)?;
            if output.first_queue == NOWHERE {
                return Some(Way { port, channel: 0 });
            }
            let room = |_, channel| self.room(output, this.first_output + port, channel);
            return self.ways.choose_channel(port, input.arrival, room);
        }
        let room = |port: u32, channel: u32| {
            free(port).map_or(0, |output| self.room(output, this.first_output + port, channel))
        };
        let id = self.queues.head(queue);
        let packet = self.packets.get(id);
        if packet.goal == router {
            return self.consumption_port(packet.to, place, this);
        }
        self.ways.choose(router, (packet, self.packets.steps(id)), input.arrival, room)
    }

    /// Packets that there is room for in a channel of a port that leads on.
    #[inline]
    fn room(&self, output: &Output, index: u32, channel: u32) -> u32 {
        let behind = self.queues.capacity - self.queues.inputs[(output.first_queue + channel) as usize].reserved;
        match &self.output_queues {
            None => behind,
            // Room for one at least, and what enters a ring leaves a place free in one of the two queues.
            Some(queues) => match queues.room(index, channel) {
                0 => 0,
                room => room + behind,
            },
        }
    }

    /// Enters a head into the contest for the port it asks for; whether it is not the only one.
    fn contest(&mut self, this: Router, place: u32, way: Way, now: u64) -> bool {
        let (rival, _) = self.contest.best[way.port as usize];
        if rival == NOBODY {
            self.contest.asked.push(way.port);
        } else if self.rank(this, rival, way.port, now) < self.rank(this, place, way.port, now) {
            return true;
        }
        self.contest.best[way.port as usize] = (place, way.channel);
        rival != NOBODY
    }

    /// Where the head of the queue at `place` stands in the contest for a port.
    fn rank(&self, this: Router, place: u32, port: u32, now: u64) -> Rank {
        let queue = this.first_input + place;
        let output = this.first_output + port;
        let contest = Contest {
            circle: this.inputs,
            last: self.outputs[output as usize].served,
            port: output,
            now,
            seed: self.parameters.seed,
        };
        let since = self.packets.get(self.queues.head(queue)).since;
        let bid = Bid { place, since, queued: self.queues.inputs[queue as usize].queued };
        self.parameters.arbitration.rank(bid, contest)
    }

    /// The consumption port that a packet asks for: the first free one, counted from one that its queue's place gives.
    fn consumption_port(&self, to: u32, place: u32, this: Router) -> Option<Way> {
        let (first, ports) = (self.hosts[to as usize].first_port, self.parameters.consumption_ports);
        let from_any = (0..ports).map(|port| first + (place + port) % ports);
        let free = |port: &u32| !self.outputs[(this.first_output + port) as usize].busy;
        from_any.into_iter().find(free).map(|port| Way { port, channel: 0 })
    }

    /// Passes on the head of the queue at `place`.
    fn grant(&mut self, this: Router, place: u32, way: Way, now: u64) {
        let queue = this.first_input + place;
        let id = self.queues.head(queue);
        self.waiting[(this.first_word + place / 64) as usize] &= !(1 << (place % 64));
        let input = &self.queues.inputs[queue as usize];
        let index = this.first_output + way.port;
        let output = &mut self.outputs[index as usize];
        output.busy = true;
        output.served = place;
        self.tails.push(now, (queue, index));
        let injected = input.upstream == NOWHERE;
        let packet = self.packets.get_mut(id);
        if injected {
            packet.left = now;
            self.sources.leaves(packet.message, now);
        }
        self.usage.leave(queue, now - packet.since + u64::from(self.parameters.packet_phits));
        if output.first_queue == NOWHERE {
            self.consumed.push(now, id);
            return;
        }
        let next = output.first_queue + way.channel;
        packet.hops += 1;
        self.ways.step(way.port, self.packets.steps_mut(id));
        if let Some(queues) = &mut self.output_queues {
            return queues.push(index, way.channel, id);
        }
        self.usage.carry(next);
        self.queues.inputs[next as usize].reserved += 1;
        self.headers.push(now, (id, next));
    }
}
