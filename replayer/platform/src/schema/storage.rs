//! `[storage]`: the disks that hold files, and collective accesses to them.

use serde::Deserialize;
use titr_common::units::{Bandwidth, Bytes, Quantity, Seconds};
use titr_storage::Service;
use toml::Spanned;

use crate::storage::CollectiveAccess;

/// `servers` of `[storage]`: the place of the disks.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServersValue {
    /// `"local"`
    Local,
    /// `{ hosts = [8, 9] }`
    Hosts(Vec<u32>),
    /// `{ apart = 4 }`
    Apart(u32),
}

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
    /// The sharing of a disk among concurrent accesses. Default: `"shared"`.
    pub service: Service,
    /// Where the disks are. Default: `"local"`, one at each host.
    pub servers: Option<Spanned<ServersValue>>,
    /// Size of a stripe of a file. Default: 1 MiB.
    pub stripe_size: Option<Spanned<Quantity<Bytes>>>,
    /// The number of servers that hold a file. Default: all.
    pub stripe_count: Option<Spanned<u32>>,
    /// Bytes of a request to a server at a host, and of the answer. Default: 256 B.
    pub control: Option<Spanned<Quantity<Bytes>>>,
    /// The method of collective accesses. Default: `"automatic"`.
    pub collective: CollectiveAccess,
    /// Aggregators of a collective access at most. Default: one for each host, as ROMIO's `cb_config_list`.
    pub aggregators: Option<Spanned<u32>>,
}
