//! The findings on the communication matrix.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use titr_common::units::Bytes;

/// The messages from one rank to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// The number of messages.
    pub messages: u64,
    /// Their payload.
    pub bytes: Bytes,
}
