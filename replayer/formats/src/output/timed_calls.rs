//! The calls of a rank with their times, for formats whose records have times.
//!
//! The times are those of an extended trace, by the clock of rank 0. In a trace without times, an instruction takes a
//! nanosecond.

use std::io::Error;
use std::mem;

use titr_common::event::{Annotation, CommCall, Event, Rank, Span, ThreadId};
use titr_common::program::Fault;
use titr_common::trace::manifest::Clock;
use titr_common::trace::{RankStream, Trace};

use super::ConvertError;
use crate::input::notes::Notes;

/// A call of MPI. Times are nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct TimedCall {
    pub begin: u64,
    pub end: u64,
    pub thread: ThreadId,
    /// The computation since the call before.
    pub instructions: f64,
    /// The events before the call that only describe it: matches of receives, cancelled requests, marks, and communicators
    /// that are there without a call.
    pub before: Vec<Event>,
    pub event: Event,
}

/// A rank's stream, call by call.
pub(super) struct TimedCalls {
    rank: Rank,
    stream: RankStream,
    clock: Option<Clock>,
    /// The least time that a call takes, and the least time between two calls.
    spacing: u64,
    /// The end of the last call, and the nanoseconds that a trace without times has passed since.
    returned: u64,
    passed: f64,
    span: Option<Span>,
    calls: u64,
    /// What the calls leave out.
    pub notes: Notes,
}

impl TimedCalls {
    /// The calls of `rank`.
    ///
    /// # Errors
    /// If the stream cannot be opened.
    pub(super) fn of(trace: &Trace, rank: Rank, spacing: u64) -> Result<Self, ConvertError> {
        let clock = trace.manifest().and_then(|manifest| manifest.of_rank(rank)?.clock);
        let stream = trace.stream(rank)?;
        let (span, notes) = (None, Notes::default());
        Ok(Self { rank, stream, clock, spacing, returned: 0, passed: 0.0, span, calls: 0, notes })
    }

    /// The next call; `None` at the end.
    ///
    /// # Errors
    /// If the trace cannot be read, or is a graph.
    pub(super) fn next(&mut self) -> Result<Option<TimedCall>, ConvertError> {
        let (mut before, mut instructions) = (Vec::new(), 0.0);
        while let Some(event) = self.stream.next_event()? {
            match event {
                Event::Annotation(Annotation::Call(span)) => self.span = Some(span),
                Event::Annotation(Annotation::Message(_)) => {
                    self.notes.add("messages inside of collectives are left out")
                }
                Event::Compute(work) => {
                    instructions += work.0;
                    self.passed += work.0;
                }
                Event::Sleep(time) => self.passed += time.0 * 1e9,
                Event::Matched(..) | Event::Cancel(_) | Event::Mark(_) => before.push(event),
                Event::CommCreate(CommCall::World, ..) => before.push(event),
                Event::Task(_) => {
                    let what = format!("rank {}: a graph has no calls in an order, as this format needs", self.rank.0);
                    return Err(ConvertError::Output(Error::other(what)));
                }
                Event::Init | Event::Finalize | Event::Start(_) | Event::RequestFree(_) | Event::CommFree(_) => {
                    return Ok(Some(self.call(event, before, instructions)));
                }
                Event::Send(..) | Event::Recv(..) | Event::Sendrecv(..) | Event::Probe(_) | Event::Iprobe(..) => {
                    return Ok(Some(self.call(event, before, instructions)));
                }
                Event::Wait(..) | Event::Test(..) | Event::Collective(..) | Event::Neighborhood(..) => {
                    return Ok(Some(self.call(event, before, instructions)));
                }
                Event::Partitioned(_)
                | Event::OneSided(_)
                | Event::File(_)
                | Event::Other(_)
                | Event::CommCreate(..) => {
                    return Ok(Some(self.call(event, before, instructions)));
                }
            }
        }
        Ok(None)
    }

    fn call(&mut self, event: Event, before: Vec<Event>, instructions: f64) -> TimedCall {
        let passed = mem::take(&mut self.passed);
        let (begin, end) = match self.span.take() {
            Some(span) => {
                let at = |shown| self.clock.map_or(shown, |clock| clock.at_rank_zero(shown)).0;
                (at(span.begin), at(span.end))
            }
            None => {
                if instructions > 0.0 {
                    self.notes.add("computations of instructions became times, a nanosecond for an instruction");
                }
                // What is less than a nanosecond passes before a later call.
                self.passed = passed.fract();
                let begin = self.returned.saturating_add(passed as u64);
                (begin, begin)
            }
        };
        let apart = if self.calls > 0 { self.spacing } else { 0 };
        // Calls of several threads overlap.
        let begin = begin.max(self.returned.saturating_add(apart));
        let end = end.max(begin.saturating_add(self.spacing));
        self.returned = end;
        self.calls += 1;
        let thread = self.stream.location().thread;
        TimedCall { begin, end, thread, instructions, before, event }
    }

    /// The error of the call that was read last.
    pub(super) fn fault(&self, fault: Fault) -> ConvertError {
        ConvertError::at(self.rank, &self.stream, fault)
    }
}
