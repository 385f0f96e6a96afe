//! Places in a program, as findings name them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A place in the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct ProgramPlace {
    /// The innermost region; `None` outside of all regions.
    pub region: Option<Arc<str>>,
    /// The call site, as places in the code from the innermost to the outermost, joined by ` < `; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_site: Option<Arc<str>>,
}
