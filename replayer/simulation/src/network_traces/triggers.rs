//! Finds the triggers of the messages of a trace.
//!
//! The rules of trace-driven simulation with network feedback; the first that applies to a message decides:
//!
//! 1. **reply** — a message of a kind that answers requests is triggered by the oldest unanswered request that its node
//!    has received from the message's destination for the same address.
//! 2. **protocol** — a message of a kind in the table of the protocol is triggered by the last message of the kinds in
//!    the table that its node has received for the same address. If it is data, it also answers the oldest request, and
//!    a message that was received before that request is not its trigger: then the request is.
//! 3. **data** — any other message is triggered by the last data message that its node has received.
//!
//! The trigger delay is the time from that reception to the generation of the message. A message without any of these
//! has no trigger, and keeps its own time.
//!
//! Exact triggers are those that the simulation has recorded.
//!
//! A message records the number of messages that it triggers, so the trace is read twice: first to count, then to
//! write. Between the passes only the counts are kept; within a pass, the messages in transit, and the receptions that
//! rules can refer to.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::path::Path;

use rustc_hash::FxHashMap;
use titr_common::time::Time;

use super::{Kind, Label, NetworkTraceError, Node, TracedMessage, Trigger};
use crate::network_traces::reader::{NetworkTrace, NetworkTraceWriter};
use crate::network_traces::rules::Rules;

/// The method of finding triggers.
#[derive(Clone, Debug)]
pub enum TriggerSource {
    /// By rules.
    Rules(Rules),
    /// The causes that the simulation has recorded.
    Exact,
}

/// The number of triggers found by each rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TriggerCounts {
    /// Messages of the trace.
    pub messages: u64,
    /// Messages whose triggers the trace had: recorded causes.
    pub exact: u64,
    /// Messages that answer a request.
    pub replies: u64,
    /// Messages that the table of the protocol triggers.
    pub protocol: u64,
    /// Messages that the last data message triggers.
    pub data: u64,
    /// Messages without a trigger.
    pub none: u64,
}

/// Why triggers were not found or not written.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum NoTriggers {
    #[error(transparent)]
    Trace(#[from] NetworkTraceError),
    #[error("{0}")]
    Output(#[from] io::Error),
}

/// Finds the triggers of the trace at `from`, and writes the trace to `to`, with triggers instead of the recorded
/// causes.
///
/// # Errors
/// If the trace cannot be read, is invalid, or lacks the causes that `source` requires, or if `to` cannot be written.
pub fn find_triggers(from: &Path, to: &Path, source: &TriggerSource) -> Result<TriggerCounts, NoTriggers> {
    let mut counts: FxHashMap<Label, u32> = FxHashMap::default();
    let mut pass = Pass::begin(from, source)?;
    while let Some(message) = pass.next()? {
        message.after.iter().for_each(|trigger| *counts.entry(trigger.label).or_default() += 1);
    }
    if let TriggerSource::Exact = source
        && pass.found.exact == 0
        && pass.found.messages > 0
    {
        let what = "no message has a cause: record the trace with titr replay, or use rules".to_owned();
        return Err(NetworkTraceError::Messages { path: from.into(), what }.into());
    }
    let mut pass = Pass::begin(from, source)?;
    // A trace without messages is in order.
    let is_ordered = pass.input.trace.ordered || pass.input.next.is_empty();
    let mut writer = NetworkTraceWriter::create(to, pass.input.trace.nodes, is_ordered)?;
    while let Some(mut message) = pass.next()? {
        message.triggers = counts.remove(&message.label).unwrap_or_default();
        writer.write(&message)?;
    }
    if let Some(label) = counts.keys().min() {
        let what = format!("a message has the cause {label}, which is no message of the trace");
        return Err(NetworkTraceError::Messages { path: from.into(), what }.into());
    }
    writer.finish()?.finish()?;
    Ok(pass.found)
}

/// A pass over a trace, by time of generation.
struct Pass<'a> {
    source: &'a TriggerSource,
    input: Input,
    /// Messages in transit, in order of arrival.
    under_way: BinaryHeap<Reverse<(Time, Label, Reception)>>,
    receptions: Receptions,
    found: TriggerCounts,
}

/// The messages of a pass; a trace that is not in order is sorted first.
struct Input {
    trace: NetworkTrace,
    next: VecDeque<TracedMessage>,
}

/// A message as its receiver gets it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Reception {
    from: Node,
    to: Node,
    kind: Kind,
    address: Option<u64>,
}

/// A message that was received, and when.
type Received = (Label, Time);

/// The kind of a message that was received, and the message.
type KindReceived = (Kind, Received);

/// The receptions of all nodes that rules can refer to.
#[derive(Default)]
struct Receptions {
    /// The last data message of each node.
    data: FxHashMap<Node, Received>,
    /// Unanswered requests, by sender, receiver and address.
    requests: FxHashMap<(Node, Node, Option<u64>), VecDeque<KindReceived>>,
    /// The last message of each node and address, of each kind that triggers others.
    protocol: FxHashMap<(Node, Option<u64>), Vec<KindReceived>>,
}

