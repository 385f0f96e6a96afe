//! Releases the messages of a trace: the feedback from the network to its load.
//!
//! A message without a trigger is released at its own time, any other when all its triggers have arrived and their
//! delays are over. A message records the number of messages that wait for it, so that a trace in order is read only as
//! far as necessary: up to the current time of the replay, and to the last message that waits for one that has arrived.
//! Memory holds the waiting messages that were read, and the triggers whose dependents were not all read.

use titr_common::format::{counted, plural};
use titr_common::time::Time;

use super::{Label, NetworkTraceError};
use crate::network_traces::reader::NetworkTrace;
use pending::{Pending, find_circle};

mod pending;

pub use pending::Released;

/// Number of unreleased messages that an error lists.
const NAMED: usize = 5;

/// Releases the messages of a trace.
pub struct Feedback {
    trace: NetworkTrace,
    /// Whether messages are released at their own times, regardless of their triggers.
    open_loop: bool,
    /// Whether the last message read has not been taken yet; in a trace in order, it is the next one.
    has_next: bool,
    pending: Pending,
}

impl Feedback {
    /// Prepares to release the messages of `trace`, from which no message was read yet. In an open loop all are
    /// released at their own times.
    ///
    /// # Errors
    /// If the trace cannot be read or is invalid. A trace that is not in order is read as a whole.
    pub fn new(mut trace: NetworkTrace, open_loop: bool) -> Result<Self, NetworkTraceError> {
        let has_next = trace.read_message()?.is_some();
        let mut this = Self { trace, open_loop, has_next, pending: Pending::default() };
        if !this.trace.ordered {
            this.read_all()?;
        }
        Ok(this)
    }

    /// Reads a trace that is not in order.
    fn read_all(&mut self) -> Result<(), NetworkTraceError> {
        let first = std::mem::take(&mut self.has_next).then(|| self.trace.message.clone());
        let messages = self.trace.by_label(first)?;
        if self.open_loop {
            messages.iter().for_each(|message| self.pending.release_at_its_time(message));
            return Ok(());
        }
        messages.iter().for_each(|message| self.pending.announce(message));
        for message in &messages {
            self.pending.take(message).map_err(|what| self.trace.unfit(what))?;
        }
        self.check_all_read()?;
        let Some(circle) = find_circle(&messages) else { return Ok(()) };
        let more = if circle.len() > NAMED + 1 { " waits for …" } else { "" };
        let shown: Vec<String> = circle.iter().take(NAMED + 1).map(Label::to_string).collect();
        let circle = shown.join(" waits for ");
        Err(self.trace.unfit(format!("messages wait for each other in a circle: {circle}{more}")))
    }

    /// Reads the next message of a trace in order; false at the end.
    fn read(&mut self) -> Result<bool, NetworkTraceError> {
        if !self.has_next {
            return Ok(false);
        }
        let message = &self.trace.message;
        if self.open_loop {
            self.pending.release_at_its_time(message);
        } else {
            self.pending.announce(message);
            self.pending.take(message).map_err(|what| self.trace.unfit(what))?;
        }
        self.has_next = self.trace.read_message()?.is_some();
        Ok(true)
    }

    /// The time at which the next message enters the network, if this is not after `network`, the network's next event;
    /// `None` otherwise.
    ///
    /// # Errors
    /// If the trace cannot be read or is invalid.
    pub fn next_release(&mut self, network: Option<Time>) -> Result<Option<Time>, NetworkTraceError> {
        loop {
            let first = self.pending.first_release();
            let until = [first, network].into_iter().flatten().min();
            let is_due = until.is_none_or(|until| self.trace.message.generated <= until);
            if !self.has_next || !is_due || !self.read()? {
                return Ok(first);
            }
        }
    }

    /// Takes the next message that enters the network by `now`: in the order of time, then of labels.
    pub fn take_released(&mut self, now: Time) -> Option<Released> {
        self.pending.take_released(now)
    }

    /// A message has arrived at `now`, on which its node received it.
    ///
    /// # Errors
    /// If the trace cannot be read or is invalid.
    pub fn arrived(&mut self, label: Label, now: Time) -> Result<(), NetworkTraceError> {
        if !self.pending.arrived(label, now) {
            return Ok(());
        }
        while self.pending.is_awaited(label) {
            if !self.read()? {
                return self.check_all_read();
            }
        }
        Ok(())
    }

    /// Makes sure that as many messages wait for each as it says, once the whole trace was read.
    fn check_all_read(&self) -> Result<(), NetworkTraceError> {
        let Some((label, unread)) = self.pending.first_unread() else { return Ok(()) };
        Err(self.trace.unfit(format!(
            "message {label} says that {unread} more messages wait for it than there are: lines are missing"
        )))
    }

    /// Checks that all messages have been released, once nothing is in transit.
    ///
    /// # Errors
    /// If some were not; the error names the first.
    pub fn finish(&self) -> Result<(), NetworkTraceError> {
        self.check_all_read()?;
        let mut labels: Vec<Label> = self.pending.labels().collect();
        if labels.is_empty() {
            return Ok(());
        }
        labels.sort_unstable();
        let first: Vec<String> = labels.iter().take(NAMED).map(Label::to_string).collect();
        let more = if labels.len() > NAMED { ", …" } else { "" };
        let (first, count) = (first.join(", "), labels.len());
        Err(self.trace.unfit(format!(
            "{} {} never triggered: {first}{more}",
            counted(count, "message", "messages"),
            plural(count as u64, "is", "are")
        )))
    }
}

#[cfg(test)]
mod tests;
