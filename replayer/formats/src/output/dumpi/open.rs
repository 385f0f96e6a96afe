//! The operation of a request that is open.

use std::cmp::Ordering;

use titr_common::event::Incoming;

/// A message with a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenDumpi {
    /// The number of the request in records.
    pub name: i32,
    /// The message, if it is to be received.
    pub receive: Option<Incoming>,
    pub is_cancelled: bool,
}

impl PartialEq for OpenDumpi {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for OpenDumpi {}

// Requests are completed in the order in which they were made.
impl Ord for OpenDumpi {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name.cmp(&other.name)
    }
}

impl PartialOrd for OpenDumpi {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
