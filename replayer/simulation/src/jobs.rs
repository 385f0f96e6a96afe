//! The jobs of a mix in a result: the time of each, together with the others and alone.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use titr_common::time::Time;
use titr_common::trace::{EventSource, LocatedEvents, Trace, TraceError, Transformation};
use titr_common::units::Seconds;
use titr_job_mix::{Job, JobId, JobMix};
use titr_platform::Platform;

use crate::efficiencies::Efficiencies;
use crate::observe::Shares;
use crate::shared_network::{Owner, SharedTime};

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
    /// The links on which messages of the job and of another one were in transit at the same time: for each other job and
    /// each background load, those that were shared for the longest time.
    pub shared_links: Vec<SharedLink>,
}

/// A link on which messages of a job met those of another job or of a background load.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SharedLink {
    /// The name of the other job or load.
    pub with: String,
    /// The name of the link.
    pub link: String,
    /// The time for which both had messages on the link.
    pub time: Seconds,
}

/// The number of links of each pair of owners in a result.
const SHARED: usize = 5;

impl SharedLink {
    /// The links that `job` shared with each other owner, given all `times`, the longest first.
    pub(crate) fn of_job(job: JobId, mix: &JobMix, times: &[SharedTime], platform: &Platform) -> Vec<Self> {
        let mut of_owner: BTreeMap<Owner, Vec<Self>> = BTreeMap::new();
        for SharedTime { owners, link, time } in times {
            let other = match owners {
                (one, other) if *one == Owner::Job(job.0) => other,
                (other, one) if *one == Owner::Job(job.0) => other,
                _ => continue,
            };
            let with = match *other {
                Owner::Job(other) => mix.jobs[other].name.clone(),
                Owner::Background(load, _) => mix.background[load].name.clone(),
            };
            let links = of_owner.entry(*other).or_default();
            if links.len() < SHARED {
                links.push(Self { with, link: platform.topology.link_name(*link), time: time.seconds() });
            }
        }
        of_owner.into_values().flatten().collect()
    }
}

impl JobResult {
    /// The result of `job`, which started at `started`, given the shares of all ranks, its time `alone`, and the links that it
    /// shared.
    pub(crate) fn of(
        job: &Job,
        started: Option<Time>,
        per_rank: &[Shares],
        alone: Time,
        shared_links: Vec<SharedLink>,
    ) -> Self {
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
            shared_links,
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

    fn goes_round(&mut self, most: usize) -> bool {
        self.0.as_mut().is_some_and(|source| source.goes_round(most))
    }

    fn read_round(&mut self, events: &mut LocatedEvents, most: usize) -> Result<u64, TraceError> {
        self.0.as_mut().map_or(Ok(0), |source| source.read_round(events, most))
    }

    fn path(&self) -> Option<PathBuf> {
        self.0.as_ref().and_then(EventSource::path)
    }

    fn torn(&self) -> Option<String> {
        self.0.as_ref().and_then(EventSource::torn)
    }
}
