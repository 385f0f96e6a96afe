//! Individual states and messages, as finely as a page has room for them.
//!
//! Every state is kept until there are too many. From then on, states that are shorter than a certain time are
//! [joined](super::states) with their neighbours, and this time doubles as often as necessary. Of the messages, those
//! remain that were in the network for the longest time.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::io;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;
use titr_common::event::Rank;
use titr_common::time::Time;
use titr_common::timeline::{Arrow, Series, State, TimelineEvent, TimelineWriter};

use super::states::{Mixture, RankStates, StateRow};

/// The number of states that a page has room for, without the states for each rank.
const STATES: usize = 60_000;
/// The number of states that a page has room for, for each rank.
const STATES_OF_RANK: usize = 75;
/// The number of messages that a page has room for.
const MESSAGES: usize = 20_000;

/// States and messages.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Detail {
    /// The names of states, by their numbers.
    names: Vec<StateName>,
    /// The states of each rank that has any.
    states: Vec<RankStates>,
    /// The mixtures of activities in states that are joined: the share of each activity, in 15ths.
    mixtures: Vec<Mixture>,
    /// A tick in nanoseconds: a part of the shortest time.
    tick: u64,
    /// The time in nanoseconds from which on states are shown one by one. Shorter states are joined with their neighbours. 0
    /// if every state is shown.
    shortest: u64,
    /// Messages: sender, receiver, ticks from the departure of the one before, and ticks in the network. If there are more
    /// than the page has room for, the messages that were in the network for the longest time.
    messages: Vec<Message>,
    /// The number of all states, including joined states.
    all_states: usize,
    /// The number of all messages, including those that were not kept.
    all_messages: usize,
}

/// Sender, receiver, departure, and arrival.
type Message = (u32, u32, u64, u64);

/// A name of states, and their activity.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct StateName {
    /// The name.
    name: String,
    /// The number of the activity of these states.
    activity: u8,
}

/// Records individual states and messages.
pub(super) struct DetailWriter {
    detail: Rc<RefCell<Detail>>,
    /// The state of each rank, and since when.
    states: Vec<Option<(State, u64)>>,
    /// The states of each rank that ended, by rank.
    ended: Vec<StateRow>,
    /// The number of states in `ended`.
    kept: usize,
    names: FxHashMap<String, u32>,
    /// The departure time of each message in transit.
    departed: FxHashMap<u64, u64>,
}

impl DetailWriter {
    pub(super) fn new(detail: Rc<RefCell<Detail>>, ranks: u32) -> Self {
        let ended = (0..ranks).map(StateRow::new).collect();
        let (names, departed) = (FxHashMap::default(), FxHashMap::default());
        Self { detail, states: vec![None; ranks as usize], ended, kept: 0, names, departed }
    }

    fn leave(&mut self, rank: Rank, at: u64) {
        let place = rank.0 as usize;
        let Some((state, since)) = self.states.get_mut(place).and_then(Option::take) else { return };
        let detail = &mut *self.detail.borrow_mut();
        detail.all_states += 1;
        let next = self.names.len() as u32;
        let name = *self.names.entry(state.name()).or_insert(next);
        if name == next {
            detail.names.push(StateName { name: state.name(), activity: state.activity as u8 });
        }
        let Some(states) = self.ended.get_mut(place) else { return };
        states.push(since, at - since, name, state.activity as u8);
        self.kept += 1;
        let room = STATES + STATES_OF_RANK * self.states.len();
        if self.kept <= room {
            return;
        }
        self.kept = join_all(&mut self.ended, detail.shortest);
        // A part of the room remains free, so that states are not joined again after the next one.
        while self.kept > room / 4 * 3 {
            // The first step is a small part of the time, so that there are few steps.
            detail.shortest = (detail.shortest * 2).max(at >> 18).max(1);
            self.kept = join_all(&mut self.ended, detail.shortest);
        }
    }

    fn arrive(&mut self, arrow: Arrow, at: u64) {
        let Arrow { key, from, to, .. } = arrow;
        let departed = self.departed.remove(&key).unwrap_or(at);
        let detail = &mut *self.detail.borrow_mut();
        detail.all_messages += 1;
        detail.messages.push((from.0, to.0, departed, at));
        if detail.messages.len() >= 2 * MESSAGES {
            keep_longest(&mut detail.messages);
        }
    }
}

