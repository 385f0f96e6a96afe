//! A simulation whose replay is analysed.

use std::sync::Arc;

use thiserror::Error;
use titr_document::Mistake;
use titr_hypotheses::{MachineChange, Network};
use titr_network::topology::ChangedLinks;
use titr_platform::{Model, Platform};
use titr_simulation::observe::Observer;
use titr_simulation::parallel::Jobs;
use titr_simulation::{Simulation, SimulationError, SimulationResult};

use crate::analysis::{Analysis, AnalysisKind};
use crate::findings::Findings;
use crate::{critical_path, matrix, sensitivities, wait_states};

/// All analyses.
pub static ANALYSES: &[AnalysisKind] = &[matrix::MATRIX, critical_path::CRITICAL_PATH, wait_states::WAIT_STATES];

/// The result of a simulation with the findings of analyses.
pub type AnalysedResult = SimulationResult<Findings>;

/// A simulation whose replay is analysed, to be [run](Self::run).
#[must_use]
pub struct AnalysedSimulation<'a> {
    simulation: Simulation<'a>,
    names: Vec<&'a str>,
    sensitivity_jobs: Option<Jobs>,
    splits_communication: bool,
}

/// An error of an analysed simulation.
#[derive(Debug, Error)]
pub enum AnalysisError {
    /// The simulation has none.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// There is no analysis of this name.
    #[error("there is no analysis '{0}'")]
    Unknown(String),
}

impl<'a> AnalysedSimulation<'a> {
    /// A simulation without analyses.
    pub fn new(simulation: Simulation<'a>) -> Self {
        Self { simulation, names: Vec::new(), sensitivity_jobs: None, splits_communication: false }
    }

    /// Adds the findings of the analysis that [`ANALYSES`] has under this name, of the first run.
    pub fn analyse(mut self, name: &'a str) -> Self {
        self.names.push(name);
        self
    }

    /// Checks the sensitivities that the analysis `critical-path` finds by eight more replays, two for each parameter,
    /// and determines those to each class of links by four more for each. `jobs` is the number of concurrent replays.
    pub fn check_sensitivities(self, jobs: Jobs) -> Self {
        Self { sensitivity_jobs: Some(jobs), ..self }
    }

    /// Splits the communication efficiency into serialisation and transfer by one more replay, on an ideal network.
    pub fn split_communication(self, splits: bool) -> Self {
        Self { splits_communication: splits, ..self }
    }

    /// Replays.
    ///
    /// # Errors
    /// As [`Simulation::run`], and for an analysis that does not exist.
    pub fn run(self) -> Result<AnalysedResult, AnalysisError> {
        let Self { simulation, names, sensitivity_jobs, splits_communication } = self;
        let ranks = simulation.trace.ranks();
        let mut analyses = names.into_iter().map(|name| analysis(name, ranks)).collect::<Result<Vec<_>, _>>()?;
        let platform = simulation.platform;
        let observers = analyses.iter_mut().map(|analysis| &mut **analysis as &mut dyn Observer).collect();
        let (mut result, replay) = simulation.run_observed(observers)?;
        // The time of ranks that wait for ever is no prediction.
        let is_prediction = result.waiting_ranks == 0;
        if let Some(found) = result.efficiencies.as_mut().filter(|_| splits_communication && is_prediction) {
            found.split_communication(
                result.simulated_time,
                replay.time_on(&instant_network(platform.clone()))?.seconds(),
            );
        }
        if analyses.is_empty() {
            return Ok(result);
        }
        let mut findings = Findings::default();
        analyses.iter().for_each(|analysis| analysis.add_to(&mut findings));
        if let Some((jobs, path)) = sensitivity_jobs.zip(findings.critical_path.as_mut()) {
            sensitivities::check(path, &replay, platform, result.simulated_time, jobs)?;
        }
        result.analyses = Some(findings);
        Ok(result)
    }
}

fn analysis(name: &str, ranks: u32) -> Result<Box<dyn Analysis>, AnalysisError> {
    let kind = ANALYSES.iter().find(|kind| kind.name == name);
    let kind = kind.ok_or_else(|| AnalysisError::Unknown(name.to_owned()))?;
    Ok((kind.new)(ranks))
}

/// Changes a platform, change after change.
///
/// # Errors
/// If a change names a collective or an algorithm that there is not.
pub fn apply_machine_changes(changes: &[MachineChange], mut platform: Platform) -> Result<Platform, Mistake> {
    for change in changes {
        match change {
            MachineChange::Collective { collective, algorithm, written } => {
                let forced = platform.mpi.collectives.force(collective, algorithm);
                forced.map_err(|unknown| written.mistake(unknown.to_string()))?;
            }
            MachineChange::Network(network) => {
                platform = match network {
                    Network::Instant => instant_network(platform),
                    Network::Uncontended => Platform { model: Model::Ideal, ..platform },
                };
            }
        }
    }
    Ok(platform)
}

/// The platform with a network on which messages take no time, and MPI calls that cost nothing.
pub(crate) fn instant_network(platform: Platform) -> Platform {
    Platform {
        model: Model::Ideal,
        topology: Arc::new(ChangedLinks::instant(platform.topology)),
        mpi: platform.mpi.without_overheads(),
        ..platform
    }
}
