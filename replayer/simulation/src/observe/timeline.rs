//! Simulated time as a timeline.

use titr_common::event::Rank;
use titr_common::event_buffer::EventRef;

use super::{Departure, Observer};
use titr_common::time::Time;
use titr_formats::timeline::{Arrow, Chronicle, Mark, State};
use titr_network::TransferId;

/// Tells a chronicle what happens.
pub struct Timeline {
    chronicle: Chronicle,
    /// Messages so far.
    messages: u64,
    /// Those under way, by what the network calls them; a name is used again once its message has arrived.
    under_way: Vec<Option<Arrow>>,
}

impl Timeline {
    /// One that is written as `chronicle` says.
    #[must_use]
    pub fn new(chronicle: Chronicle) -> Self {
        Self { chronicle, messages: 0, under_way: Vec::new() }
    }

    /// What was told.
    #[must_use]
    pub fn into_chronicle(self) -> Chronicle {
        self.chronicle
    }
}

/// All of it is cold, and so out of the way of replays that nobody draws.
impl Observer for Timeline {
    #[cold]
    fn entered(&mut self, rank: Rank, moment: EventRef, at: Time) {
        if let Some(state) = State::of(moment) {
            self.chronicle.tell(at, Mark::Enter(rank, state));
        }
    }

    #[cold]
    fn finished(&mut self, rank: Rank, at: Time) {
        self.chronicle.tell(at, Mark::Leave(rank));
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
        self.chronicle.tell(now, Mark::Depart(arrow));
    }

    #[cold]
    fn delivered(&mut self, now: Time, id: TransferId) {
        if let Some(arrow) = self.under_way.get_mut(id.0 as usize).and_then(Option::take) {
            self.chronicle.tell(now, Mark::Arrive(arrow));
        }
    }

    #[cold]
    fn reached(&mut self, now: Time) {
        self.chronicle.reach(now);
    }
}
