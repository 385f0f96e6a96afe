//! The point-to-point messages that an event describes.

use super::{Completion, Event, Incoming, Outgoing, RequestId};

/// The messages of an event: at most one in each direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transfers {
    /// The message that the rank sends.
    pub sent: Option<Outgoing>,
    /// The message that the rank receives.
    pub received: Option<Incoming>,
    /// The persistent request whose every start transfers the messages. `None`: the event itself does.
    pub at_start_of: Option<RequestId>,
}

impl Event {
    /// The messages that the event describes. A probe transfers none, and the messages of a collective are not
    /// described. Partitioned messages are not included either: they depart in parts, as these become ready.
    #[must_use]
    pub fn transfers(&self) -> Transfers {
        let (sent, received, at_start_of) = match self {
            Self::Send(_, message, completion) => (Some(*message), None, completion.persistent()),
            Self::Recv(message, completion) => (None, Some(*message), completion.persistent()),
            &Self::Sendrecv(sent, received) => (sent, received, None),
            Self::Init | Self::Finalize | Self::Compute(_) | Self::Sleep(_) => return Transfers::default(),
            Self::Probe(_) | Self::Iprobe(..) | Self::Partitioned(_) => return Transfers::default(),
            Self::Start(_) | Self::RequestFree(_) | Self::Cancel(_) | Self::Matched(..) => {
                return Transfers::default();
            }
            Self::Wait(..) | Self::Test(..) => return Transfers::default(),
            Self::Collective(..) | Self::Neighborhood(..) => return Transfers::default(),
            Self::OneSided(_) | Self::File(_) | Self::Other(_) => return Transfers::default(),
            Self::CommCreate(..) | Self::CommFree(_) => return Transfers::default(),
            Self::Mark(_) | Self::Task(_) | Self::Annotation(_) => return Transfers::default(),
        };
        Transfers { sent, received, at_start_of }
    }
}

impl<R> Completion<R> {
    /// The request of a call that only sets up.
    #[must_use]
    pub(crate) fn persistent(&self) -> Option<RequestId> {
        match self {
            Self::Persistent(request) => Some(*request),
            Self::Blocking | Self::Request(_) => None,
        }
    }
}
