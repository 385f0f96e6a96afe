//! The events of one rank with selected messages changed or removed, and with all that names their requests.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::event::{
    Completed, Event, Incoming, MessageCompletion, Outgoing, Rank, RequestId, RequestKey, SendMode,
};
use titr_common::event_buffer::EventRef;
use titr_common::trace::{Located, LocatedEvents, Location, Trace, TraceError, Transformation};

use super::agreement::{Agreement, Follower, Template};
use super::filter::MessageFilter;
use super::requests::RemovedRequests;
use crate::position::Position;
use crate::rewriting::{Rewrite, rewritten};

/// A change of single messages.
pub trait Treatment: Copy + Send + Sync + 'static {
    /// The message as it is sent in the changed program; `None` if it is not.
    fn outgoing(self, message: Outgoing) -> Option<Outgoing>;

    /// The message as it is received in the changed program; `None` if it is not.
    fn incoming(self, message: Incoming) -> Option<Incoming>;
}

/// The change of a trace whose selected messages are treated so.
pub struct Messages<T> {
    /// The messages.
    pub filter: Arc<MessageFilter>,
    /// The treatment of each.
    pub treatment: T,
}

impl<T: Treatment> Transformation for Messages<T> {
    fn apply(&self, trace: Trace) -> Result<Trace, TraceError> {
        let agreement = Arc::new(Agreement::of(&trace, &self.filter)?);
        let treatment = self.treatment;
        Ok(rewritten(trace, &self.filter.selection, move |rank| MessageRewrite {
            rank,
            follower: Follower::new(&agreement, rank),
            treatment,
            persistent: FxHashMap::default(),
            removed: RemovedRequests::default(),
            annotations: Vec::new(),
        }))
    }
}

/// The change of one rank's events.
struct MessageRewrite<T> {
    rank: Rank,
    follower: Follower,
    treatment: T,
    persistent: FxHashMap<RequestId, Template>,
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
        let changed = self.changed(position, location, event);
        let annotations = self.annotations.drain(..);
        if let Some(event) = changed {
            annotations.for_each(|(annotation, location)| out.push(annotation, location));
            out.push(event, location);
        }
    }
}

impl<T: Treatment> MessageRewrite<T> {
    /// The event in the changed program; `None` if there is none.
    fn changed(&mut self, position: &Position, location: Location, event: Event) -> Option<Event> {
        match event {
            Event::Send(mode, message, completion) => self.send(position, location, mode, message, completion),
            Event::Recv(message, completion) => self.receive(position, message, completion),
            Event::Sendrecv(sent, received) => {
                let sent = sent.and_then(|message| self.sent(position, location, message));
                let received = received.and_then(|message| self.received(position, message));
                (sent.is_some() || received.is_some()).then_some(Event::Sendrecv(sent, received))
            }
            Event::Probe(message) | Event::Iprobe(message, true) => {
                let is_gone = self.follower.probes(position, &message) && self.treatment.incoming(message).is_none();
                (!is_gone).then_some(event)
            }
            Event::Start(ids) => {
                let was_empty = ids.is_empty();
                let ids: Vec<RequestId> = ids.into_iter().filter(|id| self.is_started(position, *id)).collect();
                (was_empty || !ids.is_empty()).then_some(Event::Start(ids))
            }
            Event::Cancel(id) | Event::Matched(id, ..) => (!self.removed.has(id)).then_some(event),
            Event::RequestFree(id) => {
                let (is_removed, is_persistent) = (self.removed.end(id), self.persistent.remove(&id).is_some());
                (is_persistent || !is_removed).then_some(event)
            }
            Event::Wait(quantifier, completed) => {
                self.removed.complete(quantifier, completed).map(|completed| Event::Wait(quantifier, completed))
            }
            Event::Test(quantifier, Some(completed)) => {
                let completed: Option<Completed> = self.removed.complete(quantifier, completed);
                completed.map(|completed| Event::Test(quantifier, Some(completed)))
            }
            Event::CommCreate(_, _, Some(ref group)) => {
                self.follower.made(group.id);
                Some(event)
            }
            Event::Init | Event::Finalize | Event::Compute(_) | Event::Sleep(_) => Some(event),
            Event::Iprobe(_, false) | Event::Partitioned(_) | Event::Test(_, None) => Some(event),
            Event::Collective(..) | Event::Neighborhood(..) | Event::OneSided(_) | Event::File(_) => Some(event),
            Event::Other(_) | Event::CommCreate(_, _, None) | Event::CommFree(_) => Some(event),
            Event::Region(_) | Event::Annotation(_) => Some(event),
        }
    }

    fn send(
        &mut self,
        position: &Position,
        location: Location,
        mode: SendMode,
        message: Outgoing,
        completion: MessageCompletion,
    ) -> Option<Event> {
        let is_selected = self.follower.sends(position, location.thread, &message);
        let treated = if is_selected { self.treatment.outgoing(message) } else { Some(message) };
        match completion {
            MessageCompletion::Persistent(id) => {
                self.persistent.insert(id, Template::Send(message, is_selected));
                return Some(Event::Send(mode, treated.unwrap_or(message), completion));
            }
            MessageCompletion::Request(id) => {
                let key = RequestKey { from: Some(self.rank), to: message.to, tag: Some(message.tag) };
                self.removed.start(id, key, treated.is_none());
            }
            MessageCompletion::Blocking => {}
        }
        treated.map(|message| Event::Send(mode, message, completion))
    }

    fn receive(&mut self, position: &Position, message: Incoming, completion: MessageCompletion) -> Option<Event> {
        if let MessageCompletion::Persistent(id) = completion {
            self.persistent.insert(id, Template::Receive(message));
            return Some(Event::Recv(message, completion));
        }
        let treated = self.received(position, message);
        if let MessageCompletion::Request(id) = completion {
            let key = RequestKey { from: message.from, to: self.rank, tag: message.tag };
            self.removed.start(id, key, treated.is_none());
        }
        treated.map(|message| Event::Recv(message, completion))
    }

    /// A message that the rank sends.
    fn sent(&self, position: &Position, location: Location, message: Outgoing) -> Option<Outgoing> {
        let is_selected = self.follower.sends(position, location.thread, &message);
        if is_selected { self.treatment.outgoing(message) } else { Some(message) }
    }

    /// A message that the rank receives with a call that posts the receive now.
    fn received(&mut self, position: &Position, message: Incoming) -> Option<Incoming> {
        let matched = self.follower.posts(&message);
        let is_selected = matched.is_some_and(|found| self.follower.receives(position, message.comm, found));
        if is_selected { self.treatment.incoming(message) } else { Some(message) }
    }

    /// Whether the changed program starts a request, which the program starts now.
    fn is_started(&mut self, position: &Position, id: RequestId) -> bool {
        let is_removed = match self.persistent.get(&id).copied() {
            Some(Template::Send(message, is_selected)) => is_selected && self.treatment.outgoing(message).is_none(),
            Some(Template::Receive(message)) => self.received(position, message).is_none(),
            None => false,
        };
        let key = RequestKey { from: None, to: self.rank, tag: None };
        self.removed.start(Some(id), key, is_removed);
        !is_removed
    }
}
