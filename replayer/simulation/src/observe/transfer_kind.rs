//! The kinds of transfers in the network.

/// The kind of a transfer, as the simulated MPI library distinguishes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransferKind {
    /// A message below the eager threshold, between two ranks.
    Eager,
    /// The data of a rendezvous, between two ranks.
    Rendezvous,
    /// A message of a collective, below the eager threshold.
    CollectiveEager,
    /// The data of a rendezvous in a collective.
    CollectiveRendezvous,
    /// A message of one-sided communication.
    OneSided,
    /// A request, data or an answer of an access to a file.
    File,
}

impl TransferKind {
    /// All kinds.
    pub const ALL: [Self; 6] =
        [Self::Eager, Self::Rendezvous, Self::CollectiveEager, Self::CollectiveRendezvous, Self::OneSided, Self::File];

    /// The kind's name in network traces.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Eager => "eager",
            Self::Rendezvous => "rendezvous",
            Self::CollectiveEager => "collective-eager",
            Self::CollectiveRendezvous => "collective-rendezvous",
            Self::OneSided => "one-sided",
            Self::File => "file",
        }
    }
}
