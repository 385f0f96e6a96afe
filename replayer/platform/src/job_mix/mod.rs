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
//! 4. [`background`]: synthetic traffic beside the jobs.
//! 5. [`mix`]: the jobs with their traces, joined into one trace.
//!
//! A job mix is data; the simulation starts the ranks of each job at their time.

mod background;
mod job;
mod mix;
mod placement;
mod schema;
mod starts;

pub use background::Background;
pub use job::{Job, JobId, Start};
pub use mix::{JobMix, JobMixError};
