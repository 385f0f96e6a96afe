//! Partitioned communication (MPI 4.0 §4): persistent messages that become ready in parts.

use titr_common::event::{Event, Incoming, Outgoing, Partitioned as PartitionedEvent, RequestId, Tag, Wildcard};
use titr_wrappers::argument::{Place, Request};
use titr_wrappers::signature::Partitioned;

use super::message::Messages;
use super::message_args::element;
use super::omitted_calls::Omission;
use super::request_table::RequestKind;
use super::requests::Requests;
use super::{Outcome, RankTrace};

impl Messages {
    /// Neither source nor tag can be left open (§4.2.1).
    pub(super) fn partitioned_init(
        &mut self,
        call: &Partitioned<'_>,
        request: &Place<'_, Request>,
        sends: bool,
        trace: &mut RankTrace,
    ) -> Outcome {
        let peer = self.rank_in(call.comm(), call.peer(), trace);
        let what = if peer.is_ok() { RequestKind::Collective } else { RequestKind::Nothing };
        let id = trace.requests.add(request.get(), request.address(), what, true);
        let (comm, peer) = peer?;
        let parts = u32::try_from(call.partitions()).unwrap_or(0);
        let bytes = element(call.datatype()).times(call.count().get().saturating_mul(u64::from(parts)));
        let tag = Tag(call.tag());
        trace.stream.write(&Event::Partitioned(if sends {
            PartitionedEvent::SendInit(Outgoing { comm, to: peer, tag, bytes }, parts, id)
        } else {
            let message = Incoming { comm, from: Some(peer), tag: Some(tag), bytes, wildcard: Wildcard::NONE };
            PartitionedEvent::RecvInit(message, parts, id)
        }));
        Ok(())
    }
}

impl Requests {
    pub(super) fn ready(request: Request, parts: impl Iterator<Item = i32>, trace: &mut RankTrace) -> Outcome {
        let id = Self::partitioned(request, trace)?;
        let parts = parts.filter_map(|part| u32::try_from(part).ok()).collect();
        trace.stream.write(&Event::Partitioned(PartitionedEvent::Ready(id, parts)));
        Ok(())
    }

    /// Records that a part of a message has arrived. Tests for a part that has not arrived yet are not recorded: a program
    /// makes as many of them as it has time for.
    pub(super) fn arrived(request: Request, part: i32, has_arrived: bool, trace: &mut RankTrace) -> Outcome {
        let id = Self::partitioned(request, trace)?;
        // A request that is not active has all its parts (MPI 4.0 §4.2.2).
        if !has_arrived || !trace.requests.get(id).is_some_and(|entry| entry.active) {
            return Err(Omission::Local);
        }
        let part = u32::try_from(part).map_err(|_| Omission::Untraced)?;
        trace.stream.write(&Event::Partitioned(PartitionedEvent::Arrived(id, part)));
        Ok(())
    }

    /// The partitioned message of a handle. The handle's address is not known, but such a handle is never shared by
    /// several requests.
    fn partitioned(request: Request, trace: &mut RankTrace) -> Result<RequestId, Omission> {
        let id = trace.requests.find(request, 0).ok_or(Omission::Untraced)?;
        if trace.requests.get(id).is_some_and(|entry| entry.is_visible()) { Ok(id) } else { Err(Omission::NullPeer) }
    }
}
