//! Which messages of a trace are released when: the feedback from the network to its load.
//!
//! A message without a trigger is released at its own time. Any other is released when all its triggers have arrived and
//! their delays are over. A message says how many others wait for it, so that a trace in order is read only as far as it
//! has to be: up to the time that the replay is at, and to the last message that waits for one that has arrived. Memory
//! holds the messages that were read and wait, and the triggers for which not all were read.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;
use titr_common::time::Time;

use crate::error::NetworkTraceError;
use crate::message::{Label, TracedMessage, Trigger};
use crate::reader::NetworkTrace;

/// How many messages that were never released an error names.
const NAMED: usize = 5;

/// A message that is to enter the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Released {
    /// When it is to enter.
    pub at: Time,
    /// The message.
    pub message: TracedMessage,
}

/// Releases the messages of a trace.
pub struct Feedback {
    trace: NetworkTrace,
    /// Whether messages are released at their own times, whatever their triggers are.
    open_loop: bool,
    /// The next message of the trace, if it is read in order.
    next: Option<TracedMessage>,
    /// Triggers for which not all messages were read, or which have not arrived.
    triggers: FxHashMap<Label, TriggerState>,
    /// Messages that wait for a trigger.
    waiting: slab::Slab<Waiting>,
    /// Messages that are released, by time and label.
    released: BinaryHeap<Reverse<(Time, Label, usize)>>,
}

/// A message that others wait for.
#[derive(Debug, Default)]
struct TriggerState {
    /// Messages that wait for it and were not read.
    unread: u32,
    arrived: Option<Time>,
    waiting: Vec<(usize, Time)>,
}

/// A message that waits for triggers, or has been released.
#[derive(Debug)]
struct Waiting {
    message: TracedMessage,
    /// Triggers that have not arrived.
    missing: usize,
    /// When the delays of all triggers that have arrived are over.
    due: Time,
}

impl Feedback {
    /// Prepares to release the messages of `trace`, of which none was read. In an open loop all are released at their own times.
    ///
    /// # Errors
    /// If the trace cannot be read or makes no sense. A trace that is not in order is read as a whole.
    pub fn new(trace: NetworkTrace, open_loop: bool) -> Result<Self, NetworkTraceError> {
        let mut this = Self {
            trace,
            open_loop,
            next: None,
            triggers: FxHashMap::default(),
            waiting: slab::Slab::new(),
            released: BinaryHeap::new(),
        };
        this.next = this.trace.next_message()?;
        if !this.trace.is_ordered() {
            this.read_all()?;
        }
        Ok(this)
    }

    /// Reads a trace that is not in order.
    fn read_all(&mut self) -> Result<(), NetworkTraceError> {
        let mut messages = Vec::from_iter(self.next.take());
        while let Some(message) = self.trace.next_message()? {
            messages.push(message);
        }
        messages.sort_by_key(|message| message.label);
        if let Some(twice) = messages.windows(2).find(|pair| pair[0].label == pair[1].label) {
            return Err(self.trace.unfit(format!("there are two messages {}", twice[0].label)));
        }
        if self.open_loop {
            messages.into_iter().for_each(|message| self.release_at_its_time(message));
            return Ok(());
        }
        for message in &messages {
            self.announce(message);
        }
        for message in messages {
            self.take(message)?;
        }
        self.check_all_read()?;
        self.check_circles()
    }

    /// Makes the state of a message that others wait for.
    fn announce(&mut self, message: &TracedMessage) {
        if message.triggers > 0 {
            let state = TriggerState { unread: message.triggers, ..TriggerState::default() };
            self.triggers.insert(message.label, state);
        }
    }

    fn release_at_its_time(&mut self, message: TracedMessage) {
        let (due, label) = (message.generated, message.label);
        let index = self.waiting.insert(Waiting { message, missing: 0, due });
        self.released.push(Reverse((due, label, index)));
    }

