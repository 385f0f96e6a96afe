//! Facts about a program that follow from its events, for all readers: the operation of a request ([`RequestTable`]),
//! the identity and members of communicators ([`Communicators`]), the nodes of these ([`NodeMaps`]), the open regions ([`OpenRegions`]), and the messages
//! that a call implies. A [`Fault`] is an event that contradicts those before it.

mod communicators;
mod fault;
mod implied;
mod members;
mod node_maps;
mod regions;
mod requests;

pub use communicators::{CommIndex, Communicator, Communicators, Participation};
pub use fault::{Fault, Place};
pub use implied::{agreement, agreements};
pub use members::Members;
pub use node_maps::{NodeMaps, NodesId};
pub use regions::OpenRegions;
pub use requests::{OpenRequest, RequestTable, Template};

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
