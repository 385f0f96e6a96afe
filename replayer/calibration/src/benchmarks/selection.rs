//! The rows of one machine and one library.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use thiserror::Error;

use super::row::Row;

/// The rows to be used: `--machine NAME --library NAME --nodes 1-2`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Those of this machine. `None`: there is only one.
    pub machine: Option<String>,
    /// Those with this library. `None`: there is only one.
    pub library: Option<String>,
    /// Those on so many nodes. `None`: on any number.
    pub nodes: Option<RangeInclusive<u32>>,
}

/// A reason why no rows are selected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum SelectionError {
    #[error("the results are of no {what} `{name}`, but of {}", listed(.there_are))]
    Unknown { what: &'static str, name: String, there_are: BTreeSet<String> },
    #[error("the results are of more than one {what}: choose with --{what} one of {}", listed(.there_are))]
    Several { what: &'static str, there_are: BTreeSet<String> },
    #[error("no results are on {} to {} nodes, but on {}", nodes.start(), nodes.end(), listed(.there_are))]
    NoNodes { nodes: RangeInclusive<u32>, there_are: BTreeSet<u32> },
}

fn listed<T: ToString>(names: &BTreeSet<T>) -> String {
    let name = |name: &T| Some(name.to_string()).filter(|name| !name.is_empty()).unwrap_or_else(|| "(no name)".into());
    names.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// A text that is no number of nodes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is no number of nodes, or two: 4, 1-2")]
pub struct InvalidNodes(String);

/// The numbers of nodes in a text: `4`, `1-2`.
///
/// # Errors
/// If the text is something else, or the second number is smaller.
pub fn node_range(text: &str) -> Result<RangeInclusive<u32>, InvalidNodes> {
    let invalid = || InvalidNodes(text.to_owned());
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    match (least.trim().parse(), most.trim().parse()) {
        (Ok(least), Ok(most)) if least <= most => Ok(least..=most),
        _ => Err(invalid()),
    }
}

impl Selection {
    /// The selected rows, at least one if there is any.
    ///
    /// # Errors
    /// If there are none, or if they are of several machines or libraries of which none was chosen.
    pub fn of(&self, mut rows: Vec<Row>) -> Result<Vec<Row>, SelectionError> {
        choose("machine", self.machine.as_deref(), &mut rows, |row| &row.machine)?;
        choose("library", self.library.as_deref(), &mut rows, |row| &row.library)?;
        if let Some(nodes) = &self.nodes {
            let there_are = rows.iter().map(|row| row.nodes).collect();
            rows.retain(|row| nodes.contains(&row.nodes));
            if rows.is_empty() {
                return Err(SelectionError::NoNodes { nodes: nodes.clone(), there_are });
            }
        }
        Ok(rows)
    }
}

/// Keeps the rows of one name.
fn choose(
    what: &'static str,
    chosen: Option<&str>,
    rows: &mut Vec<Row>,
    of: fn(&Row) -> &String,
) -> Result<(), SelectionError> {
    let there_are: BTreeSet<String> = rows.iter().map(of).cloned().collect();
    match chosen {
        Some(name) if there_are.contains(name) => rows.retain(|row| of(row) == name),
        Some(name) => return Err(SelectionError::Unknown { what, name: name.to_owned(), there_are }),
        None if there_are.len() > 1 => return Err(SelectionError::Several { what, there_are }),
        None => {}
    }
    Ok(())
}
