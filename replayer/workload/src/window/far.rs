//! Facts that the trace holds long after the event that they belong to, found by reading the rank a second time.

use rustc_hash::FxHashMap;
use titr_common::event::{Event, RequestId};
use titr_common::event_buffer::EventRef;
use titr_common::trace::{EventOrigin, LocatedEvents, TraceError};

use super::facts::Match;

/// The least distance of a far fact from the start that it belongs to, in events.
pub(super) const FAR: usize = 1 << 17;

/// The facts of one rank that stand at least [`FAR`] events after the start that they belong to. Starts are known by the
/// number of events before them.
#[derive(Default)]
pub(super) struct FarFacts {
    matches: FxHashMap<(u64, RequestId), Match>,
}

/// A request between its start and its completion.
struct Started {
    position: u64,
    outcome: Option<Match>,
}

/// The state of the second reading.
#[derive(Default)]
struct Reading {
    found: FarFacts,
    started: FxHashMap<RequestId, Started>,
}

impl FarFacts {
    /// Reads all events of the rank. If the trace has a fault, the facts before it are found: whoever gets there reports it.
    pub(super) fn read(origin: &dyn EventOrigin) -> Self {
        let mut reading = Reading::default();
        let mut position = 0;
        let mut read = || -> Result<(), TraceError> {
            let (mut source, mut events) = (origin.source()?, LocatedEvents::default());
            while source.read(&mut events)? {
                for located in events.iter() {
                    reading.event(position, located.event);
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
}

impl Reading {
    fn event(&mut self, position: u64, event: EventRef<'_>) {
        if let EventRef::Event(&Event::Matched(request, source, tag)) = event
            && let Some(started) = self.started.get_mut(&request)
        {
            started.outcome = Some(Match::With(source, tag));
        }
        if let EventRef::Event(Event::Cancel(request)) = event
            && let Some(started) = self.started.get_mut(request)
        {
            started.outcome.get_or_insert(Match::Cancelled);
        }
        if let EventRef::Event(Event::Wait(_, completed) | Event::Test(_, Some(completed))) = event {
            match completed.requests() {
                Some(requests) => requests.iter().for_each(|&request| self.end(position, request)),
                None => self.end_all(position),
            }
        }
        for &request in event.starts() {
            self.end(position, request);
            self.started.insert(request, Started { position, outcome: None });
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
        if position - started.position >= FAR as u64
            && let Some(outcome) = started.outcome
        {
            self.found.matches.insert((started.position, request), outcome);
        }
    }
}
