//! Events that most lines of a trace spell: a computation, or a message of which nothing but its peer, tag and size has to be said.

use std::hash::{Hash, Hasher};

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

impl PlainEvent {
    /// The event in few words, if it can be said in them.
    pub(crate) fn of(event: &Event) -> Option<Self> {
        match *event {
            Event::Compute(work) => Some(Self::Compute(work)),
            Event::Send(SendMode::Standard, message, Completion::Blocking) => Some(Self::Send(message)),
            Event::Recv(message, Completion::Blocking) => Some(Self::Recv(message)),
            Event::Send(SendMode::Standard, message, Completion::Request(None)) => Some(Self::Isend(message)),
            Event::Recv(message, Completion::Request(None)) => Some(Self::Irecv(message)),
            Event::Wait(Quantifier::Single, Completed::One(key, None)) => Some(Self::Wait(key)),
            Event::Init
            | Event::Finalize
            | Event::Sleep(_)
            | Event::Send(..)
            | Event::Recv(..)
            | Event::Sendrecv(..)
            | Event::Probe(_)
            | Event::Iprobe(..)
            | Event::Partitioned(_)
            | Event::Start(_)
            | Event::RequestFree(_)
            | Event::Cancel(_)
            | Event::Matched(..)
            | Event::Wait(..)
            | Event::Test(..)
            | Event::Collective(..)
            | Event::Neighborhood(..)
            | Event::OneSided(_)
            | Event::File(_)
            | Event::Other(_)
            | Event::CommCreate(..)
            | Event::CommFree(_)
            | Event::Mark(_)
            | Event::Annotation(_) => None,
        }
    }
}

impl Hash for PlainEvent {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Self::Compute(work) => work.0.to_bits().hash(state),
            Self::Send(message) | Self::Isend(message) => message.hash(state),
            Self::Recv(message) | Self::Irecv(message) => message.hash(state),
            Self::Wait(key) => key.hash(state),
        }
    }
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
