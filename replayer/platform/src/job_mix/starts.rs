//! When each job starts, and which jobs never run at the same time as it.

use std::collections::{HashMap, HashSet};

use titr_common::time::Time;
use titr_common::units::{Seconds, Written};
use titr_document::{Checked, Source, Spanned};

use super::{JobId, Start};
use crate::job_mix::schema::{JobTable, TimeValue};

pub(crate) fn starts(source: &Source, jobs: &[JobTable]) -> Checked<Vec<Start>> {
    let mut by_name = HashMap::new();
    for (at, job) in jobs.iter().enumerate() {
        by_name.entry(job.name.get_ref().as_str()).or_insert(JobId(at));
    }
    let starts: Vec<Start> = jobs.iter().map(|job| start(source, jobs, &by_name, job)).collect::<Checked<_>>()?;
    if let Some(job) = circle(&starts)
        && let Some(after) = &jobs[job.0].after
    {
        let message = format!("{} waits for its own end", jobs[job.0].name.get_ref());
        return Err(source.wrong(after, message).with_help("one job of this circle needs a start of its own"));
    }
    Ok(starts)
}

/// The first job of a circle of jobs that wait for each other.
fn circle(starts: &[Start]) -> Option<JobId> {
    let followers = followers(starts);
    let roots = (0..starts.len()).map(JobId).filter(|&job| before(starts, job).is_none());
    let ordered: HashSet<JobId> = roots.flat_map(|root| std::iter::once(root).chain(after(&followers, root))).collect();
    let waiting = (0..starts.len()).map(JobId).find(|job| !ordered.contains(job))?;
    // After so many steps back, a job is in the circle that it waits for.
    let last = ancestors(starts, waiting).take(starts.len()).last()?;
    ancestors(starts, last).take(starts.len()).min()
}

fn start(source: &Source, jobs: &[JobTable], by_name: &HashMap<&str, JobId>, job: &JobTable) -> Checked<Start> {
    match (&job.start, &job.after) {
        (Some(start), Some(_)) => {
            let mistake = source.wrong(start, "a job has `start` or `after`, not both");
            Err(mistake.with_help("with `after`, the job starts at the end of the other job"))
        }
        (Some(start), None) => time(source, start).map(Start::At),
        (None, None) => Ok(Start::At(Time::ZERO)),
        (None, Some(after)) => {
            by_name.get(after.get_ref().as_str()).map(|&other| Start::After(other)).ok_or_else(|| {
                let names: Vec<&str> = jobs.iter().map(|job| job.name.get_ref().as_str()).collect();
                let mistake = source.wrong(after, format!("there is no job {}", after.get_ref()));
                mistake.with_help(format!("the jobs are {}", names.join(", ")))
            })
        }
    }
}

/// A time of the simulation.
pub(crate) fn time(source: &Source, written: &Spanned<TimeValue>) -> Checked<Time> {
    let seconds = match written.get_ref() {
        TimeValue::Seconds(seconds) => Seconds::in_base_unit(*seconds),
        TimeValue::Text(text) => Seconds::written(text),
    };
    let seconds = seconds.map_err(|error| source.wrong(written, error.to_string()))?;
    match Time::from_seconds(seconds) {
        Time::NEVER => Err(source.wrong(written, "simulated time ends before, after 213 days")),
        time => Ok(time),
    }
}

/// The job that `job` starts after.
fn before(starts: &[Start], job: JobId) -> Option<JobId> {
    match starts[job.0] {
        Start::At(_) => None,
        Start::After(other) => Some(other),
    }
}

/// The jobs that have ended before `job` starts, the latest first. In a circle, they have no end.
pub(crate) fn ancestors(starts: &[Start], job: JobId) -> impl Iterator<Item = JobId> {
    std::iter::successors(before(starts, job), |&job| before(starts, job))
}

/// For each job, those that start at its end.
pub(crate) fn followers(starts: &[Start]) -> Vec<Vec<JobId>> {
    let mut followers = vec![Vec::new(); starts.len()];
    for job in (0..starts.len()).map(JobId) {
        if let Some(other) = before(starts, job) {
            followers[other.0].push(job);
        }
    }
    followers
}

/// The jobs that start at the end of `job` or later, because they wait for it.
pub(crate) fn after(followers: &[Vec<JobId>], job: JobId) -> impl Iterator<Item = JobId> {
    let mut left = followers[job.0].clone();
    std::iter::from_fn(move || {
        let next = left.pop()?;
        left.extend_from_slice(&followers[next.0]);
        Some(next)
    })
}
