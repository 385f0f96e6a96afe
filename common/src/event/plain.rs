//! The most frequent events of a trace: computations, and messages with no more than a peer, a tag and a size.

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
