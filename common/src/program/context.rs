//! The contexts of MPI: messages of one never match receives of another.

/// A context: a communicator's point-to-point messages, or those within its collectives.
///
/// The second kind is odd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Context(pub u32);

impl Context {
    /// The one for the messages that collectives of the same communicator are made of.
    #[must_use]
    pub fn of_collectives(self) -> Self {
        Self(self.0 | 1)
    }

    /// Whether this is the context of messages within collectives.
    #[must_use]
    pub fn is_collective(self) -> bool {
        self.0 & 1 == 1
    }
}
