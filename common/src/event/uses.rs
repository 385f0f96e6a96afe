//! The effects of an event on requests, on communicators and on windows.
//!
//! Visitors get mutable access, so that a reader may replace numbers that could clash.

use super::{
    Annotation, Collective, CommId, Completed, Completion, Event, Incoming, Mark, Message, MessageCompletion, Outgoing,
    RequestId, WinId,
};

/// The effect of an event on a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestUse {
    /// Makes the request: a non-blocking operation starts, or a persistent request is set up.
    Makes {
        /// Whether the request is persistent, and so inactive until it is started.
        persistent: bool,
    },
    /// Starts the request, which was persistent and inactive.
    Starts,
    /// Refers to the request without changing it.
    Uses,
    /// Completes the request; one that is not persistent is gone.
    Completes,
    /// Frees the request, which is gone.
    Frees,
}

/// The effect of an event on a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommUse {
    /// Communicates on the communicator without the other members having to do the same.
    Messages,
    /// A collective call on the communicator, which all members have to make in one order (MPI 4.0 §6.12).
    Collective,
    /// Makes the communicator.
    Makes,
    /// Frees the communicator.
    Frees,
}

/// The effect of an event on a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowUse {
    /// Makes the window.
    Makes,
    /// Accesses the window.
    Accesses,
    /// Separates accesses to the window.
    Synchronises,
    /// Frees the window.
    Frees,
}

impl Event {
    /// Visits the window that the event names.
    pub fn windows(&mut self, visit: impl FnMut(&mut WinId, WindowUse)) {
        match self {
            Self::OneSided(event) => event.windows(visit),
            Self::Init | Self::Finalize | Self::Compute(_) | Self::Sleep(_) | Self::File(_) | Self::Other(_) => {}
            Self::Send(..) | Self::Recv(..) | Self::Sendrecv(..) | Self::Probe(_) | Self::Iprobe(..) => {}
            Self::Partitioned(_) | Self::Collective(..) | Self::Neighborhood(..) | Self::Mark(_) => {}
            Self::Start(_) | Self::RequestFree(_) | Self::Cancel(_) | Self::Matched(..) => {}
            Self::Wait(..) | Self::Test(..) | Self::CommCreate(..) | Self::CommFree(_) => {}
            Self::Task(_) | Self::Annotation(_) => {}
        }
    }

    /// Visits the requests that the event names. A wait for all outstanding requests names none.
    pub fn requests(&mut self, mut visit: impl FnMut(&mut RequestId, RequestUse)) {
        const MAKES: RequestUse = RequestUse::Makes { persistent: false };
        const SETS_UP: RequestUse = RequestUse::Makes { persistent: true };
        match self {
            Self::Send(_, _, completion) | Self::Recv(_, completion) => match completion {
                MessageCompletion::Request(Some(id)) => visit(id, MAKES),
                MessageCompletion::Persistent(id) => visit(id, SETS_UP),
                MessageCompletion::Blocking | MessageCompletion::Request(None) => {}
            },
            Self::Collective(_, completion) | Self::Neighborhood(_, completion) => match completion {
                Completion::Request(id) => visit(id, MAKES),
                Completion::Persistent(id) => visit(id, SETS_UP),
                Completion::Blocking => {}
            },
            Self::Partitioned(event) => event.requests(visit),
            Self::OneSided(event) => event.requests(visit),
            Self::File(event) => event.requests(visit),
            Self::Start(ids) => ids.iter_mut().for_each(|id| visit(id, RequestUse::Starts)),
            Self::Cancel(id) | Self::Matched(id, _, _) => visit(id, RequestUse::Uses),
            Self::RequestFree(id) => visit(id, RequestUse::Frees),
            Self::Wait(_, completed) | Self::Test(_, Some(completed)) => match completed {
                Completed::One(_, id) => id.iter_mut().for_each(|id| visit(id, RequestUse::Completes)),
                Completed::These(ids) => ids.iter_mut().for_each(|id| visit(id, RequestUse::Completes)),
                Completed::Outstanding(_) => {}
            },
            Self::Init | Self::Finalize | Self::Compute(_) | Self::Sleep(_) | Self::Sendrecv(..) => {}
            Self::Probe(_) | Self::Iprobe(..) | Self::Test(_, None) | Self::Other(_) => {}
            Self::CommCreate(..) | Self::CommFree(_) | Self::Mark(_) => {}
            Self::Task(_) | Self::Annotation(_) => {}
        }
    }

