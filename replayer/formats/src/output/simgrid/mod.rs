//! Traces for `smpirun -replay`: SimGrid 3.32's actions, a text file for each rank, and an index.
//!
//! The aim is that SimGrid's simulated time of the output equals titr's of the input, on the same platform. Events
//! without an equivalent in SimGrid are expressed by other actions:
//!
//! * There is only the world. Peers are ranks of the world already; a message on another communicator gets a tag that
//!   represents that communicator and its own tag ([`tags`]).
//! * A collective stays a collective if SimGrid would execute it as titr does: with all ranks, in their order,
//!   blocking, and with the algorithm that SimGrid chooses by default. Any other collective becomes the messages of the
//!   schedule that titr simulates ([`collective`]).
//! * A wait names requests by source, destination and tag ([`request_storage`]). A wildcard receive names its recorded
//!   match. A persistent request is created when it is started. A test that found something becomes a wait, and one
//!   that did not is omitted: SimGrid would charge 0.1 ms for it.
//! * Sends are standard sends. A buffered send of at least the eager threshold becomes a non-blocking send that is
//!   waited for only at the end.
//! * The threads of a rank become one. Before an event of another thread, a call that blocks only begins.
//!
//! Remaining differences are counted ([`Differences`]). The events of each rank are translated in order and
//! independently. Ranks take turns only so that shared state — communicators and tags — does not wait long for the last
//! rank.

mod collective;
mod differences;
mod events;
mod messages;
mod request_storage;
mod translation;

use std::path::{Path, PathBuf};

use titr_common::event::{Event, Rank};
use titr_common::format::{count, plural};
use titr_common::trace::EventSource;
use titr_workload::Workload;

use super::rank_files::RankFiles;
use super::{ConversionNotes, ConvertError, OutputFormat, Rules};
use translation::Translation;

pub use differences::Differences;
pub(super) use translation::ThreadBeginning;

/// The format of `smpirun -replay`.
pub(super) const SIMGRID: OutputFormat = OutputFormat {
    name: "simgrid",
    about: "A trace for `smpirun -replay`",
    files: |_| Vec::new(),
    convert: |trace, rules, directory| {
        let written = convert(Workload::new(trace.streams()?).recorded_in(trace), rules, directory)?;
        let (index, events, actions) = (written.index.display(), count(written.events), count(written.actions));
        let of = plural(u64::from(trace.ranks()), "rank", "ranks");
        let what = format!("{index}: {events} events of {} {of} became {actions} actions", trace.ranks());
        Ok(ConversionNotes { written: what, differences: written.warnings() })
    },
};

/// The name of the index.
pub(crate) const INDEX: &str = "index.txt";

/// Number of events of a rank that are translated before the next rank's turn.
const TURN: usize = 1 << 10;

/// The outcome of a conversion.
#[derive(Clone, Debug)]
pub struct Written {
    /// The index, which SimGrid is given.
    pub index: PathBuf,
    /// Events that were read.
    pub events: u64,
    /// Actions that they became.
    pub actions: u64,
    /// The further threads of each rank.
    pub(super) threads: Vec<Vec<ThreadBeginning>>,
    /// Counts of what SimGrid's format cannot express.
    pub differences: Differences,
    /// The reasons why streams ended before the program did, one for each such stream.
    pub torn: Vec<String>,
}

impl Written {
    /// A sentence for each kind of difference in SimGrid.
    #[must_use]
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut all = self.torn.clone();
        all.extend(self.differences.sentences(translation::LONGEST));
        all
    }
}

/// Writes `workload` to `directory`, which is created or is empty.
///
/// # Errors
/// If the trace cannot be read or is invalid, or the directory cannot be written.
pub fn convert<S: EventSource>(
    workload: Workload<S>,
    rules: &Rules,
    directory: &Path,
) -> Result<Written, ConvertError> {
    let files = RankFiles::create(directory, workload.windows.len())?;
    convert_to(workload, rules, files, Collectives::Kept)
}

/// Which collectives stay collectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Collectives {
    /// Those that SimGrid executes as titr does.
    Kept,
    /// None.
    AsMessages,
}

/// Writes `workload` to `files`.
///
/// # Errors
/// If the trace cannot be read or is invalid, or the files cannot be written.
pub(super) fn convert_to<S: EventSource>(
    workload: Workload<S>,
    rules: &Rules,
    files: RankFiles,
    collectives: Collectives,
) -> Result<Written, ConvertError> {
    let ranks: Vec<Rank> = (0..workload.windows.len() as u32).map(Rank).collect();
    let mut translation = Translation::new(workload, rules, files, collectives);
    // SimGrid requires this action first, regardless of the beginning of the trace.
    ranks.iter().for_each(|&rank| translation.emit(rank, &Event::Init));
    let mut going = ranks.clone();
    while !going.is_empty() {
        let mut still = Vec::with_capacity(going.len());
        for rank in going {
            if translation.advance(rank, TURN)? {
                still.push(rank);
            }
        }
        going = still;
    }
    translation.finish(&ranks)
}
