//! `[storage]`: the disks that files lie on, and how all members of a communicator access them together.

use serde::Deserialize;
use titr_common::units::{Bandwidth, Bytes, Quantity, Seconds};
use toml::Spanned;

use crate::storage::CollectiveAccess;

/// `[storage]`
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StorageTable {
    /// Bandwidth of reads from each disk. Default: 3.2 GB/s, see [`DiskParameters`](titr_storage::DiskParameters).
    pub read_bandwidth: Option<Quantity<Bandwidth>>,
    /// Bandwidth of writes to each disk. Default: 1.05 GB/s.
    pub write_bandwidth: Option<Quantity<Bandwidth>>,
    /// Time until the first byte of an access moves. Default: 85 µs.
    pub latency: Option<Quantity<Seconds>>,
    /// How collective accesses are carried out. Default: `"two-phase"`.
    pub collective: CollectiveAccess,
    /// Aggregators of a collective access at most. Default: one for each host, as ROMIO's `cb_config_list`.
    pub aggregators: Option<Spanned<u32>>,
    /// Bytes that an aggregator accesses at a time. Default: 16 MiB, as ROMIO's `cb_buffer_size`.
    pub collective_buffer: Option<Spanned<Quantity<Bytes>>>,
}
