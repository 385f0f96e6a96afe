//! The ranks that an event names, its effects on requests and on communicators, and its messages.
//!
//! Visitors get mutable access, so that a reader may replace numbers that could clash, and ranks: when several worlds are
//! replayed together, each rank's own numbers become numbers of the whole.

use super::{
    Access, Annotation, Collective, CommId, Completed, Completion, Event, FileAccess, FileEvent, Incoming, Mark,
    Message, MessageCompletion, OneSided, Outgoing, Partitioned, Phase, Rank, RequestId, RequestKey, Synchronisation,
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

/// The effect of an event on a communicator, a window or a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectUse {
    /// Makes or opens it.
    Makes,
    /// Communicates on it, accesses it, reads or writes, without the other members having to do the same.
    Accesses,
    /// A collective call, which all members have to make in one order (MPI 4.0 §6.12, §14.6.4), or a call that separates
    /// accesses to the window.
    Orders,
    /// Frees or closes it.
    Frees,
}

impl Event {
    /// Visits every rank that the event names: peers, roots, members, neighbours and targets.
    pub fn ranks(&mut self, mut visit: impl FnMut(&mut Rank)) {
        let source = |message: &mut Incoming, visit: &mut dyn FnMut(&mut Rank)| message.from.iter_mut().for_each(visit);
        match self {
            Self::Send(_, message, _) => visit(&mut message.to),
            Self::Recv(message, _) | Self::Probe(message) | Self::Iprobe(message, _) => source(message, &mut visit),
            Self::Sendrecv(sent, received) => {
                sent.iter_mut().for_each(|message| visit(&mut message.to));
                received.iter_mut().for_each(|message| source(message, &mut visit));
            }
            Self::Partitioned(Partitioned::SendInit(message, ..)) => visit(&mut message.to),
            Self::Partitioned(Partitioned::RecvInit(message, ..)) => source(message, &mut visit),
            Self::Matched(_, from, _) => visit(from),
            Self::Wait(_, completed) | Self::Test(_, Some(completed)) => match completed {
                Completed::One(RequestKey { from, to, .. }, _) => {
                    from.iter_mut().for_each(&mut visit);
                    visit(to);
                }
                Completed::Outstanding(_) | Completed::These(_) => {}
            },
            Self::Collective(call, _) => call.root.iter_mut().for_each(visit),
            Self::Neighborhood(call, _) => {
                call.sends.iter_mut().chain(&mut call.recvs).for_each(|(rank, _)| visit(rank));
            }
            Self::OneSided(OneSided::Sync(Synchronisation { ranks, .. })) => ranks.iter_mut().for_each(visit),
            Self::OneSided(OneSided::Access(access)) => visit(&mut access.target),
            Self::CommCreate(_, _, Some(group)) => {
                group.members.iter_mut().chain(&mut group.remote).for_each(visit);
            }
            Self::Annotation(Annotation::Message(Message { peer, .. })) => visit(peer),
            Self::Mark(Mark::Unrecorded(calls)) => {
                calls.iter_mut().filter_map(|calls| calls.call.rank()).for_each(visit);
            }
            Self::Partitioned(Partitioned::Ready(..) | Partitioned::Arrived(..)) => {}
            Self::OneSided(OneSided::Create(..) | OneSided::Free(_)) => {}
            Self::CommCreate(_, _, None) | Self::CommFree(_) | Self::Task(_) => {}
            Self::Annotation(Annotation::Call(_)) => {}
            Self::Init | Self::Finalize | Self::Compute(_) | Self::Sleep(_) | Self::File(_) | Self::Other(_) => {}
            Self::Start(_) | Self::RequestFree(_) | Self::Cancel(_) | Self::Test(_, None) | Self::Mark(_) => {}
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
            Self::Partitioned(Partitioned::SendInit(_, _, id) | Partitioned::RecvInit(_, _, id)) => visit(id, SETS_UP),
            Self::Partitioned(Partitioned::Ready(id, _) | Partitioned::Arrived(id, _)) => visit(id, RequestUse::Uses),
            Self::OneSided(OneSided::Access(Access { request: Some(id), .. })) => visit(id, MAKES),
            Self::File(FileEvent::Access(FileAccess { phase: Phase::Nonblocking(id), .. })) => visit(id, MAKES),
            Self::Start(ids) => ids.iter_mut().for_each(|id| visit(id, RequestUse::Starts)),
            Self::Cancel(id) | Self::Matched(id, _, _) => visit(id, RequestUse::Uses),
            Self::RequestFree(id) => visit(id, RequestUse::Frees),
            Self::Wait(_, completed) | Self::Test(_, Some(completed)) => match completed {
                Completed::One(_, id) => id.iter_mut().for_each(|id| visit(id, RequestUse::Completes)),
                Completed::These(ids) => ids.iter_mut().for_each(|id| visit(id, RequestUse::Completes)),
                Completed::Outstanding(_) => {}
            },
            Self::Init | Self::Finalize | Self::Compute(_) | Self::Sleep(_) | Self::Sendrecv(..) => {}
            Self::OneSided(OneSided::Create(..) | OneSided::Free(_) | OneSided::Sync(_) | OneSided::Access(_)) => {}
            Self::File(FileEvent::Open(..) | FileEvent::Close(_) | FileEvent::Manage(..)) => {}
            Self::File(FileEvent::Access(_) | FileEvent::Delete) => {}
            Self::Probe(_) | Self::Iprobe(..) | Self::Test(_, None) | Self::Other(_) => {}
            Self::CommCreate(..) | Self::CommFree(_) | Self::Mark(_) => {}
            Self::Task(_) | Self::Annotation(_) => {}
        }
    }

