//! Annotations, which an extended trace adds to a time-independent one: times, and the messages of collectives.

use super::{CommId, Rank};
use crate::units::{Bytes, Nanoseconds};

/// An interval of time by the clock of the rank's host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The beginning of the interval.
    pub begin: Nanoseconds,
    /// The end, no earlier than the beginning.
    pub end: Nanoseconds,
}

/// An end of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageEnd {
    /// The member sends the message.
    Sent,
    /// The member receives the message.
    Received,
}

/// A message of a collective, as one of its two ends sees it. A member's messages are in the order in which it started
/// them; a message that ended before the next began was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The communicator of the collective.
    pub comm: CommId,
    /// The number of the collective on this communicator, counted from 0 and the same for all members.
    pub number: u64,
    /// Whether the rank sent or received the message.
    pub end: MessageEnd,
    /// The rank at the other end.
    pub peer: Rank,
    /// The volume of the message.
    pub bytes: Bytes,
    /// From the start of the transfer to its completion.
    pub span: Span,
}

/// An observation of extended tracing. Annotations precede the event that they belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Annotation {
    /// The time from a call's beginning to its return.
    Call(Span),
    /// A message that the collective was made of.
    Message(Message),
}
