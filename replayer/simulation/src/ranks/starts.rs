//! When ranks start: all at once, or those of each job of a mix.

use titr_common::event::Rank;
use titr_common::time::Time;
use titr_common::trace::EventSource;
use titr_platform::job_mix::{Job, JobId, Start};

use super::Ranks;
use crate::observe::Observer;

#[derive(Default)]
pub(super) struct Starts {
    jobs: Vec<JobProgress>,
}

struct JobProgress {
    job: Job,
    /// The number of threads that have not finished.
    unfinished: usize,
    started: Option<Time>,
    /// The jobs that start after its end.
    followers: Vec<usize>,
}

impl Starts {
    fn of(jobs: Vec<Job>) -> Self {
        let mut followers = vec![Vec::new(); jobs.len()];
        for (at, job) in jobs.iter().enumerate() {
            if let Start::After(JobId(other)) = job.start {
                followers[other].push(at);
            }
        }
        let progress = |(job, followers): (Job, Vec<usize>)| JobProgress {
            unfinished: job.ranks.len(),
            job,
            started: None,
            followers,
        };
        Self { jobs: jobs.into_iter().zip(followers).map(progress).collect() }
    }

    fn job_of(&self, rank: Rank) -> usize {
        self.jobs.partition_point(|progress| progress.job.ranks.end <= rank.0)
    }

    fn of_rank(&mut self, rank: Rank) -> Option<&mut JobProgress> {
        let at = self.job_of(rank);
        self.jobs.get_mut(at)
    }

    /// Whether a job waits for the end of the job of `rank`.
    pub(super) fn is_awaited(&self, rank: Rank) -> bool {
        self.jobs.get(self.job_of(rank)).is_some_and(|progress| !progress.followers.is_empty())
    }

    pub(super) fn add_thread(&mut self, rank: Rank) {
        if let Some(progress) = self.of_rank(rank) {
            progress.unfinished += 1;
        }
    }

    /// A thread of `rank` has finished. Returns the jobs that start because it was the last of its job.
    pub(super) fn finish_thread(&mut self, rank: Rank) -> Vec<usize> {
        let Some(progress) = self.of_rank(rank) else { return Vec::new() };
        progress.unfinished -= 1;
        if progress.unfinished == 0 { std::mem::take(&mut progress.followers) } else { Vec::new() }
    }
}

impl<S: EventSource, O: Observer> Ranks<'_, S, O> {
    /// Makes all ranks runnable: those of `jobs` at their starts, or all now if there are no jobs.
    pub(crate) fn start(&mut self, jobs: Vec<Job>) {
        self.starts = Starts::of(jobs);
        if self.starts.jobs.is_empty() {
            self.threads.iter().for_each(|thread| self.mpi.scheduler.ready(thread.waiter()));
        }
        for at in 0..self.starts.jobs.len() {
            if let Start::At(time) = self.starts.jobs[at].job.start {
                self.start_job(at, time);
            }
        }
    }

    /// The ranks of a job start at `time`, which is now or later: if now, because of the thread whose turn it is.
    pub(super) fn start_job(&mut self, at: usize, time: Time) {
        let progress = &mut self.starts.jobs[at];
        progress.started = Some(time);
        for thread in &mut self.threads[progress.job.ranks.start as usize..progress.job.ranks.end as usize] {
            thread.start_at(time);
            if time > Time::ZERO {
                self.mpi.observer.began(time, thread.waiter(), thread.actor.rank);
            }
            if time > self.mpi.now() {
                self.mpi.scheduler.set_timer(time, thread.waiter());
            } else {
                self.mpi.scheduler.ready(thread.waiter());
            }
        }
    }

    /// When each job started; `None` of a job that waits for ever.
    pub(crate) fn started(&self) -> Vec<Option<Time>> {
        self.starts.jobs.iter().map(|progress| progress.started).collect()
    }
}
