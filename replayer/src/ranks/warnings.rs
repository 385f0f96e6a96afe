//! What could not be simulated as the program did it, counted.

use crate::words::{count, plural};

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Warnings {
    /// Wildcard receives whose match the trace does not say within reach.
    pub(super) open_wildcards: u64,
    /// Waits for a request that was not there.
    pub(super) idle_waits: u64,
    /// Collectives that were to be the messages recorded, where none are.
    pub(super) redecomposed: u64,
}

impl Warnings {
    /// One sentence for each.
    pub(super) fn sentences(self) -> Vec<String> {
        let open = "whose match is not in the trace took the oldest message that fits";
        let schedule = "whose messages were not recorded followed the platform's algorithm";
        let idle = "found no outstanding request with their source, destination and tag, and passed";
        [
            (self.open_wildcards, plural(self.open_wildcards, "wildcard receive", "wildcard receives"), open),
            (self.idle_waits, plural(self.idle_waits, "wait", "waits"), idle),
            (self.redecomposed, plural(self.redecomposed, "collective call", "collective calls"), schedule),
        ]
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, who, what)| format!("{} {who} {what}", count(number)))
        .collect()
    }
}
