//! The messages of a timeline: each becomes an arrow from its departure to its arrival.

use titr_common::time::Time;
use titr_common::timeline::{Arrow, EventSorter, TimelineEvent};
use titr_common::units::Bytes;

use crate::output::{Channel, MessagePairs};

/// All messages whose other end is not known yet.
#[derive(Debug, Default)]
pub(super) struct Channels {
    pairs: MessagePairs<(Arrow, Time), Time>,
    messages: u64,
}

impl Channels {
    /// The number of messages that have departed.
    pub(super) fn messages(&self) -> u64 {
        self.messages
    }

    pub(super) fn depart(&mut self, channel: Channel, at: Time, bytes: Bytes, sorter: &mut EventSorter) {
        self.messages += 1;
        let Channel { context, from, to, .. } = channel;
        let arrow = Arrow { key: self.messages, from, to, bytes, in_collective: context.is_collective() };
        sorter.push(at, TimelineEvent::Depart(arrow));
        if let Some(((arrow, departed), arrival)) = self.pairs.send(channel, (arrow, at)) {
            // Clocks are never quite alike.
            sorter.push(arrival.max(departed), TimelineEvent::Arrive(arrow));
        }
    }

    pub(super) fn arrive(&mut self, channel: Channel, at: Time, sorter: &mut EventSorter) {
        if let Some(((arrow, departed), arrival)) = self.pairs.receive(channel, at) {
            sorter.push(arrival.max(departed), TimelineEvent::Arrive(arrow));
        }
    }

    /// Delivers the messages still in transit at the end; returns their number.
    pub(super) fn end(self, sorter: &mut EventSorter) -> u64 {
        let mut lost: Vec<Arrow> = self.pairs.unreceived().map(|(arrow, _)| arrow).collect();
        // The table's order is no order to rely on.
        lost.sort_by_key(|arrow| arrow.key);
        let end = sorter.end();
        lost.iter().for_each(|&arrow| sorter.push(end, TimelineEvent::Arrive(arrow)));
        lost.len() as u64
    }
}
