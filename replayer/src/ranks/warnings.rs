//! What could not be simulated as the program did it, counted.

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Warnings {
    /// Wildcard receives whose match the trace does not say within reach.
    pub(super) open_wildcards: u64,
    /// Waits for a request that was not there.
    pub(super) idle_waits: u64,
    /// Parts in collectives on inter-communicators.
    pub(super) inter_collectives: u64,
}

impl Warnings {
    /// One sentence for each.
    pub(super) fn sentences(self) -> Vec<String> {
        [
            (
                self.open_wildcards,
                "wildcard receives whose match is not in the trace took the oldest message that fits",
            ),
            (self.idle_waits, "waits found no outstanding request with their source, destination and tag, and passed"),
            (
                self.inter_collectives,
                "calls of collectives on inter-communicators were simulated as if both groups were one communicator",
            ),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect()
    }
}
