//! The calls of a rank, in order.

use titr_common::event::{Annotation, Event, Message, Span};
use titr_common::time::Time;
use titr_common::trace::manifest::Clock;
use titr_common::trace::{RankStream, TraceError};
use titr_common::units::Nanoseconds;

/// A call, with all that the trace says of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    /// The time when the call was made.
    pub(super) from: Time,
    /// The time when the call returned.
    pub(super) to: Time,
    /// The messages of the collectives that the call completed.
    pub(super) messages: Vec<Message>,
    pub(super) events: Vec<Event>,
}

/// A rank's stream, call by call.
pub(super) struct Calls {
    pub(super) stream: RankStream,
    clock: Option<Clock>,
    /// The call to come, where its beginning is read.
    begun: Option<Span>,
    /// The time when the last call returned.
    until: Time,
}

impl Calls {
    /// The calls of `stream`, with times by `clock`, or by rank 0's if it is not known.
    pub(super) fn new(stream: RankStream, clock: Option<Clock>) -> Self {
        Self { stream, clock, begun: None, until: Time::ZERO }
    }

    /// The next call with recorded times; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Call>, TraceError> {
        while self.begun.is_none() {
            match self.stream.next_event()? {
                Some(Event::Annotation(Annotation::Call(span))) => self.begun = Some(span),
                Some(_) => {}
                None => return Ok(None),
            }
        }
        let Some(span) = self.begun.take() else { return Ok(None) };
        let (from, to) = self.span(span);
        // Calls of several threads overlap, and calls that began earlier have already been returned.
        let from = from.max(self.until);
        let to = to.max(from);
        self.until = to;
        let mut call = Call { from, to, messages: Vec::new(), events: Vec::new() };
        loop {
            match self.stream.next_event()? {
                Some(Event::Annotation(Annotation::Call(span))) => {
                    self.begun = Some(span);
                    break;
                }
                Some(Event::Annotation(Annotation::Message(message))) => call.messages.push(message),
                Some(Event::Compute(_)) => {}
                Some(event) => call.events.push(event),
                None => break,
            }
        }
        Ok(Some(call))
    }

    /// A span by the clock of rank 0.
    pub(super) fn span(&self, Span { begin, end }: Span) -> (Time, Time) {
        (self.moment(begin), self.moment(end))
    }

    fn moment(&self, shown: Nanoseconds) -> Time {
        let Nanoseconds(shown) = self.clock.map_or(shown, |clock| clock.at_rank_zero(shown));
        Time(shown.saturating_mul(1000))
    }
}
