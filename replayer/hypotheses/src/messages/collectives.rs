//! Changes of collectives, by all members of a communicator or by none.
//!
//! All members call the collectives of a communicator in one order (MPI 4.0 §6.12). The survey records which of them
//! the first member has selected, and every other member has to select the same ones.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::event::{Collective, CollectiveKind, Completion, Event, Rank, ThreadId};
use titr_common::event_buffer::EventRef;
use titr_common::program::{Communicators, Context, Fault};
use titr_common::trace::{Located, LocatedEvents, Location, Trace, TraceError, Transformation};
use titr_document::{Mistake, Spanned};

use super::rewrite::RemovedRequests;
use super::treatment::Treatment;
use crate::keys::Keys;
use crate::position::Position;
use crate::rewriting::{Rewrite, rewritten, survey};
use crate::selection::Selection;

/// The change of a trace whose selected collectives are treated so.
pub(crate) struct Collectives {
    pub filter: CollectiveFilter,
    pub treatment: Treatment,
}

impl CollectiveFilter {
    /// Reads the keys that select collectives, if there is one that names a collective.
    pub(crate) fn read(keys: &mut Keys) -> Result<Option<Self>, Mistake> {
        let Some(name) = keys.text("collective")? else { return Ok(None) };
        let kind = CollectiveKind::ALL.into_iter().find(|kind| kind.name() == name.get_ref());
        let Some(kind) = kind else {
            let names = CollectiveKind::ALL.map(CollectiveKind::name).join(", ");
            return Err(keys.wrong(&name, format!("there is no such collective: there are {names}")));
        };
        let selection = keys.selection_of_messages()?.into();
        Ok(Some(Self { selection, kind: Spanned::new(name.span(), kind) }))
    }
}

/// The collectives that a change is about.
#[derive(Clone)]
pub(crate) struct CollectiveFilter {
    selection: Arc<Selection>,
    kind: Spanned<CollectiveKind>,
}

impl CollectiveFilter {
    pub(crate) fn kind(&self) -> CollectiveKind {
        *self.kind.get_ref()
    }

    fn selects(&self, position: &Position, thread: ThreadId, call: &Collective) -> bool {
        call.kind == *self.kind.get_ref() && position.is_inside(thread) && position.is_on(call.comm)
    }

    /// Finds fault with a change that leaves some members in a collective.
    fn check(&self, trace: &Trace) -> Result<(), TraceError> {
        let mut agreed = Agreed::new(trace.ranks());
        survey(trace, &self.selection, |position, Located { event, location }| {
            let EventRef::Event(event) = event else { return Ok(()) };
            let seen = agreed.see(position.rank, event, |call| self.selects(position, location.thread, call));
            seen.map_err(|reason| self.refuse(reason).into())
        })?;
        agreed.finish().map_err(|reason| self.refuse(reason).into())
    }

    fn refuse(&self, reason: Refusal) -> Mistake {
        let Selection { source, ranks, region, call_site, .. } = &*self.selection;
        let name = self.kind.get_ref().name();
        match reason {
            Refusal::Fault(fault) => self.selection.mistake(fault.to_string()),
            Refusal::Nothing => source.mistake(
                self.kind.span(),
                format!("no {name} is selected here, or the changes before this one leave none"),
            ),
            Refusal::SomeMembers { rank, first } => {
                let places = region.as_ref().or(call_site.as_ref()).map(Spanned::span);
                let key = ranks.as_ref().map(Spanned::span).or(places);
                let message = format!(
                    "ranks {} and {} are members of a communicator, and this selects a {name} of only one of them",
                    first.0, rank.0
                );
                let mistake = source.mistake(key.unwrap_or(self.selection.place.clone()), message);
                mistake.with_help("select all members or none")
            }
        }
    }
}

/// A reason to refuse a change of collectives.
enum Refusal {
    Fault(Fault),
    Nothing,
    SomeMembers { rank: Rank, first: Rank },
}

/// The collectives that members have selected.
struct Agreed {
    communicators: Communicators,
    /// The first member of each communicator, and its choice.
    first: FxHashMap<Context, (Rank, Choice)>,
    /// The rank that is read, and its choice on each communicator.
    rank: Rank,
    own: FxHashMap<Context, Choice>,
}

