//! Events that most lines of a trace spell: a computation, or a message of which nothing but its peer, tag and size has to be said.

use super::{Completed, Completion, Event, Incoming, Outgoing, Quantifier, RequestKey, SendMode};
use crate::units::Instructions;

/// An event in few words.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PlainEvent {
    Compute(Instructions),
    Send(Outgoing),
    Recv(Incoming),
    Isend(Outgoing),
    Irecv(Incoming),
    Wait(RequestKey),
}

impl From<PlainEvent> for Event {
    fn from(plain: PlainEvent) -> Self {
        match plain {
            PlainEvent::Compute(work) => Self::Compute(work),
            PlainEvent::Send(message) => Self::Send(SendMode::Standard, message, Completion::Blocking),
            PlainEvent::Recv(message) => Self::Recv(message, Completion::Blocking),
            PlainEvent::Isend(message) => Self::Send(SendMode::Standard, message, Completion::Request(None)),
            PlainEvent::Irecv(message) => Self::Recv(message, Completion::Request(None)),
            PlainEvent::Wait(key) => Self::Wait(Quantifier::Single, Completed::One(key, None)),
        }
    }
}
