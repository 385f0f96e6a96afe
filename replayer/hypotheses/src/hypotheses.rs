//! A file of hypotheses.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;
use titr_common::input::{self, WRITTEN_BY_HAND};
use titr_common::trace::{Trace, TraceError, Transformation};
use titr_document::{Located, Mistake, Source, Spanned, Table, Value};

use crate::keys::Keys;
use crate::kind::{Effect, Kind, MachineChange, ProgramChange};
use crate::{computation, machine, messages};

/// All kinds of changes.
const KINDS: [Kind; 8] = [
    computation::SCALE_COMPUTE,
    computation::BALANCE_COMPUTE,
    computation::INFINITE_CPU,
    messages::REMOVE_MESSAGES,
    messages::SCALE_MESSAGES,
    messages::NONBLOCKING,
    machine::COLLECTIVE,
    machine::IDEAL_NETWORK,
];

/// Changes of a program and its machine, in the order in which they are applied.
pub struct Hypotheses {
    program: Vec<ProgramChange>,
    /// The changes of the machine.
    pub machine: Vec<MachineChange>,
}

/// A reason why there are no hypotheses.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum HypothesesError {
    #[error("cannot read the hypotheses {}: {error}", path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
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
        Ok(Self::parse(path, text)?)
    }

    /// Reads the text of a file of hypotheses; `path` names the file in messages.
    ///
    /// # Errors
    /// If the text says no such changes.
    pub fn parse(path: &Path, text: String) -> Result<Self, Mistake> {
        let source = Arc::new(Source::new(&path.display().to_string(), text, []));
        let mut this = Self { program: Vec::new(), machine: Vec::new() };
        for table in changes(&source)? {
            let (kind, mut keys) = Keys::of(table, &source)?;
            let Some(known) = KINDS.iter().find(|known| known.name == kind.get_ref()) else {
                if kind.get_ref() == "merge-messages" {
                    Err(keys.wrong(&kind, "merge-messages is gone: titr no longer puts messages together"))?;
                }
                let names = KINDS.map(|kind| kind.name).join(", ");
                Err(keys.wrong(&kind, "there is no such kind of change").with_help(format!("there are {names}")))?
            };
            match (known.read)(&mut keys)? {
                Effect::Program(change) => match (this.program.last_mut(), change) {
                    (Some(ProgramChange::Scalings(all)), ProgramChange::Scalings(more)) => all.extend(more),
                    (Some(ProgramChange::MessageScalings(all)), ProgramChange::MessageScalings(more)) => {
                        all.extend(more)
                    }
                    (_, change) => this.program.push(change),
                },
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
}

/// The tables of a file.
fn changes(source: &Source) -> Result<Vec<Spanned<Table>>, Mistake> {
    let Value::Table(mut file) = source.parse(&source.file)?.value else { return Ok(Vec::new()) };
    let changes = file.remove("change");
    if let Some((key, _)) = file.into_entries().next() {
        return Err(source.wrong(&key, "a file of hypotheses has tables [[change]] only"));
    }
    let Some(Located { value, place }) = changes else { return Ok(Vec::new()) };
    let Value::List(items) = value else {
        return Err(source.mistake(place, "write [[change]], as there may be several"));
    };
    let table = |Located { value, place }| match value {
        Value::Table(table) => Ok(Spanned::new(place, table)),
        _ => Err(source.mistake(place, "a change is a table")),
    };
    items.into_iter().map(table).collect()
}

impl Transformation for Hypotheses {
    fn apply(&self, trace: Trace) -> Result<Trace, TraceError> {
        self.program.iter().try_fold(trace, |trace, change| match change {
            ProgramChange::Scalings(scalings) => computation::scaled(scalings, trace),
            ProgramChange::MessageScalings(scalings) => messages::scaled(scalings, trace),
            ProgramChange::Other(change) => change.apply(trace),
        })
    }
}
