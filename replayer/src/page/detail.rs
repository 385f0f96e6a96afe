//! Individual states and messages, unless there are too many for a page.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;
use titr_common::event::Rank;
use titr_common::time::Time;
use titr_timeline::{Arrow, Series, State, TimelineEvent, TimelineWriter};

/// States of all ranks at most, and messages.
const STATES: usize = 250_000;
const MESSAGES: usize = 100_000;

/// States and messages. Times are nanoseconds.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Detail {
    /// The names of states, by their numbers.
    names: Vec<StateName>,
    /// The states of each rank that has any.
    states: Vec<RankStates>,
    /// Messages: sender, receiver, departure, arrival, bytes, and 1 for a message of a collective.
    messages: Vec<(u32, u32, u64, u64, u64, u8)>,
    /// The number of all states, including those that were not kept.
    all_states: usize,
    /// The number of all messages, including those that were not kept.
    all_messages: usize,
}

/// A name of states, and their activity.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct StateName {
    /// The name.
    name: String,
    /// The number of the activity of these states.
    activity: u8,
}

/// Whether all states and all messages were kept, because there were few enough.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(super) struct Detailed {
    /// Whether all states were kept.
    states: bool,
    /// Whether all messages were kept.
    messages: bool,
}

/// The states of a rank.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
struct RankStates {
    /// The rank.
    rank: u32,
    /// The beginning of the first state, in nanoseconds.
    begin: u64,
    /// Alternating numbers: the length of a state in nanoseconds, and the number of its name.
    spans: Vec<u64>,
}

impl Detail {
    /// Whether states and messages were few enough to be kept.
    pub(super) fn detailed(&self) -> Detailed {
        Detailed { states: self.all_states <= STATES, messages: self.all_messages <= MESSAGES }
    }
}

/// Records individual states and messages.
pub(super) struct DetailWriter {
    detail: Rc<RefCell<Detail>>,
    /// The state of each rank, and since when.
    states: Vec<Option<(State, u64)>>,
    /// The states of each rank that were, by rank.
    ended: Vec<RankStates>,
    names: FxHashMap<String, u64>,
    /// The departure time of each message in transit.
    departed: FxHashMap<u64, u64>,
}

impl DetailWriter {
    pub(super) fn new(detail: Rc<RefCell<Detail>>, ranks: u32) -> Self {
        let ended = (0..ranks).map(|rank| RankStates { rank, ..RankStates::default() }).collect();
        let (names, departed) = (FxHashMap::default(), FxHashMap::default());
        Self { detail, states: vec![None; ranks as usize], ended, names, departed }
    }

    fn leave(&mut self, rank: Rank, at: u64) {
        let place = rank.0 as usize;
        let Some((state, since)) = self.states.get_mut(place).and_then(Option::take) else { return };
        let detail = &mut *self.detail.borrow_mut();
        detail.all_states += 1;
        if detail.all_states > STATES {
            self.ended.clear();
            return;
        }
        let next = self.names.len() as u64;
        let name = *self.names.entry(state.name()).or_insert(next);
        if name == next {
            detail.names.push(StateName { name: state.name(), activity: state.activity as u8 });
        }
        let Some(states) = self.ended.get_mut(place) else { return };
        if states.spans.is_empty() {
            states.begin = since;
        }
        states.spans.extend([at - since, name]);
    }

    fn arrive(&mut self, arrow: Arrow, at: u64) {
        let Arrow { key, from, to, bytes, in_collective } = arrow;
        let departed = self.departed.remove(&key).unwrap_or(at);
        let detail = &mut *self.detail.borrow_mut();
        detail.all_messages += 1;
        if detail.all_messages <= MESSAGES {
            detail.messages.push((from.0, to.0, departed, at, bytes.0, u8::from(in_collective)));
        } else {
            detail.messages.clear();
        }
    }
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
        let mut detail = self.detail.borrow_mut();
        detail.states = std::mem::take(&mut self.ended);
        detail.states.retain(|states| !states.spans.is_empty());
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
}
