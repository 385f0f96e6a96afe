//! The options for the number of simulations, and for the number of simulations at the same time.

use std::num::NonZeroUsize;

use clap::Args;
use titr_simulation::parallel::Jobs;

/// The option for simulations that are independent of each other.
#[derive(Debug, Args)]
pub(super) struct JobsArgs {
    /// Runs N independent simulations at the same time [default: the number of processors]. The result is the same for
    /// any N; memory grows with N.
    #[arg(long, value_name = "N", value_parser = number)]
    jobs: Option<NonZeroUsize>,
}

/// The most simulations at the same time: each has a thread.
const MOST: usize = 1024;

fn number(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse().ok().filter(|number: &NonZeroUsize| number.get() <= MOST);
    number.ok_or_else(|| format!("expected a number from 1 to {MOST}"))
}

impl JobsArgs {
    /// The number of simulations at the same time.
    pub(super) fn jobs(&self) -> Jobs {
        self.jobs.map_or_else(Jobs::of_processors, Jobs)
    }
}

/// The options for a network that is simulated with several seeds.
#[derive(Debug, Args)]
pub(super) struct RunsArgs {
    /// Runs a packet network with N different seeds, and prints confidence intervals [default: 1; with synthetic
    /// traffic 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), group = super::program::EVERY_ITERATION)]
    pub(super) runs: Option<u32>,
    #[command(flatten)]
    jobs: JobsArgs,
}

impl RunsArgs {
    /// The number of simulations at the same time.
    pub(super) fn jobs(&self) -> Jobs {
        self.jobs.jobs()
    }
}
