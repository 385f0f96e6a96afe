//! Facts about a rank's requests, found by looking ahead in its events.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use titr_common::event::{Event, Rank, RequestId, Tag};
use titr_common::event_buffer::EventRef;

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

impl Facts {
    /// Whether there is nothing to do when an event is passed.
    #[inline]
    pub(super) fn are_none(&self) -> bool {
        self.requests.is_empty()
    }

    /// Nothing that is still to come was seen.
    pub(super) fn forget_requests(&mut self) {
        self.requests.clear();
    }

    pub(super) fn see(&mut self, event: EventRef<'_>) {
        let mut mark = |request, mark| self.requests.entry(request).or_default().push_back(mark);
        if let EventRef::Event(&Event::Matched(request, source, tag)) = event {
            mark(request, Mark::Matched(source, tag));
        }
        if let EventRef::Event(&Event::Cancel(request)) = event {
            mark(request, Mark::Cancelled);
        }
        event.starts().iter().for_each(|&request| mark(request, Mark::Started));
        if let EventRef::Event(Event::Wait(_, completed) | Event::Test(_, Some(completed))) = event {
            match completed.requests() {
                Some(requests) => requests.iter().for_each(|&request| mark(request, Mark::Completed)),
                None => self.requests.values_mut().for_each(|marks| marks.push_back(Mark::Completed)),
            }
        }
    }

    /// Makes `event` the next one: facts seen about the requests that it starts belong to this start.
    pub(super) fn reach(&mut self, event: EventRef<'_>) {
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
}
