//! An event as a row of a table.

use titr_common::event::{
    Access, Annotation, Collective, CommId, Completed, Direction, Event, FileAccess, FileEvent, Incoming, Mark,
    Message, MessageEnd, Neighborhood, OneSided, Other, Outgoing, Partitioned, Rank, RequestId, RequestKey, Span,
    Synchronisation, Tag, Volumes,
};
use titr_common::event_buffer::EventRef;
use titr_common::units::{Bytes, Instructions, Seconds};

/// The things that an event names, of those that have a column. `Trace.events` describes them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Row<'e> {
    pub(super) kind: &'static str,
    pub(super) peer: Option<Rank>,
    pub(super) source: Option<Rank>,
    pub(super) tag: Option<Tag>,
    pub(super) bytes: Option<Bytes>,
    pub(super) received: Option<Bytes>,
    pub(super) volume: Option<Instructions>,
    pub(super) seconds: Option<Seconds>,
    pub(super) communicator: Option<CommId>,
    pub(super) requests: Vec<RequestId>,
    pub(super) span: Option<Span>,
    pub(super) name: Option<&'e str>,
}

impl<'e> Row<'e> {
    /// The row of an event.
    #[inline]
    pub(super) fn of(event: EventRef<'e>) -> Self {
        match event {
            EventRef::Compute(work) => Self { kind: "compute", volume: Some(work), ..Self::default() },
            EventRef::Send(message) => Self { kind: "send", ..Self::outgoing(&message) },
            EventRef::Recv(message) => Self { kind: "recv", ..Self::incoming(&message) },
            EventRef::Event(event) => Self::of_event(event),
        }
    }

    fn outgoing(message: &Outgoing) -> Self {
        Self {
            peer: Some(message.to),
            tag: Some(message.tag),
            bytes: Some(message.bytes),
            communicator: Some(message.comm),
            ..Self::default()
        }
    }

    fn incoming(message: &Incoming) -> Self {
        Self {
            peer: message.from,
            tag: message.tag,
            bytes: Some(message.bytes),
            communicator: Some(message.comm),
            ..Self::default()
        }
    }

    fn of_event(event: &'e Event) -> Self {
        let mut row = Self::own(event);
        row.kind = event.word();
        // The visitors may change what they visit.
        let mut copy = event.clone();
        copy.requests(|request, _| row.requests.push(*request));
        copy.communicators(|communicator, _| _ = row.communicator.get_or_insert(*communicator));
        row
    }

    /// The things that an event names, apart from its kind, requests and communicators.
    fn own(event: &'e Event) -> Self {
        let none = Self::default();
        match event {
            Event::Compute(work) => Self { volume: Some(*work), ..none },
            Event::Sleep(time) => Self { seconds: Some(*time), ..none },
            Event::Send(_, message, _) | Event::Partitioned(Partitioned::SendInit(message, ..)) => {
                Self::outgoing(message)
            }
            Event::Recv(message, _)
            | Event::Probe(message)
            | Event::Iprobe(message, _)
            | Event::Partitioned(Partitioned::RecvInit(message, ..)) => Self::incoming(message),
            Event::Sendrecv(sent, received) => {
                let sent = sent.as_ref().map(Self::outgoing).unwrap_or_default();
                let received = received.as_ref().map(Self::incoming).unwrap_or_default();
                Self { source: received.peer, received: received.bytes, tag: sent.tag.or(received.tag), ..sent }
            }
            Event::Matched(_, from, tag) => Self { peer: Some(*from), tag: Some(*tag), ..none },
            Event::Wait(_, Completed::One(key, _)) | Event::Test(_, Some(Completed::One(key, _))) => {
                let RequestKey { from, to, tag } = *key;
                Self { peer: Some(to), source: from, tag, ..none }
            }
            Event::Collective(Collective { root, send, recv, work, .. }, _) => Self {
                peer: *root,
                bytes: total(send),
                received: total(recv),
                volume: Some(*work).filter(|work| work.0 > 0.0),
                ..none
            },
            Event::Neighborhood(Neighborhood { sends, recvs, .. }, _) => {
                let sum = |all: &[(Rank, Bytes)]| Some(all.iter().map(|(_, bytes)| *bytes).sum());
                Self { bytes: sum(sends), received: sum(recvs), ..none }
            }
            Event::OneSided(OneSided::Create(_, _, _, bytes)) => Self { bytes: Some(*bytes), ..none },
            Event::OneSided(OneSided::Access(Access { target, there, back, .. })) => {
                Self { peer: Some(*target), bytes: Some(*there), received: Some(*back), ..none }
            }
            Event::OneSided(OneSided::Sync(Synchronisation { ranks, .. })) => match ranks[..] {
                [target] => Self { peer: Some(target), ..none },
                _ => none,
            },
            Event::File(FileEvent::Access(FileAccess { direction, bytes, .. })) => match direction {
                Direction::Write => Self { bytes: Some(*bytes), ..none },
                Direction::Read => Self { received: Some(*bytes), ..none },
            },
            Event::Other(Other { function, sent, received }) => {
                Self { bytes: Some(*sent), received: Some(*received), name: Some(function), ..none }
            }
            Event::Mark(Mark::RegionBegin(name) | Mark::RegionEnd(name)) => Self { name: Some(name), ..none },
            Event::Annotation(Annotation::Call(span)) => Self { span: Some(*span), ..none },
            Event::Annotation(Annotation::Message(Message { end, peer, bytes, span, .. })) => {
                let both = Self { peer: Some(*peer), span: Some(*span), ..none };
                match end {
                    MessageEnd::Sent => Self { bytes: Some(*bytes), ..both },
                    MessageEnd::Received => Self { received: Some(*bytes), ..both },
                }
            }
            Event::Init | Event::Finalize | Event::CommCreate(..) | Event::CommFree(_) | Event::Task(_) => none,
            Event::Partitioned(Partitioned::Ready(..) | Partitioned::Arrived(..)) => none,
            Event::Start(_) | Event::RequestFree(_) | Event::Cancel(_) => none,
            Event::Wait(_, Completed::Outstanding(_) | Completed::These(_)) => none,
            Event::Test(_, None | Some(Completed::Outstanding(_) | Completed::These(_))) => none,
            Event::OneSided(OneSided::Free(_)) => none,
            Event::File(FileEvent::Open(..) | FileEvent::Close(_) | FileEvent::Manage(..) | FileEvent::Delete) => none,
            Event::Mark(Mark::Control(_) | Mark::CallSite(_) | Mark::CallStack(..)) => none,
            Event::Mark(Mark::PartBegin | Mark::PartEnd | Mark::Unrecorded(_)) => none,
        }
    }
}

/// The bytes of all members together.
fn total(volumes: &Volumes) -> Option<Bytes> {
    match volumes {
        Volumes::None => None,
        Volumes::Each(bytes) => Some(*bytes),
        Volumes::PerMember(list) => Some(list.iter().copied().sum()),
    }
}
