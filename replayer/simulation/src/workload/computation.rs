//! What ranks compute between their calls: as it was counted, as long as it took when it was traced, or nothing.

use std::path::PathBuf;

use titr_common::event::{Annotation, Event, Span, ThreadId};
use titr_common::event_buffer::EventBuffer;
use titr_common::trace::{RankStream, TraceError};
use titr_common::units::{Instructions, Nanoseconds, Seconds};

use super::Program;

/// Where the computation between two calls comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Computation {
    /// The volume that was counted.
    #[default]
    Counted,
    /// The time that lies between the calls of an extended trace, whatever the simulated host.
    Timed,
    /// There is none.
    Ignored,
}

/// A rank's events with its computation changed.
pub struct Recomputed {
    stream: RankStream,
    computation: Computation,
    scale: f64,
    /// When the last call of each thread returned; that of the main one, when the clock began.
    returned: Vec<Option<Nanoseconds>>,
}

impl Recomputed {
    /// The events of `stream`, whose computation is multiplied with `scale`.
    #[must_use]
    pub fn new(stream: RankStream, computation: Computation, scale: f64) -> Self {
        Self { stream, computation, scale, returned: vec![Some(Nanoseconds(0))] }
    }

    /// The event in place of this one, before it stands what is computed instead.
    fn recompute(&mut self, event: Event, thread: ThreadId, events: &mut EventBuffer) {
        match (event, self.computation) {
            (Event::Compute(work), Computation::Counted) => {
                events.push(Event::Compute(Instructions(work.0 * self.scale)));
            }
            (Event::Compute(_), Computation::Timed | Computation::Ignored) => {}
            (event @ Event::Annotation(Annotation::Call(Span { begin, end })), Computation::Timed) => {
                let at = thread.0 as usize;
                if self.returned.len() <= at {
                    self.returned.resize(at + 1, None);
                }
                // What a thread computed before its first call is not known.
                let before = self.returned[at].replace(end).unwrap_or(begin);
                let passed = begin.0.saturating_sub(before.0) as f64 * 1e-9 * self.scale;
                if passed > 0.0 {
                    events.push(Event::Sleep(Seconds(passed)));
                }
                events.push(event);
            }
            (event, _) => events.push(event),
        }
    }
}

impl Program for Recomputed {
    fn read(&mut self, events: &mut EventBuffer) -> Result<bool, TraceError> {
        if self.computation == Computation::Counted && self.scale.to_bits() == 1.0_f64.to_bits() {
            return self.stream.read(events);
        }
        let Some(event) = self.stream.next_event()? else { return Ok(false) };
        self.recompute(event, self.stream.thread(), events);
        Ok(true)
    }

    fn path(&self) -> Option<PathBuf> {
        Program::path(&self.stream)
    }

    fn line(&self) -> Option<u64> {
        Program::line(&self.stream)
    }

    fn thread(&self) -> ThreadId {
        self.stream.thread()
    }

    fn torn(&self) -> Option<String> {
        self.stream.torn()
    }
}
