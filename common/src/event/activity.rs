//! The activity of a rank in an event.

use super::Event;

/// An activity of a rank: the kinds of time in a replay's summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activity {
    /// Computing, or sleeping.
    Compute,
    /// Blocking and non-blocking sends, puts and accumulates.
    Send,
    /// Receives, probes, `sendrecv`, and accesses to windows that return data.
    Recv,
    /// Completion of requests, and every call that is neither a message nor a collective.
    Wait,
    /// Calls on files.
    File,
    /// Collectives, fences, and calls that create communicators or windows.
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
            Self::Matched(..) | Self::Mark(_) | Self::Task(_) | Self::Annotation(_) => return None,
        })
    }
}
