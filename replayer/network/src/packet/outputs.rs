//! Output ports: the state of each, the packets that wait for it, and the room behind it.
//!
//! Flow control is by **credits** (Dally and Towles, ch. 13): a port counts, for each of its virtual channels, the free
//! places in the queue at the end, so that a router decides from local state. Packets that have to take one port wait
//! in a list of this port.

use std::ops::Range;

use super::layout::Output;
use crate::packet::ids::{OutputId, QueueId};
use crate::topology::ChannelIndex;

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
