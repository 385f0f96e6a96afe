//! Rewrites the events of one rank: changes or removes selected messages, with all references to their requests.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use titr_common::event::{
    Completed, Event, Incoming, MessageCompletion, Outgoing, Quantifier, Rank, RequestId, RequestKey,
};
use titr_common::event_buffer::EventRef;
use titr_common::trace::{Located, LocatedEvents, Location, Trace, TraceError, Transformation};

use super::agreement::Agreement;
use super::follower::{Follower, Selected};
use super::treatment::Treatment;
use crate::message_filter::MessageFilter;
use crate::position::Position;
use crate::rewriting::{Rewrite, rewritten};

/// The change of a trace that loses its selected messages.
pub(crate) struct WithoutMessages(pub Arc<MessageFilter>);

impl Transformation for WithoutMessages {
    fn apply(&self, trace: Trace) -> Result<Trace, TraceError> {
        let agreement = Agreement::of(&trace, &self.0)?;
        Ok(treated(trace, agreement, Treatment::Removed))
    }
}

/// A trace whose messages that an agreement selects are treated so.
pub(crate) fn treated(trace: Trace, agreement: Agreement, treatment: Treatment) -> Trace {
    let selection = Arc::clone(&agreement.filter.selection);
    let agreement = Arc::new(agreement);
    rewritten(trace, &selection, move |rank| MessageRewrite {
        rank,
        follower: Follower::new(&agreement, rank),
        treatment,
        removed: RemovedRequests::default(),
        annotations: Vec::new(),
    })
}

/// The change of one rank's events.
struct MessageRewrite {
    rank: Rank,
    follower: Follower,
    treatment: Treatment,
    removed: RemovedRequests,
    /// Annotations of the next event, which go with it.
    annotations: Vec<(Event, Location)>,
}

impl Rewrite for MessageRewrite {
    fn rewrite(&mut self, position: &Position, Located { event, location }: Located<'_>, out: &mut LocatedEvents) {
        if let EventRef::Compute(_) = event {
            return out.push(event.to_event(), location);
        }
        let event = event.to_event();
        if let Event::Annotation(_) = event {
            return self.annotations.push((event, location));
        }
        let is_persistent = matches!(event, Event::RequestFree(id) if self.follower.is_persistent(id));
        let selected = self.follower.pass(position, location.thread, &event);
        let changed = self.changed(event, &selected, is_persistent);
        let annotations = self.annotations.drain(..);
        if let Some(event) = changed {
            annotations.for_each(|(annotation, location)| out.push(annotation, location));
            out.push(event, location);
        }
    }
}

impl MessageRewrite {
    /// The event in the changed program; `None` if there is none.
    fn changed(&mut self, event: Event, selected: &Selected, is_persistent: bool) -> Option<Event> {
        match event {
            Event::Send(mode, message, completion) => {
                let treated = self.sent(message, selected);
                if let MessageCompletion::Persistent(_) = completion {
                    return Some(Event::Send(mode, treated.unwrap_or(message), completion));
                }
                let key = RequestKey { from: Some(self.rank), to: message.to, tag: Some(message.tag) };
                self.started(completion, key, treated.is_none());
                treated.map(|message| Event::Send(mode, message, completion))
            }
            Event::Recv(_, MessageCompletion::Persistent(_)) => Some(event),
            Event::Recv(message, completion) => {
                let treated = self.received(message, selected);
                let key = RequestKey { from: message.from, to: self.rank, tag: message.tag };
                self.started(completion, key, treated.is_none());
                treated.map(|message| Event::Recv(message, completion))
            }
            Event::Sendrecv(sent, received) => {
                let sent = sent.and_then(|message| self.sent(message, selected));
                let received = received.and_then(|message| self.received(message, selected));
                (sent.is_some() || received.is_some()).then_some(Event::Sendrecv(sent, received))
            }
            Event::Probe(message) | Event::Iprobe(message, true) => {
                self.received(message, selected).is_some().then_some(event)
            }
            Event::Start(ids) => self.start(ids, selected),
            Event::RequestFree(id) if is_persistent => {
                self.removed.end(id);
                Some(event)
            }
            Event::Cancel(_) | Event::Matched(..) | Event::RequestFree(_) => self.removed.without(event),
            Event::Wait(..) | Event::Test(_, Some(_)) => self.removed.without(event),
            Event::Init | Event::Finalize | Event::Compute(_) | Event::Sleep(_) => Some(event),
            Event::Iprobe(_, false) | Event::Partitioned(_) | Event::Test(_, None) => Some(event),
            Event::Collective(..) | Event::Neighborhood(..) | Event::OneSided(_) | Event::File(_) => Some(event),
            Event::Other(_) | Event::CommCreate(..) | Event::CommFree(_) => Some(event),
            Event::Mark(_) | Event::Task(_) | Event::Annotation(_) => Some(event),
        }
    }

