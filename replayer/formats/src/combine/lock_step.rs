//! Reads the recordings of one rank in several runs call by call, and checks that the calls are equal.
//!
//! A *call* is every event but those of a program that waits by polling, computation, and the call sites of these. A
//! *step* is a call and everything between it and the call before, or the rest of the recording after the last call.

use std::path::PathBuf;

use titr_common::event::{Actor, Event, Mark, Rank, ThreadId};
use titr_common::statistics::deviation;
use titr_common::trace::combined::{CombinedBy, RepeatedComputation};
use titr_common::trace::{EventSource as _, RankStream, TraceError};
use titr_common::units::Instructions;

use super::{CombineError, NamedTrace, RecordedCall, VolumeSums};

/// Whether an event is a call, which all runs must have in common.
pub(super) fn is_call(event: &Event) -> bool {
    !event.is_polling() && !matches!(event, Event::Mark(Mark::CallSite(_) | Mark::CallStack(..)))
}

/// The computation of one thread in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ChosenVolume {
    pub thread: ThreadId,
    /// The volume in the first run.
    pub first: f64,
    /// The volume in the combined trace.
    pub chosen: f64,
}

/// One run's recording of a rank.
struct RunRecording {
    stream: RankStream,
    path: PathBuf,
    /// The volume of each thread in the current step.
    volumes: Vec<(ThreadId, f64)>,
    /// The volume of all steps so far.
    total: f64,
    /// The call of the current step and the thread that makes it; `None` at the end.
    call: Option<(ThreadId, Event)>,
}

/// The recordings of a rank in all runs, at the same step.
pub(super) struct LockStep {
    rank: Rank,
    recordings: Vec<RunRecording>,
    has_ended: bool,
}

impl RunRecording {
    fn advance(&mut self) -> Result<(), TraceError> {
        self.volumes.clear();
        self.call = None;
        while let Some(event) = self.stream.next_event()? {
            let thread = self.stream.location().thread;
            if let Event::Compute(Instructions(volume)) = event {
                self.add(thread, volume);
            } else if is_call(&event) {
                self.call = Some((thread, event));
                break;
            }
        }
        Ok(())
    }

    fn add(&mut self, thread: ThreadId, volume: f64) {
        self.total += volume;
        match self.volumes.iter_mut().find(|(other, _)| *other == thread) {
            Some((_, sum)) => *sum += volume,
            None => self.volumes.push((thread, volume)),
        }
    }

    fn volume(&self, thread: ThreadId) -> f64 {
        self.volumes.iter().find(|(other, _)| *other == thread).map_or(0.0, |(_, volume)| *volume)
    }

    /// The current call, for an error.
    fn recorded_call(&self, rank: Rank) -> RecordedCall {
        let location = self.stream.location();
        let (path, event) = (self.path.clone(), self.call.as_ref().map(|(_, event)| event.clone()));
        let line = location.line.filter(|_| event.is_some());
        RecordedCall { path, line, actor: Actor { rank, thread: location.thread }, event }
    }
}

impl LockStep {
    /// The recordings of `rank`, before the first step.
    pub fn new(runs: &[NamedTrace<'_>], rank: Rank) -> Result<Self, TraceError> {
        let open = |(path, run): &NamedTrace<'_>| {
            let stream = run.stream(rank)?;
            let path = stream.path().unwrap_or_else(|| path.into());
            Ok(RunRecording { stream, path, volumes: Vec::new(), total: 0.0, call: None })
        };
        let recordings = runs.iter().map(open).collect::<Result<_, TraceError>>()?;
        Ok(Self { rank, recordings, has_ended: false })
    }

    /// Reads the next step; false after the last.
    pub fn advance(&mut self) -> Result<bool, CombineError> {
        if self.has_ended {
            return Ok(false);
        }
        self.recordings.iter_mut().try_for_each(RunRecording::advance)?;
        let Some((first, others)) = self.recordings.split_first() else { return Ok(false) };
        if let Some(other) = others.iter().find(|other| other.call != first.call) {
            let calls = (first.recorded_call(self.rank), other.recorded_call(self.rank));
            return Err(CombineError::Communication(Box::new(calls)));
        }
        self.has_ended = first.call.is_none();
        Ok(true)
    }

    /// The volumes of the current step, one for each thread that computes in any run. Adds them to `sums`.
    pub fn choose(&self, by: CombinedBy, sums: &mut VolumeSums) -> Vec<ChosenVolume> {
        let mut chosen: Vec<ChosenVolume> = Vec::new();
        for &(thread, _) in self.recordings.iter().flat_map(|recording| &recording.volumes) {
            if chosen.iter().any(|volume| volume.thread == thread) {
                continue;
            }
            let mut volumes: Vec<f64> = self.recordings.iter().map(|recording| recording.volume(thread)).collect();
            sums.means += volumes.iter().sum::<f64>() / volumes.len() as f64;
            sums.deviations += deviation(&volumes);
            let first = volumes.first().copied().unwrap_or_default();
            chosen.push(ChosenVolume { thread, first, chosen: by.choose(&mut volumes) });
        }
        chosen
    }

    /// The computation of the rank in each run so far.
    pub fn computation(&self) -> RepeatedComputation {
        RepeatedComputation::new(self.recordings.iter().map(|recording| Instructions(recording.total)).collect())
    }
}
