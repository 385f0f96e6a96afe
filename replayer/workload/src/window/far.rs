//! Facts that the trace holds long after the event that they belong to, found by reading the rank a second time.

use rustc_hash::FxHashMap;
use titr_common::event::{Annotation, Collective, CommId, Event, Message, Neighborhood, RequestId};
use titr_common::event_buffer::EventRef;
use titr_common::trace::{EventOrigin, EventSource as _, LocatedEvents, TraceError};

use super::facts::Match;

/// The least distance of a far fact from the start that it belongs to, in events.
pub(super) const FAR: usize = 1 << 17;

/// The facts of one rank that stand at least [`FAR`] events after the start that they belong to. Starts are known by the
/// number of events before them.
#[derive(Default)]
pub(super) struct FarFacts {
    matches: FxHashMap<(u64, RequestId), Match>,
    messages: FxHashMap<u64, Vec<Message>>,
}

/// A request between its start and its completion.
struct Started {
    position: u64,
    outcome: Option<Match>,
    /// The collective that it is of.
    collective: Option<(CommId, u64)>,
    messages: Vec<Message>,
}

/// The state of the second reading.
#[derive(Default)]
struct Reading {
    found: FarFacts,
    wants_messages: bool,
    started: FxHashMap<RequestId, Started>,
    /// The number of collectives so far on the current communicator of each id.
    collectives: FxHashMap<CommId, u64>,
    /// The request of each collective that has started.
    running: FxHashMap<(CommId, u64), RequestId>,
}

impl FarFacts {
    /// Reads all events of the rank. If the trace has a fault, the facts before it are found: whoever gets there reports it.
    pub(super) fn read(origin: &dyn EventOrigin, wants_messages: bool) -> Self {
        let mut reading = Reading { wants_messages, ..Reading::default() };
        let mut position = 0;
        let mut read = || -> Result<(), TraceError> {
            let (mut source, mut events) = (origin.source()?, LocatedEvents::default());
            while source.read(&mut events)? {
                for located in events.iter() {
                    if let EventRef::Event(event) = located.event {
                        reading.event(position, event);
                    }
                    position += 1;
                }
                events.clear();
            }
            Ok(())
        };
        // What comes after the fault belongs to nothing that is replayed.
        let _ = read();
        reading.end_all(position);
        reading.found
    }

    /// The outcome of `request`, which the event at `position` starts.
    pub(super) fn matched(&self, position: u64, request: RequestId) -> Option<Match> {
        self.matches.get(&(position, request)).copied()
    }

    /// The messages of the collective at `position`.
    pub(super) fn take_messages(&mut self, position: u64) -> Option<Vec<Message>> {
        self.messages.remove(&position)
    }
}

impl Reading {
    fn event(&mut self, position: u64, event: &Event) {
        if let &Event::Matched(request, source, tag) = event
            && let Some(started) = self.started.get_mut(&request)
        {
            started.outcome = Some(Match::With(source, tag));
        }
        if let Event::Cancel(request) = event
            && let Some(started) = self.started.get_mut(request)
        {
            started.outcome.get_or_insert(Match::Cancelled);
        }
        if let Event::CommCreate(_, _, Some(group)) = event {
            self.collectives.insert(group.id, 0);
            self.running.retain(|&(comm, _), _| comm != group.id);
        }
        if let Event::Annotation(Annotation::Message(message)) = event
            && self.wants_messages
            && let Some(request) = self.running.get(&(message.comm, message.number))
            && let Some(started) = self.started.get_mut(request)
        {
            started.messages.push(*message);
        }
        if let Event::Wait(_, completed) | Event::Test(_, Some(completed)) = event {
            match completed.requests() {
                Some(requests) => requests.iter().for_each(|&request| self.end(position, request)),
                None => self.end_all(position),
            }
        }
        let mut collective = None;
        if let Event::Collective(Collective { comm, .. }, _) | Event::Neighborhood(Neighborhood { comm, .. }, _) = event
        {
            let number = self.collectives.entry(*comm).or_default();
            collective = Some((*comm, *number));
            *number += 1;
        }
        for &request in event.starts() {
            self.end(position, request);
            if let Some(name) = collective {
                self.running.insert(name, request);
            }
            self.started.insert(request, Started { position, outcome: None, collective, messages: Vec::new() });
        }
    }

    /// All requests are complete, or the trace ends.
    fn end_all(&mut self, position: u64) {
        let all: Vec<RequestId> = self.started.keys().copied().collect();
        all.into_iter().for_each(|request| self.end(position, request));
    }

    /// A request is complete, or started again.
    fn end(&mut self, position: u64, request: RequestId) {
        let Some(started) = self.started.remove(&request) else { return };
        if let Some(name) = started.collective {
            self.running.remove(&name);
        }
        if position - started.position < FAR as u64 {
            return;
        }
        if let Some(outcome) = started.outcome {
            self.found.matches.insert((started.position, request), outcome);
        }
        if !started.messages.is_empty() {
            self.found.messages.insert(started.position, started.messages);
        }
    }
}
