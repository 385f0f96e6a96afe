//! An event as a row of a table.

use std::borrow::Cow;

use serde::Serialize;
use titr_common::event::{
    Access, Annotation, Collective, Completed, Direction, Event, FileAccess, FileEvent, Incoming, Mark, Message,
    MessageEnd, Neighborhood, OneSided, Other, Outgoing, Partitioned, Rank, RequestKey, Synchronisation, Volumes,
};
use titr_common::format::cell;
use titr_common::trace::Location;
use titr_common::units::{Bytes, Instructions, Seconds};

/// An event, in the columns of `titr cat --csv`, which docs/TRACING.md describes. A column of which the event has nothing is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct EventRow<'e> {
    rank: u32,
    thread: u32,
    line: Option<u64>,
    kind: &'static str,
    peer: Option<u32>,
    source: Option<u32>,
    tag: Option<i32>,
    bytes: Option<Bytes>,
    received: Option<Bytes>,
    volume: Option<Instructions>,
    seconds: Option<Seconds>,
    communicator: Option<u32>,
    requests: String,
    begin: Option<u64>,
    end: Option<u64>,
    name: Option<Cow<'e, str>>,
}

impl<'e> EventRow<'e> {
    pub(crate) fn of(rank: Rank, location: Location, event: &'e Event) -> Self {
        let (mut requests, mut communicator) = (Vec::new(), None);
        // The visitors may change what they visit.
        let mut copy = event.clone();
        copy.requests(|request, _| requests.push(request.0.to_string()));
        copy.communicators(|visited, _| _ = communicator.get_or_insert(visited.0));
        Self {
            rank: rank.0,
            thread: location.thread.0,
            line: location.line,
            kind: event.word(),
            communicator,
            requests: requests.join(" "),
            ..Self::own(event)
        }
    }

    fn outgoing(message: &Outgoing) -> Self {
        Self { peer: Some(message.to.0), tag: Some(message.tag.0), bytes: Some(message.bytes), ..Self::default() }
    }

    fn incoming(message: &Incoming) -> Self {
        Self {
            peer: message.from.map(|from| from.0),
            tag: message.tag.map(|tag| tag.0),
            bytes: Some(message.bytes),
            ..Self::default()
        }
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
            Event::Matched(_, from, tag) => Self { peer: Some(from.0), tag: Some(tag.0), ..none },
            Event::Wait(_, Completed::One(key, _)) | Event::Test(_, Some(Completed::One(key, _))) => {
                let RequestKey { from, to, tag } = *key;
                Self { peer: Some(to.0), source: from.map(|from| from.0), tag: tag.map(|tag| tag.0), ..none }
            }
            Event::Collective(Collective { root, send, recv, work, .. }, _) => Self {
                peer: root.map(|root| root.0),
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
                Self { peer: Some(target.0), bytes: Some(*there), received: Some(*back), ..none }
            }
            Event::OneSided(OneSided::Sync(Synchronisation { ranks, .. })) => match ranks[..] {
                [target] => Self { peer: Some(target.0), ..none },
                _ => none,
            },
            Event::File(FileEvent::Access(FileAccess { direction, bytes, .. })) => match direction {
                Direction::Write => Self { bytes: Some(*bytes), ..none },
                Direction::Read => Self { received: Some(*bytes), ..none },
            },
            Event::Other(Other { function, sent, received }) => {
                Self { bytes: Some(*sent), received: Some(*received), name: Some(cell(function)), ..none }
            }
            Event::Mark(Mark::RegionBegin(name) | Mark::RegionEnd(name)) => Self { name: Some(cell(name)), ..none },
            Event::Annotation(Annotation::Call(span)) => {
                Self { begin: Some(span.begin.0), end: Some(span.end.0), ..none }
            }
            Event::Annotation(Annotation::Message(Message { end, peer, bytes, span, .. })) => {
                let both = Self { peer: Some(peer.0), begin: Some(span.begin.0), end: Some(span.end.0), ..none };
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
