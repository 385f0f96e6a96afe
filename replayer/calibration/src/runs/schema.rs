//! The schema of a file of runs.

use serde::Deserialize;
use titr_document::Spanned;

/// A whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// The platform file, relative to this file.
    pub platform: Spanned<String>,
    /// Keys of the platform whose values are multiplied by a factor.
    #[serde(default)]
    pub values: Vec<Spanned<String>>,
    /// Keys of the platform that are flags, which are tried both ways.
    #[serde(default)]
    pub choices: Vec<Spanned<String>>,
    /// The runs.
    #[serde(default)]
    pub run: Vec<RunTable>,
}

/// `[[run]]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunTable {
    /// The trace, relative to the file.
    pub trace: Spanned<String>,
    /// The time that the program took, from `MPI_Init` to `MPI_Finalize`.
    pub seconds: Spanned<f64>,
    /// Keys of the platform that were otherwise in this run: `hosts.cores=1`.
    #[serde(default)]
    pub set: Vec<String>,
    /// Whether the factors are found without this run. Default: no.
    #[serde(default)]
    pub held_out: bool,
}
