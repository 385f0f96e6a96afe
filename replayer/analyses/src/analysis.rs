//! Observers whose findings become part of the result.

use titr_simulation::observe::Observer;

use crate::findings::Findings;

/// An observer that explains a replay: its findings are part of the result.
pub trait Analysis: Observer {
    /// Adds the findings, once the replay has ended.
    fn add_to(&self, all: &mut Findings);
}

/// The name of an analysis, and its constructor.
pub struct AnalysisKind {
    /// The name by which users select it; its findings have the same name in the result.
    pub name: &'static str,
    /// Makes the analysis for a world of this many ranks.
    pub new: fn(ranks: u32) -> Box<dyn Analysis>,
}
