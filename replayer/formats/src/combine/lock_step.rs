//! Reads the recordings of one rank in several runs call by call, and checks that the calls are equal.
//!
//! A *call* is every event but tests and probes that find nothing, computation, and the call sites of these. A *step* is a
//! call and everything between it and the call before, or the rest of the recording after the last call.
//!
//! A program that polls learns sooner or later that a request is complete. Where the runs are not at the same call, they
//! therefore pass [findings](findings) until they are: the step is then longer. What one run has passed, all others
//! have to pass as well.

use std::path::PathBuf;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use titr_common::event::{Actor, Event, Mark, Rank, RequestId, Tag, ThreadId};
use titr_common::statistics::deviation;
use titr_common::trace::combined::{CombinedBy, RepeatedComputation};
use titr_common::trace::{EventSource as _, RankStream, TraceError};
use titr_common::units::Instructions;

use super::requests::{AgreedNumbers, Fact, findings};
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
    requests: AgreedNumbers,
    /// The call that the run is at; `None` at the end.
    call: Option<ComparedCall>,
    /// The number of calls in the current step; the end counts as one.
    calls: usize,
    /// What this run has passed and others have not: the matches of wildcards, and where it was.
    ahead: FxHashMap<(RequestId, Fact), PassedFact>,
}

/// The match of a wildcard, if the fact is one, and the call where a run has passed it.
type PassedFact = (Option<(Rank, Tag)>, Rc<RecordedCall>);

struct ComparedCall {
    thread: ThreadId,
    recorded: Event,
    /// The call as it is compared with those of other runs.
    comparable: Event,
}

/// The recordings of a rank in all runs, at the same step.
pub(super) struct LockStep {
    rank: Rank,
    recordings: Vec<RunRecording>,
    has_ended: bool,
}

impl RunRecording {
    fn begin_step(&mut self) -> Result<(), TraceError> {
        self.volumes.clear();
        self.calls = 0;
        self.advance()
    }

    /// Reads up to the next call.
    fn advance(&mut self) -> Result<(), TraceError> {
        self.call = None;
        self.calls += 1;
        while let Some(event) = self.stream.next_event()? {
            let thread = self.stream.location().thread;
            if let Event::Compute(Instructions(volume)) = event {
                self.add(thread, volume);
            } else if is_call(&event) {
                let comparable = self.requests.comparable(event.clone());
                self.call = Some(ComparedCall { thread, recorded: event, comparable });
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

    fn is_at_same_call(&self, other: &Self) -> bool {
        fn compared(run: &RunRecording) -> Option<(ThreadId, &Event)> {
            run.call.as_ref().map(|call| (call.thread, &call.comparable))
        }
        compared(self) == compared(other)
    }

    /// The current call, for an error.
    fn recorded_call(&self, rank: Rank) -> RecordedCall {
        let location = self.stream.location();
        let (path, event) = (self.path.clone(), self.call.as_ref().map(|call| call.recorded.clone()));
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
            Ok(RunRecording {
                stream,
                path,
                volumes: Vec::new(),
                total: 0.0,
                requests: AgreedNumbers::default(),
                call: None,
                calls: 0,
                ahead: FxHashMap::default(),
            })
        };
        let recordings = runs.iter().map(open).collect::<Result<_, TraceError>>()?;
        Ok(Self { rank, recordings, has_ended: false })
    }

    /// Reads the next step; false after the last.
    pub fn advance(&mut self) -> Result<bool, CombineError> {
        if self.has_ended {
            return Ok(false);
        }
        self.recordings.iter_mut().try_for_each(RunRecording::begin_step)?;
        while let Some((first, other)) = self.difference() {
            let at_findings =
                |run: &RunRecording| run.call.as_ref().is_some_and(|call| findings(&call.comparable).is_some());
            if !self.recordings.iter().any(at_findings) {
                let calls = (first.recorded_call(self.rank), other.recorded_call(self.rank));
                return Err(CombineError::Communication(Box::new(calls)));
            }
            (0..self.recordings.len()).try_for_each(|run| self.pass_findings(run))?;
        }
        self.has_ended = self.recordings.iter().all(|run| run.call.is_none());
        if self.has_ended { self.check_ends().map(|()| true) } else { Ok(true) }
    }

    /// The first run, and one that is not at the same call.
    fn difference(&self) -> Option<(&RunRecording, &RunRecording)> {
        let (first, others) = self.recordings.split_first()?;
        Some((first, others.iter().find(|other| !other.is_at_same_call(first))?))
    }

    /// Advances a run that is at findings.
    fn pass_findings(&mut self, index: usize) -> Result<(), CombineError> {
        let Some(run) = self.recordings.get_mut(index) else { return Ok(()) };
        let Some(found) = run.call.as_ref().and_then(|call| findings(&call.comparable)) else { return Ok(()) };
        let call = Rc::new(run.recorded_call(self.rank));
        run.advance()?;
        for (fact, matched) in found {
            let (mut missing, mut different) = (false, None);
            for (_, other) in self.recordings.iter().enumerate().filter(|&(other, _)| other != index) {
                match other.ahead.get(&fact) {
                    Some((other, call)) if *other != matched => different = Some(call),
                    known => missing |= known.is_none(),
                }
            }
            if let Some(other) = different {
                return Err(CombineError::Communication(Box::new(((**other).clone(), (*call).clone()))));
            }
            if !missing {
                self.recordings.iter_mut().for_each(|run| _ = run.ahead.remove(&fact));
            } else if let Some(run) = self.recordings.get_mut(index) {
                run.ahead.insert(fact, (matched, Rc::clone(&call)));
            }
        }
        Ok(())
    }

    /// Checks that no run has passed a finding that another one never comes to.
    fn check_ends(&self) -> Result<(), CombineError> {
        let all = self.recordings.iter().flat_map(|run| &run.ahead);
        let Some((fact, (_, call))) = all.min_by_key(|(_, (_, call))| call.line) else { return Ok(()) };
        let other = self.recordings.iter().find(|run| !run.ahead.contains_key(fact));
        let end = other.map_or_else(|| (**call).clone(), |other| other.recorded_call(self.rank));
        Err(CombineError::Communication(Box::new(((**call).clone(), end))))
    }

    /// The number of calls of the first run in the current step; the end counts as one.
    pub fn calls(&self) -> usize {
        self.recordings.first().map_or(0, |run| run.calls)
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
