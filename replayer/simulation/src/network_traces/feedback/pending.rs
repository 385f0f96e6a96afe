//! Messages that were read and have not entered the network, and the triggers that they wait for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;
use slab::Slab;
use titr_common::time::Time;
use titr_common::units::Bytes;

use crate::network_traces::{Label, Node, TracedMessage, Trigger};

/// A message that is to enter the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Released {
    /// The time at which it enters the network.
    pub at: Time,
    /// The name of the message.
    pub label: Label,
    /// The node that sends it.
    pub from: Node,
    /// The node that receives it.
    pub to: Node,
    /// The payload.
    pub bytes: Bytes,
    /// Its arrival in the trace, if it arrived.
    pub recorded: Option<Time>,
    /// Whether it has triggers.
    pub triggered: bool,
}

/// Messages that wait for triggers or for their time.
#[derive(Default)]
pub(super) struct Pending {
    /// Triggers for which not all messages were read, or which have not arrived.
    triggers: FxHashMap<Label, TriggerState>,
    /// Messages that wait for a trigger or are released.
    waiting: Slab<HeldMessage>,
    /// The messages that wait for the same trigger, as linked lists.
    waits: Slab<Wait>,
    /// Messages that are released, by time and label.
    released: BinaryHeap<Reverse<(Time, Label, u32)>>,
}

/// A message that others wait for.
#[derive(Debug)]
struct TriggerState {
    /// Messages that wait for it and were not read.
    unread: u32,
    arrived: Option<Time>,
    /// The first of those in `waits` that were read and wait for it, or [`NOBODY`].
    first: u32,
}

/// The end of a list of those that wait.
const NOBODY: u32 = u32::MAX;

/// One of those that wait for a trigger.
#[derive(Debug)]
struct Wait {
    message: u32,
    delay: Time,
    /// The next one in `waits`, or [`NOBODY`].
    next: u32,
}

/// A message that waits for triggers, or has been released.
#[derive(Debug)]
struct HeldMessage {
    /// The message; `at` is when the delays of all triggers that have arrived are over.
    message: Released,
    /// Triggers that have not arrived.
    missing: u32,
}

impl Pending {
    /// Makes the state of a message that others wait for.
    pub(super) fn announce(&mut self, message: &TracedMessage) {
        if message.triggers > 0 {
            let state = TriggerState { unread: message.triggers, arrived: None, first: NOBODY };
            self.triggers.insert(message.label, state);
        }
    }

    /// Releases a message at its own time.
    pub(super) fn release_at_its_time(&mut self, message: &TracedMessage) {
        let index = self.waiting.insert(HeldMessage { message: message.at(message.generated), missing: 0 });
        self.released.push(Reverse((message.generated, message.label, index as u32)));
    }

    /// Takes a message that was read; the states of its triggers are there.
    pub(super) fn take(&mut self, message: &TracedMessage) -> Result<(), String> {
        if message.after.is_empty() {
            self.release_at_its_time(message);
            return Ok(());
        }
        let index = self.waiting.vacant_key() as u32;
        let (mut missing, mut due) = (0, Time::ZERO);
        for &Trigger { label, delay } in &message.after {
            let Some(state) = self.triggers.get_mut(&label).filter(|state| state.unread > 0) else {
                return Err(format!(
                    "message {} waits for {label}, which is no message, or says that fewer messages wait for it",
                    message.label
                ));
            };
            state.unread -= 1;
            match state.arrived {
                Some(at) => {
                    due = due.max(later(at, delay));
                    if state.unread == 0 {
                        self.triggers.remove(&label);
                    }
                }
                None => {
                    missing += 1;
                    state.first = self.waits.insert(Wait { message: index, delay, next: state.first }) as u32;
                }
            }
        }
        self.waiting.insert(HeldMessage { message: message.at(due), missing });
        if missing == 0 {
            self.released.push(Reverse((due, message.label, index)));
        }
        Ok(())
    }

    /// The time at which the first of the released messages enters the network.
    pub(super) fn first_release(&self) -> Option<Time> {
        self.released.peek().map(|Reverse((due, ..))| *due)
    }

