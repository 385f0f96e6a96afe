//! The forms of results, for users and for programs. Nothing is computed here: results contain their own data.
//! The [text summary](text) is printed if no other form is requested.

pub(crate) mod cause;
pub(crate) mod csv;
pub(crate) mod text;
pub(crate) mod variations;

use serde::Serialize;
use titr_analyses::AnalysedResult;
use titr_simulation::traffic::TrafficResult;
use titr_simulation::triggered::TriggeredResult;
use variations::Variations;

/// The result of a command. As JSON, it is one object.
#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
pub(crate) enum Results<'a> {
    /// A trace was replayed.
    Simulation(&'a AnalysedResult),
    /// A platform was measured under synthetic traffic.
    Traffic(&'a TrafficResult),
    /// A network trace was replayed.
    Triggered(&'a TriggeredResult),
    /// A trace was replayed on variations of a platform.
    Variations(&'a Variations),
}
