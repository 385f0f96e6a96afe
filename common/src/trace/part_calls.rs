//! The number of a rank's calls in the part of a program that was traced, and outside.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number of calls of a rank in the part of its program that is in the trace, and outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartCalls {
    /// The number of times that the part began.
    pub times: u64,
    /// The number of calls before the part.
    pub before: u64,
    /// The number of calls in the part.
    pub inside: u64,
    /// The number of calls after the first beginning of the part that are not in it.
    pub after: u64,
}
