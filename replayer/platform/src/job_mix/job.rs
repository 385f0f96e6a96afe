//! A job of a mix.

use std::ops::Range;

use titr_common::time::Time;
use titr_network::topology::HostId;

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
