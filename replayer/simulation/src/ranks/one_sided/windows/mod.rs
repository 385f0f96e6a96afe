//! The state of one-sided communication: windows, the knowledge of their members, locks, and the steps of
//! synchronisations. [`one_sided`](crate::ranks::one_sided) operates on it.

pub(in crate::ranks) mod steps;
pub(in crate::ranks) mod window;

use slab::Slab;
use titr_common::event::{Access, AccessOp, Rank};
use titr_platform::OneSided as Parameters;

use crate::observe::OperationId;
use crate::ranks::ids::{ActiveMessageIndex, SynchronisationIndex, WindowIndex};
use steps::SynchronisationInstance;
use window::{LockClass, LockKind, Windows};

/// All windows, the active messages in transit, and the synchronisations in progress.
pub(in crate::ranks) struct OneSided<'a> {
    pub(in crate::ranks) parameters: &'a Parameters,
    pub(in crate::ranks) windows: Windows,
    pub(in crate::ranks) messages: Slab<ActiveMessage>,
    pub(in crate::ranks) calls: Slab<SynchronisationInstance>,
}

impl<'a> OneSided<'a> {
    pub(in crate::ranks) fn new(parameters: &'a Parameters) -> Self {
        Self { parameters, windows: Windows::default(), messages: Slab::new(), calls: Slab::new() }
    }

    pub(in crate::ranks) fn has_windows(&self) -> bool {
        !self.windows.is_empty()
    }

    /// The rank that a message goes to.
    pub(in crate::ranks) fn target_of(&self, message: ActiveMessageIndex) -> Rank {
        self.messages[message.0 as usize].to
    }

    /// A synchronisation in progress.
    pub(in crate::ranks) fn call(&self, index: SynchronisationIndex) -> &SynchronisationInstance {
        &self.calls[index.0 as usize]
    }

    /// A synchronisation in progress, to be changed.
    pub(in crate::ranks) fn call_mut(&mut self, index: SynchronisationIndex) -> &mut SynchronisationInstance {
        &mut self.calls[index.0 as usize]
    }
}

/// A message of one-sided communication.
#[derive(Clone, Copy, Debug)]
pub(in crate::ranks) struct ActiveMessage {
    pub(in crate::ranks) window: WindowIndex,
    pub(in crate::ranks) from: Rank,
    pub(in crate::ranks) to: Rank,
    pub(in crate::ranks) content: Content,
    pub(in crate::ranks) stage: ActiveMessageStage,
}

/// The way of an active message to its effect.
#[derive(Clone, Copy, Debug)]
pub(in crate::ranks) enum ActiveMessageStage {
    /// The network carries the message.
    Travelling,
    /// The message is at its target, which has not taken it.
    Arrived,
    /// The target spends the time that the message costs.
    Taken,
}

/// The content of an active message.
#[derive(Clone, Copy, Debug)]
pub(in crate::ranks) enum Content {
    /// An access, with its data.
    Access(AccessMessage),
    /// The data that an access brings back.
    Data(Option<OperationId>),
    /// An access is done.
    Acknowledgement,
    /// A member requests a lock.
    Ask(LockKind),
    Grant,
    Release,
    Released,
    /// A member requests the lock of the whole window.
    AskLeader(LockClass),
    GrantLeader,
    ReleaseLeader,
    Post,
    Complete,
}

/// An access in progress.
#[derive(Clone, Copy, Debug)]
pub(in crate::ranks) struct AccessMessage {
    pub(in crate::ranks) access: Access,
    /// The operation of its request, if it has one.
    pub(in crate::ranks) request: Option<OperationId>,
    /// The number of fences that its origin had called, if fences separate it from other accesses.
    pub(in crate::ranks) epoch: Option<u32>,
    /// Whether the arrival of the data completes the access at its origin.
    pub(in crate::ranks) completes_on_arrival: bool,
}

/// Whether an access brings data back.
pub(in crate::ranks) fn brings_data(op: AccessOp) -> bool {
    match op {
        AccessOp::Put | AccessOp::Accumulate => false,
        AccessOp::Get | AccessOp::GetAccumulate | AccessOp::FetchAndOp | AccessOp::CompareAndSwap => true,
    }
}
