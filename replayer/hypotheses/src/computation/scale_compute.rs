//! Computation multiplied with a factor.

use std::sync::Arc;

use titr_common::event::{Collective, Event};
use titr_common::event_buffer::EventRef;
use titr_common::trace::{Located, LocatedEvents, Trace, TraceError, Transformation};
use titr_common::units::Instructions;

use super::volume::{Factor, Volume};
use crate::keys::Keys;
use crate::kind::{Effect, Kind};
use crate::position::Position;
use crate::rewriting::{Rewrite, rewritten, survey};
use crate::selection::Selection;
use crate::source::Mistake;

/// All computation takes longer, or shorter.
pub const SCALE_COMPUTE: Kind = Kind { name: "scale-compute", read: scale };

/// No computation takes any time, and neither do the reductions of collectives.
pub const INFINITE_CPU: Kind = Kind { name: "infinite-cpu", read: infinite };

fn scale(keys: &mut Keys<'_>) -> Result<Effect, Mistake> {
    let selection = keys.selection()?.into();
    let factor = keys.factor("factor")?;
    let factor = keys.required("factor", factor)?;
    Ok(Effect::program(Scale { selection, factor, reductions: false }))
}

fn infinite(keys: &mut Keys<'_>) -> Result<Effect, Mistake> {
    Ok(Effect::program(Scale { selection: keys.selection()?.into(), factor: 0.0, reductions: true }))
}

/// The change of a trace.
struct Scale {
    selection: Arc<Selection>,
    factor: f64,
    /// Whether the computation within collectives is multiplied too.
    reductions: bool,
}

impl Transformation for Scale {
    fn apply(&self, trace: Trace) -> Result<Trace, TraceError> {
        let Self { ref selection, factor, reductions } = *self;
        let mut is_any = false;
        survey(&trace, selection, |position, located| {
            let volume = Volume::of(located.event).filter(|volume| volume.is_some());
            is_any |= volume.is_some() && position.is_inside(located.location.thread);
            Ok(())
        })?;
        if !is_any {
            let message = "no computation is selected here, or the changes before this one leave none of it";
            return Err(selection.mistake(message).into());
        }
        Ok(rewritten(trace, selection, move |_| ComputeScaling { factor, reductions }))
    }
}

/// The change of one rank's events.
struct ComputeScaling {
    factor: f64,
    reductions: bool,
}

impl Rewrite for ComputeScaling {
    fn rewrite(&mut self, position: &Position, Located { event, location }: Located<'_>, out: &mut LocatedEvents) {
        if !position.is_inside(location.thread) {
            return out.push(event.to_event(), location);
        }
        if let Some(volume) = Volume::of(event) {
            return out.push(volume.times(Factor::of_both(self.factor)), location);
        }
        if let EventRef::Event(Event::Collective(call, completion)) = event
            && self.reductions
        {
            let work = Instructions(call.work.0 * self.factor);
            return out.push(Event::Collective(Collective { work, ..call.clone() }, *completion), location);
        }
        out.push(event.to_event(), location);
    }
}
