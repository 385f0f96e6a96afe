//! `[mpi]`: protocols of the MPI library, and what they cost.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::value::StrDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use titr_common::collectives::Library;
use titr_common::units::{Bytes, Quantity};
use toml::Spanned;

use crate::mpi::{EagerTransfer, Overhead};

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
    /// Cost of receiving a buffered message, in steps `[[from_bytes, seconds, seconds_per_byte], …]`. Default: nothing, as SimGrid's smpi/or.
    pub recv_overhead: Overhead,
    /// The library whose algorithms collectives use, and exceptions. Default: `"mpich"`.
    pub collectives: CollectivesTable,
}

/// `[mpi] collectives`: a library, or a table that names one and algorithms that are to be used all the same
/// (`bcast = "binomial"`, with segments of so many bytes `"pipeline:65536"`).
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
