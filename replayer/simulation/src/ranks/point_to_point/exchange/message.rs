//! A message, and its stages.

use titr_common::event::Rank;
use titr_common::time::Time;
use titr_common::units::Bytes;

use crate::observe::{OperationId, TransferKind};
use crate::ranks::point_to_point::envelope::Envelope;
use crate::ranks::point_to_point::protocol::Protocol;

/// A message from when it is sent until it is both delivered and received.
#[derive(Debug)]
pub(in crate::ranks) struct Message {
    pub(in crate::ranks) to: Rank,
    pub(in crate::ranks) envelope: Envelope,
    pub(in crate::ranks) bytes: Bytes,
    /// When the message was sent.
    pub(super) sent: Time,
    /// Whether the send waits for its message whatever the size.
    pub(in crate::ranks) synchronous: bool,
    pub(super) stage: Stage,
    /// Whether its receive was posted before it was sent.
    pub(super) was_posted: bool,
    /// The send operation that the arrival of the message completes; `None` if the send is complete already.
    pub(super) sender: Option<OperationId>,
    /// The receive that it is matched with.
    pub(super) receiver: Option<OperationId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The message waits at its sender until a receive matches it.
    Held,
    /// The message waits at its sender, as the receiver has to answer first, which has posted a receive before.
    Requested,
    /// The message waits at its sender, which has to see the answer.
    Answered,
    Travelling,
    Arrived,
    /// The message travels, and no receive takes it.
    OneSided,
}

impl Message {
    /// The stage of a message that travels when it is matched, and whose receive is posted when the request comes.
    pub(super) fn matched(&self, protocol: &Protocol) -> Stage {
        if protocol.needs_receiver(self.synchronous, self.bytes) { Stage::Requested } else { Stage::Travelling }
    }

    /// Whether the message has data that leaves once the receiver has answered.
    pub(super) fn is_answered(&self, protocol: &Protocol) -> bool {
        self.stage != Stage::OneSided && protocol.has_separate_data(self.bytes)
    }

    /// The kind of a message that leaves.
    pub(in crate::ranks) fn kind(&self, protocol: &Protocol) -> TransferKind {
        if self.stage == Stage::OneSided {
            return TransferKind::OneSided;
        }
        match (self.envelope.context.is_collective(), protocol.has_separate_data(self.bytes)) {
            (false, false) => TransferKind::Eager,
            (false, true) => TransferKind::Rendezvous,
            (true, false) => TransferKind::CollectiveEager,
            (true, true) => TransferKind::CollectiveRendezvous,
        }
    }

    /// The stage of a message whose request the receiver answers.
    pub(super) fn answered(&self, protocol: &Protocol) -> Stage {
        if protocol.needs_sender(self.bytes) { Stage::Answered } else { Stage::Travelling }
    }
}
