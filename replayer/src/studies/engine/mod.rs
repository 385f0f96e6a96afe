//! The engines that simulate the points of a study: here, on several threads, or as a job array of a batch system. The results
//! are the same.

pub(crate) mod slurm;
#[cfg(test)]
mod tests;

use titr_analyses::{AnalysedResult, AnalysedSimulation};
use titr_simulation::parallel::Jobs;

use crate::call_sites::CallSiteNames;
use crate::studies::error::StudyError;
use crate::studies::folder::ResultsFolder;
use crate::studies::inputs::{Inputs, PreparedPoint};
use crate::studies::outcome::PointOutcome;

/// A way to simulate a point: [`simulate`], or one that writes a report, too.
pub(crate) type Replay<'a> = dyn Fn(usize, &PreparedPoint) -> Result<AnalysedResult, StudyError> + Sync + 'a;

/// Simulates a point without further output.
pub(crate) fn simulate(inputs: &Inputs, prepared: &PreparedPoint, point: usize) -> Result<AnalysedResult, StudyError> {
    let names = CallSiteNames::default();
    let simulation = prepared.simulation(&names).runs(inputs.study.repeats).jobs(Jobs::ONE).read_ahead(false);
    let analysed = AnalysedSimulation::new(simulation).split_communication(inputs.study.split_communication);
    analysed.run().map_err(|error| StudyError::Point { point: inputs.in_words(point), error: Box::new(error) })
}

/// Simulates these points, several at the same time, and keeps the outcome of each as soon as the point ends. `done` is called
/// after each.
///
/// # Errors
/// The error of the first point that has one. The outcomes of others stay.
pub(crate) fn run(
    inputs: &Inputs,
    folder: &ResultsFolder,
    points: &[usize],
    jobs: Jobs,
    replay: &Replay,
    done: &(dyn Fn() + Sync),
) -> Result<(), StudyError> {
    jobs.map(points.len(), |number| {
        let point = points[number];
        let prepared = inputs.point(point)?;
        let result = replay(point, &prepared)?;
        folder.keep(point, &PointOutcome::of(&result, prepared.cost))?;
        done();
        Ok(())
    })
    .map(drop)
}
