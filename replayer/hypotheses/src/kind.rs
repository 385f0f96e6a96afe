//! Kinds of changes, and what a change of each kind is: of the program, or of the machine, which is data that a simulator applies.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use titr_common::trace::Transformation;
use titr_document::{Mistake, Place, Source};

use crate::keys::Keys;
use crate::message_filter::MessageFilter;
use crate::selection::Selection;

/// A kind of change.
pub(crate) struct Kind {
    /// The kind's name in files.
    pub name: &'static str,
    /// Reads the keys that a change of this kind has.
    pub read: fn(&mut Keys) -> Result<Effect, Mistake>,
}

/// The effect of a change.
pub(crate) enum Effect {
    /// The program is another one.
    Program(ProgramChange),
    /// The machine is another one.
    Machine(MachineChange),
}

/// A change of the program, or several of one kind that are applied together.
pub(crate) enum ProgramChange {
    Scalings(Vec<Scaling>),
    MessageScalings(Vec<MessageScaling>),
    Other(Box<dyn Transformation + Send + Sync>),
}

/// Computation multiplied by a factor.
#[derive(Clone)]
pub(crate) struct Scaling {
    /// The computation.
    pub selection: Arc<Selection>,
    /// The factor.
    pub factor: f64,
    /// Whether the computation within collectives is scaled as well.
    pub reductions: bool,
}

/// The bytes of messages multiplied with a factor.
pub(crate) struct MessageScaling {
    /// The messages.
    pub filter: Arc<MessageFilter>,
    /// The factor.
    pub factor: f64,
}

impl Effect {
    /// The effect of a change of the program.
    pub(crate) fn program(transformation: impl Transformation + Send + Sync + 'static) -> Self {
        Self::Program(ProgramChange::Other(Box::new(transformation)))
    }
}

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
