//! Observers whose findings become part of the result.

use serde::Serialize;
use serde::de::DeserializeOwned;
use titr_simulation::observe::Observer;

use crate::findings::Findings;

/// An observer that explains a replay: its findings are part of the result.
pub trait Analysis: Observer {
    /// The type of the findings.
    type Findings: Serialize + DeserializeOwned;

    /// The findings, once the replay has ended.
    fn findings(&self) -> Self::Findings;

    /// The field of `all` for these findings.
    fn place(all: &mut Findings) -> &mut Option<Self::Findings>;
}

/// An [`Analysis`] of any type.
pub trait AnyAnalysis: Observer {
    /// Adds the findings, once the replay has ended.
    fn add_to(&self, all: &mut Findings);
}

impl<A: Analysis> AnyAnalysis for A {
    fn add_to(&self, all: &mut Findings) {
        *A::place(all) = Some(self.findings());
    }
}

/// The name of an analysis, and its constructor.
pub struct AnalysisKind {
    /// The name by which users select it; its findings have the same name in the result.
    pub name: &'static str,
    /// Makes the analysis for a world of this many ranks.
    pub new: fn(ranks: u32) -> Box<dyn AnyAnalysis>,
}
