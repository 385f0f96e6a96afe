//! The storage that holds files, and the method of collective accesses to it.

use serde::Deserialize;
use titr_common::units::Bytes;
use titr_network::topology::HostId;

use crate::disks::DiskParameters;
use crate::striping::Striping;

/// Lustre's stripes of 1 MiB (Operations Manual, §2.3.1), over all servers.
const DEFAULT_STRIPING: Striping = Striping { size: Bytes(1 << 20), count: u32::MAX };

/// About the size of an NFS or Lustre request without data.
const DEFAULT_CONTROL: Bytes = Bytes(256);

/// Disks, their places, the distribution of files over them, and collective accesses.
#[derive(Clone, Debug, PartialEq)]
pub struct Storage {
    /// Each of the disks.
    pub disk: DiskParameters,
    /// The place of the disks.
    pub servers: Servers,
    /// The striping of each file over the servers.
    pub striping: Striping,
    /// Bytes of the message that asks a server at a host for an access, and of its answer.
    pub control: Bytes,
    /// The method of collective reads and writes.
    pub collective: CollectiveAccess,
    /// Aggregators at most (`cb_nodes`); `None`: one for each host. There is never more than one at a host.
    pub aggregators: Option<u32>,
    /// Whether the platform does not describe its storage, so that all of it is assumed.
    pub is_assumed: bool,
}

/// The place of the disks that hold files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Servers {
    /// A disk at every host, for the files of the ranks there.
    Local,
    /// A server with a disk at each of these hosts, which all ranks reach over the network.
    Hosts(Vec<HostId>),
    /// This many servers that all ranks reach without the network.
    Apart(u32),
}

impl Servers {
    /// The number of disks that a file may be on.
    #[must_use]
    pub fn count(&self) -> u32 {
        match self {
            Self::Local => 1,
            Self::Hosts(hosts) => hosts.len() as u32,
            Self::Apart(count) => *count,
        }
    }
}

/// The method of collective reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CollectiveAccess {
    /// Aggregators if the data of the members is interleaved in the file; otherwise every member accesses its own data.
    /// ROMIO's default, `romio_cb_write = automatic`.
    #[default]
    Automatic,
    /// Aggregators access the storage, and exchange the data with the other members: ROMIO's `enable`.
    TwoPhase,
    /// Every member accesses its own data: ROMIO's `disable`.
    Independent,
}

impl Default for Storage {
    /// The storage of a platform that says nothing of it.
    fn default() -> Self {
        Self {
            disk: DiskParameters::default(),
            servers: Servers::Local,
            striping: DEFAULT_STRIPING,
            control: DEFAULT_CONTROL,
            collective: CollectiveAccess::default(),
            // ROMIO's `cb_config_list = "*:1"`.
            aggregators: None,
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

    /// This storage, with disks that take no time to reach and to use.
    #[must_use]
    pub fn without_time(&self) -> Self {
        Self { disk: DiskParameters::INSTANT, servers: Servers::Local, ..self.clone() }
    }
}
