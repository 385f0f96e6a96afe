//! Two passes over a trace: the first learns facts about all ranks, the second changes the events as they stream by.

use std::collections::BTreeSet;
use std::sync::Arc;

use titr_common::event::{Event, Mark, Rank};
use titr_common::event_buffer::EventRef;
use titr_common::trace::{ChangeEvents, EventSource as _, Located, LocatedEvents, Trace, TraceError};
use titr_document::Spanned;

use crate::position::Position;
use crate::selection::Selection;

/// Maximum number of names of regions, or of call sites, that a message lists.
const LISTED: usize = 20;

/// Reads all events, rank after rank, and shows each to `visit` with the place that its rank is at.
///
/// # Errors
/// If the trace cannot be read, or has no such ranks, no such region or no such call site.
pub(crate) fn survey(
    trace: &Trace,
    selection: &Arc<Selection>,
    mut visit: impl FnMut(&Position, Located<'_>) -> Result<(), TraceError>,
) -> Result<(), TraceError> {
    survey_all(trace, std::slice::from_ref(selection), |positions, located| {
        positions.iter().try_for_each(|position| visit(position, located))
    })
}

/// Reads all events, rank after rank, and shows each to `visit` with the place that its rank is at, once for each selection.
///
/// # Errors
/// As [`survey`], for any selection.
pub(crate) fn survey_all(
    trace: &Trace,
    selections: &[Arc<Selection>],
    mut visit: impl FnMut(&[Position], Located<'_>) -> Result<(), TraceError>,
) -> Result<(), TraceError> {
    selections.iter().try_for_each(|selection| selection.fits(trace.ranks()))?;
    let mut marks: Vec<Marks<'_>> = selections.iter().map(|selection| Marks::of(selection)).collect();
    let mut events = LocatedEvents::default();
    for rank in (0..trace.ranks()).map(Rank) {
        let mut stream = trace.stream(rank)?;
        let mut positions: Vec<Position> = selections.iter().map(|selection| Position::new(rank, selection)).collect();
        let mut more = true;
        while more {
            events.clear();
            more = stream.read(&mut events)?;
            for located in events.iter() {
                visit(&positions, located)?;
                positions.iter_mut().for_each(|position| position.pass(located.event, located.location.thread));
                if let EventRef::Event(Event::Mark(mark)) = located.event {
                    marks.iter_mut().for_each(|marks| marks.add(mark));
                }
            }
        }
    }
    marks.into_iter().try_for_each(Marks::found)
}

/// The names of regions and call sites in a trace, if a selection needs them.
struct Marks<'s> {
    selection: &'s Selection,
    regions: Names<'s>,
    call_sites: Names<'s>,
}

impl<'s> Marks<'s> {
    fn of(selection: &'s Selection) -> Self {
        let (region, call_site) = (selection.region.as_ref(), selection.call_site.as_ref());
        Self { selection, regions: Names::of(region), call_sites: Names::of(call_site) }
    }

    fn add(&mut self, mark: &Mark) {
        match mark {
            Mark::RegionBegin(name) => self.regions.add(name, self.regions.is(name)),
            Mark::Control(level) if *level > 0 => {
                let name = level.to_string();
                self.regions.add(&name, self.regions.is(&name));
            }
            Mark::CallStack(_, stack) if self.selection.call_site.is_some() => {
                let is_selected = self.selection.has_call_site(stack);
                stack.iter().for_each(|place| self.call_sites.add(&place.to_string(), is_selected));
            }
            Mark::CallStack(..) | Mark::RegionEnd(_) | Mark::Control(_) | Mark::CallSite(_) => {}
            Mark::PartBegin | Mark::PartEnd | Mark::Unrecorded(_) => {}
        }
    }

    /// Finds fault with a region or a call site that the trace does not have.
    fn found(self) -> Result<(), TraceError> {
        self.regions.found(self.selection, |name, list| match list {
            "" => format!("the program marks no region '{name}': it marks none"),
            list => format!("the program marks no region '{name}': it marks {list}"),
        })?;
        self.call_sites.found(self.selection, |name, list| match list {
            "" => "the trace has no call sites: TITRACE_CALLSITES=1 records them".to_owned(),
            list => format!("no call is made from '{name}': there are {list}"),
        })
    }
}

/// The names in a trace, if one of them is selected.
struct Names<'s> {
    selected: Option<&'s Spanned<String>>,
    is_found: bool,
    /// Some of the names.
    list: BTreeSet<String>,
}

impl<'s> Names<'s> {
    fn of(selected: Option<&'s Spanned<String>>) -> Self {
        Self { selected, is_found: false, list: BTreeSet::new() }
    }

    fn is(&self, name: &str) -> bool {
        self.selected.is_some_and(|selected| selected.get_ref() == name)
    }

    /// The trace has a name, which is the selected one or not.
    fn add(&mut self, name: &str, is_selected: bool) {
        self.is_found |= is_selected;
        if self.selected.is_some() && self.list.len() < LISTED && !self.list.contains(name) {
            self.list.insert(name.to_owned());
        }
    }

    /// Finds fault with a name that the trace does not have; `message` is made of it and of a list of others.
    fn found(self, selection: &Selection, message: impl FnOnce(&str, &str) -> String) -> Result<(), TraceError> {
        match self.selected {
            Some(selected) if !self.is_found => {
                let list = self.list.into_iter().collect::<Vec<_>>().join(", ");
                Err(selection.source.mistake(selected.span(), message(selected.get_ref(), &list)).into())
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// Changes the events of one rank, one after the other.
pub(crate) trait Rewrite: Send {
    /// Appends to `out` the events that replace `event`, given its rank's position before the event.
    fn rewrite(&mut self, position: &Position, event: Located<'_>, out: &mut LocatedEvents);

    /// Appends the events that are still held back. Called after the last event.
    fn finish(&mut self, out: &mut LocatedEvents) {
        let _ = out;
    }
}

/// The trace with the events of each rank rewritten by the rank's result of `rewrite`.
pub(crate) fn rewritten<R: Rewrite + 'static>(
    trace: Trace,
    selection: &Arc<Selection>,
    rewrite: impl Fn(Rank) -> R + Send + Sync + 'static,
) -> Trace {
    let selection = Arc::clone(selection);
    trace.map_events(move |rank| RewriteFrom { position: Position::new(rank, &selection), rewrite: rewrite(rank) })
}

/// Rewrites the events of a rank, whose position it follows.
struct RewriteFrom<R> {
    position: Position,
    rewrite: R,
}

impl<R: Rewrite> ChangeEvents for RewriteFrom<R> {
    fn change(&mut self, located: Located<'_>, changed: &mut LocatedEvents) {
        self.rewrite.rewrite(&self.position, located, changed);
        self.position.pass(located.event, located.location.thread);
    }

    fn finish(&mut self, changed: &mut LocatedEvents) {
        self.rewrite.finish(changed);
    }
}