    /// A message that the rank sends, in the changed program.
    fn sent(&self, message: Outgoing, selected: &Selected) -> Option<Outgoing> {
        if selected.sent { self.treatment.outgoing(message) } else { Some(message) }
    }

    /// A message that the rank receives, in the changed program.
    fn received(&self, message: Incoming, selected: &Selected) -> Option<Incoming> {
        if selected.received { self.treatment.incoming(message) } else { Some(message) }
    }

    /// A message has been started, and is removed or not.
    fn started(&mut self, completion: MessageCompletion, key: RequestKey, is_removed: bool) {
        match completion {
            MessageCompletion::Request(id) => self.removed.start(id, key, is_removed),
            MessageCompletion::Blocking | MessageCompletion::Persistent(_) => {}
        }
    }

    /// The persistent requests that the changed program starts. Whether one is started is all that can change about it.
    fn start(&mut self, ids: Vec<RequestId>, selected: &Selected) -> Option<Event> {
        let was_empty = ids.is_empty();
        let mut left = Vec::with_capacity(ids.len());
        for (id, is_selected) in ids.into_iter().zip(&selected.started) {
            let is_removed = *is_selected && matches!(self.treatment, Treatment::Removed);
            self.removed.start_numbered(id, is_removed);
            if !is_removed {
                left.push(id);
            }
        }
        (was_empty || !left.is_empty()).then_some(Event::Start(left))
    }
}

/// The requests that a changed program does not have, and those that only their order tells apart from them.
#[derive(Default)]
pub(crate) struct RemovedRequests {
    numbered: FxHashSet<RequestId>,
    /// Requests without a number, oldest first: whether each is removed.
    keyed: FxHashMap<RequestKey, VecDeque<bool>>,
}

impl RemovedRequests {
    /// A message was started, with the request `id` or else `key`.
    pub(crate) fn start(&mut self, id: Option<RequestId>, key: RequestKey, is_removed: bool) {
        match id {
            Some(id) => self.start_numbered(id, is_removed),
            None => self.keyed.entry(key).or_default().push_back(is_removed),
        }
    }

    /// A persistent request was started.
    pub(crate) fn start_numbered(&mut self, id: RequestId, is_removed: bool) {
        if is_removed {
            self.numbered.insert(id);
        }
    }

    pub(crate) fn has(&self, id: RequestId) -> bool {
        self.numbered.contains(&id)
    }

    /// The request is complete or freed; whether it was removed.
    pub(crate) fn end(&mut self, id: RequestId) -> bool {
        self.numbered.remove(&id)
    }

    /// An event of the program in the changed one, without the requests that are removed; `None` if it is about these alone.
    pub(crate) fn without(&mut self, event: Event) -> Option<Event> {
        match event {
            Event::Wait(quantifier, completed) => {
                self.complete(quantifier, completed).map(|completed| Event::Wait(quantifier, completed))
            }
            Event::Test(quantifier, Some(completed)) => {
                let completed = self.complete(quantifier, completed);
                completed.map(|completed| Event::Test(quantifier, Some(completed)))
            }
            Event::RequestFree(id) => (!self.end(id)).then_some(event),
            Event::Cancel(id) | Event::Matched(id, ..) => (!self.has(id)).then_some(event),
            Event::Init | Event::Finalize | Event::Compute(_) | Event::Sleep(_) | Event::Start(_) => Some(event),
            Event::Send(..) | Event::Recv(..) | Event::Sendrecv(..) | Event::Probe(_) | Event::Iprobe(..) => {
                Some(event)
            }
            Event::Partitioned(_) | Event::Test(_, None) | Event::Collective(..) | Event::Neighborhood(..) => {
                Some(event)
            }
            Event::OneSided(_) | Event::File(_) | Event::Other(_) | Event::CommCreate(..) => Some(event),
            Event::CommFree(_) | Event::Mark(_) | Event::Task(_) | Event::Annotation(_) => Some(event),
        }
    }

    /// The requests that are complete in the changed program too; `None` if the call has none any more.
    fn complete(&mut self, quantifier: Quantifier, mut completed: Completed) -> Option<Completed> {
        let is_left = match &mut completed {
            Completed::These(ids) => {
                let was_empty = ids.is_empty();
                ids.retain(|id| !self.end(*id));
                was_empty || !ids.is_empty()
            }
            Completed::One(_, Some(id)) => !self.end(*id),
            Completed::One(key, None) => !self.keyed.get_mut(key).and_then(VecDeque::pop_front).unwrap_or(false),
            Completed::Outstanding(count) => {
                let keyed = self.keyed.drain().flat_map(|(_, requests)| requests).filter(|is_removed| *is_removed);
                let removed = self.numbered.drain().count() + keyed.count();
                let left = count.map(|count| count.saturating_sub(removed as u32));
                let is_left = removed == 0 || left != Some(0) || quantifier != Quantifier::All;
                *count = left;
                is_left
            }
        };
        is_left.then_some(completed)
    }
}
