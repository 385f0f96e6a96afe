//! Whose messages a transfer meets, in a network that several programs share.

use std::num::NonZero;

use titr_common::time::Time;

/// A program or a load that shares the network with others, by its place in the list of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartyId(NonZero<u32>);

impl PartyId {
    /// The party at this place of the list.
    #[must_use]
    pub fn at(place: usize) -> Self {
        Self(NonZero::<u32>::MIN.saturating_add(u32::try_from(place).unwrap_or(u32::MAX)))
    }

    /// Its place in the list.
    #[must_use]
    pub fn place(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// The messages of one party on the links of a transfer, while the transfer was in transit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Met {
    /// The party; `None` if it is the transfer's own.
    pub party: Option<PartyId>,
    /// The time that these messages were on the same link, summed over messages: on the link where it is the longest.
    pub time: Time,
}
