//! Changes of the machine: data that a simulator applies.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use titr_document::{Mistake, Place, Source};

/// A change of the machine.
#[derive(Clone, Debug)]
pub enum MachineChange {
    /// All members of all communicators execute a collective by another algorithm.
    Collective {
        /// The name of the collective, such as `allreduce`.
        collective: String,
        /// The name of the algorithm.
        algorithm: String,
        /// The place in the file where the algorithm is named.
        written: Written,
    },
    /// The network is ideal.
    Network(Network),
}

/// An ideal network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// A message takes no time, and sending and receiving it costs nothing.
    Instant,
    /// A message takes as long as if it was alone.
    Uncontended,
}

/// A place in a file of hypotheses.
#[derive(Clone, Debug)]
pub struct Written {
    /// The file.
    pub(crate) source: Arc<Source>,
    /// The place in the file.
    pub(crate) place: Place,
}

impl Written {
    /// A mistake at this place.
    #[must_use]
    pub fn mistake(&self, message: impl Into<String>) -> Mistake {
        self.source.mistake(self.place.clone(), message)
    }
}

impl MachineChange {
    /// Whether two changes contradict each other.
    pub(crate) fn contradicts(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Collective { collective: one, .. }, Self::Collective { collective: other, .. }) => one == other,
            (Self::Network(one), Self::Network(other)) => one != other,
            (Self::Collective { .. }, Self::Network(_)) | (Self::Network(_), Self::Collective { .. }) => false,
        }
    }
}

impl fmt::Display for MachineChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Collective { collective, algorithm, .. } => write!(f, "the algorithm '{algorithm}' of {collective}"),
            Self::Network(Network::Instant) => f.write_str("a network on which messages take no time"),
            Self::Network(Network::Uncontended) => f.write_str("a network without contention"),
        }
    }
}
