//! The recorder's description of a collective call for the engine, and the engine's observations of the call.

use titr_common::event::{self, Annotation, CommId, Message, MessageEnd, Span};
use titr_common::units::{Bytes, Nanoseconds};
use titr_wrappers::argument::{Comm, Request};
use titr_wrappers::observation::ObservedMessage;
use titr_wrappers::pmpi::Neighbors;

use super::TaskId;
use crate::collective_call::Start;
use crate::ranks::Ranks;

/// A collective call, as the recorder describes it.
#[derive(Clone)]
pub struct Description {
    /// The communicator that the program has called it on.
    pub comm: Comm,
    /// The number of the communicator.
    pub id: CommId,
    /// The members of the communicator, as ranks of the world; of an inter-communicator, one group behind the other.
    pub members: Ranks,
    /// When it takes place.
    pub timing: Timing,
    /// The operation and its volumes.
    pub operation: Operation,
}

/// When a collective takes place, and the address of the program's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// In the call.
    Blocking,
    /// From the call on.
    Nonblocking(usize),
    /// Whenever the program starts the request.
    Persistent(usize),
}

impl From<&Start<'_>> for Timing {
    fn from(start: &Start<'_>) -> Self {
        match start {
            Start::Blocking => Self::Blocking,
            Start::Nonblocking(request) => Self::Nonblocking(request.address()),
            Start::Persistent(request) => Self::Persistent(request.address()),
        }
    }
}

/// The operation of a collective and its volumes.
#[derive(Clone)]
pub enum Operation {
    /// A collective of all members, and the number of members in the first group of an inter-communicator.
    Collective(event::Collective, Option<u32>),
    /// A collective of neighbours.
    Neighborhood {
        /// The volumes.
        neighborhood: event::Neighborhood,
        /// The neighbours, by their ranks in the communicator.
        neighbors: Neighbors,
    },
}

/// A collective call that has been made.
pub struct Made {
    /// Whether the call succeeded.
    pub success: bool,
    /// The engine's observation of it.
    pub outcome: Observation,
}

/// The engine's observation of a collective.
pub enum Observation {
    /// Nothing was seen.
    Opaque,
    /// The messages of the collective.
    Messages(Vec<Annotation>),
    /// The collective has begun, and continues in the background. Its messages are known when its request is completed.
    Background(TaskId),
    /// The collective is set up, and has this handle. Its messages are known when a start is completed.
    Persistent(Request),
}

impl Description {
    /// The annotations that say which messages the collective was made of.
    pub(super) fn annotations(&self, number: u64, messages: &[ObservedMessage]) -> Vec<Annotation> {
        let comm = self.id;
        let annotation = |message: &ObservedMessage| {
            let end = if message.sent { MessageEnd::Sent } else { MessageEnd::Received };
            let peer = self.members.get(message.peer? as i32)?;
            let span = Span { begin: Nanoseconds(message.begin), end: Nanoseconds(message.end) };
            Some(Annotation::Message(Message { comm, number, end, peer, bytes: Bytes(message.bytes), span }))
        };
        messages.iter().filter_map(annotation).collect()
    }
}
