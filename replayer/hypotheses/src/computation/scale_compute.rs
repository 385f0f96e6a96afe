//! Multiplies computation by factors.
//!
//! Consecutive changes are one transformation: it surveys the trace once, and a rank's events pass it once, regardless
//! of the number of changes.

use std::sync::Arc;

use titr_common::event::{Collective, Event};
use titr_common::event_buffer::EventRef;
use titr_common::trace::{Located, LocatedEvents, Trace, TraceError, Transformation};
use titr_common::units::Instructions;
use titr_document::Mistake;

use super::volume::{Factor, Volume};
use crate::keys::Keys;
use crate::kind::{Effect, Kind, Scaling};
use crate::position::Position;
use crate::rewriting::{Rewrite, rewritten, survey_all};
use crate::selection::Selection;

/// All computation takes longer, or shorter.
pub(crate) const SCALE_COMPUTE: Kind = Kind { name: "scale-compute", read: scale };

/// No computation takes any time, and neither do the reductions of collectives.
pub(crate) const INFINITE_CPU: Kind = Kind { name: "infinite-cpu", read: infinite };

fn scale(keys: &mut Keys) -> Result<Effect, Mistake> {
    let selection = keys.selection()?.into();
    let factor = keys.factor("factor")?;
    let factor = keys.required("factor", factor)?;
    Ok(Effect::Scaling(Scaling { selection, factor, reductions: false }))
}

fn infinite(keys: &mut Keys) -> Result<Effect, Mistake> {
    Ok(Effect::Scaling(Scaling { selection: keys.selection()?.into(), factor: 0.0, reductions: true }))
}

/// Changes of a trace, one after the other.
#[derive(Default)]
pub(crate) struct Scalings {
    selections: Vec<Arc<Selection>>,
    factors: Vec<ScalingFactor>,
}

/// The factor of a change.
#[derive(Clone, Copy)]
struct ScalingFactor {
    factor: f64,
    /// Whether the computation within collectives is scaled as well.
    reductions: bool,
}

impl Scalings {
    /// Adds a change after the others.
    pub(crate) fn push(&mut self, Scaling { selection, factor, reductions }: Scaling) {
        self.selections.push(selection);
        self.factors.push(ScalingFactor { factor, reductions });
    }
}

impl Transformation for Scalings {
    fn apply(&self, trace: Trace) -> Result<Trace, TraceError> {
        let Self { selections, factors } = self;
        let Some(first) = selections.first() else { return Ok(trace) };
        let mut is_any = vec![false; selections.len()];
        survey_all(&trace, selections, |positions, located| {
            let Some(mut volume) = Volume::of(located.event) else { return Ok(()) };
            for ((position, ScalingFactor { factor, .. }), is_any) in positions.iter().zip(factors).zip(&mut is_any) {
                if position.is_inside(located.location.thread) {
                    *is_any |= volume.is_some();
                    volume = volume.scaled(Factor::of_both(*factor));
                }
            }
            Ok(())
        })?;
        if let Some((selection, _)) = selections.iter().zip(is_any).find(|(_, is_any)| !is_any) {
            let message = "no computation is selected here, or the changes before this one leave none of it";
            return Err(selection.mistake(message).into());
        }
        let (selections, factors): (Arc<[_]>, Arc<[_]>) = (selections.as_slice().into(), factors.as_slice().into());
        Ok(rewritten(trace, first, move |rank| ComputeScaling {
            positions: selections.iter().map(|selection| Position::new(rank, selection)).collect(),
            factors: Arc::clone(&factors),
        }))
    }
}

/// The changes of one rank's events.
struct ComputeScaling {
    /// The place that the rank is at, for the selection of each change.
    positions: Vec<Position>,
    factors: Arc<[ScalingFactor]>,
}

impl Rewrite for ComputeScaling {
    fn rewrite(&mut self, _: &Position, Located { event, location }: Located<'_>, out: &mut LocatedEvents) {
        let selected =
            self.positions.iter().zip(&*self.factors).filter(|(position, _)| position.is_inside(location.thread));
        let selected = selected.map(|(_, factor)| *factor);
        let changed = if Volume::of(event).is_some() {
            selected.fold(event.to_event(), |event, ScalingFactor { factor, .. }| {
                let volume = Volume::of(EventRef::Event(&event));
                volume.map_or(event, |volume| volume.times(Factor::of_both(factor)))
            })
        } else if let EventRef::Event(Event::Collective(call, completion)) = event {
            let mut reducing = selected.filter(|factor| factor.reductions).peekable();
            if reducing.peek().is_some() {
                let work = reducing.fold(call.work.0, |work, ScalingFactor { factor, .. }| work * factor);
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
