//! The schema of platform files: every permitted key, its default, and the source of the default.
//!
//! The type of a table ends in `Table`. [`build`](crate::build) checks keys against each other. The tables of
//! topologies are in [`topology`](crate::topology), next to the code that builds them.

mod mpi;
mod network;
mod packet;
mod spread;
mod storage;
mod switch;
mod value;

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::topology::TopologyTable;
use crate::{HostSpeed, SharedSpeed};

pub use mpi::{CollectivesTable, MpiTable, OneSidedTable};
pub use network::{
    FailedTable, FlowTable, LoopbackTable, ModelName, NetworkTable, RailChoiceName, RailsTable, Through,
    UnlikeLinkTable,
};
pub use packet::{FlowControl, PacketTable};
pub use spread::{DetoursTable, SpreadTable, UncertaintyValue};
pub use storage::{ServersValue, StorageTable};
pub use switch::{Full, Sharing, SwitchKind};
pub use value::{NonNegative, OneOrMany};

/// A whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    /// The edition of this schema that the file is written in: 1.
    pub schema: Spanned<u32>,
    pub hosts: HostsTable,
    /// Required, except for a platform of SimGrid's that describes its network itself.
    pub topology: Option<Spanned<TopologyTable>>,
    pub network: Spanned<NetworkTable>,
    #[serde(default)]
    pub mpi: MpiTable,
    /// Default: a disk at every host, which the result then says.
    pub storage: Option<StorageTable>,
    #[serde(default)]
    pub placement: PlacementTable,
    #[serde(default)]
    pub spread: SpreadTable,
}

/// `[hosts]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HostsTable {
    /// Number of hosts. Default: as many as the topology has, where that says it.
    pub count: Option<Spanned<u32>>,
    /// Ranks that a host has room for. Default: 1.
    pub cores: Option<Spanned<u32>>,
    /// Speed of one core: one value, or one for each host. `"1 x recorded"` is the speed of the traced program.
    pub speed: Spanned<OneOrMany<HostSpeed>>,
    /// The part of that speed that cores keep from a number of ranks on a host on: `[[ranks, part], …]`. Default: 1.
    pub sharing: Option<Spanned<SharedSpeed>>,
    /// The part of that speed at which cores compute in regions of the program, by their names. Default: 1.
    #[serde(default)]
    pub regions: BTreeMap<String, Spanned<f64>>,
}

/// `[placement]`
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PlacementTable {
    /// Default: `"block"`.
    pub policy: Option<Spanned<PolicyName>>,
    /// For `"random"`. Default: 0.
    pub seed: u64,
    /// For `"file"`: the host of each rank, one number per line; relative to the platform file.
    pub file: Option<Spanned<String>>,
}

/// `[placement] policy`
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PolicyName {
    /// Ranks fill a host before the next host is used.
    Block,
    /// Each host gets one rank, then each a second one, and so on.
    RoundRobin,
    /// Each rank gets a core that is drawn uniformly from the free ones.
    Random,
    /// The key `file` names a list of hosts.
    File,
}
