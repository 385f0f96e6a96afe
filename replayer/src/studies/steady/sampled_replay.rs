//! A replay that omits iterations.

use std::sync::Arc;
use std::time::Instant;

use titr_analyses::AnalysedResult;
use titr_common::trace::Trace;
use titr_common::units::Seconds;
use titr_simulation::SimulationError;
use titr_simulation::parallel::Jobs;
use titr_simulation::result::Extrapolated;

use super::estimate::Overheads;
use super::extrapolation::Replays;
use super::iteration_times::IterationTimes;
use super::sample::{Groups, IterationSample};
use super::sampled_trace::{Work, boundaries, sampled};
use super::structure::{NoProgramLoop, ProgramLoop};

/// The first sample has one iteration out of this many, but no fewer and no more than these.
const ONE_OF: u64 = 50;
const FEWEST: u64 = 8;
const MOST: u64 = 14;
/// Iterations are omitted only if at most one out of this many is simulated.
const WORTHWHILE: u64 = 3;
/// One iteration of a sample out of this many, at its beginning, does not count: ranks that begin the loop apart catch up with each
/// other.
const SETTLING: usize = 4;
/// The same for a sample that follows one in which the ranks drifted apart.
const DRIFTING: usize = 2;
/// No further sample is tried if it would need this many times the number of iterations that is worthwhile.
const HOPELESS: u64 = 3;
/// Minimum and maximum growth of a further sample: a small sample's estimate of its own error is uncertain as well.
const LARGER: (u64, u64) = (2, 4);

/// A replay that leaves out iterations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steady {
    /// The accepted error of the predicted time due to extrapolation, as a fraction of it.
    pub(crate) tolerance: f64,
    /// Ranks whose traces are read at the same time. The result is the same for any number.
    pub(crate) jobs: Jobs,
}

/// The outcome of simulating a sample.
enum Attempt {
    Settled(Box<AnalysedResult>),
    /// The possible error of the time, as a fraction of it.
    Unsure(f64),
    /// Some ranks take less time per iteration than others, and wait for no other rank.
    DriftApart,
}

impl Steady {
    /// The result of replaying `trace`. `simulate` replays a part of it, or all of it if the rest cannot be
    /// extrapolated. The observer, if there is one, has to be notified of the replay.
    pub(crate) fn run(
        &self,
        trace: &Trace,
        simulate: impl Fn(&Trace, Option<&mut IterationTimes>) -> Result<AnalysedResult, SimulationError> + Sync,
    ) -> Result<AnalysedResult, SimulationError> {
        let start = Instant::now();
        let mut trace = trace.clone();
        let mut result = match self.leave_out(&mut trace, &simulate)? {
            Ok(result) => *result,
            Err(reason) => {
                let mut result = simulate(&trace, None)?;
                result.warnings.push(format!("all iterations were simulated (--steady): {reason}"));
                result
            }
        };
        let wall = start.elapsed().as_secs_f64();
        result.replay.wall_seconds = wall;
        result.replay.events_per_second = if wall > 0.0 { result.events as f64 / wall } else { 0.0 };
        Ok(result)
    }

