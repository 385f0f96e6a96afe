//! A kind of change, and what a change of it has an effect on.

use titr_common::trace::Transformation;

use crate::keys::Keys;
use crate::machine_change::MachineChange;
use crate::source::Mistake;

/// A kind of change.
pub struct Kind {
    /// The kind's name in files.
    pub name: &'static str,
    /// Reads the keys that a change of this kind has.
    pub read: fn(&mut Keys<'_>) -> Result<Effect, Mistake>,
}

/// The effect of a change.
pub enum Effect {
    /// The program is another one.
    Program(Box<dyn Transformation + Send + Sync>),
    /// The machine is another one.
    Machine(MachineChange),
}

impl Effect {
    /// The effect of a change of the program.
    pub fn program(transformation: impl Transformation + Send + Sync + 'static) -> Self {
        Self::Program(Box::new(transformation))
    }
}
