//! The ranks that an event names.
//!
//! Visitors get mutable access, so that a reader may replace ranks: when several worlds are replayed together, each
//! rank's own numbers become numbers of the whole.

use super::{
    Annotation, Completed, Event, Incoming, Mark, Message, OneSided, Partitioned, Rank, RequestKey, Synchronisation,
};

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
            Self::Mark(Mark::Unrecorded(calls)) => calls.iter_mut().for_each(|calls| calls.ranks(&mut visit)),
            Self::Partitioned(Partitioned::Ready(..) | Partitioned::Arrived(..)) => {}
            Self::OneSided(OneSided::Create(..) | OneSided::Free(_)) => {}
            Self::CommCreate(_, _, None) | Self::CommFree(_) | Self::Task(_) => {}
            Self::Annotation(Annotation::Call(_)) => {}
            Self::Init | Self::Finalize | Self::Compute(_) | Self::Sleep(_) | Self::File(_) | Self::Other(_) => {}
            Self::Start(_) | Self::RequestFree(_) | Self::Cancel(_) | Self::Test(_, None) | Self::Mark(_) => {}
        }
    }
}
