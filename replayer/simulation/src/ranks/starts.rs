//! When ranks start: all at once, or the ranks of each job of a mix at its start.

use titr_common::event::Rank;
use titr_common::time::Time;
use titr_common::trace::EventSource;
use titr_platform::job_mix::{Job, JobId, Start};

use super::Ranks;
use super::ids::ThreadIndex;
use super::scheduler::Waiter;
use crate::observe::Observer;

/// The jobs whose ranks start and end.
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
    followers: Vec<JobId>,
}

impl Starts {
    fn of(jobs: Vec<Job>) -> Self {
        let mut followers = vec![Vec::new(); jobs.len()];
        for (at, job) in jobs.iter().enumerate() {
            if let Start::After(JobId(other)) = job.start {
                followers[other].push(JobId(at));
            }
        }
        let progress = |(job, followers): (Job, Vec<JobId>)| JobProgress {
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

    /// A further thread of `rank` exists.
    pub(super) fn add_thread(&mut self, rank: Rank) {
        if let Some(progress) = self.of_rank(rank) {
            progress.unfinished += 1;
        }
    }

    /// A thread of `rank` has finished. Returns the jobs that start because it was the last of its job.
    pub(super) fn finish_thread(&mut self, rank: Rank) -> Vec<JobId> {
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
            self.threads.iter().for_each(|thread| self.library.scheduler.ready(thread.waiter()));
        }
        for at in 0..self.starts.jobs.len() {
            match self.starts.jobs[at].job.start {
                Start::At(time) => self.start_job(JobId(at), time),
                Start::After(_) => {}
            }
        }
    }

    /// The ranks of a job start at `time`, which is now or later.
    fn start_job(&mut self, JobId(at): JobId, time: Time) {
        let progress = &mut self.starts.jobs[at];
        progress.started = Some(time);
        for thread in &mut self.threads[progress.job.ranks.start as usize..progress.job.ranks.end as usize] {
            thread.start_at(time);
            if time > self.library.now {
                self.library.scheduler.set_timer(time, thread.waiter());
            } else {
                self.library.scheduler.ready(thread.waiter());
            }
        }
    }

    /// The ranks of a job start now, because of the thread whose turn it is.
    pub(super) fn start_after(&mut self, JobId(at): JobId) {
        let now = self.library.now;
        self.start_job(JobId(at), now);
        for rank in self.starts.jobs[at].job.ranks.clone() {
            self.library.observer.released(now, Waiter::Thread(ThreadIndex(rank)), None, Time::ZERO);
        }
    }

    /// When each job started; `None` of a job that waits for ever.
    pub(crate) fn started(&self) -> Vec<Option<Time>> {
        self.starts.jobs.iter().map(|progress| progress.started).collect()
    }
}
