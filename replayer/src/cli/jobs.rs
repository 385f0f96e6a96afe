//! How many replays a command does at the same time.

use std::num::NonZeroUsize;

use clap::Args;
use titr_simulation::parallel::Jobs;

/// The option for replays that are independent of each other.
#[derive(Debug, Args)]
pub(super) struct JobsArgs {
    /// Does N independent replays at the same time, such as several runs or the loads of a curve; a single run of a large packet
    /// network takes N threads [default: the number of processors]. The result is the same for any N; memory grows with it.
    #[arg(long, value_name = "N", value_parser = number)]
    jobs: Option<NonZeroUsize>,
}

/// The most replays at the same time: each has a thread.
const MOST: usize = 1024;

fn number(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse().ok().filter(|number: &NonZeroUsize| number.get() <= MOST);
    number.ok_or_else(|| format!("expected a number from 1 to {MOST}"))
}

impl JobsArgs {
    /// The number of replays at the same time.
    pub(super) fn jobs(&self) -> Jobs {
        self.jobs.map_or_else(Jobs::of_processors, Jobs)
    }
}
