//! Queues between crossbar and cable, for routers that have them.
//!
//! Without them, a packet that is granted a port is on its cable at once, and a packet without room behind the cable
//! waits at the head of its input queue and blocks others that could go elsewhere. With them, the crossbar moves the
//! packet phit by phit to the queue of a channel of the port, from where it departs as soon as the cable is free and
//! there is room.

use std::collections::VecDeque;
use std::ops::Range;

use super::delay_line::DelayLine;
use super::layout::{Layout, Output};
use super::{OutputId, PacketId, QueueId};
use crate::topology::ChannelIndex;

/// The output queues of all ports.
#[derive(Debug)]
pub(super) struct OutputQueues {
    capacity: u32,
    channels: u32,
    cables: Vec<CableState>,
    /// Indexed by port and channel.
    queues: Vec<OutputQueue>,
    /// Packets whose tail has not left their queue: its port and channel. Each is [released](Self::release_tail) when it has.
    pub tails: DelayLine<(OutputId, ChannelIndex)>,
    /// Ports to look at in this cycle, each once.
    active: Vec<OutputId>,
}

#[derive(Clone, Debug, Default)]
struct OutputQueue {
    waiting: VecDeque<PacketId>,
    /// Occupied places: those of waiting packets and of a packet that leaves.
    taken: u32,
}

/// The cable of a port.
#[derive(Clone, Copy, Debug)]
struct CableState {
    busy: bool,
    /// The channel that it served last.
    served: ChannelIndex,
    is_active: bool,
}

impl OutputQueues {
    /// Empty queues with room for `capacity` packets, which take `tail` cycles to leave; none if there is no room.
    pub(crate) fn new(layout: &Layout, channels: u32, capacity: u32, tail: u64) -> Option<Self> {
        if capacity == 0 {
            return None;
        }
        let idle = CableState { busy: false, served: ChannelIndex(channels - 1), is_active: false };
        let cables = vec![idle; layout.outputs.len()];
        Some(Self {
            capacity,
            channels,
            queues: vec![OutputQueue::default(); cables.len() * channels as usize],
            cables,
            tails: DelayLine::new(tail),
            active: Vec::new(),
        })
    }

    fn queue(&mut self, output: OutputId, channel: ChannelIndex) -> &mut OutputQueue {
        &mut self.queues[(output.0 * self.channels + channel.0) as usize]
    }

    /// Packets that a queue has room for.
    pub(crate) fn room(&self, output: OutputId, channel: ChannelIndex) -> u32 {
        self.capacity - self.taken(output, channel)
    }

    /// Packets in a queue, and the packet that leaves it.
    fn taken(&self, output: OutputId, channel: ChannelIndex) -> u32 {
        self.queues[(output.0 * self.channels + channel.0) as usize].taken
    }

    /// Packets in the queues of some channels of a port, without those that leave them.
    pub(crate) fn waiting(&self, output: OutputId, channels: Range<u32>) -> u32 {
        let first = output.index() * self.channels as usize;
        let queues = &self.queues[first + channels.start as usize..first + channels.end as usize];
        queues.iter().map(|queue| queue.waiting.len() as u32).sum()
    }

    /// A packet comes through the crossbar.
    pub(crate) fn push(&mut self, output: OutputId, channel: ChannelIndex, packet: PacketId) {
        let queue = self.queue(output, channel);
        queue.waiting.push_back(packet);
        queue.taken += 1;
        self.activate(output);
    }

    /// Looks at a port in this cycle: something came to its queues, its cable became free, or room appeared behind it.
    pub(crate) fn activate(&mut self, output: OutputId) {
        if !std::mem::replace(&mut self.cables[output.index()].is_active, true) {
            self.active.push(output);
        }
    }

    /// A tail has left the queue of a channel of a port.
    pub(crate) fn release_tail(&mut self, output: OutputId, channel: ChannelIndex) {
        self.queue(output, channel).taken -= 1;
        self.set_idle(output);
    }

    /// The cable of a port becomes busy: with a packet of the port, or of another port that shares it.
    pub(crate) fn set_busy(&mut self, output: OutputId) {
        self.cables[output.index()].busy = true;
    }

    /// The cable of a port becomes idle.
    pub(crate) fn set_idle(&mut self, output: OutputId) {
        self.cables[output.index()].busy = false;
        self.activate(output);
    }

