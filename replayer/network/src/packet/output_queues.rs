//! Queues between crossbar and cable, where routers have them.
//!
//! Without them a packet that is granted a port is on its cable at once, and one that finds no room behind the cable waits at
//! the head of its input queue, in the way of others that could go elsewhere. With them the crossbar takes it to the queue
//! of a channel of the port, phit by phit, and from there it is passed on as soon as the cable is free and there is room.

use std::collections::VecDeque;

use super::delay_line::DelayLine;
use super::layout::{Layout, NOWHERE};
use super::packets::PacketId;

/// The output queues of all ports.
#[derive(Debug)]
pub(super) struct OutputQueues {
    capacity: u32,
    channels: u32,
    cables: Vec<Cable>,
    /// By port, and channel by channel.
    queues: Vec<OutputQueue>,
    /// Packets whose tail has not left their queue: its port and channel.
    tails: DelayLine<(u32, u32)>,
    /// Ports to look at in this cycle, each once.
    stirred: Vec<u32>,
}

#[derive(Clone, Debug, Default)]
struct OutputQueue {
    waiting: VecDeque<PacketId>,
    /// Places taken: those of packets that wait and of one that leaves.
    taken: u32,
}

/// What a port drives.
#[derive(Clone, Copy, Debug)]
struct Cable {
    router: u32,
    busy: bool,
    /// The channel that it served last.
    served: u32,
    is_stirred: bool,
}

impl OutputQueues {
    /// Empty ones with room for so many packets, which take `tail` cycles to leave; none if there is no room.
    pub fn new(layout: &Layout, channels: u32, capacity: u32, tail: u64) -> Option<Self> {
        if capacity == 0 {
            return None;
        }
        let cable = Cable { router: NOWHERE, busy: false, served: channels - 1, is_stirred: false };
        let mut cables = vec![cable; layout.outputs.len()];
        for (router, this) in (0..).zip(&layout.routers) {
            let outputs = this.first_output as usize..(this.first_output + this.outputs) as usize;
            cables[outputs].iter_mut().for_each(|cable| cable.router = router);
        }
        Some(Self {
            capacity,
            channels,
            queues: vec![OutputQueue::default(); cables.len() * channels as usize],
            cables,
            tails: DelayLine::new(tail),
            stirred: Vec::new(),
        })
    }

    fn queue(&mut self, output: u32, channel: u32) -> &mut OutputQueue {
        &mut self.queues[(output * self.channels + channel) as usize]
    }

    /// Packets that a queue has room for.
    pub fn room(&self, output: u32, channel: u32) -> u32 {
        self.capacity - self.queues[(output * self.channels + channel) as usize].taken
    }

    /// A packet comes through the crossbar.
    pub fn push(&mut self, output: u32, channel: u32, packet: PacketId) {
        let queue = self.queue(output, channel);
        queue.waiting.push_back(packet);
        queue.taken += 1;
        self.stir(output);
    }

    /// Looks at a port in this cycle: something came to its queues, its cable became free, or room appeared behind it.
    pub fn stir(&mut self, output: u32) {
        if !std::mem::replace(&mut self.cables[output as usize].is_stirred, true) {
            self.stirred.push(output);
        }
    }

    /// When the next tail leaves.
    pub fn next(&self) -> u64 {
        self.tails.next()
    }

    /// How many tails have left at `now`, each to be [released](Self::release).
    pub fn due(&mut self, now: u64) -> u32 {
        self.tails.due(now)
    }

    /// The router in which there is room again as a tail has left.
    pub fn release(&mut self) -> Option<u32> {
        let (output, channel) = self.tails.take()?;
        self.queue(output, channel).taken -= 1;
        self.cables[output as usize].busy = false;
        self.stir(output);
        Some(self.cables[output as usize].router)
    }

    /// A port that can pass a packet on, with that packet and its channel: the first with room behind, after the channel served
    /// last. `room` tells of a channel of a port whether there is.
    pub fn pass_on(&mut self, now: u64, room: impl Fn(u32, u32) -> bool) -> Option<(u32, u32, PacketId)> {
        while let Some(output) = self.stirred.pop() {
            let (Cable { busy, served, .. }, channels) = (self.cables[output as usize], self.channels);
            self.cables[output as usize].is_stirred = false;
            if busy {
                continue;
            }
            for channel in (1..=channels).map(|after| (served + after) % channels) {
                if self.queue(output, channel).waiting.is_empty() || !room(output, channel) {
                    continue;
                }
                let Some(packet) = self.queue(output, channel).waiting.pop_front() else { continue };
                let cable = &mut self.cables[output as usize];
                (cable.busy, cable.served) = (true, channel);
                self.tails.push(now, (output, channel));
                return Some((output, channel, packet));
            }
        }
        None
    }
}
