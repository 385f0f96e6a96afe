//! When each job starts, and which jobs can run at the same time.

use titr_common::time::Time;
use titr_common::units::{Seconds, Written};
use titr_document::{Checked, Source, Spanned};

use crate::job::{JobId, Start};
use crate::schema::{JobTable, TimeValue};

/// The start of each job.
///
/// # Errors
/// If a job has two starts, waits for a job that does not exist, or for its own end.
pub(crate) fn starts(source: &Source, jobs: &[JobTable]) -> Checked<Vec<Start>> {
    let starts: Vec<Start> = jobs.iter().map(|job| start(source, jobs, job)).collect::<Checked<_>>()?;
    for (at, job) in jobs.iter().enumerate() {
        if let Some(after) = &job.after
            && ancestors(&starts, JobId(at)).any(|ancestor| ancestor == JobId(at))
        {
            let message = format!("{} waits for its own end", job.name.get_ref());
            return Err(source.wrong(after, message).with_help("one job of this circle needs a start of its own"));
        }
    }
    Ok(starts)
}

fn start(source: &Source, jobs: &[JobTable], job: &JobTable) -> Checked<Start> {
    match (&job.start, &job.after) {
        (Some(start), Some(_)) => {
            let mistake = source.wrong(start, "a job has `start` or `after`, not both");
            Err(mistake.with_help("with `after`, the job starts at the end of the other job"))
        }
        (Some(start), None) => time(source, start).map(Start::At),
        (None, None) => Ok(Start::At(Time::ZERO)),
        (None, Some(after)) => {
            let found = jobs.iter().position(|other| other.name.get_ref() == after.get_ref());
            found.map(|other| Start::After(JobId(other))).ok_or_else(|| {
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

/// The jobs that have ended before `job` starts, the latest first. In a circle, they repeat once.
fn ancestors(starts: &[Start], job: JobId) -> impl Iterator<Item = JobId> {
    let before = |job: &JobId| match starts[job.0] {
        Start::At(_) => None,
        Start::After(other) => Some(other),
    };
    std::iter::successors(before(&job), before).take(starts.len())
}

/// Whether two jobs can run at the same time: neither waits for the end of the other.
pub(crate) fn can_overlap(starts: &[Start], one: JobId, other: JobId) -> bool {
    let waits = |job, end| ancestors(starts, job).any(|ancestor| ancestor == end);
    !waits(one, other) && !waits(other, one)
}