    /// A port that can forward a packet, with that packet and its channel: the first channel with room behind it, after
    /// the channel served last. `room` tells whether there is room behind a channel of a port.
    pub(crate) fn forward(
        &mut self,
        now: u64,
        room: impl Fn(OutputId, ChannelIndex) -> bool,
    ) -> Option<(OutputId, ChannelIndex, PacketId)> {
        let (output, channel) = self.ready(room)?;
        let packet = self.pop(output, channel)?;
        self.set_busy(output);
        self.tails.push(now, (output, channel));
        Some((output, channel, packet))
    }

    /// The next port that can pass a packet on, with the channel.
    pub(crate) fn ready(&mut self, room: impl Fn(OutputId, ChannelIndex) -> bool) -> Option<(OutputId, ChannelIndex)> {
        while let Some(output) = self.active.pop() {
            let (CableState { busy, served, .. }, channels) = (self.cables[output.index()], self.channels);
            self.cables[output.index()].is_active = false;
            if busy {
                continue;
            }
            for channel in (1..=channels).map(|after| ChannelIndex((served.0 + after) % channels)) {
                if !self.queue(output, channel).waiting.is_empty() && room(output, channel) {
                    return Some((output, channel));
                }
            }
        }
        None
    }

    /// Takes out the packet that a channel of a port passes on.
    pub(crate) fn pop(&mut self, output: OutputId, channel: ChannelIndex) -> Option<PacketId> {
        self.cables[output.index()].served = channel;
        self.queue(output, channel).waiting.pop_front()
    }
}

// Output ports: the state of each, the packets that wait for it, and the room behind it.
//
// Flow control is by **credits** (Dally and Towles, ch. 13): a port counts, for each of its virtual channels, the free
// places in the queue at the end, so that a router decides from local state. Packets that have to take one port wait
// in a list of this port.

/// The output ports of all routers.
#[derive(Debug)]
pub(super) struct Outputs {
    ports: Vec<Output>,
    channels: u32,
    /// The room behind each virtual channel of each port but the first.
    more_room: Vec<u32>,
}

impl Outputs {
    /// These ports, idle, with `channels` virtual channels each.
    pub(crate) fn new(ports: Vec<Output>, channels: u32) -> Self {
        let rooms = ports.iter().flat_map(|port| std::iter::repeat_n(port.first_room, channels as usize - 1));
        Self { more_room: rooms.collect(), ports, channels }
    }

    #[inline]
    pub(crate) fn get(&self, output: OutputId) -> &Output {
        &self.ports[output.index()]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, output: OutputId) -> &mut Output {
        &mut self.ports[output.index()]
    }

    /// Packets that the queue at the end of a virtual channel has room for.
    #[inline]
    pub(crate) fn room(&self, output: OutputId, channel: ChannelIndex) -> u32 {
        match channel.0 {
            0 => self.get(output).first_room,
            _ => self.more_room[self.more(output, channel)],
        }
    }

    /// Packets that the queues at the ends of some virtual channels have room for together.
    #[inline]
    pub(crate) fn room_of(&self, output: OutputId, channels: Range<u32>) -> u32 {
        let of_first = if channels.contains(&0) { self.get(output).first_room } else { 0 };
        let first = output.index() * (self.channels as usize - 1);
        let more = channels.start.max(1) as usize..channels.end.max(1) as usize;
        of_first + self.more_room[first + more.start - 1..first + more.end - 1].iter().sum::<u32>()
    }

    /// The room behind a virtual channel, to be changed.
    #[inline]
    pub(crate) fn room_mut(&mut self, output: OutputId, channel: ChannelIndex) -> &mut u32 {
        match channel.0 {
            0 => &mut self.get_mut(output).first_room,
            _ => {
                let more = self.more(output, channel);
                &mut self.more_room[more]
            }
        }
    }

    #[inline]
    fn more(&self, output: OutputId, channel: ChannelIndex) -> usize {
        output.index() * (self.channels as usize - 1) + channel.index() - 1
    }

    /// Takes a place behind a virtual channel. Returns the queue, unless packets are consumed there.
    #[inline]
    pub(crate) fn take_room(&mut self, output: OutputId, channel: ChannelIndex) -> Option<QueueId> {
        let next = self.get(output).queue(channel)?;
        *self.room_mut(output, channel) -= 1;
        Some(next)
    }
}