impl Input {
    fn open(path: &Path) -> Result<Self, NetworkTraceError> {
        let mut trace = NetworkTrace::open(path)?;
        let first = trace.next_message()?;
        if trace.ordered {
            return Ok(Self { trace, next: VecDeque::from_iter(first) });
        }
        let mut messages = trace.by_label(first)?;
        messages.sort_by_key(|message| message.generated);
        Ok(Self { trace, next: messages.into() })
    }

    fn next(&mut self) -> Result<Option<TracedMessage>, NetworkTraceError> {
        match self.next.pop_front() {
            Some(message) => Ok(Some(message)),
            None => self.trace.next_message(),
        }
    }
}

impl<'a> Pass<'a> {
    fn begin(path: &Path, source: &'a TriggerSource) -> Result<Self, NetworkTraceError> {
        Ok(Self {
            source,
            input: Input::open(path)?,
            under_way: BinaryHeap::new(),
            receptions: Receptions::default(),
            found: TriggerCounts::default(),
        })
    }

    /// The next message, with its triggers.
    fn next(&mut self) -> Result<Option<TracedMessage>, NetworkTraceError> {
        let Some(mut message) = self.input.next()? else { return Ok(None) };
        self.found.messages += 1;
        let rules = match self.source {
            TriggerSource::Rules(rules) => rules,
            TriggerSource::Exact => {
                message.after = std::mem::take(&mut message.causes);
                let count = if message.after.is_empty() { &mut self.found.none } else { &mut self.found.exact };
                *count += 1;
                return Ok(Some(message));
            }
        };
        while let Some(Reverse((at, ..))) = self.under_way.peek()
            && *at <= message.generated
            && let Some(Reverse((at, label, reception))) = self.under_way.pop()
        {
            self.receptions.receive(rules, reception, (label, at));
        }
        let (trigger, count) = self.receptions.trigger(rules, &message, &mut self.found);
        *count += 1;
        let trigger = trigger.map(|(label, at)| Trigger { label, delay: Time(message.generated.0 - at.0) });
        message.after = Vec::from_iter(trigger);
        message.causes.clear();
        if let Some(arrived) = message.arrived {
            let &TracedMessage { from, to, address, .. } = &message;
            let reception = Reception { from, to, kind: message.kind.clone(), address };
            self.under_way.push(Reverse((arrived, message.label, reception)));
        }
        Ok(Some(message))
    }
}

impl Receptions {
    fn receive(&mut self, rules: &Rules, reception: Reception, received: Received) {
        let Reception { from, to, kind, address } = reception;
        if rules.is_data(kind.name()) {
            self.data.insert(to, received);
        }
        if rules.is_answered(kind.name()) {
            self.requests.entry((from, to, address)).or_default().push_back((kind.clone(), received));
        }
        if rules.is_protocol_trigger(kind.name()) {
            let last = self.protocol.entry((to, address)).or_default();
            last.retain(|(other, _)| *other != kind);
            last.push((kind, received));
        }
    }

    /// Takes the oldest request of this sender, receiver and address: it has been answered.
    fn answer(&mut self, place: (Node, Node, Option<u64>)) -> Option<Received> {
        let waiting = self.requests.get_mut(&place)?;
        let oldest = waiting.pop_front();
        if waiting.is_empty() {
            self.requests.remove(&place);
        }
        oldest.map(|(_, request)| request)
    }

    /// The message that triggers `message`, and the count of the rule that has found it.
    fn trigger<'c>(
        &mut self,
        rules: &Rules,
        message: &TracedMessage,
        found: &'c mut TriggerCounts,
    ) -> (Option<Received>, &'c mut u64) {
        let &TracedMessage { from, to, address, .. } = message;
        if let Some(requests) = rules.answers(message.kind.name()) {
            let place = (to, from, address);
            if let Some(waiting) = self.requests.get_mut(&place)
                && let Some(number) = waiting.iter().position(|(kind, _)| requests.contains(kind.name()))
                && let Some((_, request)) = waiting.remove(number)
            {
                if waiting.is_empty() {
                    self.requests.remove(&place);
                }
                return (Some(request), &mut found.replies);
            }
        }
        if let Some(kinds) = rules.triggers_of(message.kind.name()) {
            let request = if rules.is_data(message.kind.name()) { self.answer((to, from, address)) } else { None };
            let last = self.protocol.get(&(from, address)).into_iter().flatten();
            let last = last.filter(|(kind, _)| kinds.contains(kind.name())).map(|(_, received)| *received);
            if let Some(later) = last.chain(request).max_by_key(|&(label, at)| (at, label)) {
                return (Some(later), &mut found.protocol);
            }
        }
        match self.data.get(&from) {
            Some(&last) => (Some(last), &mut found.data),
            None => (None, &mut found.none),
        }
    }
}

#[cfg(test)]
mod tests;
