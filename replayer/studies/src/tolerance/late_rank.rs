//! A program in which a rank begins late.

use titr_common::event::{Event, Rank};
use titr_common::trace::{ChangedEvents, EventSource, Located, LocatedEvents, Trace, TraceError, Transformation};
use titr_common::units::Seconds;

/// The transformation of a trace that delays the first event of a rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct LateRank {
    /// The rank.
    pub rank: Rank,
    /// The time before its first event.
    pub delay: Seconds,
}

impl Transformation for LateRank {
    fn apply(&self, trace: Trace) -> Result<Trace, TraceError> {
        let Self { rank: late, delay } = *self;
        Ok(trace.map_sources(move |rank, source| -> Box<dyn EventSource + Send> {
            if rank != late {
                return source;
            }
            let mut delay = Some(delay);
            Box::new(ChangedEvents::new(source, move |located: Located<'_>, changed: &mut LocatedEvents| {
                if let Some(delay) = delay.take() {
                    changed.push(Event::Sleep(delay), located.location);
                }
                changed.push(located.event.to_event(), located.location);
            }))
        }))
    }
}
