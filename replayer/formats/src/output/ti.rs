//! Writes a time-independent trace in titr's own format, from an extended trace or from any other format.

use std::path::Path;

use titr_common::event::{Event, Rank};
use titr_common::format::{count, plural};
use titr_common::output::{OutputDirectory, named};
use titr_common::trace::manifest::{Mode, RankEntry, VERSION};
use titr_common::trace::{Manifest, RankWriter, Trace};

use super::{ConversionNotes, ConvertError, OutputFormat};

/// titr's own format, without times.
pub(super) const TI: OutputFormat = OutputFormat {
    name: "ti",
    about: "A time-independent trace of titr's",
    files: |_| Vec::new(),
    convert: |trace, _, directory| {
        let folded = convert(trace, directory)?;
        let (path, ranks) = (directory.display(), trace.ranks());
        let (of, events) = (plural(u64::from(ranks), "rank", "ranks"), count(folded.events));
        let left_out = count(folded.seen);
        let written = format!(
            "{path}: {events} events of {ranks} {of}; {left_out} times and messages of collectives are left out"
        );
        Ok(ConversionNotes { written, differences: Vec::new() })
    },
};

/// Counts of a conversion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Folded {
    /// Events of the new trace.
    pub events: u64,
    /// Times and messages that were left out.
    pub seen: u64,
}

/// Writes the trace into `directory`, which is created or empty.
///
/// # Errors
/// If the trace cannot be read or the directory cannot be written.
pub(crate) fn convert(source: &Trace, directory: &Path) -> Result<Folded, ConvertError> {
    let output = OutputDirectory::create(directory)?;
    let mut manifest = source.manifest().cloned().unwrap_or_else(|| Manifest::of_unknown_origin(source.ranks()));
    manifest.titr = VERSION;
    manifest.mode = Mode::Ti;
    manifest.config.remove("TITRACE_MODE");
    manifest.config.remove("TITRACE_COLLECTIVES");
    let mut all = Folded::default();
    for entry in &mut manifest.per_rank {
        let folded = stream(source, directory, entry)?;
        entry.opaque.clear();
        entry.clock = None;
        all.events += folded.events;
        all.seen += folded.seen;
    }
    manifest.write(directory).map_err(|error| named(directory, error))?;
    output.finish();
    Ok(all)
}

/// Writes one rank's stream, and into its entry how long that is.
fn stream(source: &Trace, directory: &Path, entry: &mut RankEntry) -> Result<Folded, ConvertError> {
    let failed = |error| named(directory, error);
    let rank = Rank(entry.rank);
    let mut events = source.stream(rank)?;
    let mut writer = RankWriter::create(directory, rank).map_err(failed)?;
    let mut folded = Folded::default();
    while let Some(event) = events.next_event()? {
        if let Event::Annotation(_) = event {
            folded.seen += 1;
        } else {
            folded.events += 1;
            writer.write(events.location().thread, &event).map_err(failed)?;
        }
    }
    *entry = writer.finish(entry.clone()).map_err(failed)?;
    Ok(folded)
}
