//! Who goes on next: those who can go on now, in the order in which they could, and alarms for later.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::collections::binary_heap::{BinaryHeap, PeekMut};

use super::Agent;
use titr_common::time::Time;

#[derive(Default)]
pub(super) struct Agenda {
    ready: VecDeque<Agent>,
    alarms: BinaryHeap<Alarm>,
    sequence: u64,
}

/// The sequence number makes ties stable: first set, first rung.
struct Alarm {
    time: Time,
    sequence: u64,
    agent: Agent,
}

impl Alarm {
    /// Both in one number, as one comparison without branches decides faster than two.
    fn order(&self) -> u128 {
        u128::from(self.time.0) << 64 | u128::from(self.sequence)
    }
}

impl Ord for Alarm {
    /// The heap has the greatest on top.
    fn cmp(&self, other: &Self) -> Ordering {
        other.order().cmp(&self.order())
    }
}

impl PartialOrd for Alarm {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Alarm {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for Alarm {}

impl Agenda {
    /// `agent` can go on now.
    pub(super) fn ready(&mut self, agent: Agent) {
        self.ready.push_back(agent);
    }

    /// `agent` goes on at `time`.
    pub(super) fn set_alarm(&mut self, time: Time, agent: Agent) {
        self.sequence += 1;
        self.alarms.push(Alarm { time, sequence: self.sequence, agent });
    }

    /// Who goes on now.
    pub(super) fn next(&mut self) -> Option<Agent> {
        self.ready.pop_front()
    }

    /// When the next alarm is.
    pub(super) fn next_alarm(&self) -> Option<Time> {
        self.alarms.peek().map(|alarm| alarm.time)
    }

    /// Rings all alarms up to `now`.
    pub(super) fn ring(&mut self, now: Time) {
        while let Some(alarm) = self.alarms.peek_mut()
            && alarm.time <= now
        {
            self.ready.push_back(PeekMut::pop(alarm).agent);
        }
    }
}
