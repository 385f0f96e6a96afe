//! The border of a slab: a part of the routers that is simulated by itself, and everything that leaves it in a cycle.
//!
//! No action of a router affects another router in the same cycle. A header reaches the next router a hop later. A
//! place vacated by a tail is known at the grant, L cycles before the upstream port may count on it. Everything that
//! slabs exchange in a cycle can therefore be carried over after the cycle.

use std::ops::Range;

use super::super::delay_line::DelayLine;
use super::super::ids::{OutputId, QueueId};
use super::super::packets::Packet;
use super::RoutedEngine;
use crate::ids::Optional;
use crate::topology::{ChannelIndex, PortIndex, RouterId, Routing};

/// The border of a slab.
#[derive(Debug)]
pub(super) struct Border {
    routers: Range<u32>,
    /// Places that tails leave, behind channels of this slab in queues of others.
    pub credits: DelayLine<(OutputId, ChannelIndex)>,
    /// All that left the slab in this cycle.
    pub mail: Mail,
}

/// All that leaves a slab in a cycle.
#[derive(Debug, Default)]
pub(super) struct Mail {
    /// Headers that are sent to queues of other slabs.
    pub headers: Vec<Crossing>,
    /// The routing's states of their packets, one after the other.
    pub states: Vec<i32>,
    /// Channels of other slabs that get back a place when the tail that was begun in this cycle has left.
    pub credits: Vec<(OutputId, ChannelIndex)>,
    /// Packets that were consumed, each with the number that its message has outside.
    pub consumed: Vec<Packet>,
}

/// A packet whose header is sent to a queue of another slab.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    pub queue: QueueId,
    pub packet: Packet,
    /// The port that it has to take there, unless it has a choice.
    pub output: Optional<PortIndex>,
}

impl Border {
    /// Around these routers, in a network whose tails take `tail` cycles to leave.
    pub(crate) fn around(routers: Range<u32>, tail: u64) -> Self {
        Self { routers, credits: DelayLine::new(tail), mail: Mail::default() }
    }

    /// Whether a router is inside.
    #[inline]
    pub(crate) fn has(&self, router: RouterId) -> bool {
        self.routers.contains(&router.0)
    }
}

impl Mail {
    /// Clears the events that were carried over.
    pub(crate) fn clear(&mut self) {
        self.headers.clear();
        self.states.clear();
        self.credits.clear();
        self.consumed.clear();
    }
}

impl<R: Routing, const UNEVEN: bool> RoutedEngine<R, UNEVEN> {
    /// There is room for one more packet behind a channel.
    pub(super) fn credit(&mut self, output: OutputId, channel: ChannelIndex) {
        *self.outputs.room_mut(output, channel) += 1;
        self.activate(output);
        if let Some(queues) = &mut self.output_queues {
            queues.activate(output);
        }
    }

    /// Frees the places that tails have left in queues of other slabs.
    pub(super) fn take_credits(&mut self, now: u64) {
        let Some(mut border) = self.border.take_if(|border| border.credits.next() <= now) else { return };
        let credits = border.credits.take(now);
        credits.iter().for_each(|&(output, channel)| self.credit(output, channel));
        border.credits.recycle(credits);
        self.border = Some(border);
    }

    /// Whether a router is simulated here.
    #[inline]
    pub(super) fn has(&self, router: RouterId) -> bool {
        self.border.as_ref().is_none_or(|border| border.has(router))
    }
}
