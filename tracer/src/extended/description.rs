//! The recorder's description of a collective call for the engine, and what the engine made of it.

use titr_common::event::{self, CommId, Message};
use titr_wrappers::argument::Comm;
use titr_wrappers::pmpi::Neighbors;

use crate::ranks::Ranks;

/// A collective call, as the recorder describes it.
pub struct Description {
    /// The communicator that the program has called it on.
    pub comm: Comm,
    /// The number of the communicator.
    pub id: CommId,
    /// The members of the communicator, as ranks of the world; of an inter-communicator, one group behind the other.
    pub members: Ranks,
    /// Whether it takes place in the call.
    pub is_blocking: bool,
    /// The operation and its volumes.
    pub operation: Operation,
}

/// The operation of a collective and its volumes.
pub enum Operation {
    /// A collective of all members, and the number of members in the first group of an inter-communicator.
    Collective(event::Collective, Option<u32>),
    /// A collective of neighbours.
    Neighborhood {
        /// The volumes.
        neighborhood: event::Neighborhood,
        /// The neighbours, by their ranks in the communicator.
        neighbors: Neighbors,
    },
}

/// A collective call that has been made.
pub struct Made {
    /// Whether the call succeeded.
    pub success: bool,
    /// The messages of the collective; `None` if the library has carried it out, and nothing was seen.
    pub messages: Option<Vec<Message>>,
}
