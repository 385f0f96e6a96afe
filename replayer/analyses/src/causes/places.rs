//! The current places of threads in the program: regions and call sites.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::event::{CallSiteId, Mark, Rank};
use titr_common::program::OpenRegions;

use super::segment::PlaceId;
use crate::findings::ProgramPlace;
use titr_simulation::observe::ThreadIndex;

/// The places of all threads, and all places so far.
#[derive(Debug, Default)]
pub(crate) struct Places {
    threads: Vec<ThreadPlace>,
    regions: Names,
    call_sites: Names,
    /// The region and the call site of each place, indexed by place.
    places: Vec<(NameId, NameId)>,
    numbers: FxHashMap<(NameId, NameId), PlaceId>,
}

#[derive(Debug, Default)]
struct ThreadPlace {
    open: OpenRegions,
    /// The call sites of the thread that it has come by.
    call_sites: FxHashMap<CallSiteId, NameId>,
    region: NameId,
    call_site: NameId,
    current: PlaceId,
}

/// Names and their numbers. Number 0 is not a name.
#[derive(Debug, Default)]
struct Names {
    names: Vec<Arc<str>>,
    numbers: FxHashMap<Arc<str>, NameId>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct NameId(u32);

impl Places {
    /// No place but the one outside of all regions and call sites.
    pub(crate) fn new() -> Self {
        let mut places = Self::default();
        places.number((NameId::default(), NameId::default()));
        places
    }

    /// A thread passes a mark; the place that it is at then.
    pub(crate) fn pass(&mut self, thread: ThreadIndex, mark: &Mark) -> PlaceId {
        let at = thread.0 as usize;
        if self.threads.len() <= at {
            self.threads.resize_with(at + 1, ThreadPlace::default);
        }
        let place = &mut self.threads[at];
        match mark {
            Mark::RegionBegin(_) | Mark::RegionEnd(_) | Mark::Control(_) => {
                place.open.pass(mark);
                place.region = place.open.innermost().map_or(NameId::default(), |name| self.regions.number(name));
            }
            Mark::CallStack(site, stack) => {
                let names: Vec<String> = stack.iter().map(ToString::to_string).collect();
                place.call_sites.insert(*site, self.call_sites.number(&names.join(" < ")));
            }
            Mark::PartBegin | Mark::PartEnd | Mark::Unrecorded(_) => {}
            Mark::CallSite(site) => place.call_site = place.call_sites.get(site).copied().unwrap_or_default(),
        }
        let key = (place.region, place.call_site);
        let number = self.number(key);
        self.threads[at].current = number;
        number
    }

    /// The place that the main thread of a rank is at.
    pub(crate) fn of(&self, rank: Rank) -> PlaceId {
        self.threads.get(ThreadIndex::from(rank).0 as usize).map_or(PlaceId::default(), |thread| thread.current)
    }

    /// A place by the names of its region and its call site.
    pub(crate) fn named(&self, place: PlaceId) -> ProgramPlace {
        let (region, call_site) = self.places[place.0 as usize];
        ProgramPlace { region: self.regions.name(region), call_site: self.call_sites.name(call_site) }
    }

    /// Whether call sites are known.
    pub(crate) fn has_call_sites(&self) -> bool {
        !self.call_sites.names.is_empty()
    }

    fn number(&mut self, key: (NameId, NameId)) -> PlaceId {
        let Self { places, numbers, .. } = self;
        *numbers.entry(key).or_insert_with(|| {
            places.push(key);
            PlaceId(places.len() as u32 - 1)
        })
    }
}

impl Names {
    fn number(&mut self, name: &str) -> NameId {
        if let Some(known) = self.numbers.get(name) {
            return *known;
        }
        let name: Arc<str> = name.into();
        self.names.push(Arc::clone(&name));
        let number = NameId(self.names.len() as u32);
        self.numbers.insert(name, number);
        number
    }

    fn name(&self, NameId(number): NameId) -> Option<Arc<str>> {
        self.names.get((number as usize).checked_sub(1)?).map(Arc::clone)
    }
}
