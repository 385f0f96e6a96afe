//! The findings of analyses: plain data, which serialises and which is read again from a result.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::critical_path::CriticalPath;
use super::matrix::Pair;
use super::wait_states::WaitFindings;

/// The findings of the analyses of a replay, each under the name of its analysis; `None`: the analysis was not asked for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Findings {
    /// The critical path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critical_path: Option<CriticalPath>,
    /// The communication matrix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix: Option<Vec<Pair>>,
    /// Wait states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_states: Option<WaitFindings>,
}

impl Findings {
    /// Whether no analysis was asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { critical_path, matrix, wait_states } = self;
        critical_path.is_none() && matrix.is_none() && wait_states.is_none()
    }
}

/// A place in the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProgramPlace {
    /// The innermost region; `None` outside of all regions.
    pub region: Option<Arc<str>>,
    /// The call site, as places in the code from the innermost to the outermost, joined by ` < `; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_site: Option<Arc<str>>,
}
