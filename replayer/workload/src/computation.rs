//! The computation of ranks between their calls: the recorded counts, the recorded times, or none.

use std::collections::BTreeMap;
use std::sync::Arc;

use titr_common::event::{Annotation, Event, Rank, Span, ThreadId};
use titr_common::event_buffer::EventRef;
use titr_common::program::OpenRegions;
use titr_common::trace::manifest::Mode;
use titr_common::trace::{ChangeEvents, Located, LocatedEvents, Manifest, Trace, TraceError, Transformation};
use titr_common::units::{Instructions, Nanoseconds, Seconds};

/// The source of the computation between two calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Computation {
    /// The volume that was counted.
    #[default]
    Counted,
    /// The time between the calls of an extended trace, independent of the simulated host.
    Timed,
    /// There is none.
    Ignored,
}

impl Computation {
    /// The source that a user expects of `trace`: the recorded times of a trace in a format of another tool, if it has any,
    /// and otherwise the volumes.
    #[must_use]
    pub fn of(trace: &Trace) -> Self {
        let is_foreign = |manifest: &Manifest| manifest.foreign.is_some() && manifest.mode == Mode::Extended;
        if trace.manifest().is_some_and(is_foreign) { Self::Timed } else { Self::Counted }
    }
}

/// The transformation of a trace that changes the computation of each rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComputeScaling {
    /// The source of the computation between two calls.
    pub computation: Computation,
    /// The factor that the computation is multiplied by.
    pub scale: f64,
}

impl Transformation for ComputeScaling {
    fn apply(&self, trace: Trace) -> Result<Trace, TraceError> {
        let Self { computation, scale } = *self;
        if computation == Computation::Counted && scale.to_bits() == 1.0_f64.to_bits() {
            return Ok(trace);
        }
        let may_begin = trace.manifest().is_some_and(|manifest| manifest.foreign.is_none());
        Ok(trace.map_events(move |_| ScaleCompute { may_begin, ..ScaleCompute::new(computation, scale) }))
    }
}

/// Transforms a trace whose ranks count computation in different units: each rank's count is multiplied by the weight
/// of its unit. Computation that is a time does not change.
#[derive(Clone, Debug, PartialEq)]
pub struct Normalise {
    /// Weights by rank.
    pub worth: Vec<f64>,
}

impl Transformation for Normalise {
    fn apply(&self, trace: Trace) -> Result<Trace, TraceError> {
        if self.worth.iter().all(|worth| worth.to_bits() == 1.0_f64.to_bits()) {
            return Ok(trace);
        }
        let worth = self.worth.clone();
        let of_rank = move |rank: Rank| worth.get(rank.0 as usize).copied().unwrap_or(1.0);
        Ok(trace.map_events(move |rank| ScaleCompute::new(Computation::Counted, of_rank(rank))))
    }
}

struct ScaleCompute {
    computation: Computation,
    scale: f64,
    /// The end of the last call of each thread; for the main thread, initially the start of the clock.
    returned: Vec<Option<Nanoseconds>>,
    /// Whether a time that the source gives now is that of `init`, when titr's tracer was set up.
    may_begin: bool,
}

impl ScaleCompute {
    fn new(computation: Computation, scale: f64) -> Self {
        Self { computation, scale, returned: vec![Some(Nanoseconds(0))], may_begin: false }
    }

    /// The time that a thread computed before a call, by the time it spent outside of MPI.
    fn computed_before(&mut self, thread: ThreadId, call: Span) -> Option<Seconds> {
        let at = thread.0 as usize;
        if self.returned.len() <= at {
            self.returned.resize(at + 1, None);
        }
        // The computation of a thread before its first call is not known.
        let before = self.returned[at].replace(call.end).unwrap_or(call.begin);
        let passed = call.begin.0.saturating_sub(before.0) as f64 * 1e-9 * self.scale;
        (passed > 0.0).then_some(Seconds(passed))
    }
}

impl ChangeEvents for ScaleCompute {
    fn change(&mut self, Located { event, location }: Located<'_>, changed: &mut LocatedEvents) {
        let begins = std::mem::take(&mut self.may_begin);
        if let EventRef::Compute(work) = event {
            if self.computation == Computation::Counted {
                changed.push(Event::Compute(Instructions(work.0 * self.scale)), location);
            }
            return;
        }
        if let EventRef::Event(&Event::Annotation(Annotation::Call(call))) = event
            && self.computation == Computation::Timed
            && let Some(time) = self.computed_before(location.thread, call)
            && !begins
        {
            changed.push(Event::Sleep(time), location);
        }
        changed.push(event.to_event(), location);
    }

    fn keeps_rounds(&self) -> bool {
        self.computation != Computation::Timed
    }
}

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
