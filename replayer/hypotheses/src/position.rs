//! The position of a rank in its program, event by event.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::event::{CallSiteId, CommId, Event, Group, Mark, Rank, ThreadId};
use titr_common::event_buffer::EventRef;
use titr_common::program::OpenRegions;

use crate::selection::{CommunicatorName, Selection};

/// The position of one rank in its program, with the properties that a [`Selection`] needs.
pub(crate) struct Position {
    /// The rank.
    pub rank: Rank,
    selection: Arc<Selection>,
    /// Whether the rank is selected.
    is_selected: bool,
    threads: FxHashMap<ThreadId, Inside>,
    /// The number of times the rank has entered the selected place.
    entered: usize,
    /// Whether each communicator that was made is selected.
    communicators: FxHashMap<CommId, bool>,
}

/// The regions and the call site of one thread.
#[derive(Default)]
struct Inside {
    open: OpenRegions,
    /// Whether each call site of the thread is selected.
    call_sites: FxHashMap<CallSiteId, bool>,
    /// Whether the call site of the next call is selected.
    is_at_site: bool,
    /// Whether that call was made.
    has_called: bool,
    /// The instance of the selected place that the thread is in, counted from 0 for each rank: each time in the region, or each
    /// call.
    instance: Option<usize>,
}

impl Position {
    /// The place of `rank` before its first event.
    pub(crate) fn new(rank: Rank, selection: &Arc<Selection>) -> Self {
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
    pub(crate) fn pass(&mut self, event: EventRef<'_>, thread: ThreadId) {
        if self.selection.call_site.is_some()
            && is_call(event)
            && let Some(inside) = self.threads.get_mut(&thread)
        {
            inside.has_called = true;
        }
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
        match mark {
            Mark::CallStack(site, stack) => {
                inside.call_sites.insert(*site, self.selection.has_call_site(stack));
            }
            Mark::CallSite(site) => {
                inside.is_at_site = inside.call_sites.get(site).copied().unwrap_or(false);
                inside.has_called = false;
            }
            Mark::RegionBegin(_) | Mark::RegionEnd(_) | Mark::Control(_) => {}
            Mark::PartBegin | Mark::PartEnd | Mark::Unrecorded(_) => {}
        }
        let Selection { region, call_site, .. } = &*self.selection;
        if !self.selection.is_of_places() {
            return;
        }
        let is_inside = region.as_ref().is_none_or(|region| inside.open.contains(region.get_ref()))
            && (call_site.is_none() || inside.is_at_site);
        let is_next_call = call_site.is_some() && matches!(mark, Mark::CallSite(_));
        if !is_inside {
            inside.instance = None;
        } else if is_next_call || inside.instance.is_none() {
            inside.instance = Some(self.entered);
            self.entered += 1;
        }
    }

    fn made(&mut self, Group { id, members, remote, .. }: &Group) {
        if let Some(CommunicatorName::Members(set)) = self.selection.communicator.as_ref().map(|name| name.get_ref()) {
            self.communicators.insert(*id, set.is(&[&members[..], &remote[..]].concat()));
        }
    }

    /// Whether `thread` belongs to a selected rank and is at the selected place.
    #[inline]
    pub(crate) fn is_inside(&self, thread: ThreadId) -> bool {
        self.is_selected && (!self.selection.is_of_places() || self.instance(thread).is_some())
    }

    /// The instance of the selected place that `thread` is in.
    pub(crate) fn instance(&self, thread: ThreadId) -> Option<usize> {
        self.threads.get(&thread)?.instance
    }

    /// Whether no computation follows in the current instance of `thread`: `event`, which is next, is the mark at the
    /// end of the region, or the call at the call site.
    pub(crate) fn ends_instance(&self, event: EventRef<'_>, thread: ThreadId) -> bool {
        let Some(inside) = self.threads.get(&thread).filter(|inside| inside.instance.is_some()) else { return false };
        match (event, &self.selection) {
            (event, selection) if selection.call_site.is_some() => is_call(event) && !inside.has_called,
            (EventRef::Event(Event::Mark(mark)), selection) => selection.region.as_ref().is_some_and(|region| {
                let mut after = inside.open.clone();
                after.pass(mark);
                !after.contains(region.get_ref())
            }),
            (EventRef::Event(_) | EventRef::Compute(_) | EventRef::Send(..) | EventRef::Recv(..), _) => false,
        }
    }

    /// Whether the selection has the communicator that the rank calls `comm`.
    pub(crate) fn is_on(&self, comm: CommId) -> bool {
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

/// Whether an event is a call, which has a call site if these are recorded.
fn is_call(event: EventRef<'_>) -> bool {
    match event {
        EventRef::Compute(_) => false,
        EventRef::Send(..) | EventRef::Recv(..) => true,
        EventRef::Event(event) => !matches!(
            event,
            Event::Compute(_)
                | Event::Sleep(_)
                | Event::Annotation(_)
                | Event::Mark(Mark::CallSite(_) | Mark::CallStack(..))
        ),
    }
}
