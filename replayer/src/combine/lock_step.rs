//! Reads the recordings of one rank in several runs call by call, and checks that the calls are equal.
//!
//! A *call* is every event but tests and probes that find nothing, computation, and the call sites of these. A *step* is a
//! call and everything between it and the call before, or the rest of the recording after the last call.
//!
//! A program that polls learns sooner or later that a request is complete, or takes messages in the order of their
//! arrival. Where the runs are not at the same call, they therefore pass [findings](is_finding), and call after call until
//! all have passed the same ones, in whatever order: the step is then longer.

use std::path::PathBuf;

use rustc_hash::FxHashMap;

use titr_common::event::{Actor, Event, Mark, Partitioned, Rank, RequestId, ThreadId};
use titr_common::grammar::write_event;
use titr_common::statistics::deviation;
use titr_common::trace::combined::{CombinedBy, RepeatedComputation};
use titr_common::trace::{EventSource as _, RankStream, TraceError};
use titr_common::units::Instructions;

use super::{CombineError, NamedTrace, RecordedCall, VolumeSums};

/// Whether an event is a call, which all runs must have in common.
pub(super) fn is_call(event: &Event) -> bool {
    !event.is_polling() && !matches!(event, Event::Mark(Mark::CallSite(_) | Mark::CallStack(..)))
}

/// Whether a call only says what the rank has learned: sooner or later, and with more calls or fewer, as the machine has it.
fn is_finding(call: &Event) -> bool {
    matches!(call, Event::Wait(..) | Event::Test(..) | Event::Probe(_) | Event::Iprobe(..))
        || matches!(call, Event::Partitioned(Partitioned::Arrived(..)))
}

/// The number of different calls that some runs have made and others have not, from which on the programs differ.
const MOST_DIFFERENT: usize = 1 << 16;

/// The computation of one thread in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ChosenVolume {
    pub(crate) thread: ThreadId,
    /// The volume in the first run.
    pub(crate) first: f64,
    /// The volume in the combined trace.
    pub(crate) chosen: f64,
}

/// One run's recording of a rank.
struct RunRecording {
    stream: RankStream,
    path: PathBuf,
    /// The volume of each thread in the current step.
    volumes: Vec<(ThreadId, f64)>,
    /// The volume of all steps so far.
    total: f64,
    /// The call that the run is at; `None` at the end.
    call: Option<(ThreadId, Event)>,
    /// The number of calls in the current step; the end counts as one.
    calls: usize,
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

    fn is_at_finding(&self) -> bool {
        self.call.as_ref().is_some_and(|(_, call)| is_finding(call))
    }

    fn is_at_same_call(&self, other: &Self) -> bool {
        self.call == other.call || !self.is_at_finding() && self.comparable() == other.comparable()
    }

    /// The current call as it is compared with those of other runs: without the numbers of requests, which are the lowest
    /// free ones and so depend on the moment at which others complete.
    fn comparable(&self) -> Option<Vec<u8>> {
        let (thread, mut call) = self.call.clone()?;
        call.requests(|id, _| *id = RequestId(0));
        let mut text = Vec::new();
        write_event(&mut text, Actor { rank: Rank(0), thread }, &call);
        Some(text)
    }

    /// The current call, for an error.
    fn recorded_call(&self, rank: Rank) -> RecordedCall {
        let location = self.stream.location();
        let (path, event) = (self.path.clone(), self.call.as_ref().map(|(_, call)| call.clone()));
        let line = location.line.filter(|_| event.is_some());
        RecordedCall { path, line, actor: Actor { rank, thread: location.thread }, event }
    }
}

impl LockStep {
    /// The recordings of `rank`, before the first step.
    pub(crate) fn new(runs: &[NamedTrace<'_>], rank: Rank) -> Result<Self, TraceError> {
        let open = |(path, run): &NamedTrace<'_>| {
            let stream = run.stream(rank)?;
            let path = stream.path().unwrap_or_else(|| path.into());
            Ok(RunRecording { stream, path, volumes: Vec::new(), total: 0.0, call: None, calls: 0 })
        };
        let recordings = runs.iter().map(open).collect::<Result<_, TraceError>>()?;
        Ok(Self { rank, recordings, has_ended: false })
    }

    /// Reads the next step; false after the last.
    pub(crate) fn advance(&mut self) -> Result<bool, CombineError> {
        if self.has_ended {
            return Ok(false);
        }
        self.recordings.iter_mut().try_for_each(RunRecording::begin_step)?;
        if self.difference().is_some() {
            self.pass_differences()?;
        }
        self.has_ended = self.recordings.iter().all(|run| run.call.is_none());
        Ok(true)
    }

    /// The first run, and one that is not at the same call.
    fn difference(&self) -> Option<(&RunRecording, &RunRecording)> {
        let (first, others) = self.recordings.split_first()?;
        Some((first, others.iter().find(|other| !other.is_at_same_call(first))?))
    }

    /// Advances all runs to calls after which they have made the same calls but for findings.
    fn pass_differences(&mut self) -> Result<(), CombineError> {
        // How often each run has made a call, of calls that not all have made equally often.
        let mut made: FxHashMap<Vec<u8>, Vec<u32>> = FxHashMap::default();
        let mut differing = None;
        loop {
            for run in &mut self.recordings {
                while run.is_at_finding() {
                    run.advance()?;
                }
            }
            let calls = self.difference().map(|(first, other)| [first, other].map(|run| run.recorded_call(self.rank)));
            if made.is_empty() && calls.is_none() {
                return Ok(());
            }
            differing = differing.or(calls);
            for (index, run) in self.recordings.iter().enumerate() {
                let Some(call) = run.comparable() else { continue };
                let times = made.entry(call).or_insert_with(|| vec![0; self.recordings.len()]);
                times.iter_mut().skip(index).take(1).for_each(|count| *count += 1);
            }
            made.retain(|_, times| times.windows(2).any(|pair| pair.first() != pair.last()));
            if made.is_empty() {
                return Ok(());
            }
            let cannot_agree = made.len() > MOST_DIFFERENT || self.recordings.iter().any(|run| run.call.is_none());
            if cannot_agree && let Some([first, other]) = differing {
                return Err(CombineError::Communication(Box::new((first, other))));
            }
            self.recordings.iter_mut().try_for_each(RunRecording::advance)?;
        }
    }

    /// The number of calls of the first run in the current step; the end counts as one.
    pub(crate) fn calls(&self) -> usize {
        self.recordings.first().map_or(0, |run| run.calls)
    }

    /// The volumes of the current step, one for each thread that computes in any run. Adds them to `sums`.
    pub(crate) fn choose(&self, by: CombinedBy, sums: &mut VolumeSums) -> Vec<ChosenVolume> {
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
    pub(crate) fn computation(&self) -> RepeatedComputation {
        RepeatedComputation::new(self.recordings.iter().map(|recording| Instructions(recording.total)).collect())
    }
}
