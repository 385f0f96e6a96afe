//! The storage that files lie on, and how the MPI library accesses it collectively.

use serde::Deserialize;
use titr_common::units::Bytes;
use titr_storage::DiskParameters;

/// A disk at every host, and collective accesses.
#[derive(Clone, Debug, PartialEq)]
pub struct Storage {
    /// The disk of each host.
    pub disk: DiskParameters,
    /// How reads and writes of all members of a communicator are carried out.
    pub collective: CollectiveAccess,
    /// Collective buffering of the MPI library, where it is used.
    pub buffering: Buffering,
    /// Whether the platform says nothing of storage, so that all of it is assumed.
    pub is_assumed: bool,
}

/// How reads and writes of all members of a communicator are carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CollectiveAccess {
    /// Aggregators access the storage, and exchange the data with the other members: ROMIO's `romio_cb_write = enable`,
    /// and what its default does where the data of the members is interleaved.
    #[default]
    TwoPhase,
    /// Every member accesses its own data: ROMIO's `disable`, and what its default does where each member's data is in
    /// one piece.
    Independent,
}

/// Collective buffering (ROMIO's hints of these names).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffering {
    /// Aggregators at most (`cb_nodes`); `None`: one for each host. There is never more than one at a host.
    pub aggregators: Option<u32>,
    /// Bytes that an aggregator accesses at a time (`cb_buffer_size`).
    pub buffer: Bytes,
}

impl Default for Buffering {
    /// ROMIO's defaults: `cb_config_list = "*:1"`, an aggregator for each host, and `ADIOI_CB_BUFFER_SIZE_DFLT`, 16 MiB.
    fn default() -> Self {
        Self { aggregators: None, buffer: Bytes(16 << 20) }
    }
}

impl Default for Storage {
    /// The storage of a platform that says nothing of it.
    fn default() -> Self {
        Self {
            disk: DiskParameters::default(),
            collective: CollectiveAccess::default(),
            buffering: Buffering::default(),
            is_assumed: true,
        }
    }
}

impl Storage {
    /// Storage that takes no time, accessed with the fewest messages.
    #[must_use]
    pub fn instant() -> Self {
        Self { collective: CollectiveAccess::Independent, is_assumed: false, ..Self::default() }.without_time()
    }

    /// This storage, with disks that take no time.
    #[must_use]
    pub fn without_time(&self) -> Self {
        Self { disk: DiskParameters::INSTANT, ..self.clone() }
    }
}
