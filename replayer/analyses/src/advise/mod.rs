//! Advice: hypotheses that the causes of waiting suggest, each with the time that it saves in a replay.

mod candidates;

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use titr_common::event::CollectiveKind;
use titr_common::trace::{Trace, TraceError};
use titr_common::units::Seconds;
use titr_document::Mistake;
use titr_hypotheses::{Change, Hypotheses};
use titr_simulation::parallel::Jobs;
use titr_simulation::{Computation, Platform, Simulation, SimulationError};

use crate::{AnalysedSimulation, AnalysisError, apply_machine_changes};
pub use candidates::Candidate;

/// The times that a program would take under a standard set of hypotheses.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Advice {
    /// The predicted time of the program as it is.
    pub simulated_time: Seconds,
    /// The hypotheses that were replayed, the largest saving first.
    pub hypotheses: Vec<TriedHypothesis>,
    /// Hypotheses that no program can reach, such as a network without cost: upper bounds of the savings.
    pub bounds: Vec<TriedHypothesis>,
    /// Hypotheses that do not fit the program.
    pub not_tried: Vec<NotTried>,
}

/// A hypothesis that was replayed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TriedHypothesis {
    /// The hypothesis in words.
    pub hypothesis: String,
    /// The cause that suggests the hypothesis; `None` for a bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The predicted time.
    pub simulated_time: Seconds,
    /// The time that the hypothesis saves; negative if the program would take longer.
    pub saves: Seconds,
    /// A file of hypotheses for `titr-replay --what-if`.
    pub changes: String,
}

/// A hypothesis that does not fit the program.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NotTried {
    /// The hypothesis in words.
    pub hypothesis: String,
    /// The reason.
    pub why: String,
}

/// The most hypotheses that are replayed, besides the bounds.
const MOST: usize = 6;

/// A step of the work, for users who wait for it.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// The program was replayed as it is; so many hypotheses follow.
    Replayed(Seconds, usize),
    /// A hypothesis was tried, and saves so much; `None` if it does not fit the program.
    Tried(&'a str, Option<Seconds>),
}

/// Replays the trace unchanged, and with the most promising hypotheses that its waits suggest. `jobs` is the number of replays
/// at the same time; `follow` is called after each step, by any thread.
///
/// # Errors
/// If the unchanged trace cannot be replayed.
pub fn advise(
    platform: &Platform,
    trace: &Trace,
    collectives: &[CollectiveKind],
    computation: Computation,
    jobs: Jobs,
    follow: &(dyn Fn(Step<'_>) + Sync),
) -> Result<Advice, AnalysisError> {
    let base = Simulation::new(platform, trace).computation(computation);
    let base = AnalysedSimulation::new(base).analyse("wait-states").run()?;
    let simulated_time = base.simulated_time;
    let mut advice = Advice { simulated_time, hypotheses: Vec::new(), bounds: Vec::new(), not_tried: Vec::new() };
    let waits = base.analyses.as_ref().and_then(|findings| findings.wait_states.as_ref());
    let mut candidates = waits.map(|waits| candidates::candidates(&base, waits, collectives)).unwrap_or_default();
    let of_no_use = |candidate: Candidate| NotTried {
        hypothesis: candidate.title,
        why: format!("its cause makes ranks wait for less than those of the {MOST} that were tried"),
    };
    advice.not_tried.extend(candidates.split_off(candidates.len().min(MOST)).into_iter().map(of_no_use));
    candidates.extend(candidates::bounds());
    follow(Step::Replayed(simulated_time, candidates.len()));
    let replays = jobs.map(candidates.len(), |number| {
        let Candidate { title, change, .. } = &candidates[number];
        let replayed = replayed(platform, trace, computation, change, !jobs.are_several());
        let saves = replayed.as_ref().ok().map(|(time, _)| Seconds(simulated_time.0 - time.0));
        follow(Step::Tried(title, saves));
        Ok::<_, SimulationError>(replayed)
    })?;
    for (candidate, replayed) in candidates.into_iter().zip(replays) {
        let Candidate { title: hypothesis, because, .. } = candidate;
        match replayed {
            Ok((time, changes)) => {
                let is_bound = because.is_none();
                let saves = Seconds(simulated_time.0 - time.0);
                let tried = TriedHypothesis { hypothesis, because, simulated_time: time, saves, changes };
                if is_bound { advice.bounds.push(tried) } else { advice.hypotheses.push(tried) }
            }
            Err(why) => advice.not_tried.push(NotTried { hypothesis, why }),
        }
    }
    advice.hypotheses.sort_by(|a, b| b.saves.0.total_cmp(&a.saves.0));
    Ok(advice)
}

/// The predicted time with a change, and the change as a file of hypotheses. An error is the reason that the change
/// does not fit the program.
fn replayed(
    platform: &Platform,
    trace: &Trace,
    computation: Computation,
    change: &Change,
    read_ahead: bool,
) -> Result<(Seconds, String), String> {
    let first_line = |error: &dyn ToString| error.to_string().lines().next().unwrap_or_default().to_owned();
    let message = |mistake: Mistake| mistake.message().to_owned();
    let changes = Change::file(std::slice::from_ref(change)).map_err(|error| first_line(&error))?;
    let hypotheses = Hypotheses::parse(Path::new("advice"), changes.clone()).map_err(message)?;
    let platform = apply_machine_changes(hypotheses.machine(), platform.clone()).map_err(message)?;
    let simulation = Simulation::new(&platform, trace).computation(computation).transform(&hypotheses);
    match simulation.read_ahead(read_ahead).run() {
        Ok(result) => Ok((result.simulated_time, changes)),
        Err(SimulationError::Trace(TraceError::Change(error))) => {
            Err(error.downcast().map_or_else(|error| first_line(&error), |mistake| message(*mistake)))
        }
        Err(error) => Err(first_line(&error)),
    }
}
