//! The volumes and tags of an event.
//!
//! Visitors get mutable access, as [those of ranks](Event::ranks) do, to replace what depends on the number of ranks.

use titr_common::event::{
    Annotation, Collective, Completed, Event, FileEvent, Incoming, OneSided, Other, Outgoing, Partitioned, RequestKey,
    Tag, Volumes,
};
use titr_common::units::{Bytes, Instructions};

#[derive(Debug, PartialEq)]
pub(crate) enum Volume<'e> {
    Bytes(&'e mut Bytes),
    Work(&'e mut Instructions),
}

/// Visits every volume of the event, always in the same order.
pub(crate) fn visit_volumes(event: &mut Event, mut visit: impl FnMut(Volume<'_>)) {
    let mut bytes = |bytes| visit(Volume::Bytes(bytes));
    match event {
        Event::Compute(work) => visit(Volume::Work(work)),
        Event::Send(_, message, _) | Event::Partitioned(Partitioned::SendInit(message, ..)) => {
            bytes(&mut message.bytes);
        }
        Event::Recv(message, _) | Event::Probe(message) | Event::Iprobe(message, _) => bytes(&mut message.bytes),
        Event::Partitioned(Partitioned::RecvInit(message, ..)) => bytes(&mut message.bytes),
        Event::Sendrecv(sent, received) => {
            sent.iter_mut().for_each(|message| bytes(&mut message.bytes));
            received.iter_mut().for_each(|message| bytes(&mut message.bytes));
        }
        Event::Collective(Collective { send, recv, element, work, .. }, _) => {
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
        Event::Neighborhood(call, _) => {
            call.sends.iter_mut().chain(&mut call.recvs).for_each(|(_, volume)| bytes(volume));
        }
        Event::OneSided(OneSided::Create(_, _, _, exposed)) => bytes(exposed),
        Event::OneSided(OneSided::Access(access)) => {
            bytes(&mut access.there);
            bytes(&mut access.back);
        }
        Event::File(FileEvent::Access(access)) => bytes(&mut access.bytes),
        Event::Other(Other { sent, received, .. }) => {
            bytes(sent);
            bytes(received);
        }
        Event::Annotation(Annotation::Message(message)) => bytes(&mut message.bytes),
        Event::OneSided(OneSided::Free(_) | OneSided::Sync(_)) | Event::Annotation(Annotation::Call(_)) => {}
        Event::File(FileEvent::Open(..) | FileEvent::Close(_) | FileEvent::Manage(..) | FileEvent::Delete) => {}
        Event::Partitioned(Partitioned::Ready(..) | Partitioned::Arrived(..)) => {}
        Event::Init | Event::Finalize | Event::Sleep(_) | Event::Mark(_) | Event::Task(_) => {}
        Event::Start(_) | Event::RequestFree(_) | Event::Cancel(_) | Event::Matched(..) => {}
        Event::Wait(..) | Event::Test(..) | Event::CommCreate(..) | Event::CommFree(_) => {}
    }
}

/// Visits every tag that the event names, always in the same order.
pub(crate) fn visit_tags(event: &mut Event, mut visit: impl FnMut(&mut Tag)) {
    let sent = |message: &mut Outgoing, visit: &mut dyn FnMut(&mut Tag)| visit(&mut message.tag);
    let received = |message: &mut Incoming, visit: &mut dyn FnMut(&mut Tag)| message.tag.iter_mut().for_each(visit);
    match event {
        Event::Send(_, message, _) | Event::Partitioned(Partitioned::SendInit(message, ..)) => {
            sent(message, &mut visit);
        }
        Event::Recv(message, _) | Event::Probe(message) | Event::Iprobe(message, _) => received(message, &mut visit),
        Event::Partitioned(Partitioned::RecvInit(message, ..)) => received(message, &mut visit),
        Event::Sendrecv(one, other) => {
            one.iter_mut().for_each(|message| sent(message, &mut visit));
            other.iter_mut().for_each(|message| received(message, &mut visit));
        }
        Event::Matched(_, _, tag) => visit(tag),
        Event::Wait(_, Completed::One(RequestKey { tag, .. }, _))
        | Event::Test(_, Some(Completed::One(RequestKey { tag, .. }, _))) => tag.iter_mut().for_each(visit),
        Event::CommCreate(_, _, Some(group)) => group.tag.iter_mut().for_each(visit),
        Event::Wait(_, Completed::Outstanding(_) | Completed::These(_))
        | Event::Test(_, Some(Completed::Outstanding(_) | Completed::These(_)) | None) => {}
        Event::Partitioned(Partitioned::Ready(..) | Partitioned::Arrived(..)) => {}
        Event::Init | Event::Finalize | Event::Compute(_) | Event::Sleep(_) | Event::Mark(_) | Event::Task(_) => {}
        Event::Start(_) | Event::RequestFree(_) | Event::Cancel(_) | Event::Annotation(_) => {}
        Event::Collective(..) | Event::Neighborhood(..) | Event::OneSided(_) | Event::File(_) | Event::Other(_) => {}
        Event::CommCreate(_, _, None) | Event::CommFree(_) => {}
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use titr_common::event::{CollectiveKind, CommId, Completion, Rank, Wildcard};

    #[test]
    fn volumes_and_tags_are_visited_in_order_and_may_be_replaced() {
        let (comm, wildcard) = (CommId::WORLD, Wildcard::NONE);
        let sent = Outgoing { comm, to: Rank(1), tag: Tag(3), bytes: Bytes(10) };
        let received = Incoming { comm, from: Some(Rank(2)), tag: Some(Tag(4)), bytes: Bytes(20), wildcard };
        let mut event = Event::Sendrecv(Some(sent), Some(received));
        let mut found = Vec::new();
        visit_volumes(&mut event, |volume| {
            if let Volume::Bytes(bytes) = volume {
                found.push(bytes.0);
                bytes.0 += 1;
            }
        });
        visit_tags(&mut event, |tag| {
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
        visit_volumes(&mut Event::Collective(call, Completion::Blocking), |volume| match volume {
            Volume::Bytes(bytes) => found.push(bytes.0 as f64),
            Volume::Work(work) => found.push(work.0),
        });
        assert_eq!(found, [1.0, 2.0, 3.0, 8.0, 5.0]);
    }
}
