//! `[mpi]`: protocols of the MPI library, and their costs.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::value::StrDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use titr_common::collectives::{Library, Selection};
use titr_common::units::{Bytes, Quantity, Seconds};
use titr_document::Checked;
use toml::Spanned;

use super::Builder;
use super::value::NonNegative;
use crate::mpi::{EagerTransfer, Mpi, Progress, Rendezvous, Spawn};
use crate::one_sided::{Implementation, OneSided, PassiveProgress};
use crate::overhead::Overhead;

/// `[mpi]`
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MpiTable {
    /// Sends of fewer bytes are buffered. Default: 64 KiB, SimGrid's smpi/send-is-detached-thresh.
    pub eager_threshold: Option<Quantity<Bytes>>,
    /// When buffered messages travel. Default: `"at-once"`, as in MPI libraries.
    pub eager_transfer: EagerTransfer,
    /// Cost of MPI_Send, in steps `[[from_bytes, seconds, seconds_per_byte], …]`. Default: nothing, as SimGrid's
    /// smpi/os.
    pub send_overhead: Overhead,
    /// Cost of MPI_Isend, in steps `[[from_bytes, seconds, seconds_per_byte], …]`. Default: nothing, as SimGrid's smpi/ois.
    pub isend_overhead: Overhead,
    /// The part of a send's cost that overlaps with the way of its message, from 0 to 1. Default: 0.
    pub send_overlap: Option<Spanned<NonNegative>>,
    /// Cost of receiving a buffered message, in steps `[[from_bytes, seconds, seconds_per_byte], …]`. Default: nothing,
    /// as SimGrid's smpi/or.
    pub recv_overhead: Overhead,
    /// Cost of a test, such as MPI_Test. Default: nothing.
    pub test_overhead: Option<Quantity<Seconds>>,
    /// When background communication makes progress. Default: `"calls"` with the collectives of Open MPI or MPICH,
    /// `"thread"` with those of SimGrid.
    pub progress: Option<Progress>,
    /// The transfer of data of messages that are not eager. Default: `"clear-to-send"`.
    pub rendezvous: Rendezvous,
    /// Whether such data travels in both directions at once between two ranks on different hosts. Default: true.
    pub rendezvous_duplex: Option<bool>,
    /// The library whose algorithms collectives use, and exceptions. Default: `"mpich"`.
    pub collectives: CollectivesTable,
    /// One-sided communication.
    pub one_sided: OneSidedTable,
    /// The time that it takes to start processes. Default: none.
    pub spawn: Spawn,
}

/// `[mpi.one_sided]`: an implementation, and what can be measured of it.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct OneSidedTable {
    /// Default: the implementation of the library in `[mpi] collectives`.
    pub preset: Option<Implementation>,
    /// The agent that acts at the target. Default: as in the implementation.
    pub passive_progress: Option<PassiveProgress>,
    /// Bytes of a message that only synchronises. Default: as in the implementation.
    pub control: Option<Quantity<Bytes>>,
    /// Bytes before the data of an access. Default: as in the implementation.
    pub header: Option<Quantity<Bytes>>,
    /// Time of an access at its origin, in steps `[[from_bytes, seconds, seconds_per_byte], …]`. Default: none.
    pub origin_overhead: Option<Overhead>,
    /// Time of an access at its target, in such steps. Default: none.
    pub target_overhead: Option<Overhead>,
}

/// `[mpi] collectives`: a library, or a table that names one and algorithms that override its choices (`bcast =
/// "binomial"`, or with a segment size in bytes `"pipeline:65536"`).
#[derive(Default)]
pub(crate) struct CollectivesTable {
    /// Default: `"mpich"`.
    pub library: Library,
    /// The algorithm of each collective that does not follow the library.
    pub algorithms: BTreeMap<String, Spanned<String>>,
}

impl<'de> Deserialize<'de> for CollectivesTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LibraryOrTable;
        impl<'de> Visitor<'de> for LibraryOrTable {
            type Value = CollectivesTable;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a library, or a table of algorithms")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                let library = Library::deserialize(StrDeserializer::new(text))?;
                Ok(CollectivesTable { library, ..CollectivesTable::default() })
            }
            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
                let mut table = CollectivesTable::default();
                while let Some(key) = entries.next_key::<String>()? {
                    if key == "library" {
                        table.library = entries.next_value()?;
                    } else {
                        table.algorithms.insert(key, entries.next_value()?);
                    }
                }
                Ok(table)
            }
        }
        deserializer.deserialize_any(LibraryOrTable)
    }
}

/// SimGrid's smpi/send-is-detached-thresh.
const EAGER_THRESHOLD: Bytes = Bytes(65536);

impl Builder<'_> {
    /// Protocols, their costs, and algorithms of collectives.
    pub(super) fn mpi(&self, table: MpiTable) -> Checked<Mpi> {
        Ok(Mpi {
            eager_threshold: table.eager_threshold.map_or(EAGER_THRESHOLD, |size| size.0),
            eager_transfer: table.eager_transfer,
            send_overhead: table.send_overhead,
            isend_overhead: table.isend_overhead,
            send_overlap: table.send_overlap.map_or(Ok(0.0), |part| self.part_of_a_send(&part))?,
            recv_overhead: table.recv_overhead,
            test_overhead: table.test_overhead.map_or(Seconds(0.0), |time| time.0),
            progress: table.progress.unwrap_or_else(|| table.collectives.library.into()),
            rendezvous: table.rendezvous,
            rendezvous_duplex: table.rendezvous_duplex.unwrap_or(true),
            spawn: table.spawn,
            one_sided: one_sided(table.one_sided, table.collectives.library),
            collectives: self.collectives(&table.collectives)?,
        })
    }

    /// A part of a send's cost.
    fn part_of_a_send(&self, written: &Spanned<NonNegative>) -> Checked<f64> {
        let &NonNegative(part) = written.get_ref();
        if part <= 1.0 {
            return Ok(part);
        }
        let mistake = self.wrong(written, format!("{part} is more than all of a send's cost"));
        Err(mistake.with_help("give a number from 0, for a message that leaves when all of the cost is paid, to 1"))
    }

    fn collectives(&self, table: &CollectivesTable) -> Checked<Selection> {
        let mut selection = Selection::from(table.library);
        for (collective, algorithm) in &table.algorithms {
            let forced = selection.force(collective, algorithm.get_ref());
            forced.map_err(|unknown| self.wrong(algorithm, unknown.to_string()))?;
        }
        Ok(selection)
    }
}

/// One-sided communication as the table says, and otherwise as the `library` of the collectives does it.
fn one_sided(table: OneSidedTable, library: Library) -> OneSided {
    let preset = OneSided::from(table.preset.unwrap_or_else(|| Implementation::from(library)));
    OneSided {
        passive_progress: table.passive_progress.unwrap_or(preset.passive_progress),
        control: table.control.map_or(preset.control, |bytes| bytes.0),
        header: table.header.map_or(preset.header, |bytes| bytes.0),
        origin_overhead: table.origin_overhead.unwrap_or(preset.origin_overhead),
        target_overhead: table.target_overhead.unwrap_or(preset.target_overhead),
        ..preset
    }
}
