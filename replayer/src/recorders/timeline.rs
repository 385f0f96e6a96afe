//! Writes the simulated run as a timeline.

use std::io;

use titr_common::event::Rank;
use titr_common::event_buffer::EventRef;
use titr_common::time::Time;
use titr_common::timeline::{Arrow, EventSorter, Series, State, TimelineEvent};
use titr_network::TransferId;
use titr_simulation::observe::{Departure, Observer};

/// An observer that writes a timeline.
pub(crate) struct Timeline {
    sorter: EventSorter,
    messages: u64,
    /// The messages in transit, indexed by transfer id; an id is reused once its message has arrived.
    under_way: Vec<Option<Arrow>>,
}

impl Timeline {
    /// A timeline of a replay, whose events go to `sorter`.
    pub(crate) fn new(sorter: EventSorter) -> Self {
        Self { sorter, messages: 0, under_way: Vec::new() }
    }

    /// Writes the rest, and numbers that changed over time.
    ///
    /// # Errors
    /// If a file could not be written, now or before.
    pub(crate) fn finish(self, series: &[Series]) -> io::Result<()> {
        self.sorter.finish(series)
    }
}

/// All callbacks are cold, and so out of the way of replays without a timeline.
impl Observer for Timeline {
    #[cold]
    fn event_began(&mut self, rank: Rank, moment: EventRef, at: Time) {
        if let Some(state) = State::of(moment) {
            self.sorter.push(at, TimelineEvent::Enter(rank, state));
        }
    }

    #[cold]
    fn finished(&mut self, rank: Rank, at: Time) {
        self.sorter.push(at, TimelineEvent::Leave(rank));
    }

    #[cold]
    fn injected(&mut self, now: Time, message: Departure) {
        let Departure { id, from, to, bytes, in_collective } = message;
        self.messages += 1;
        let arrow = Arrow { key: self.messages, from, to, bytes, in_collective };
        let place = id.0 as usize;
        if self.under_way.len() <= place {
            self.under_way.resize(place + 1, None);
        }
        self.under_way[place] = Some(arrow);
        self.sorter.push(now, TimelineEvent::Depart(arrow));
    }

    #[cold]
    fn delivered(&mut self, now: Time, id: TransferId) {
        if let Some(arrow) = self.under_way.get_mut(id.0 as usize).and_then(Option::take) {
            self.sorter.push(now, TimelineEvent::Arrive(arrow));
        }
    }

    #[cold]
    fn reached(&mut self, now: Time) {
        self.sorter.flush_until(now);
    }
}
