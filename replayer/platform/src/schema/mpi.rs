//! `[mpi]`: what the MPI library does and what it costs.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::value::StrDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use toml::Spanned;

use super::Overhead;
use titr_common::units::{Bytes, Quantity};

/// `[mpi]`
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mpi {
    /// Sends of fewer bytes are buffered. Default: 64 KiB, SimGrid's smpi/send-is-detached-thresh.
    pub eager_threshold: Option<Quantity<Bytes>>,
    /// When those travel. Default: `"at-once"`, as in MPI libraries.
    pub eager_transfer: EagerTransfer,
    /// What MPI_Send costs, in steps `[[from_bytes, seconds, seconds_per_byte], …]`. Default: nothing, as SimGrid's
    /// smpi/os.
    pub send_overhead: Overhead,
    /// What MPI_Isend costs, likewise (smpi/ois).
    pub isend_overhead: Overhead,
    /// What the receipt of a buffered message costs, likewise (smpi/or).
    pub recv_overhead: Overhead,
    /// Whose algorithms collectives use. Default: `"mpich"`.
    pub collectives: Collectives,
}

/// `[mpi] eager_transfer`
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EagerTransfer {
    /// When they are sent.
    #[default]
    AtOnce,
    /// Once the receive is posted: SimGrid's default.
    OnMatch,
}

/// `[mpi] collectives`: a library, or a table that names one and algorithms that are to be used all the same
/// (`bcast = "binomial"`, with segments of so many bytes `"pipeline:65536"`).
#[derive(Default)]
pub struct Collectives {
    /// Default: `"mpich"`.
    pub library: CollectiveLibrary,
    /// By collective.
    pub algorithms: BTreeMap<String, Spanned<String>>,
}

/// Whose rules choose algorithms.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CollectiveLibrary {
    /// MPICH 4.0's defaults.
    #[default]
    Mpich,
    /// Open MPI 4.1's `tuned` component.
    OpenMpi,
    /// SimGrid 3.32's default selector.
    SimGrid,
    /// SimGrid 3.32's selector `ompi`.
    #[serde(rename = "simgrid-openmpi")]
    SimGridOpenMpi,
}

impl<'de> Deserialize<'de> for Collectives {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LibraryOrTable;
        impl<'de> Visitor<'de> for LibraryOrTable {
            type Value = Collectives;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a library, or a table of algorithms")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                let library = CollectiveLibrary::deserialize(StrDeserializer::new(text))?;
                Ok(Collectives { library, ..Collectives::default() })
            }
            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
                let mut table = Collectives::default();
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