    /// Takes the next message that enters the network by `now`: in the order of time, then of labels.
    pub(super) fn take_released(&mut self, now: Time) -> Option<Released> {
        let &Reverse((_, _, index)) = self.released.peek().filter(|Reverse((at, ..))| *at <= now)?;
        self.released.pop();
        self.waiting.try_remove(index as usize).map(|waiting| waiting.message)
    }

    /// Records that a message has arrived, and tells whether messages wait for it that were not read.
    pub(super) fn arrived(&mut self, label: Label, now: Time) -> bool {
        let Some(state) = self.triggers.get_mut(&label) else { return false };
        state.arrived = Some(now);
        let mut next = std::mem::replace(&mut state.first, NOBODY);
        let is_unread = state.unread > 0;
        if !is_unread {
            self.triggers.remove(&label);
        }
        while let Some(wait) = self.waits.try_remove(next as usize) {
            next = wait.next;
            let Some(waiting) = self.waiting.get_mut(wait.message as usize) else { continue };
            let message = &mut waiting.message;
            message.at = message.at.max(later(now, wait.delay));
            waiting.missing -= 1;
            if waiting.missing == 0 {
                self.released.push(Reverse((message.at, message.label, wait.message)));
            }
        }
        is_unread
    }

    /// Whether unread messages wait for this one, or it has not arrived.
    pub(super) fn is_awaited(&self, label: Label) -> bool {
        self.triggers.contains_key(&label)
    }

    /// The first message for which fewer messages wait than it says, and how many are missing.
    pub(super) fn first_unread(&self) -> Option<(Label, u32)> {
        let unread = self.triggers.iter().filter(|(_, state)| state.unread > 0);
        unread.map(|(&label, state)| (label, state.unread)).min_by_key(|(label, _)| *label)
    }

    /// The number of messages and triggers in memory.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.waiting.len() + self.waits.len() + self.triggers.len()
    }

    /// The labels of the messages that were read and have not entered the network.
    pub(super) fn labels(&self) -> impl Iterator<Item = Label> {
        self.waiting.iter().map(|(_, waiting)| waiting.message.label)
    }
}

impl TracedMessage {
    /// This message, to enter the network at a time.
    fn at(&self, at: Time) -> Released {
        let &Self { label, from, to, bytes, arrived: recorded, ref after, .. } = self;
        Released { at, label, from, to, bytes, recorded, triggered: !after.is_empty() }
    }
}

fn later(at: Time, delay: Time) -> Time {
    Time(at.0.saturating_add(delay.0))
}

/// The messages of a cycle, each of which waits for the next, if the messages of a trace contain one. The last is the
/// first again.
pub(super) fn find_circle(messages: &[TracedMessage]) -> Option<Vec<Label>> {
    let by_label: FxHashMap<Label, usize> =
        messages.iter().enumerate().map(|(index, message)| (message.label, index)).collect();
    let triggers =
        |index: usize| messages[index].after.iter().filter_map(|trigger| by_label.get(&trigger.label).copied());
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); messages.len()];
    let mut missing = vec![0_usize; messages.len()];
    for (index, missing) in missing.iter_mut().enumerate() {
        for trigger in triggers(index) {
            followers[trigger].push(index);
            *missing += 1;
        }
    }
    let mut free: Vec<usize> = (0..messages.len()).filter(|&index| missing[index] == 0).collect();
    while let Some(index) = free.pop() {
        for &follower in &followers[index] {
            missing[follower] -= 1;
            if missing[follower] == 0 {
                free.push(follower);
            }
        }
    }
    // Every message that is left waits for another that is left: following these ends in a circle.
    let mut next = (0..messages.len()).filter(|&index| missing[index] > 0).min_by_key(|&index| messages[index].label);
    let (mut path, mut seen) = (Vec::new(), FxHashMap::default());
    while let Some(index) = next {
        path.push(messages[index].label);
        if let Some(start) = seen.insert(index, path.len() - 1) {
            path.drain(..start);
            break;
        }
        next = triggers(index).find(|&trigger| missing[trigger] > 0);
    }
    (!path.is_empty()).then_some(path)
}
