//! The volumes and tags of an event.
//!
//! Visitors get mutable access, as [those of ranks](Event::ranks) do, so that a reader may replace what depends on the number of
//! ranks.

use super::{
    Annotation, Collective, Completed, Event, FileEvent, Incoming, OneSided, Other, Outgoing, Partitioned, RequestKey,
    Tag, Volumes,
};
use crate::units::{Bytes, Instructions};

/// A volume of an event.
#[derive(Debug, PartialEq)]
pub enum Volume<'e> {
    /// An amount of data.
    Bytes(&'e mut Bytes),
    /// An amount of computation.
    Work(&'e mut Instructions),
}

impl Event {
    /// Visits every volume of the event, always in the same order.
    pub fn volumes(&mut self, mut visit: impl FnMut(Volume<'_>)) {
        let mut bytes = |bytes| visit(Volume::Bytes(bytes));
        match self {
            Self::Compute(work) => visit(Volume::Work(work)),
            Self::Send(_, message, _) | Self::Partitioned(Partitioned::SendInit(message, ..)) => {
                bytes(&mut message.bytes);
            }
            Self::Recv(message, _) | Self::Probe(message) | Self::Iprobe(message, _) => bytes(&mut message.bytes),
            Self::Partitioned(Partitioned::RecvInit(message, ..)) => bytes(&mut message.bytes),
            Self::Sendrecv(sent, received) => {
                sent.iter_mut().for_each(|message| bytes(&mut message.bytes));
                received.iter_mut().for_each(|message| bytes(&mut message.bytes));
            }
            Self::Collective(Collective { send, recv, element, work, .. }, _) => {
                for volumes in [send, recv] {
                    match volumes {
                        Volumes::None => {}
                        Volumes::Each(each) => bytes(each),
                        Volumes::PerMember(list) => list.iter_mut().for_each(&mut bytes),
                    }
                }
                bytes(element);
                visit(Volume::Work(work));
            }
            Self::Neighborhood(call, _) => {
                call.sends.iter_mut().chain(&mut call.recvs).for_each(|(_, volume)| bytes(volume));
            }
            Self::OneSided(OneSided::Create(_, _, _, exposed)) => bytes(exposed),
            Self::OneSided(OneSided::Access(access)) => {
                bytes(&mut access.there);
                bytes(&mut access.back);
            }
            Self::File(FileEvent::Access(access)) => bytes(&mut access.bytes),
            Self::Other(Other { sent, received, .. }) => {
                bytes(sent);
                bytes(received);
            }
            Self::Annotation(Annotation::Message(message)) => bytes(&mut message.bytes),
            Self::OneSided(OneSided::Free(_) | OneSided::Sync(_)) | Self::Annotation(Annotation::Call(_)) => {}
            Self::File(FileEvent::Open(..) | FileEvent::Close(_) | FileEvent::Manage(..) | FileEvent::Delete) => {}
            Self::Partitioned(Partitioned::Ready(..) | Partitioned::Arrived(..)) => {}
            Self::Init | Self::Finalize | Self::Sleep(_) | Self::Mark(_) | Self::Task(_) => {}
            Self::Start(_) | Self::RequestFree(_) | Self::Cancel(_) | Self::Matched(..) => {}
            Self::Wait(..) | Self::Test(..) | Self::CommCreate(..) | Self::CommFree(_) => {}
        }
    }

    /// Visits every tag that the event names, always in the same order.
    pub fn tags(&mut self, mut visit: impl FnMut(&mut Tag)) {
        let sent = |message: &mut Outgoing, visit: &mut dyn FnMut(&mut Tag)| visit(&mut message.tag);
        let received = |message: &mut Incoming, visit: &mut dyn FnMut(&mut Tag)| message.tag.iter_mut().for_each(visit);
        match self {
            Self::Send(_, message, _) | Self::Partitioned(Partitioned::SendInit(message, ..)) => {
                sent(message, &mut visit);
            }
            Self::Recv(message, _) | Self::Probe(message) | Self::Iprobe(message, _) => received(message, &mut visit),
            Self::Partitioned(Partitioned::RecvInit(message, ..)) => received(message, &mut visit),
            Self::Sendrecv(one, other) => {
                one.iter_mut().for_each(|message| sent(message, &mut visit));
                other.iter_mut().for_each(|message| received(message, &mut visit));
            }
            Self::Matched(_, _, tag) => visit(tag),
            Self::Wait(_, Completed::One(RequestKey { tag, .. }, _))
            | Self::Test(_, Some(Completed::One(RequestKey { tag, .. }, _))) => tag.iter_mut().for_each(visit),
            Self::CommCreate(_, _, Some(group)) => group.tag.iter_mut().for_each(visit),
            Self::Wait(_, Completed::Outstanding(_) | Completed::These(_))
            | Self::Test(_, Some(Completed::Outstanding(_) | Completed::These(_)) | None) => {}
            Self::Partitioned(Partitioned::Ready(..) | Partitioned::Arrived(..)) => {}
            Self::Init | Self::Finalize | Self::Compute(_) | Self::Sleep(_) | Self::Mark(_) | Self::Task(_) => {}
            Self::Start(_) | Self::RequestFree(_) | Self::Cancel(_) | Self::Annotation(_) => {}
            Self::Collective(..) | Self::Neighborhood(..) | Self::OneSided(_) | Self::File(_) | Self::Other(_) => {}
            Self::CommCreate(_, _, None) | Self::CommFree(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{CollectiveKind, CommId, Completion, Rank, Wildcard};

    #[test]
    fn volumes_and_tags_are_visited_in_order_and_may_be_replaced() {
        let (comm, wildcard) = (CommId::WORLD, Wildcard::NONE);
        let sent = Outgoing { comm, to: Rank(1), tag: Tag(3), bytes: Bytes(10) };
        let received = Incoming { comm, from: Some(Rank(2)), tag: Some(Tag(4)), bytes: Bytes(20), wildcard };
        let mut event = Event::Sendrecv(Some(sent), Some(received));
        let mut found = Vec::new();
        event.volumes(|volume| {
            if let Volume::Bytes(bytes) = volume {
                found.push(bytes.0);
                bytes.0 += 1;
            }
        });
        event.tags(|tag| {
            found.push(tag.0 as u64);
            tag.0 = 7;
        });
        assert_eq!(found, [10, 20, 3, 4]);
        let sent = Outgoing { tag: Tag(7), bytes: Bytes(11), ..sent };
        let received = Incoming { tag: Some(Tag(7)), bytes: Bytes(21), ..received };
        assert_eq!(event, Event::Sendrecv(Some(sent), Some(received)));
    }

    #[test]
    fn a_collective_has_the_volumes_of_each_member_the_element_and_the_work() {
        let recv = Volumes::PerMember([1, 2, 3].map(Bytes).to_vec());
        let (element, work) = (Bytes(8), Instructions(5.0));
        let call = Collective {
            kind: CollectiveKind::ReduceScatter,
            recv,
            element,
            work,
            ..Collective::barrier(CommId::WORLD)
        };
        let mut found = Vec::new();
        Event::Collective(call, Completion::Blocking).volumes(|volume| match volume {
            Volume::Bytes(bytes) => found.push(bytes.0 as f64),
            Volume::Work(work) => found.push(work.0),
        });
        assert_eq!(found, [1.0, 2.0, 3.0, 8.0, 5.0]);
    }
}
