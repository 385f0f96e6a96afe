//! Receives, sends and collectives in progress, with the facts that explain waits for them.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use titr_common::event::Rank;
use titr_common::time::Time;
use titr_network::TransferId;

use super::Explanation;
use super::rounds::{Place, Rounds};
use crate::findings::Pattern;
use titr_simulation::observe::{CollectiveCall, OperationId, Receive, SentMessage, WindowWait};

/// Operations that are not complete, and messages.
#[derive(Debug, Default)]
pub(super) struct OpenOperations {
    /// Indexed by operation id; these are small.
    open: Vec<Option<OpenOperation>>,
    /// The last message with each transfer id.
    messages: Vec<Option<MessageFacts>>,
    /// For each receiver, the messages that are sent and not matched, in order of their sends.
    unmatched: FxHashMap<Rank, BTreeSet<(Time, TransferId)>>,
    rounds: Rounds,
    /// The explanations of operations that were completed at this instant.
    completed: FxHashMap<OperationId, Explanation>,
}

#[derive(Debug)]
enum OpenOperation {
    Receive { posted: Time, message: Option<TransferId>, receive: Receive },
    Send(TransferId),
    Collective(Place),
    Window(WindowWait),
}

#[derive(Clone, Copy, Debug)]
struct MessageFacts {
    message: SentMessage,
    /// When the sender entered its call, and when the message was sent.
    entered: Time,
    sent: Time,
    /// When its receive was posted.
    posted: Option<Time>,
    /// When it could depart.
    may_depart: Time,
    /// Whether a thread that entered an MPI call released it.
    by_thread: bool,
}

impl OpenOperations {
    /// A message is sent at `now` by a call that began at `entered`.
    pub(crate) fn sent(&mut self, now: Time, entered: Time, message: SentMessage) {
        let facts = MessageFacts { message, entered, sent: now, posted: None, may_depart: now, by_thread: false };
        let place = message.id.0 as usize;
        if self.messages.len() <= place {
            self.messages.resize(place + 1, None);
        }
        self.messages[place] = Some(facts);
        if let Some(operation) = message.operation {
            self.insert(operation, OpenOperation::Send(message.id));
        }
        if !message.in_collective {
            self.unmatched.entry(message.to).or_default().insert((now, message.id));
        }
    }

    pub(crate) fn posted(&mut self, now: Time, receive: Receive) {
        self.insert(receive.id, OpenOperation::Receive { posted: now, message: None, receive });
    }

    pub(crate) fn matched(&mut self, receive: OperationId, message: TransferId) {
        let open = self.open.get_mut(receive.0 as usize).and_then(Option::as_mut);
        let Some(OpenOperation::Receive { posted, message: matched, .. }) = open else { return };
        *matched = Some(message);
        if let Some(Some(facts)) = self.messages.get_mut(message.0 as usize) {
            facts.posted = Some(*posted);
            if let Some(unmatched) = self.unmatched.get_mut(&facts.message.to) {
                unmatched.remove(&(facts.sent, message));
            }
        }
    }

    /// A message may leave; `by_thread`: because a thread is in a call of MPI.
    pub(crate) fn may_depart(&mut self, now: Time, message: TransferId, by_thread: bool) {
        if let Some(Some(facts)) = self.messages.get_mut(message.0 as usize) {
            (facts.may_depart, facts.by_thread) = (now, by_thread);
        }
    }

    pub(crate) fn collective_entered(&mut self, now: Time, call: &CollectiveCall) {
        let place = self.rounds.enter(now, call);
        self.insert(call.operation, OpenOperation::Collective(place));
    }

    pub(crate) fn window_awaited(&mut self, wait: WindowWait) {
        self.insert(wait.id, OpenOperation::Window(wait));
    }

    /// An operation is complete; `unknown` explains waits for it if nothing else does.
    pub(crate) fn completed(&mut self, operation: OperationId, unknown: impl FnOnce() -> Explanation) {
        let explanation = match self.open.get_mut(operation.0 as usize).and_then(Option::take) {
            Some(OpenOperation::Receive { posted, message, receive }) => self.of_receive(posted, message, receive),
            Some(OpenOperation::Send(message)) => self.of_send(message),
            Some(OpenOperation::Collective(place)) => self.rounds.leave(place),
            Some(OpenOperation::Window(wait)) => {
                let communicator = Some(wait.communicator);
                Explanation { communicator, ..Explanation::of(wait.condition.into()) }
            }
            None => unknown(),
        };
        self.completed.insert(operation, explanation);
    }

    /// The explanation of a wait for an operation that was completed at this instant.
    pub(crate) fn explanation(&self, operation: OperationId) -> Option<Explanation> {
        self.completed.get(&operation).copied()
    }

    pub(crate) fn reached(&mut self) {
        self.completed.clear();
    }

    fn insert(&mut self, id: OperationId, operation: OpenOperation) {
        let place = id.0 as usize;
        if self.open.len() <= place {
            self.open.resize_with(place + 1, || None);
        }
        self.open[place] = Some(operation);
    }

    fn facts(&self, message: TransferId) -> Option<MessageFacts> {
        self.messages.get(message.0 as usize).copied().flatten()
    }

    fn of_receive(&self, posted: Time, message: Option<TransferId>, receive: Receive) -> Explanation {
        let communicator = Some(receive.communicator);
        let Some(facts) = message.and_then(|message| self.facts(message)) else {
            return Explanation { communicator, ..Explanation::of(Pattern::Other) };
        };
        let unmatched = self.unmatched.get(&receive.rank);
        let is_older = |&&(sent, _): &&(Time, TransferId)| sent < facts.entered;
        let is_wrong = unmatched.is_some_and(|unmatched| {
            let mut older = unmatched.iter().take_while(is_older);
            let communicator = |id| self.facts(id).map(|facts| facts.message.communicator);
            older.any(|&(_, id)| communicator(id) == Some(receive.communicator))
        });
        let pattern = if is_wrong { Pattern::WrongOrder } else { Pattern::LateSender };
        Explanation {
            first: (pattern, facts.entered),
            second: facts.progress(posted),
            communicator,
            delayer: Some(facts.message.from),
            ..Explanation::of(Pattern::Transfer)
        }
    }

    fn of_send(&self, message: TransferId) -> Explanation {
        let Some(facts) = self.facts(message) else { return Explanation::of(Pattern::Other) };
        let posted = facts.posted.unwrap_or_default();
        Explanation {
            first: (Pattern::LateReceiver, posted),
            second: facts.progress(posted),
            communicator: Some(facts.message.communicator),
            delayer: Some(facts.message.to),
            ..Explanation::of(Pattern::Transfer)
        }
    }
}

impl MessageFacts {
    /// Late progress, and until when.
    fn progress(&self, posted: Time) -> (Pattern, Time) {
        let is_late = self.by_thread && self.may_depart > self.sent.max(posted);
        (Pattern::LateProgress, if is_late { self.may_depart } else { Time::ZERO })
    }
}
