//! Errors of studies.

use std::io;
use std::path::PathBuf;

use thiserror::Error;
use titr_analyses::AnalysisError;
use titr_common::trace::TraceError;
use titr_document::Mistake;
use titr_hypotheses::HypothesesError;
use titr_platform::PlatformError;
use titr_simulation::SimulationError;

/// A reason why a study has no results.
#[derive(Debug, Error)]
pub(crate) enum StudyError {
    #[error("cannot read the study {}: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    /// The file of the study is wrong.
    #[error(transparent)]
    Mistaken(#[from] Mistake),
    /// A platform of the study is wrong, whatever the values of its axes.
    #[error(transparent)]
    Platform(#[from] PlatformError),
    #[error(transparent)]
    Hypotheses(#[from] HypothesesError),
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A point, in words, cannot be simulated.
    #[error("point {point}: {error}")]
    Point { point: String, error: Box<AnalysisError> },
    /// A point that another process simulated failed.
    #[error("{0}")]
    Failed(String),
    #[error(
        "{} has the results of another study: give another --output, or remove the folder (its study, a platform, a trace or the \
         version of titr has changed since)",
        .0.display()
    )]
    OtherStudy(PathBuf),
    #[error("{} is no folder of results: it has files, but no study.json; give another --output", .0.display())]
    NoFolder(PathBuf),
    #[error("another titr sweep is writing to {}: wait until it ends", .0.display())]
    Busy(PathBuf),
    #[error("{}: this is no result of a point: {error}; remove the file, and the point is simulated again", path.display())]
    Damaged { path: PathBuf, error: serde_json::Error },
    /// A file does not name the hosts of the platform.
    #[error("{}: {what}", path.display())]
    HostNames { path: PathBuf, what: String },
    /// Slurm does not do as it is asked.
    #[error("--engine slurm: {0}")]
    Slurm(String),
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// A file cannot be written or read.
    #[error(transparent)]
    Output(#[from] io::Error),
}
