//! The MPI functions that values of event types stand for.

use std::path::Path;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use titr_common::input;
use titr_common::trace::TraceError;
use titr_common::units::Bytes;

/// The most that is read of a `.pcf` file.
const LARGEST_PCF: Bytes = Bytes(64 << 20);

/// The types of events whose values are MPI functions: point-to-point, collective, others, one-sided, files.
pub(super) const MPI_TYPES: std::ops::RangeInclusive<u64> = 50_000_001..=50_000_005;

/// The types of events of a collective: the bytes that a rank gives and gets, the root, and the communicator.
pub(crate) const SENT: u64 = 50_100_001;
pub(crate) const RECEIVED: u64 = 50_100_002;
pub(crate) const ROOT: u64 = 50_100_003;
pub(crate) const COMMUNICATOR: u64 = 50_100_004;
/// The type of events that count completed instructions.
pub(crate) const INSTRUCTIONS: u64 = 42_000_050;

/// The functions that Extrae has had the same values for since its first versions.
/// Each value with the name, without `MPI_`: a line for each.
static USUAL: LazyLock<Vec<(u64, &str)>> = LazyLock::new(|| {
    let lines = include_str!("functions.txt").lines().filter_map(|line| line.split_once(' '));
    lines.filter_map(|(value, name)| Some((value.parse().ok()?, name))).collect()
});

/// The usual value of a function.
pub(crate) fn value_of(name: &str) -> Option<u64> {
    USUAL.iter().find(|(_, known)| *known == name).map(|&(value, _)| value)
}

/// The names of MPI functions, without `MPI_`.
pub(super) struct Names {
    by_value: FxHashMap<u64, Box<str>>,
}

impl Names {
    /// The names in the `.pcf` file beside a trace, and the usual ones where it has none.
    pub(super) fn beside(path: &Path) -> Result<Self, TraceError> {
        let mut by_value: FxHashMap<u64, Box<str>> = USUAL.iter().map(|&(value, name)| (value, name.into())).collect();
        let path = if path.extension().is_some_and(|end| end == "gz") { path.with_extension("") } else { path.into() };
        let path = path.with_extension("pcf");
        if path.is_file() {
            let text = input::read_text(&path, LARGEST_PCF).map_err(TraceError::io(&path))?;
            by_value.extend(values(&text));
        }
        Ok(Self { by_value })
    }

    pub(super) fn get(&self, value: u64) -> Option<&str> {
        self.by_value.get(&value).map(|name| &**name)
    }
}

/// The values of MPI's event types in the text of a `.pcf` file: blocks of `EVENT_TYPE`, lines of types, `VALUES`, lines of
/// values and names.
fn values(text: &str) -> Vec<(u64, Box<str>)> {
    let mut found = Vec::new();
    let (mut is_mpi, mut are_values, mut are_types) = (false, false, false);
    for line in text.lines() {
        let line = line.trim();
        let mut words = line.split_ascii_whitespace();
        match line {
            "EVENT_TYPE" => (is_mpi, are_types, are_values) = (false, true, false),
            "VALUES" => (are_types, are_values) = (false, true),
            "" => (are_types, are_values) = (false, false),
            _ if are_types => {
                let number = words.nth(1).and_then(|word| word.parse().ok());
                is_mpi |= number.is_some_and(|number| MPI_TYPES.contains(&number));
            }
            _ if are_values && is_mpi => {
                let (value, name) = (words.next().and_then(|word| word.parse().ok()), words.next());
                if let (Some(value), Some(name)) = (value, name.and_then(|name| name.strip_prefix("MPI_"))) {
                    found.push((value, name.into()));
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_mpi_types_have_names() {
        let text = "EVENT_TYPE\n9 50000003 MPI Other\nVALUES\n123 MPI_Start\n0 Outside MPI\n\nEVENT_TYPE\n1 7 x\nVALUES\n4 MPI_No\n";
        assert_eq!(values(text), [(123, "Start".into())]);
    }
}
