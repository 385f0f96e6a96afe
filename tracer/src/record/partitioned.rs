//! Partitioned communication (MPI 4.0 §4): persistent messages that become ready in parts.

use titr_common::event::{
    CommId, Event, Incoming, Outgoing, Partitioned as PartitionedEvent, Rank, RequestId, Tag, Wildcard,
};
use titr_common::units::Bytes;
use titr_wrappers::argument::{Place, Request};
use titr_wrappers::signature::Partitioned;

use super::Outcome;
use super::communicator_table::CommunicatorTable;
use super::message::Messages;
use super::message_args::element;
use super::omitted_calls::Omission;
use super::request_table::{RequestKind, RequestTable};
use super::requests::Requests;
use super::stream::EventStream;

impl Messages {
    pub(super) fn psend_init(
        &mut self,
        call: &Partitioned<'_>,
        request: &Place<'_, Request>,
        communicators: &mut CommunicatorTable,
        requests: &mut RequestTable,
        stream: &mut EventStream,
    ) -> Outcome {
        let event = |id, peer, comm, bytes, parts| {
            PartitionedEvent::SendInit(Outgoing { comm, to: peer, tag: Tag(call.tag()), bytes }, parts, id)
        };
        self.set_up(call, request, event, communicators, requests, stream)
    }

    /// Neither source nor tag can be left open (§4.2.1).
    pub(super) fn precv_init(
        &mut self,
        call: &Partitioned<'_>,
        request: &Place<'_, Request>,
        communicators: &mut CommunicatorTable,
        requests: &mut RequestTable,
        stream: &mut EventStream,
    ) -> Outcome {
        let event = |id, peer, comm, bytes, parts| {
            let (from, tag) = (Some(peer), Some(Tag(call.tag())));
            PartitionedEvent::RecvInit(Incoming { comm, from, tag, bytes, wildcard: Wildcard::NONE }, parts, id)
        };
        self.set_up(call, request, event, communicators, requests, stream)
    }

    fn set_up(
        &mut self,
        call: &Partitioned<'_>,
        request: &Place<'_, Request>,
        event: impl FnOnce(RequestId, Rank, CommId, Bytes, u32) -> PartitionedEvent,
        communicators: &mut CommunicatorTable,
        requests: &mut RequestTable,
        stream: &mut EventStream,
    ) -> Outcome {
        let peer = self.rank_in(call.comm(), call.peer(), communicators);
        let what = if peer.is_ok() { RequestKind::Collective } else { RequestKind::Nothing };
        let id = requests.add(request.get(), request.address(), what, true);
        let (comm, peer) = peer?;
        let parts = u32::try_from(call.partitions()).unwrap_or(0);
        let bytes = element(call.datatype()).times(call.count().get().saturating_mul(u64::from(parts)));
        stream.write(&Event::Partitioned(event(id, peer, comm, bytes, parts)));
        Ok(())
    }
}

impl Requests {
    /// Records that parts of a message are ready.
    pub(super) fn ready(
        &mut self,
        request: Request,
        parts: impl Iterator<Item = i32>,
        stream: &mut EventStream,
    ) -> Outcome {
        let id = self.partitioned(request)?;
        let parts = parts.filter_map(|part| u32::try_from(part).ok()).collect();
        stream.write(&Event::Partitioned(PartitionedEvent::Ready(id, parts)));
        Ok(())
    }

    /// Records that a part of a message has arrived. Tests for a part that has not arrived yet are not recorded: a program
    /// makes as many of them as it has time for.
    pub(super) fn arrived(
        &mut self,
        request: Request,
        part: i32,
        has_arrived: bool,
        stream: &mut EventStream,
    ) -> Outcome {
        let id = self.partitioned(request)?;
        // A request that is not active has all its parts (MPI 4.0 §4.2.2).
        if !has_arrived || !self.table.get(id).is_some_and(|entry| entry.active) {
            return Err(Omission::Local);
        }
        let part = u32::try_from(part).map_err(|_| Omission::Untraced)?;
        stream.write(&Event::Partitioned(PartitionedEvent::Arrived(id, part)));
        Ok(())
    }

    /// The partitioned message of a handle. The handle's address is not known, but such a handle is never shared by
    /// several requests.
    fn partitioned(&mut self, request: Request) -> Result<RequestId, Omission> {
        let id = self.table.find(request, 0).ok_or(Omission::Untraced)?;
        if self.table.get(id).is_some_and(|entry| entry.is_visible()) { Ok(id) } else { Err(Omission::NullPeer) }
    }
}
