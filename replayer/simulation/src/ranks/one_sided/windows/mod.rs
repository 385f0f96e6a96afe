//! The state of one-sided communication: windows, the knowledge of their members, locks, and the steps of
//! synchronisations. [`one_sided`](crate::ranks::one_sided) operates on it.

pub(in crate::ranks) mod message;
pub(in crate::ranks) mod steps;
pub(in crate::ranks) mod window;

use slab::Slab;
use titr_common::event::Rank;
use titr_platform::OneSided as Parameters;

use crate::ranks::ids::{ActiveMessageIndex, SynchronisationIndex};
use crate::ranks::one_sided::windows::message::ActiveMessage;
use crate::ranks::one_sided::windows::steps::SynchronisationInstance;
use window::Windows;

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

    /// Whether there are windows.
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
