//! The kinds of time on a chain of causes.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of a stretch of time on a chain of causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SegmentKind {
    /// Computing, or sleeping.
    Compute,
    /// The software's part of a message, at its sender or receiver.
    Overhead,
    /// A message's latency.
    Latency,
    /// A message's bytes, at the rate that they have with the network to themselves.
    Transfer,
    /// Further time of a message, which others in the network cost it.
    Contention,
    /// An access to files.
    Storage,
    /// Time with an unknown cause.
    Other,
}

impl fmt::Display for SegmentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl SegmentKind {
    /// All kinds, in the order of the type.
    pub const ALL: [Self; 7] =
        [Self::Compute, Self::Overhead, Self::Latency, Self::Transfer, Self::Contention, Self::Storage, Self::Other];
}
