//! The spread of a prediction: replays with random choices for everything that is known to vary.

use clap::Args;
use titr_simulation::parallel::Jobs;
use titr_simulation::spread::{DrawnTimes, PredictedSpread};
use titr_simulation::{Draw, Platform};

use super::Failure;
use super::machine::MachineArgs;
use super::program::{EVERY_ITERATION, Program};
use crate::call_sites::CallSiteNames;

/// The options for the spread of a prediction.
#[derive(Debug, Args)]
pub(super) struct SpreadArgs {
    /// Replays N more times with random detours of the hosts, times of messages, values of uncertain keys and errors of the models, as the
    /// table [spread] of the platform describes them, and prints the median and the 50 % and 90 % interval of the time.
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(2..=100_000),
        group = EVERY_ITERATION,
        conflicts_with = "runs"
    )]
    spread: Option<u32>,
    /// The seed of the random choices of --spread. The same seed gives the same result.
    #[arg(long, value_name = "SEED", default_value_t = 0, requires = "spread")]
    seed: u64,
}

/// The sentence on a prediction without anything that varies.
const NOTHING: &str = "--spread: nothing is known to vary from run to run: the platform has no table [spread], no random placement \
                       and no packet network, and the trace is of one recording";

impl SpreadArgs {
    /// The spread of the predicted time of `program` on `platform`, which `machine` describes, or a sentence on why there is none;
    /// `None` if it is not asked for.
    pub(super) fn find(
        &self,
        program: &Program,
        (machine, platform): (&MachineArgs, &Platform),
        jobs: Jobs,
    ) -> Result<Option<Result<PredictedSpread, &'static str>>, Failure> {
        let Some(runs) = self.spread else { return Ok(None) };
        let names = CallSiteNames::default();
        if !program.simulation(platform, &names, false).varies() {
            return Ok(Some(Err(NOTHING)));
        }
        let drawn = jobs.map(runs as usize, |number| {
            let draw = Draw { seed: self.seed, number: number as u32 };
            let factors = draw.factors(&platform.spread);
            let drawn = match factors.is_empty() {
                true => None,
                false => Some(program.on(machine.load_scaled(&factors)?)?),
            };
            let names = CallSiteNames::default();
            let simulation = program.simulation(drawn.as_ref().unwrap_or(platform), &names, false);
            let result = simulation.draw(draw).read_ahead(!jobs.are_several()).run()?;
            let times = DrawnTimes::new(result.simulated_time, &result.per_rank);
            Ok::<_, Failure>(times.scaled(draw.factor_on_time(platform.spread.model)))
        })?;
        Ok(Some(Ok(PredictedSpread::of(&drawn))))
    }
}
