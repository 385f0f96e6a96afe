//! The requests of a rank that say when something arrives.

use rustc_hash::FxHashMap;
use titr_common::event::{Incoming, Outgoing, Rank, RequestId, Tag};

use titr_common::time::Time;

/// An operation that goes on until its request is completed. Sends are left out: nothing here waits for them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Active {
    Receive(Incoming),
    /// When it was begun.
    Collective(Time),
}

/// The operation that a persistent request starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Template {
    Send(Outgoing),
    Receive(Incoming),
    Collective,
}

#[derive(Debug, Default)]
pub(super) struct RequestTable {
    active: FxHashMap<RequestId, Active>,
    persistent: FxHashMap<RequestId, Template>,
}

impl RequestTable {
    pub(super) fn add(&mut self, id: RequestId, active: Active) {
        self.active.insert(id, active);
    }

    pub(super) fn complete(&mut self, id: RequestId) -> Option<Active> {
        self.active.remove(&id)
    }

    /// A cancelled receive gets nothing. A cancel that comes too late happens, but is rare.
    pub(super) fn cancel(&mut self, id: RequestId) {
        if let Some(Active::Receive(_)) = self.active.get(&id) {
            self.active.remove(&id);
        }
    }

    /// All that are not completed.
    pub(super) fn active(&self) -> Vec<RequestId> {
        let mut all: Vec<RequestId> = self.active.keys().copied().collect();
        // The table's order is no order to rely on.
        all.sort_unstable();
        all
    }

    /// Says which message a wildcard receive got.
    pub(super) fn matched(&mut self, id: RequestId, from: Rank, tag: Tag) {
        if let Some(Active::Receive(message)) = self.active.get_mut(&id) {
            (message.from, message.tag) = (Some(from), Some(tag));
        }
    }

    pub(super) fn set_up(&mut self, id: RequestId, template: Template) {
        self.persistent.insert(id, template);
    }

    pub(super) fn template(&self, id: RequestId) -> Option<Template> {
        self.persistent.get(&id).copied()
    }

    pub(super) fn tear_down(&mut self, id: RequestId) {
        self.persistent.remove(&id);
    }
}
