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
    /// The file of the study cannot be read.
    #[error("cannot read the study {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The study is wrong.
    #[error(transparent)]
    Mistaken(#[from] Mistake),
    /// A platform of the study is wrong, whatever the values of its axes.
    #[error(transparent)]
    Platform(#[from] PlatformError),
    /// A file of hypotheses is wrong.
    #[error(transparent)]
    Hypotheses(#[from] HypothesesError),
    /// A trace of the study cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A point cannot be simulated.
    #[error("point {point}: {error}")]
    Point {
        /// The point in words.
        point: String,
        /// The error of the simulation.
        error: Box<AnalysisError>,
    },
    /// A point that another process simulated failed.
    #[error("{0}")]
    Failed(String),
    /// The folder of results is of another study.
    #[error(
        "{} has the results of another study: give another --output, or remove the folder (its study, a platform, a trace or the \
         version of titr has changed since)",
        .0.display()
    )]
    OtherStudy(PathBuf),
    /// The folder of results has other files.
    #[error("{} is no folder of results: it has files, but no study.json; give another --output", .0.display())]
    NoFolder(PathBuf),
    /// Another process writes to the folder.
    #[error("another titr sweep is writing to {}: wait until it ends", .0.display())]
    Busy(PathBuf),
    /// A file of results is damaged.
    #[error("{}: this is no result of a point: {error}; remove the file, and the point is simulated again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The first thing that is wrong.
        error: serde_json::Error,
    },
    /// A file does not name the hosts of the platform.
    #[error("{}: {what}", path.display())]
    HostNames {
        /// The file.
        path: PathBuf,
        /// The first thing that is wrong.
        what: String,
    },
    /// Slurm does not do as it is asked.
    #[error("--engine slurm: {0}")]
    Slurm(String),
    /// A replay failed.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// A replay and its analysis failed.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// A file cannot be written or read.
    #[error(transparent)]
    Output(#[from] io::Error),
}