/// Joins the short states of all ranks. Returns the number of remaining states.
fn join_all(ranks: &mut [StateRow], shortest: u64) -> usize {
    ranks.iter_mut().map(|states| states.join(shortest)).sum()
}

/// Keeps the messages that were in the network for the longest time, in the order of their departures.
fn keep_longest(messages: &mut Vec<Message>) {
    if messages.len() > MESSAGES {
        messages.select_nth_unstable_by_key(MESSAGES, |message| (Reverse(message.3 - message.2), *message));
        messages.truncate(MESSAGES);
    }
    messages.sort_unstable_by_key(|message| (message.2, *message));
}

impl TimelineWriter for DetailWriter {
    fn event(&mut self, at: Time, event: TimelineEvent) -> io::Result<()> {
        let at = at.0 / 1000;
        match event {
            TimelineEvent::Enter(rank, state) => {
                self.leave(rank, at);
                if let Some(entry) = self.states.get_mut(rank.0 as usize) {
                    *entry = Some((state, at));
                }
            }
            TimelineEvent::Leave(rank) => self.leave(rank, at),
            TimelineEvent::Depart(arrow) => {
                self.departed.insert(arrow.key, at);
            }
            TimelineEvent::Arrive(arrow) => self.arrive(arrow, at),
            TimelineEvent::InFlight(_) => {}
        }
        Ok(())
    }

    fn series(&mut self, _: &Series) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, end: Time) -> io::Result<()> {
        for rank in (0..self.states.len() as u32).map(Rank) {
            self.leave(rank, end.0 / 1000);
        }
        let detail = &mut *self.detail.borrow_mut();
        // The states since the last step are as fine as the others.
        join_all(&mut self.ended, detail.shortest);
        let mut numbers = FxHashMap::default();
        let (names, mixtures) = (detail.names.len(), &mut detail.mixtures);
        let mut mixture = |mixture: Mixture| {
            *numbers.entry(mixture).or_insert_with(|| {
                mixtures.push(mixture);
                (names + mixtures.len() - 1) as u64
            })
        };
        let rows = std::mem::take(&mut self.ended).into_iter().filter(|row| !row.is_empty());
        // Of a time that is no shorter than a pixel, a sixteenth is not seen.
        let tick = (detail.shortest / 16).max(1);
        detail.tick = tick;
        detail.states = rows.map(|row| row.finish(tick, &mut mixture)).collect();
        keep_longest(&mut detail.messages);
        let mut last = 0;
        for (_, _, departed, arrived) in &mut detail.messages {
            let departure = *departed / tick;
            (*departed, *arrived) = (departure - last, *arrived / tick - departure);
            last = departure;
        }
        Ok(())
    }
}

/// The activities by the numbers that the page has for them.
pub(super) const ACTIVITY_NAMES: [&str; 6] = ["compute", "send", "receive", "wait", "file", "collective"];

#[cfg(test)]
mod tests {
    use titr_common::event::Activity;

    use super::*;

    #[test]
    fn activities_are_numbered_as_their_names_are() {
        let all =
            [Activity::Compute, Activity::Send, Activity::Recv, Activity::Wait, Activity::File, Activity::Collective];
        assert_eq!(all.map(|activity| activity as usize), [0, 1, 2, 3, 4, 5]);
        assert_eq!(ACTIVITY_NAMES.len(), all.len());
    }

    #[test]
    fn the_longest_messages_are_kept_in_the_order_of_departures() {
        let message = |number: u64| (0, 1, number, number + 1 + number % 7);
        let mut messages: Vec<Message> = (0..2 * MESSAGES as u64).map(message).collect();
        keep_longest(&mut messages);
        assert_eq!(messages.len(), MESSAGES);
        assert!(messages.is_sorted_by_key(|message| message.2));
        // Three of seven messages take five or more nanoseconds, and some of those that take four fill the rest.
        assert!(messages.iter().all(|message| message.3 - message.2 >= 4));
    }
}
