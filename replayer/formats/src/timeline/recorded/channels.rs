//! Pairs the departures of messages with their arrivals.
//!
//! Messages of one **channel** do not overtake each other (MPI 4.0 §3.5): the first to depart is the first to be
//! received. Ranks are read in the order in which calls were made, so a receive that waits is read before its send.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use titr_common::event::Rank;
use titr_common::program::Context;
use titr_common::time::Time;
use titr_common::units::Bytes;

use titr_timeline::{Arrow, EventSorter, TimelineEvent};

/// The key that messages are matched by. Within a collective, `number` is the collective's, elsewhere it is the tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Channel {
    pub(super) context: Context,
    pub(super) from: Rank,
    pub(super) to: Rank,
    pub(super) number: u64,
}

/// Messages with one known end.
#[derive(Debug)]
enum Halves {
    /// Messages in transit, and their departure times.
    Departed(VecDeque<(Arrow, Time)>),
    /// Arrival times of messages that have not departed yet.
    Arriving(VecDeque<Time>),
}

/// All channels that wait for a second half.
#[derive(Debug, Default)]
pub(super) struct Channels {
    open: FxHashMap<Channel, Halves>,
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
        match self.open.entry(channel).or_insert_with(|| Halves::Departed(VecDeque::new())) {
            Halves::Departed(under_way) => under_way.push_back((arrow, at)),
            Halves::Arriving(arriving) => {
                // Clocks are never quite alike.
                let then = arriving.pop_front().unwrap_or(at).max(at);
                if arriving.is_empty() {
                    self.open.remove(&channel);
                }
                sorter.push(then, TimelineEvent::Arrive(arrow));
            }
        }
    }

    pub(super) fn arrive(&mut self, channel: Channel, at: Time, sorter: &mut EventSorter) {
        match self.open.entry(channel).or_insert_with(|| Halves::Arriving(VecDeque::new())) {
            Halves::Arriving(arriving) => arriving.push_back(at),
            Halves::Departed(under_way) => {
                if let Some((arrow, departed)) = under_way.pop_front() {
                    sorter.push(at.max(departed), TimelineEvent::Arrive(arrow));
                }
                if under_way.is_empty() {
                    self.open.remove(&channel);
                }
            }
        }
    }

    /// Delivers the messages still in transit at the end; returns their number.
    pub(super) fn end(self, sorter: &mut EventSorter) -> u64 {
        let halves = self.open.into_values().filter_map(|halves| match halves {
            Halves::Departed(under_way) => Some(under_way),
            Halves::Arriving(_) => None,
        });
        let mut lost: Vec<Arrow> = halves.flatten().map(|(arrow, _)| arrow).collect();
        // The table's order is no order to rely on.
        lost.sort_by_key(|arrow| arrow.key);
        let end = sorter.end();
        lost.iter().for_each(|&arrow| sorter.push(end, TimelineEvent::Arrive(arrow)));
        lost.len() as u64
    }
}
