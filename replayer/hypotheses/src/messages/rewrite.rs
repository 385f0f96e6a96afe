//! Rewrites the events of one rank: changes or removes selected messages, with all references to their requests.

use std::sync::Arc;

use titr_common::event::{Event, Incoming, MessageCompletion, Outgoing, Rank, RequestId, RequestKey};
use titr_common::event_buffer::EventRef;
use titr_common::trace::{Located, LocatedEvents, Location, Trace, TraceError, Transformation};

use super::agreement::Agreement;
use super::channel::Turn;
use super::follower::{Follower, Selected};
use super::requests::RemovedRequests;
use crate::message_filter::MessageFilter;
use crate::position::Position;
use crate::rewriting::{Rewrite, rewritten};

/// A change of single messages, or of groups of them.
pub(crate) trait Treatment: Copy + Send + Sync + 'static {
    /// The number of selected messages of a channel in a group, if messages are grouped.
    fn group(self) -> Option<u32> {
        None
    }

    /// Whether all selected messages are removed.
    fn removes(self) -> bool {
        false
    }

    /// The message as it is sent in the changed program; `None` if it is not.
    fn outgoing(self, message: Outgoing, turn: Turn) -> Option<Outgoing>;

    /// The message as it is received in the changed program; `None` if it is not.
    fn incoming(self, message: Incoming, turn: Turn) -> Option<Incoming>;
}

/// The change of a trace whose selected messages are treated so.
pub(crate) struct Messages<T> {
    /// The messages.
    pub filter: Arc<MessageFilter>,
    /// The treatment of each.
    pub treatment: T,
}

impl<T: Treatment> Transformation for Messages<T> {
    fn apply(&self, trace: Trace) -> Result<Trace, TraceError> {
        let agreement = Agreement::of(&trace, &self.filter, self.treatment.group())?;
        Ok(treated(trace, agreement, self.treatment))
    }
}

/// A trace whose messages that an agreement selects are treated so.
pub(crate) fn treated(trace: Trace, agreement: Agreement, treatment: impl Treatment) -> Trace {
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
struct MessageRewrite<T> {
    rank: Rank,
    follower: Follower,
    treatment: T,
    removed: RemovedRequests,
    /// Annotations of the next event, which go with it.
    annotations: Vec<(Event, Location)>,
}

impl<T: Treatment> Rewrite for MessageRewrite<T> {
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

impl<T: Treatment> MessageRewrite<T> {
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
        selected.sent.map_or(Some(message), |turn| self.treatment.outgoing(message, turn))
    }

    /// A message that the rank receives, in the changed program.
    fn received(&self, message: Incoming, selected: &Selected) -> Option<Incoming> {
        selected.received.map_or(Some(message), |turn| self.treatment.incoming(message, turn))
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
        for (id, turn) in ids.into_iter().zip(&selected.started) {
            let is_removed = turn.is_some() && self.treatment.removes();
            self.removed.start_numbered(id, is_removed);
            if !is_removed {
                left.push(id);
            }
        }
        (was_empty || !left.is_empty()).then_some(Event::Start(left))
    }
}