    /// The requests that the event starts: of a non-blocking operation, or persistent ones that were set up before.
    #[must_use]
    pub fn starts(&self) -> &[RequestId] {
        let one = std::slice::from_ref::<RequestId>;
        match self {
            Self::Send(_, _, completion) | Self::Recv(_, completion) => match completion {
                Completion::Request(Some(id)) => one(id),
                Completion::Blocking | Completion::Request(None) | Completion::Persistent(_) => &[],
            },
            Self::Collective(_, completion) | Self::Neighborhood(_, completion) => match completion {
                Completion::Request(id) => one(id),
                Completion::Blocking | Completion::Persistent(_) => &[],
            },
            Self::OneSided(event) => event.request().map_or(&[], one),
            Self::File(event) => event.request().map_or(&[], one),
            Self::Start(ids) => ids,
            Self::Init | Self::Finalize | Self::Compute(_) | Self::Sleep(_) | Self::Sendrecv(..) => &[],
            Self::Probe(_) | Self::Iprobe(..) | Self::Partitioned(_) => &[],
            Self::RequestFree(_) | Self::Cancel(_) | Self::Matched(..) => &[],
            Self::Wait(..) | Self::Test(..) | Self::Other(_) => &[],
            Self::CommCreate(..) | Self::CommFree(_) | Self::Mark(_) => &[],
            Self::Task(_) | Self::Annotation(_) => &[],
        }
    }

    /// Visits the communicators that the event names: the parent first, then the communicator that is made of it.
    pub fn communicators(&mut self, mut visit: impl FnMut(&mut CommId, CommUse)) {
        match self {
            Self::Send(_, message, _) => visit(&mut message.comm, CommUse::Messages),
            Self::Recv(message, _) | Self::Probe(message) | Self::Iprobe(message, _) => {
                visit(&mut message.comm, CommUse::Messages);
            }
            Self::Sendrecv(sent, received) => {
                sent.iter_mut().for_each(|message| visit(&mut message.comm, CommUse::Messages));
                received.iter_mut().for_each(|message| visit(&mut message.comm, CommUse::Messages));
            }
            Self::Partitioned(event) => event.communicators(visit),
            Self::Collective(Collective { comm, .. }, _) => visit(comm, CommUse::Collective),
            Self::Neighborhood(call, _) => visit(&mut call.comm, CommUse::Collective),
            Self::OneSided(event) => event.communicators(visit),
            Self::File(event) => event.communicators(visit),
            Self::CommCreate(call, parent, made) => {
                let is_collective = call.is_collective_on_parent();
                visit(parent, if is_collective { CommUse::Collective } else { CommUse::Messages });
                made.iter_mut().for_each(|group| visit(&mut group.id, CommUse::Makes));
            }
            Self::CommFree(comm) => visit(comm, CommUse::Frees),
            Self::Annotation(Annotation::Message(Message { comm, .. })) => visit(comm, CommUse::Messages),
            Self::Annotation(Annotation::Call(_)) => {}
            Self::Init | Self::Finalize | Self::Compute(_) | Self::Sleep(_) | Self::Other(_) => {}
            Self::Start(_) | Self::RequestFree(_) | Self::Cancel(_) | Self::Matched(..) => {}
            Self::Mark(Mark::Unrecorded(calls)) => calls.iter_mut().for_each(|calls| calls.communicators(&mut visit)),
            Self::Wait(..) | Self::Test(..) | Self::Mark(_) | Self::Task(_) => {}
        }
    }
}

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
