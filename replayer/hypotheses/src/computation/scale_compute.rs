//! Multiplies computation by factors.
//!
//! Consecutive changes are one transformation: it surveys the trace once, and a rank's events pass it once, regardless
//! of the number of changes.

use std::sync::Arc;

use titr_common::event::{Collective, Event};
use titr_common::event_buffer::EventRef;
use titr_common::trace::{Located, LocatedEvents, Trace, TraceError};
use titr_common::units::Instructions;
use titr_document::Mistake;

use super::volume::{Factor, Volume};
use crate::keys::Keys;
use crate::kind::{Effect, Kind, ProgramChange, Scaling};
use crate::position::Position;
use crate::rewriting::{Rewrite, rewritten, survey_all};

/// All computation takes longer, or shorter.
pub(crate) const SCALE_COMPUTE: Kind = Kind { name: "scale-compute", read: scale };

/// No computation takes any time, and neither do the reductions of collectives.
pub(crate) const INFINITE_CPU: Kind = Kind { name: "infinite-cpu", read: infinite };

fn scale(keys: &mut Keys) -> Result<Effect, Mistake> {
    let selection = keys.selection()?.into();
    let factor = keys.required("factor", Keys::factor)?;
    Ok(effect(Scaling { selection, factor, reductions: false }))
}

fn infinite(keys: &mut Keys) -> Result<Effect, Mistake> {
    Ok(effect(Scaling { selection: keys.selection()?.into(), factor: 0.0, reductions: true }))
}

fn effect(scaling: Scaling) -> Effect {
    Effect::Program(ProgramChange::Scalings(vec![scaling]))
}

/// The trace after these changes, one after the other.
pub(crate) fn scaled(scalings: &[Scaling], trace: Trace) -> Result<Trace, TraceError> {
    let Some(first) = scalings.first() else { return Ok(trace) };
    let selections: Vec<_> = scalings.iter().map(|scaling| Arc::clone(&scaling.selection)).collect();
    let mut is_any = vec![false; scalings.len()];
    survey_all(&trace, &selections, |positions, located| {
        let Some(mut volume) = Volume::of(located.event) else { return Ok(()) };
        for ((position, scaling), is_any) in positions.iter().zip(scalings).zip(&mut is_any) {
            if position.is_inside(located.location.thread) {
                *is_any |= volume.is_some();
                volume = volume.scaled(Factor::of_both(scaling.factor));
            }
        }
        Ok(())
    })?;
    if let Some((scaling, _)) = scalings.iter().zip(is_any).find(|(_, is_any)| !is_any) {
        let message = "no computation is selected here, or the changes before this one leave none of it";
        return Err(scaling.selection.mistake(message).into());
    }
    let scalings: Arc<[Scaling]> = scalings.into();
    Ok(rewritten(trace, &first.selection, move |rank| ComputeScaling {
        positions: scalings.iter().map(|scaling| Position::new(rank, &scaling.selection)).collect(),
        scalings: Arc::clone(&scalings),
    }))
}

/// The changes of one rank's events.
struct ComputeScaling {
    /// The place that the rank is at, for the selection of each change.
    positions: Vec<Position>,
    scalings: Arc<[Scaling]>,
}

impl Rewrite for ComputeScaling {
    fn rewrite(&mut self, _: &Position, Located { event, location }: Located<'_>, out: &mut LocatedEvents) {
        let selected =
            self.positions.iter().zip(&*self.scalings).filter(|(position, _)| position.is_inside(location.thread));
        let selected = selected.map(|(_, scaling)| scaling);
        let changed = if Volume::of(event).is_some() {
            selected.fold(event.to_event(), |event, scaling| {
                let volume = Volume::of(EventRef::Event(&event));
                volume.map_or(event, |volume| volume.times(Factor::of_both(scaling.factor)))
            })
        } else if let EventRef::Event(Event::Collective(call, completion)) = event {
            let mut reducing = selected.filter(|scaling| scaling.reductions).peekable();
            if reducing.peek().is_some() {
                let work = reducing.fold(call.work.0, |work, scaling| work * scaling.factor);
                Event::Collective(Collective { work: Instructions(work), ..call.clone() }, *completion)
            } else {
                event.to_event()
            }
        } else {
            event.to_event()
        };
        out.push(changed, location);
        self.positions.iter_mut().for_each(|position| position.pass(event, location.thread));
    }
}
