//! Several jobs that share one machine: a file of jobs, and what it means on a platform.
//!
//! ```toml
//! [[job]]
//! name = "cfd"
//! trace = "traces-cfd"        # relative to this file
//! hosts = "0-7"
//!
//! [[job]]
//! name = "post"
//! trace = "traces-post"
//! placement = "random"        # on cores that no other job has at the same time
//! after = "cfd"
//! ```
//!
//! [`JobMix::load`] reads a file in these steps:
//!
//! 1. [`schema`]: every permitted key, and its type.
//! 2. [`starts`]: when each job starts, and which jobs can run at the same time.
//! 3. [`placement`]: the host of each rank of each job.
//! 4. [`mix`]: synthetic traffic beside the jobs, and the jobs with their traces, joined into one trace.
//!
//! A job mix is data; the simulation starts the ranks of each job at their time.

mod mix;
mod placement;
mod schema;
mod starts;

use std::ops::Range;

use titr_common::time::Time;
use titr_network::topology::HostId;

pub use mix::{Background, JobMix, JobMixError};

/// The number of a job, by its place in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub usize);

/// A program that shares the machine with others.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The name in the file.
    pub name: String,
    /// The numbers of its ranks among those of all jobs.
    pub ranks: Range<u32>,
    /// The host of each of its ranks.
    pub hosts: Vec<HostId>,
    /// When it starts.
    pub start: Start,
}

/// When a job starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At this time.
    At(Time),
    /// When the last rank of another job has finished.
    After(JobId),
}
