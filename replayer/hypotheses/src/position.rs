//! Where a rank is in its program, event after event.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::event::{CommId, Event, Group, Mark, Rank, ThreadId};
use titr_common::event_buffer::EventRef;
use titr_common::program::OpenRegions;

use crate::selection::{CommunicatorName, Selection};

/// The place of one rank in its program, as far as a [`Selection`] asks for it.
pub struct Position {
    /// The rank.
    pub rank: Rank,
    selection: Arc<Selection>,
    /// Whether the selection has the rank.
    is_selected: bool,
    threads: FxHashMap<ThreadId, Inside>,
    /// How often the rank has entered the selected region.
    entered: usize,
    /// Whether the selection has each communicator that was made.
    communicators: FxHashMap<CommId, bool>,
}

/// The regions of one thread.
#[derive(Default)]
struct Inside {
    open: OpenRegions,
    /// The instance of the selected region that the thread is in, counted from 0 for each rank.
    instance: Option<usize>,
}

impl Position {
    /// The place of `rank` before its first event.
    pub fn new(rank: Rank, selection: &Arc<Selection>) -> Self {
        Self {
            rank,
            is_selected: selection.has_rank(rank),
            selection: Arc::clone(selection),
            threads: FxHashMap::default(),
            entered: 0,
            communicators: FxHashMap::default(),
        }
    }

    /// The rank has passed an event.
    #[inline]
    pub fn pass(&mut self, event: EventRef<'_>, thread: ThreadId) {
        let EventRef::Event(event) = event else { return };
        if let Event::Mark(mark) = event {
            self.mark(mark, thread);
        }
        if let Event::CommCreate(_, _, Some(group)) = event {
            self.made(group);
        }
    }

    fn mark(&mut self, mark: &Mark, thread: ThreadId) {
        let inside = self.threads.entry(thread).or_default();
        inside.open.pass(mark);
        let Some(region) = &self.selection.region else { return };
        match (inside.open.contains(region.get_ref()), inside.instance) {
            (true, None) => {
                inside.instance = Some(self.entered);
                self.entered += 1;
            }
            (false, Some(_)) => inside.instance = None,
            (true, Some(_)) | (false, None) => {}
        }
    }

    fn made(&mut self, Group { id, members, remote, .. }: &Group) {
        if let Some(CommunicatorName::Members(set)) = self.selection.communicator.as_ref().map(|name| name.get_ref()) {
            self.communicators.insert(*id, set.is(&[&members[..], &remote[..]].concat()));
        }
    }

    /// Whether `thread` is in the selected region of a selected rank.
    #[inline]
    #[must_use]
    pub fn is_inside(&self, thread: ThreadId) -> bool {
        self.is_selected && (self.selection.region.is_none() || self.instance(thread).is_some())
    }

    /// The instance of the selected region that `thread` is in.
    #[must_use]
    pub fn instance(&self, thread: ThreadId) -> Option<usize> {
        self.threads.get(&thread)?.instance
    }

    /// Whether `event`, which is next, is the mark at the end of the instance that `thread` is in.
    #[must_use]
    pub fn ends_instance(&self, event: EventRef<'_>, thread: ThreadId) -> bool {
        let Some(inside) = self.threads.get(&thread).filter(|inside| inside.instance.is_some()) else { return false };
        let (EventRef::Event(Event::Mark(mark)), Some(region)) = (event, &self.selection.region) else {
            return false;
        };
        let mut after = inside.open.clone();
        after.pass(mark);
        !after.contains(region.get_ref())
    }

    /// Whether the selection has the communicator that the rank calls `comm`.
    #[must_use]
    pub fn is_on(&self, comm: CommId) -> bool {
        match self.selection.communicator.as_ref().map(|name| name.get_ref()) {
            None => true,
            Some(CommunicatorName::World) => comm == CommId::WORLD,
            Some(CommunicatorName::Members(set)) => match comm {
                CommId::WORLD => false,
                CommId::SELF => set.is(&[self.rank]),
                made => self.communicators.get(&made).copied().unwrap_or(false),
            },
        }
    }
}
