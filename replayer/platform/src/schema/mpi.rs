//! `[mpi]`: protocols of the MPI library, and their costs.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::value::StrDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use titr_common::collectives::Library;
use titr_common::units::{Bytes, Quantity, Seconds};
use toml::Spanned;

use crate::mpi::{EagerTransfer, Progress, Rendezvous};
use crate::one_sided::{Implementation, PassiveProgress};
use crate::overhead::Overhead;
use crate::spawn::Spawn;

use super::value::NonNegative;

/// `[mpi]`
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MpiTable {
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
pub struct OneSidedTable {
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
pub struct CollectivesTable {
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
