//! The events of the small programs that are replayed.

use titr_common::event::{
    CommId, Completed, Completion, Event, Incoming, Outgoing, Quantifier, Rank, RequestId, SendMode, Tag, Wildcard,
};
use titr_common::units::Bytes;

pub(crate) fn send(to: u32, bytes: Bytes) -> Event {
    Event::Send(SendMode::Standard, outgoing(to, bytes), Completion::Blocking)
}

pub(crate) fn recv(from: u32, bytes: Bytes) -> Event {
    Event::Recv(incoming(from, bytes), Completion::Blocking)
}

pub(crate) fn isend(to: u32, bytes: Bytes, request: u32) -> Event {
    Event::Send(SendMode::Standard, outgoing(to, bytes), Completion::Request(Some(RequestId(request))))
}

pub(crate) fn irecv(from: u32, bytes: Bytes, request: u32) -> Event {
    Event::Recv(incoming(from, bytes), Completion::Request(Some(RequestId(request))))
}

pub(crate) fn waitall() -> Event {
    Event::Wait(Quantifier::All, Completed::Outstanding(None))
}

pub(crate) fn outgoing(to: u32, bytes: Bytes) -> Outgoing {
    Outgoing { comm: CommId::WORLD, to: Rank(to), tag: Tag(0), bytes }
}

pub(crate) fn incoming(from: u32, bytes: Bytes) -> Incoming {
    let (from, tag) = (Some(Rank(from)), Some(Tag(0)));
    Incoming { comm: CommId::WORLD, from, tag, bytes, wildcard: Wildcard::NONE }
}