/// The selected collectives on a communicator, by their numbers.
#[derive(Clone, Default)]
struct Choice {
    /// The number of collectives that were passed.
    passed: u64,
    /// The bounds of runs of selected collectives.
    selected: Vec<(u64, u64)>,
}

impl Choice {
    fn push(&mut self, is_selected: bool) {
        let number = self.passed;
        self.passed += 1;
        match self.selected.last_mut() {
            _ if !is_selected => {}
            Some((_, end)) if *end == number => *end += 1,
            Some(_) | None => self.selected.push((number, number + 1)),
        }
    }
}

impl Agreed {
    fn new(ranks: u32) -> Self {
        let communicators = Communicators::new(ranks as usize);
        Self { communicators, first: FxHashMap::default(), rank: Rank(0), own: FxHashMap::default() }
    }

    /// The next event of a rank, which selects a collective or does not.
    fn see(&mut self, rank: Rank, event: &Event, selects: impl FnOnce(&Collective) -> bool) -> Result<(), Refusal> {
        if rank != self.rank {
            self.compare()?;
            self.rank = rank;
        }
        if let Event::Collective(call, Completion::Blocking | Completion::Request(_)) = event {
            let index = self.communicators.find(rank, call.comm).map_err(Refusal::Fault)?;
            let context = self.communicators.get(index).context;
            self.own.entry(context).or_default().push(selects(call));
        }
        if let Event::CommCreate(call, parent, Some(group)) = event {
            self.communicators.create(rank, *call, *parent, group).map_err(Refusal::Fault)?;
        }
        if let Event::CommFree(id) = event {
            self.communicators.free(rank, *id).map_err(Refusal::Fault)?;
        }
        Ok(())
    }

    /// Compares the selection of the rank just read with those of the first members.
    fn compare(&mut self) -> Result<(), Refusal> {
        for (context, own) in self.own.drain() {
            let (first, choice) = self.first.entry(context).or_insert_with(|| (self.rank, own.clone()));
            if choice.selected != own.selected {
                return Err(Refusal::SomeMembers { rank: self.rank, first: *first });
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(), Refusal> {
        self.compare()?;
        let is_any = self.first.values().any(|(_, choice)| !choice.selected.is_empty());
        if is_any { Ok(()) } else { Err(Refusal::Nothing) }
    }
}

impl Transformation for Collectives {
    fn apply(&self, trace: Trace) -> Result<Trace, TraceError> {
        self.filter.check(&trace)?;
        let (filter, treatment) = (self.filter.clone(), self.treatment);
        Ok(rewritten(trace, &self.filter.selection, move |_| CollectiveRewrite {
            filter: filter.clone(),
            treatment,
            removed: RemovedRequests::default(),
            annotations: Vec::new(),
        }))
    }
}

/// The change of one rank's events.
struct CollectiveRewrite {
    filter: CollectiveFilter,
    treatment: Treatment,
    removed: RemovedRequests,
    /// Annotations of the next event, which go with it.
    annotations: Vec<(Event, Location)>,
}

impl Rewrite for CollectiveRewrite {
    fn rewrite(&mut self, position: &Position, Located { event, location }: Located<'_>, out: &mut LocatedEvents) {
        if let EventRef::Compute(_) | EventRef::Send(..) | EventRef::Recv(..) = event {
            self.annotations.drain(..).for_each(|(annotation, location)| out.push(annotation, location));
            return out.push(event.to_event(), location);
        }
        let event = event.to_event();
        if let Event::Annotation(_) = event {
            return self.annotations.push((event, location));
        }
        let changed = match self.selected(position, location, &event) {
            Some((call, completion)) => {
                let treated = self.treatment.collective(call);
                if let (None, Completion::Request(id)) = (&treated, completion) {
                    self.removed.start_numbered(id, true);
                }
                treated.map(|call| Event::Collective(call, completion))
            }
            None => self.removed.without(event),
        };
        let annotations = self.annotations.drain(..);
        if let Some(event) = changed {
            annotations.for_each(|(annotation, location)| out.push(annotation, location));
            out.push(event, location);
        }
    }
}

impl CollectiveRewrite {
    /// The collective that an event is, if it is selected.
    fn selected(&self, position: &Position, location: Location, event: &Event) -> Option<(Collective, Completion)> {
        let Event::Collective(call, completion @ (Completion::Blocking | Completion::Request(_))) = event else {
            return None;
        };
        self.filter.selects(position, location.thread, call).then(|| (call.clone(), *completion))
    }
}
