//! The findings of the analysis `matrix`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use titr_common::units::Bytes;

/// The messages from one rank to another during the whole replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// The number of messages.
    pub messages: u64,
    /// The payload of these messages.
    pub bytes: Bytes,
}
