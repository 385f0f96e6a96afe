//! The kind of activity of a rank in an event.

use super::Event;

/// The kind of thing that a rank spends its time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activity {
    /// Computing, or sleeping.
    Compute,
    /// Sending, blocking or not; a put, an accumulate.
    Send,
    /// Receiving or probing; a `sendrecv` too, and an access to a window that brings data back.
    Recv,
    /// Completing requests, and other calls that are neither a message nor a collective of messages.
    Wait,
    /// Calls on files.
    File,
    /// Collectives, fences among them, and making communicators and windows.
    Collective,
}

impl Event {
    /// The activity of a rank in this event; `None` for an event that only says something about another.
    #[must_use]
    pub fn activity(&self) -> Option<Activity> {
        Some(match self {
            Self::Init | Self::Finalize | Self::Compute(_) | Self::Sleep(_) => Activity::Compute,
            Self::Send(..) | Self::Start(_) => Activity::Send,
            Self::Partitioned(event) => event.activity(),
            Self::Recv(..) | Self::Sendrecv(..) | Self::Probe(_) | Self::Iprobe(..) => Activity::Recv,
            Self::Wait(..) | Self::Test(..) | Self::RequestFree(_) | Self::Cancel(_) => Activity::Wait,
            Self::OneSided(event) => event.activity(),
            Self::Other(_) => Activity::Wait,
            Self::File(_) => Activity::File,
            Self::Collective(..) | Self::Neighborhood(..) => Activity::Collective,
            Self::CommCreate(..) | Self::CommFree(_) => Activity::Collective,
            Self::Matched(..) | Self::Mark(_) | Self::Annotation(_) => return None,
        })
    }
}
