//! A file of hypotheses.

use std::path::{Path, PathBuf};

use thiserror::Error;
use titr_common::input::{self, WRITTEN_BY_HAND};
use titr_common::trace::{Trace, TraceError, Transformation};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::computation::Scalings;
use crate::keys::Keys;
use crate::kind::{Effect, Kind, MessageScaling, Scaling};
use crate::machine_change::MachineChange;
use crate::messages::MessageScalings;
use crate::source::{Mistake, Source};
use crate::{computation, machine, messages};

/// All kinds of changes.
const KINDS: [Kind; 9] = [
    computation::SCALE_COMPUTE,
    computation::BALANCE_COMPUTE,
    computation::INFINITE_CPU,
    messages::REMOVE_MESSAGES,
    messages::SCALE_MESSAGES,
    messages::MERGE_MESSAGES,
    messages::NONBLOCKING,
    machine::COLLECTIVE,
    machine::IDEAL_NETWORK,
];

/// Changes of a program and its machine, in the order in which they are applied.
pub struct Hypotheses {
    program: Vec<ProgramChange>,
    machine: Vec<MachineChange>,
}

/// A change of the program, or several of one kind that are applied together.
enum ProgramChange {
    Scalings(Scalings),
    MessageScalings(MessageScalings),
    Other(Box<dyn Transformation + Send + Sync>),
}

/// A reason why there are no hypotheses.
#[derive(Debug, Error)]
pub enum HypothesesError {
    /// The file cannot be read.
    #[error("cannot read the hypotheses {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// The file is wrong.
    #[error(transparent)]
    Mistaken(#[from] Mistake),
}

impl Hypotheses {
    /// Reads a file of hypotheses.
    ///
    /// # Errors
    /// If the file cannot be read, or says no such changes.
    pub fn load(path: &Path) -> Result<Self, HypothesesError> {
        let text = input::read_text(path, WRITTEN_BY_HAND)
            .map_err(|error| HypothesesError::Unreadable { path: path.to_owned(), error })?;
        Self::parse(path, text)
    }

    /// Reads the text of a file of hypotheses; `path` names the file in messages.
    ///
    /// # Errors
    /// If the text says no such changes.
    pub fn parse(path: &Path, text: String) -> Result<Self, HypothesesError> {
        let source = Source::new(path, text);
        let file = DeTable::parse(&source.text).map_err(|error| {
            source.mistake(&error.span().unwrap_or_default(), error.message().lines().next().unwrap_or_default())
        })?;
        let mut this = Self { program: Vec::new(), machine: Vec::new() };
        for table in changes(file, &source)? {
            let (kind, mut keys) = Keys::of(table, &source)?;
            let Some(known) = KINDS.iter().find(|known| known.name == kind.get_ref()) else {
                let names = KINDS.map(|kind| kind.name).join(", ");
                Err(keys.wrong(&kind, format!("there is no such kind of change: there are {names}")))?
            };
            match (known.read)(&mut keys)? {
                Effect::Program(change) => this.program.push(ProgramChange::Other(change)),
                Effect::Scaling(scaling) => this.scale(scaling),
                Effect::MessageScaling(scaling) => this.scale_messages(scaling),
                Effect::Machine(change) => {
                    if let Some(earlier) = this.machine.iter().find(|earlier| earlier.contradicts(&change)) {
                        Err(keys.mistake(format!("this contradicts {earlier}, an earlier change")))?;
                    }
                    this.machine.push(change);
                }
            }
            keys.finish()?;
        }
        Ok(this)
    }

    /// Adds a scaling after the changes so far.
    fn scale(&mut self, scaling: Scaling) {
        if !matches!(self.program.last(), Some(ProgramChange::Scalings(_))) {
            self.program.push(ProgramChange::Scalings(Scalings::default()));
        }
        if let Some(ProgramChange::Scalings(scalings)) = self.program.last_mut() {
            scalings.push(scaling);
        }
    }

    /// Adds a change of the sizes of messages after the changes so far.
    fn scale_messages(&mut self, scaling: MessageScaling) {
        if !matches!(self.program.last(), Some(ProgramChange::MessageScalings(_))) {
            self.program.push(ProgramChange::MessageScalings(MessageScalings::default()));
        }
        if let Some(ProgramChange::MessageScalings(scalings)) = self.program.last_mut() {
            scalings.push(scaling);
        }
    }

    /// The changes of the machine.
    #[must_use]
    pub fn machine(&self) -> &[MachineChange] {
        &self.machine
    }
}

/// The tables of a file.
fn changes<'t>(file: Spanned<DeTable<'t>>, source: &Source) -> Result<Vec<Spanned<DeTable<'t>>>, Mistake> {
    let mut tables = Vec::new();
    for (key, value) in file.into_inner() {
        if key.get_ref() != "change" {
            return Err(source.mistake(&key.span(), "a file of hypotheses has tables [[change]] only"));
        }
        let place = value.span();
        let DeValue::Array(items) = value.into_inner() else {
            return Err(source.mistake(&place, "write [[change]], as there may be several"));
        };
        for item in items {
            let place = item.span();
            let DeValue::Table(table) = item.into_inner() else {
                return Err(source.mistake(&place, "a change is a table"));
            };
            tables.push(Spanned::new(place, table));
        }
    }
    Ok(tables)
}

impl Transformation for Hypotheses {
    fn apply(&self, trace: Trace) -> Result<Trace, TraceError> {
        self.program.iter().try_fold(trace, |trace, change| match change {
            ProgramChange::Scalings(scalings) => scalings.apply(trace),
            ProgramChange::MessageScalings(scalings) => scalings.apply(trace),
            ProgramChange::Other(change) => change.apply(trace),
        })
    }
}
