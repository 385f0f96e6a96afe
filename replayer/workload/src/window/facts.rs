//! Facts found by looking ahead in a rank's events: about its requests, and the messages of its collectives.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use titr_common::event::{Annotation, Collective, CommId, Event, Message, Neighborhood, Rank, RequestId, Tag};

/// The outcome of a message's request, where the event that starts it does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// The receive got a message from this rank with this tag.
    With(Rank, Tag),
    /// The message, or the receive before it got one, was cancelled (MPI 4.0 §3.8.4).
    Cancelled,
}

/// The facts that were seen ahead, in events that are still to come.
#[derive(Default)]
pub(super) struct Facts {
    /// The marks of each request, in order.
    requests: FxHashMap<RequestId, VecDeque<Mark>>,
    /// Kept only if the messages of non-blocking collectives are wanted.
    collectives: Option<RecordedCollectives>,
}

/// A fact about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// The request is started, again.
    Started,
    Matched(Rank, Tag),
    Cancelled,
    Completed,
}

/// The messages of collectives.
#[derive(Default)]
struct RecordedCollectives {
    communicators: FxHashMap<CommId, Communicators>,
    /// The messages that were seen ahead.
    messages: FxHashMap<Name, Vec<Message>>,
}

/// The name of a collective: its communicator, the communicators of that id that were made before, and its number on the
/// communicator.
pub(super) type Name = (CommId, u64, u64);

/// The communicators that have one id, one after the other.
#[derive(Default)]
struct Communicators {
    /// The number made in passed events, and the number in events only seen ahead.
    made: u64,
    ahead: u64,
    /// The number of collectives of the current one that were passed.
    collectives: u64,
}

impl Facts {
    /// Keeps the messages of non-blocking collectives, too, from here on.
    pub(super) fn want_messages(&mut self) {
        self.collectives = Some(RecordedCollectives::default());
    }

    /// Whether the messages of non-blocking collectives are kept.
    pub(super) fn wants_messages(&self) -> bool {
        self.collectives.is_some()
    }

    /// Whether there is nothing to do when an event is passed.
    #[inline]
    pub(super) fn are_none(&self) -> bool {
        self.requests.is_empty() && self.collectives.is_none()
    }

    /// Nothing that is still to come was seen.
    pub(super) fn forget_requests(&mut self) {
        self.requests.clear();
    }

    /// An event was seen ahead.
    pub(super) fn see(&mut self, event: &Event) {
        let mut mark = |request, mark| self.requests.entry(request).or_default().push_back(mark);
        if let &Event::Matched(request, source, tag) = event {
            mark(request, Mark::Matched(source, tag));
        }
        if let &Event::Cancel(request) = event {
            mark(request, Mark::Cancelled);
        }
        event.starts().iter().for_each(|&request| mark(request, Mark::Started));
        if let Event::Wait(_, completed) | Event::Test(_, Some(completed)) = event {
            match completed.requests() {
                Some(requests) => requests.iter().for_each(|&request| mark(request, Mark::Completed)),
                None => self.requests.values_mut().for_each(|marks| marks.push_back(Mark::Completed)),
            }
        }
        let Some(RecordedCollectives { communicators, messages }) = &mut self.collectives else { return };
        if let Event::CommCreate(_, _, Some(group)) = event {
            communicators.entry(group.id).or_default().ahead += 1;
        }
        if let &Event::Annotation(Annotation::Message(message)) = event {
            let &mut Communicators { made, ahead, collectives } = communicators.entry(message.comm).or_default();
            // The messages of a passed collective are no longer needed.
            if ahead > 0 || message.number >= collectives {
                messages.entry((message.comm, made + ahead, message.number)).or_default().push(message);
            }
        }
    }

    /// An event is passed, which was seen ahead if `was_seen`.
    pub(super) fn pass(&mut self, event: &Event, was_seen: bool) {
        let Some(RecordedCollectives { communicators, messages }) = &mut self.collectives else { return };
        if let Event::CommCreate(_, _, Some(group)) = event {
            let Communicators { made, ahead, collectives } = communicators.entry(group.id).or_default();
            (*made, *ahead, *collectives) = (*made + 1, ahead.saturating_sub(u64::from(was_seen)), 0);
        }
        if let &Event::Collective(Collective { comm, .. }, _) | &Event::Neighborhood(Neighborhood { comm, .. }, _) =
            event
        {
            let Communicators { made, collectives, .. } = communicators.entry(comm).or_default();
            messages.remove(&(comm, *made, *collectives));
            *collectives += 1;
        }
    }

    /// Makes `event` the next one: facts seen about the requests that it starts belong to this start.
    pub(super) fn reach(&mut self, event: &Event) {
        for request in event.starts() {
            // A match before this start was out of reach of the start it belongs to.
            while let Some(marks) = self.requests.get_mut(request)
                && !matches!(marks.pop_front(), Some(Mark::Started) | None)
            {}
        }
    }

    /// The outcome of `request`, which the next event starts. `Err` if more events have to be examined, with the
    /// outcome that holds if there are none.
    pub(super) fn matched(&mut self, request: RequestId) -> Result<Option<Match>, Option<Match>> {
        let marks = self.requests.entry(request).or_default();
        let mut cancelled = None;
        while let Some(mark) = marks.front() {
            match *mark {
                // A match after a cancel: the message was faster.
                Mark::Matched(source, tag) => {
                    marks.pop_front();
                    return Ok(Some(Match::With(source, tag)));
                }
                Mark::Started | Mark::Completed => return Ok(cancelled),
                Mark::Cancelled => {
                    cancelled = Some(Match::Cancelled);
                    if marks.len() == 1 {
                        break;
                    }
                    marks.pop_front();
                }
            }
        }
        Err(cancelled)
    }

    /// The key of the messages of `call`, which the next event starts, if they are wanted.
    pub(super) fn messages_of(&self, call: &Collective) -> Option<Name> {
        let communicators = self.collectives.as_ref()?.communicators.get(&call.comm);
        let (made, number) = communicators.map_or((0, 0), |of| (of.made, of.collectives));
        Some((call.comm, made, number))
    }

    /// Whether all messages of the collective that belongs to `request` were seen.
    pub(super) fn is_complete(&mut self, request: RequestId) -> bool {
        let marks = self.requests.entry(request).or_default();
        marks.iter().any(|mark| matches!(mark, Mark::Started | Mark::Completed))
    }

    /// The messages that were seen of a collective.
    pub(super) fn take_messages(&mut self, of: Name) -> Option<Vec<Message>> {
        self.collectives.as_mut()?.messages.remove(&of)
    }
}