    /// Takes a message that was read; the states of its triggers are there.
    fn take(&mut self, message: TracedMessage) -> Result<(), NetworkTraceError> {
        if message.after.is_empty() {
            self.release_at_its_time(message);
            return Ok(());
        }
        let index = self.waiting.vacant_key();
        let (mut missing, mut due) = (0, Time::ZERO);
        for &Trigger { label, delay } in &message.after {
            let Some(state) = self.triggers.get_mut(&label).filter(|state| state.unread > 0) else {
                return Err(self.trace.unfit(format!(
                    "message {} waits for {label}, which is no message, or says that fewer messages wait for it",
                    message.label
                )));
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
                    state.waiting.push((index, delay));
                }
            }
        }
        let label = message.label;
        self.waiting.insert(Waiting { message, missing, due });
        if missing == 0 {
            self.released.push(Reverse((due, label, index)));
        }
        Ok(())
    }

    /// Reads the next message of a trace in order; false at the end.
    fn read(&mut self) -> Result<bool, NetworkTraceError> {
        let Some(message) = self.next.take() else { return Ok(false) };
        if self.open_loop {
            self.release_at_its_time(message);
        } else {
            self.announce(&message);
            self.take(message)?;
        }
        self.next = self.trace.next_message()?;
        Ok(true)
    }

    /// When the next message is to enter the network, if it does so before `network` has something to do, or at that time;
    /// `None`: none does.
    ///
    /// # Errors
    /// If the trace cannot be read or makes no sense.
    pub fn next_release(&mut self, network: Option<Time>) -> Result<Option<Time>, NetworkTraceError> {
        loop {
            let first = self.released.peek().map(|Reverse((due, ..))| *due);
            let until = [first, network].into_iter().flatten().min();
            let is_due = |message: &TracedMessage| until.is_none_or(|until| message.generated <= until);
            if !self.next.as_ref().is_some_and(is_due) || !self.read()? {
                return Ok(first);
            }
        }
    }

    /// Takes the next message that enters the network by `now`: in the order of time, then of labels.
    pub fn take_released(&mut self, now: Time) -> Option<Released> {
        let &Reverse((at, _, index)) = self.released.peek()?;
        if at > now {
            return None;
        }
        self.released.pop();
        let message = self.waiting.try_remove(index)?.message;
        Some(Released { at, message })
    }

    /// A message has arrived at `now`, on which its node received it.
    ///
    /// # Errors
    /// If the trace cannot be read or makes no sense.
    pub fn arrived(&mut self, label: Label, now: Time) -> Result<(), NetworkTraceError> {
        let Some(state) = self.triggers.get_mut(&label) else { return Ok(()) };
        state.arrived = Some(now);
        let waiting = std::mem::take(&mut state.waiting);
        if state.unread == 0 {
            self.triggers.remove(&label);
        }
        for (index, delay) in waiting {
            let Some(waiting) = self.waiting.get_mut(index) else { continue };
            waiting.due = waiting.due.max(later(now, delay));
            waiting.missing -= 1;
            if waiting.missing == 0 {
                self.released.push(Reverse((waiting.due, waiting.message.label, index)));
            }
        }
        while self.triggers.contains_key(&label) {
            if !self.read()? {
                return self.check_all_read();
            }
        }
        Ok(())
    }

    /// Makes sure that as many messages wait for each as it says, once the whole trace was read.
    fn check_all_read(&self) -> Result<(), NetworkTraceError> {
        let unread = self.triggers.iter().filter(|(_, state)| state.unread > 0);
        let Some((label, state)) = unread.min_by_key(|(label, _)| **label) else { return Ok(()) };
        Err(self.trace.unfit(format!(
            "message {label} says that {} more messages wait for it than there are: lines are missing",
            state.unread
        )))
    }

    /// Makes sure that all messages have been released, once nothing is under way.
    ///
    /// # Errors
    /// If some were not; the error names the first.
    pub fn finish(&self) -> Result<(), NetworkTraceError> {
        self.check_all_read()?;
        if self.waiting.is_empty() {
            return Ok(());
        }
        let mut labels: Vec<Label> = self.waiting.iter().map(|(_, waiting)| waiting.message.label).collect();
        labels.sort_unstable();
        let first: Vec<String> = labels.iter().take(NAMED).map(Label::to_string).collect();
        let more = if labels.len() > NAMED { ", …" } else { "" };
        let (first, count) = (first.join(", "), labels.len());
        Err(self.trace.unfit(format!("{count} messages are never triggered: {first}{more}")))
    }

    /// Messages that were read, and wait or are to enter the network.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.waiting.len()
    }

    /// Makes sure that no messages wait for each other, all having been read.
    fn check_circles(&self) -> Result<(), NetworkTraceError> {
        let mut missing: FxHashMap<usize, usize> =
            self.waiting.iter().map(|(index, waiting)| (index, waiting.missing)).collect();
        let mut free: Vec<usize> =
            missing.iter().filter(|(_, missing)| **missing == 0).map(|(index, _)| *index).collect();
        while let Some(index) = free.pop() {
            missing.remove(&index);
            let state = self.waiting.get(index).and_then(|waiting| self.triggers.get(&waiting.message.label));
            for (waiting, _) in state.iter().flat_map(|state| &state.waiting) {
                if let Some(missing) = missing.get_mut(waiting) {
                    *missing -= 1;
                    if *missing == 0 {
                        free.push(*waiting);
                    }
                }
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        // Every message that is left waits for another that is left: following these ends in a circle.
        let left: FxHashMap<Label, &TracedMessage> = missing
            .keys()
            .filter_map(|&index| self.waiting.get(index))
            .map(|waiting| (waiting.message.label, &waiting.message))
            .collect();
        let mut next = left.keys().min().copied();
        let (mut path, mut seen) = (Vec::new(), FxHashMap::default());
        while let Some(label) = next {
            path.push(label);
            if let Some(start) = seen.insert(label, path.len() - 1) {
                path.drain(..start);
                break;
            }
            let after = left.get(&label).map(|message| &message.after);
            next = after.into_iter().flatten().map(|trigger| trigger.label).find(|label| left.contains_key(label));
        }
        let shown: Vec<String> = path.iter().take(NAMED + 1).map(Label::to_string).collect();
        let more = if path.len() > shown.len() { " waits for …" } else { "" };
        let circle = shown.join(" waits for ");
        Err(self.trace.unfit(format!("messages wait for each other in a circle: {circle}{more}")))
    }
}

fn later(at: Time, delay: Time) -> Time {
    Time(at.0.saturating_add(delay.0))
}

#[cfg(test)]
mod tests;
