//! Synchronisations in progress.

use titr_common::event::{Actor, WinId};

use super::steps::SynchronisationStep;
use crate::observe::OperationId;
use crate::ranks::clock::Clock;
use crate::ranks::ids::{ThreadIndex, WindowIndex};

/// A synchronisation of one thread, until the thread is runnable.
pub(in crate::ranks) struct SynchronisationInstance {
    pub(in crate::ranks) thread: ThreadIndex,
    pub(in crate::ranks) actor: Actor,
    pub(in crate::ranks) word: &'static str,
    pub(in crate::ranks) window: WindowIndex,
    pub(in crate::ranks) id: WinId,
    pub(in crate::ranks) steps: Vec<SynchronisationStep>,
    pub(in crate::ranks) next: usize,
    pub(in crate::ranks) clock: Clock,
    /// The operation that the thread waits for.
    pub(in crate::ranks) operation: OperationId,
}
