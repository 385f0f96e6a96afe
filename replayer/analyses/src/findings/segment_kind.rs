//! The kinds of time on a chain of causes.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of an interval of time on a chain of causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SegmentKind {
    /// Computing, or sleeping.
    Compute,
    /// The software overhead of a message, at its sender or receiver.
    Overhead,
    /// The latency of a message.
    Latency,
    /// The transfer of the bytes of a message, at the rate that they would have in an idle network.
    Transfer,
    /// Further time of a message, caused by other messages in the network.
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
    pub(crate) const ALL: [Self; 7] =
        [Self::Compute, Self::Overhead, Self::Latency, Self::Transfer, Self::Contention, Self::Storage, Self::Other];
}
