//! Kinds of changes, and the subjects that a change of each kind affects.

use std::sync::Arc;

use titr_common::trace::Transformation;
use titr_document::Mistake;

use crate::keys::Keys;
use crate::machine_change::MachineChange;
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
