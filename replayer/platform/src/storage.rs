//! The storage that holds files, and the method of collective accesses to it.

use serde::Deserialize;
use titr_common::units::Bytes;
use titr_network::topology::HostId;

use crate::disks::DiskParameters;

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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
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

// Striping: the distribution of a file's bytes over servers.
//
// A file is divided into stripes of one size. They are on the servers in turn, from the file's first server on, as in
// Lustre (Operations Manual, §2.3, "Lustre File System Striping") and PVFS's `simple_stripe`.

/// The distribution of files over servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Striping {
    /// The size of a stripe; at least one byte.
    pub size: Bytes,
    /// The number of servers that hold a file; at least one.
    pub count: u32,
}

impl Striping {
    /// The bytes of a piece of a file on each server that has any of it. The piece starts at byte `start`; the file's
    /// first stripe is on server `first` of `servers`. Each server occurs once, and an empty piece is on the server
    /// where its first byte would be.
    #[must_use]
    pub fn shares(&self, first: u32, servers: u32, start: u64, bytes: Bytes) -> Vec<(u32, Bytes)> {
        let (size, count, servers) =
            (self.size.0.max(1), u64::from(self.count.clamp(1, servers.max(1))), servers.max(1));
        let server = |stripe: u64| ((u64::from(first) + stripe % count) % u64::from(servers)) as u32;
        let end = start.saturating_add(bytes.0);
        let (from, to) = (start / size, end.saturating_sub(1).max(start) / size);
        let holders = (to - from).saturating_add(1).min(count);
        let share = |holder: u64| {
            // The stripes from, from + count, ... of this server are whole but for the first and the last of the piece.
            let stripe = from + holder;
            let stripes = (to - stripe) / count + 1;
            let before = if holder == 0 { start - from * size } else { 0 };
            let last = stripe + (stripes - 1) * count;
            let after = if last == to { (last + 1).saturating_mul(size).saturating_sub(end.max(start)) } else { 0 };
            (server(stripe), Bytes(stripes.saturating_mul(size).saturating_sub(before).saturating_sub(after)))
        };
        if bytes.0 == 0 { vec![(server(from), Bytes(0))] } else { (0..holders).map(share).collect() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stripes_lie_on_servers_in_turn() {
        let striping = Striping { size: Bytes(10), count: 3 };
        assert_eq!(striping.shares(0, 4, 0, Bytes(10)), [(0, Bytes(10))]);
        assert_eq!(striping.shares(2, 4, 5, Bytes(10)), [(2, Bytes(5)), (3, Bytes(5))]);
        assert_eq!(striping.shares(3, 4, 5, Bytes(60)), [(3, Bytes(20)), (0, Bytes(20)), (1, Bytes(20))]);
        assert_eq!(striping.shares(0, 4, 35, Bytes(0)), [(0, Bytes(0))]);
        assert_eq!(striping.shares(0, 1, 35, Bytes(100)), [(0, Bytes(100))]);
    }

    proptest! {
        /// Each byte is where counting puts it.
        #[test]
        fn shares_are_those_of_single_bytes(
            (size, count, first, servers) in (1_u64..9, 1_u32..5, 0_u32..5, 1_u32..5),
            (start, bytes) in (0_u64..100, 1_u64..100),
        ) {
            let first = first % servers;
            let mut counted = BTreeMap::new();
            for byte in start..start + bytes {
                let server = (first + (byte / size % u64::from(count.min(servers))) as u32) % servers;
                *counted.entry(server).or_insert(0) += 1;
            }
            let shares = Striping { size: Bytes(size), count }.shares(first, servers, start, Bytes(bytes));
            prop_assert_eq!(shares.len(), counted.len());
            prop_assert_eq!(shares.into_iter().map(|(server, Bytes(bytes))| (server, bytes)).collect::<BTreeMap<_, _>>(), counted);
        }
    }
}