    /// The requests that the event starts: of a non-blocking operation, or persistent ones that were set up before.
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
            Self::OneSided(OneSided::Access(Access { request: Some(id), .. })) => one(id),
            Self::File(FileEvent::Access(FileAccess { phase: Phase::Nonblocking(id), .. })) => one(id),
            Self::Start(ids) => ids,
            Self::Init | Self::Finalize | Self::Compute(_) | Self::Sleep(_) | Self::Sendrecv(..) => &[],
            Self::Probe(_) | Self::Iprobe(..) | Self::Partitioned(_) | Self::OneSided(_) | Self::File(_) => &[],
            Self::RequestFree(_) | Self::Cancel(_) | Self::Matched(..) => &[],
            Self::Wait(..) | Self::Test(..) | Self::Other(_) => &[],
            Self::CommCreate(..) | Self::CommFree(_) | Self::Mark(_) => &[],
            Self::Task(_) | Self::Annotation(_) => &[],
        }
    }

    /// Visits the communicators that the event names: the parent first, then the communicator that is made of it.
    pub fn communicators(&mut self, mut visit: impl FnMut(&mut CommId, ObjectUse)) {
        match self {
            Self::Send(_, message, _) => visit(&mut message.comm, ObjectUse::Accesses),
            Self::Partitioned(Partitioned::SendInit(message, ..)) => visit(&mut message.comm, ObjectUse::Accesses),
            Self::Recv(message, _)
            | Self::Probe(message)
            | Self::Iprobe(message, _)
            | Self::Partitioned(Partitioned::RecvInit(message, ..)) => visit(&mut message.comm, ObjectUse::Accesses),
            Self::Sendrecv(sent, received) => {
                sent.iter_mut().for_each(|message| visit(&mut message.comm, ObjectUse::Accesses));
                received.iter_mut().for_each(|message| visit(&mut message.comm, ObjectUse::Accesses));
            }
            Self::Collective(Collective { comm, .. }, _) => visit(comm, ObjectUse::Orders),
            Self::Neighborhood(call, _) => visit(&mut call.comm, ObjectUse::Orders),
            Self::OneSided(OneSided::Create(_, comm, ..)) | Self::File(FileEvent::Open(comm, _)) => {
                visit(comm, ObjectUse::Orders);
            }
            Self::CommCreate(call, parent, made) => {
                let is_collective = call.is_collective_on_parent();
                visit(parent, if is_collective { ObjectUse::Orders } else { ObjectUse::Accesses });
                made.iter_mut().for_each(|group| visit(&mut group.id, ObjectUse::Makes));
            }
            Self::CommFree(comm) => visit(comm, ObjectUse::Frees),
            Self::Annotation(Annotation::Message(Message { comm, .. })) => visit(comm, ObjectUse::Accesses),
            Self::Annotation(Annotation::Call(_)) => {}
            Self::Init | Self::Finalize | Self::Compute(_) | Self::Sleep(_) | Self::Other(_) => {}
            Self::Start(_) | Self::RequestFree(_) | Self::Cancel(_) | Self::Matched(..) => {}
            Self::Mark(Mark::Unrecorded(calls)) => {
                let comms = calls.iter_mut().filter_map(|calls| calls.call.communicator());
                comms.for_each(|comm| visit(comm, ObjectUse::Accesses));
            }
            Self::Partitioned(Partitioned::Ready(..) | Partitioned::Arrived(..)) => {}
            Self::OneSided(OneSided::Free(_) | OneSided::Sync(_) | OneSided::Access(_)) => {}
            Self::File(FileEvent::Close(_) | FileEvent::Manage(..) | FileEvent::Access(_) | FileEvent::Delete) => {}
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
    pub fn transfers(&self) -> Transfers {
        let persistent = |completion: &MessageCompletion| match completion {
            Completion::Persistent(request) => Some(*request),
            Completion::Blocking | Completion::Request(_) => None,
        };
        let (sent, received, at_start_of) = match self {
            Self::Send(_, message, completion) => (Some(*message), None, persistent(completion)),
            Self::Recv(message, completion) => (None, Some(*message), persistent(completion)),
            &Self::Sendrecv(sent, received) => (sent, received, None),
            Self::Init | Self::Finalize | Self::Compute(_) | Self::Sleep(_) => Default::default(),
            Self::Probe(_) | Self::Iprobe(..) | Self::Partitioned(_) => Default::default(),
            Self::Start(_) | Self::RequestFree(_) | Self::Cancel(_) | Self::Matched(..) => Default::default(),
            Self::Wait(..) | Self::Test(..) | Self::Collective(..) | Self::Neighborhood(..) => Default::default(),
            Self::OneSided(_) | Self::File(_) | Self::Other(_) => Default::default(),
            Self::CommCreate(..) | Self::CommFree(_) => Default::default(),
            Self::Mark(_) | Self::Task(_) | Self::Annotation(_) => Default::default(),
        };
        Transfers { sent, received, at_start_of }
    }
}
