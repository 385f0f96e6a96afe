//! The jobs of a mix in a result: the time of each, together with the others and alone.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use titr_common::time::Time;
use titr_common::trace::{EventSource, LocatedEvents, Trace, TraceError, Transformation};
use titr_common::units::Seconds;
use titr_job_mix::Job;

use crate::efficiencies::Efficiencies;
use crate::observe::Shares;

/// A job that shared the machine with others.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct JobResult {
    /// The name of the job.
    pub name: String,
    /// The number of its rank 0 among the ranks of all jobs.
    pub first: u32,
    /// The number of its ranks.
    pub ranks: u32,
    /// When its ranks started; `None` if it waits for the end of a job that never ends.
    pub start: Option<Seconds>,
    /// The time from its start to the end of its last rank.
    pub simulated_time: Seconds,
    /// This time with the machine to itself: without other jobs and without background load.
    pub alone: Seconds,
    /// The time divided by the time alone; `None` if that is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slowdown: Option<f64>,
    /// The parallel efficiency of the job and its factors; `None` if no rank computes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub efficiencies: Option<Efficiencies>,
}

impl JobResult {
    /// The result of `job`, which started at `started`, given the shares of all ranks and its time `alone`.
    pub(crate) fn of(job: &Job, started: Option<Time>, per_rank: &[Shares], alone: Time) -> Self {
        let per_rank = &per_rank[job.ranks.start as usize..job.ranks.end as usize];
        let begin = started.map(Time::seconds);
        let end = per_rank.iter().map(|shares| shares.finish.0).fold(0.0, f64::max);
        let simulated_time = Seconds(begin.map_or(0.0, |begin| (end - begin.0).max(0.0)));
        let alone = alone.seconds();
        Self {
            name: job.name.clone(),
            first: job.ranks.start,
            ranks: job.ranks.end - job.ranks.start,
            start: begin,
            simulated_time,
            alone,
            slowdown: (alone.0 > 0.0).then(|| simulated_time.0 / alone.0),
            efficiencies: Efficiencies::of(per_rank, simulated_time),
        }
    }
}

/// The transformation of a trace of several jobs that leaves the events of one job only.
pub(crate) struct OnlyJob<'a>(pub &'a Job);

impl Transformation for OnlyJob<'_> {
    fn apply(&self, trace: Trace) -> Result<Trace, TraceError> {
        let ranks = self.0.ranks.clone();
        Ok(trace.map_sources(move |rank, source| Kept(ranks.contains(&rank.0).then_some(source))))
    }
}

/// The events of a rank, or none.
struct Kept<S>(Option<S>);

impl<S: EventSource> EventSource for Kept<S> {
    fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        self.0.as_mut().map_or(Ok(false), |source| source.read(events))
    }

    fn path(&self) -> Option<PathBuf> {
        self.0.as_ref().and_then(EventSource::path)
    }

    fn torn(&self) -> Option<String> {
        self.0.as_ref().and_then(EventSource::torn)
    }
}
