//! The jobs of a mix in a result: the time of each, together with the others and alone.

use std::collections::BTreeMap;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;
use titr_common::event::Rank;
use titr_common::time::Time;
use titr_common::trace::{ChangedEvents, EventSource, Located, LocatedEvents, RankSources, Trace, TraceError};
use titr_common::units::Seconds;
use titr_platform::Platform;
use titr_platform::job_mix::{Job, JobMix};

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
    /// The links that each job shared with each other owner, given all `times`, the longest first.
    pub(crate) fn of_jobs(mix: &JobMix, times: &[SharedTime], platform: &Platform) -> Vec<Vec<Self>> {
        let mut of_owners: BTreeMap<(usize, Owner), Vec<Self>> = BTreeMap::new();
        for SharedTime { owners: (one, other), link, time } in times {
            for (owner, other) in [(one, other), (other, one)] {
                let Owner::Job(job) = *owner else { continue };
                let with = match *other {
                    Owner::Job(other) => mix.jobs[other].name.clone(),
                    Owner::Background(load, _) => mix.background[load].name.clone(),
                };
                let links = of_owners.entry((job, *other)).or_default();
                if links.len() < SHARED {
                    links.push(Self { with, link: platform.topology.link_name(*link), time: time.seconds() });
                }
            }
        }
        let mut of_jobs = vec![Vec::new(); mix.jobs.len()];
        of_owners.into_iter().for_each(|((job, _), links)| of_jobs[job].extend(links));
        of_jobs
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

/// The ranks of one job only, of a trace of several jobs: they then are the ranks from 0 on.
pub(crate) fn only_job(trace: Trace, job: &Job) -> Trace {
    let Range { start, end } = job.ranks;
    let is_partial = trace.is_partial();
    Trace::new(end - start, JobSources { trace, first: start }).partial(is_partial)
}

/// The ranks of one of several jobs.
struct JobSources {
    trace: Trace,
    /// The rank of all jobs that is the first of this one.
    first: u32,
}

impl RankSources for JobSources {
    fn source(&self, rank: Rank, partial: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        let source = self.trace.source(Rank(self.first + rank.0), partial)?;
        let first = self.first;
        let renumber = move |Located { event, location }: Located<'_>, changed: &mut LocatedEvents| {
            let mut event = event.to_event();
            event.ranks(|rank| rank.0 -= first);
            changed.push(event, location);
        };
        Ok(Box::new(ChangedEvents::new(source, renumber)))
    }
}