    /// The result without most iterations, or the reason why it cannot be estimated. The trace becomes one whose events are kept if
    /// they were read several times.
    fn leave_out(
        &self,
        trace: &mut Trace,
        simulate: &(impl Fn(&Trace, Option<&mut IterationTimes>) -> Result<AnalysedResult, SimulationError> + Sync),
    ) -> Result<Result<Box<AnalysedResult>, String>, SimulationError> {
        if trace.worlds().len() > 1 {
            return Ok(Err("the program has several worlds".to_owned()));
        }
        let program = match ProgramLoop::find(trace, FEWEST * WORTHWHILE, self.jobs)? {
            Ok(program) => Arc::new(program),
            Err(reason) => return Ok(Err(reason.to_string())),
        };
        let iterations = program.iterations;
        let groups = Groups::of(&program);
        let mut kept = (iterations / ONE_OF).clamp(FEWEST, MOST);
        let mut drifting = false;
        let mut reason = NoProgramLoop::TooFew(iterations).to_string();
        while kept <= iterations / WORTHWHILE {
            let larger;
            let settling = kept as usize / if drifting { DRIFTING } else { SETTLING };
            match self.attempt(trace, &program, &IterationSample::new(kept, &groups), settling, &groups, simulate) {
                Ok(Attempt::Settled(result)) => return Ok(Ok(result)),
                Ok(Attempt::DriftApart) if drifting => return Ok(Err(reason)),
                Ok(Attempt::DriftApart) => {
                    drifting = true;
                    larger = LARGER.0 * kept;
                    reason =
                        "the ranks drift apart, as some run ahead of others for as long as the loop lasts".to_owned();
                }
                Ok(Attempt::Unsure(error)) => {
                    // The width of the interval is inversely proportional to the square root of the sample size; a
                    // fifth more is a safety margin.
                    let wanted = ((error / self.tolerance).powi(2) * 1.2 * kept as f64) as u64;
                    larger = wanted.clamp(LARGER.0 * kept, LARGER.1 * kept);
                    let error = 100.0 * error;
                    reason =
                        format!("with {kept} of {iterations} iterations the time would be known to {error:.2} % only");
                    if wanted > HOPELESS * (iterations / WORTHWHILE) {
                        return Ok(Err(reason));
                    }
                }
                Err(error) => {
                    return Ok(Err(format!("without some of its iterations the trace cannot be replayed: {error}")));
                }
            }
            kept = larger;
        }
        Ok(Err(reason))
    }

    /// Simulates a sample of the iterations, which are in these groups, and does not count the first `settling`.
    fn attempt(
        &self,
        trace: &Trace,
        program: &Arc<ProgramLoop>,
        sample: &IterationSample,
        settling: usize,
        groups: &Groups,
        simulate: &(impl Fn(&Trace, Option<&mut IterationTimes>) -> Result<AnalysedResult, SimulationError> + Sync),
    ) -> Result<Attempt, SimulationError> {
        let mut times = IterationTimes::new(&boundaries(program, &sample.longer));
        let longer = simulate(&sampled(trace, program, &sample.longer), Some(&mut times))?;
        let work = Work::of(program, &sample.longer);
        let overheads = Overheads::of(&times.iterations(), sample, groups, settling);
        let (iterations, kept) = (program.iterations, sample.longer.len() as u64);
        let left_out = iterations - kept;
        let computed = || longer.per_rank.iter().zip(&work).map(|(rank, work)| work.time(rank.compute).0);
        let more_work = computed().sum::<f64>() - longer.per_rank.iter().map(|rank| rank.compute.0).sum::<f64>();
        let more = overheads.left_out + more_work / longer.ranks.max(1) as f64;
        let time = longer.simulated_time.0 + more;
        let drift = overheads.drift * left_out as f64;
        if drift > self.tolerance * time {
            return Ok(Attempt::DriftApart);
        }
        // No program takes less time than the computation of a rank.
        let missing = computed().fold(0.0, f64::max) - time;
        let error = (overheads.half_width + drift).max(missing) / time;
        if error.is_nan() || error > self.tolerance {
            return Ok(Attempt::Unsure(error));
        }
        // Only now: it would be of no use before.
        let shorter = simulate(&sampled(trace, program, &sample.shorter), None)?;
        let between = kept - sample.shorter.len() as u64;
        let steady = Extrapolated {
            iterations,
            simulated_iterations: kept,
            simulated_events: longer.events,
            period: Seconds(more / left_out as f64),
            simulated_time: longer.simulated_time,
            error_bound: error,
        };
        let replays = Replays { longer, shorter, between, left_out };
        let mut result = replays.extrapolate(Seconds(time), program.events(), &work);
        result.left_out = Some(steady);
        Ok(Attempt::Settled(Box::new(result)))
    }
}
