//! Rates of computation by region of the program: loops that use caches and pipelines differently run at rates of their
//! own.

use std::collections::BTreeMap;
use std::sync::Arc;

use titr_common::event::{Event, ThreadId};
use titr_common::event_buffer::EventRef;
use titr_common::program::OpenRegions;
use titr_common::trace::{ChangeEvents, Located, LocatedEvents, Trace, TraceError, Transformation};
use titr_common::units::Instructions;

/// Transforms a trace so that counted computation takes the time given by the rate of its region. Computation that is a
/// time does not change. For nested regions, the innermost one with a speed applies.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionSpeeds {
    /// The part of a core's speed, by the name of the region.
    pub parts: BTreeMap<String, f64>,
}

impl Transformation for RegionSpeeds {
    fn apply(&self, trace: Trace) -> Result<Trace, TraceError> {
        if self.parts.is_empty() {
            return Ok(trace);
        }
        let parts = Arc::new(self.parts.clone());
        Ok(trace.map_events(move |_| ScaleByRegion { parts: Arc::clone(&parts), threads: Vec::new() }))
    }
}

/// Scales the computation of one rank by the speeds of its regions.
struct ScaleByRegion {
    parts: Arc<BTreeMap<String, f64>>,
    threads: Vec<OpenRegions>,
}

impl ScaleByRegion {
    fn open(&mut self, thread: ThreadId) -> &mut OpenRegions {
        let at = thread.0 as usize;
        if self.threads.len() <= at {
            self.threads.resize_with(at + 1, OpenRegions::default);
        }
        &mut self.threads[at]
    }

    /// The part of its speed at which a thread computes.
    fn part(&self, thread: ThreadId) -> f64 {
        let open = self.threads.get(thread.0 as usize);
        let part = open.and_then(|open| open.names().find_map(|name| self.parts.get(name)));
        part.copied().unwrap_or(1.0)
    }
}

impl ChangeEvents for ScaleByRegion {
    fn change(&mut self, Located { event, location }: Located<'_>, changed: &mut LocatedEvents) {
        if let EventRef::Compute(work) = event {
            return changed.push(Event::Compute(Instructions(work.0 / self.part(location.thread))), location);
        }
        if let EventRef::Event(Event::Mark(mark)) = event {
            self.open(location.thread).pass(mark);
        }
        changed.push(event.to_event(), location);
    }
}
