//! Who goes on next: those who can go on now, in the order in which they could, and alarms for later.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::Agent;
use crate::time::Time;

#[derive(Default)]
pub(super) struct Agenda {
    ready: VecDeque<Agent>,
    /// The sequence number makes ties stable: first set, first rung.
    alarms: BinaryHeap<Reverse<(Time, u64, Agent)>>,
    sequence: u64,
}

impl Agenda {
    /// `agent` can go on now.
    pub(super) fn ready(&mut self, agent: Agent) {
        self.ready.push_back(agent);
    }

    /// `agent` goes on at `time`.
    pub(super) fn set_alarm(&mut self, time: Time, agent: Agent) {
        self.sequence += 1;
        self.alarms.push(Reverse((time, self.sequence, agent)));
    }

    /// Who goes on now.
    pub(super) fn next(&mut self) -> Option<Agent> {
        self.ready.pop_front()
    }

    /// When the next alarm is.
    pub(super) fn next_alarm(&self) -> Option<Time> {
        self.alarms.peek().map(|Reverse((time, ..))| *time)
    }

    /// Rings all alarms up to `now`.
    pub(super) fn ring(&mut self, now: Time) {
        while let Some(&Reverse((time, _, agent))) = self.alarms.peek()
            && time <= now
        {
            self.alarms.pop();
            self.ready.push_back(agent);
        }
    }
}
