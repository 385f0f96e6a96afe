//! `[storage]`: the disks that hold files, and collective accesses to them.

use serde::Deserialize;
use titr_common::units::{Bandwidth, Bytes, Quantity, Seconds};
use titr_document::Checked;
use titr_network::topology::HostId;
use toml::Spanned;

use super::Builder;
use crate::disks::{DiskParameters, Service};
use crate::storage::{CollectiveAccess, Servers, Storage, Striping};

/// `[storage]`
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct StorageTable {
    /// Bandwidth of reads from and writes to a disk. Default: 3.2 GB/s, 1.05 GB/s.
    pub read_bandwidth: Option<Quantity<Bandwidth>>,
    pub write_bandwidth: Option<Quantity<Bandwidth>>,
    /// Time from the request until the first byte moves. Default: 85 us.
    pub latency: Option<Quantity<Seconds>>,
    /// Simultaneous accesses to a disk. `"shared"`: all at once, with equal shares of its bandwidth, as in SimGrid.
    /// `"fifo"`: in order of arrival, as on servers of Lustre. Default: `"shared"`.
    pub service: Service,
    /// Location of the disks. `"local"`: one at each host, for its ranks. `{ hosts = [60, 61] }`: one at each of these
    /// hosts, servers that all ranks reach over the network. `{ apart = 4 }`: four servers outside the network;
    /// `latency` then includes the path to them. Default: `"local"`.
    pub servers: Option<Spanned<Servers>>,
    /// Size of the stripes of a file, which the servers store in turn (Lustre's `stripe_size`). Default: 1 MiB.
    pub stripe_size: Option<Spanned<Quantity<Bytes>>>,
    /// Number of servers that store a file (Lustre's `stripe_count`). Each new file begins one server further. Default:
    /// all.
    pub stripe_count: Option<Spanned<u32>>,
    /// Size of the request to a server at a host, and of its answer. Default: 256 B.
    pub control: Option<Spanned<Quantity<Bytes>>>,
    /// Collective reads and writes. `"two-phase"`: aggregators access the disks and exchange the data with all ranks
    /// (ROMIO's `romio_cb_write = enable`). `"independent"`: each rank accesses its own data (`disable`).
    /// `"automatic"`, ROMIO's default: two-phase if the data of the ranks is interleaved in the file. Default:
    /// `"automatic"`.
    pub collective: CollectiveAccess,
    /// Largest number of aggregators (ROMIO's `cb_nodes`); a host has at most one. Default: one for each host.
    pub aggregators: Option<Spanned<u32>>,
}

impl Builder<'_> {
    /// Disks, and how they are accessed; `None`: the platform says nothing of storage.
    pub(super) fn storage(&self, table: Option<StorageTable>, hosts: u32) -> Checked<Storage> {
        let Some(table) = table else { return Ok(Storage::default()) };
        let default = Storage::default();
        let disk = default.disk;
        let servers = self.servers(table.servers.as_ref(), hosts)?;
        Ok(Storage {
            disk: DiskParameters {
                read_bandwidth: table.read_bandwidth.map_or(disk.read_bandwidth, |bandwidth| bandwidth.0),
                write_bandwidth: table.write_bandwidth.map_or(disk.write_bandwidth, |bandwidth| bandwidth.0),
                latency: table.latency.map_or(disk.latency, |latency| latency.0),
                service: table.service,
            },
            striping: self.striping(&table, &servers)?,
            control: self.control(&table, &servers)?.unwrap_or(default.control),
            servers,
            collective: table.collective,
            aggregators: self.aggregators(table.aggregators)?,
            is_assumed: false,
        })
    }

    fn servers(&self, written: Option<&Spanned<Servers>>, hosts: u32) -> Checked<Servers> {
        let Some(written) = written else { return Ok(Servers::Local) };
        let servers = written.get_ref();
        if servers.count() == 0 {
            return Err(self.wrong(written, "files lie on at least one server"));
        }
        if let Servers::Hosts(list) = servers
            && let Some(HostId(host)) = list.iter().find(|host| host.0 >= hosts)
        {
            return Err(self.wrong(written, format!("there is no host {host}: the hosts are 0 to {}", hosts - 1)));
        }
        Ok(servers.clone())
    }

    fn striping(&self, table: &StorageTable, servers: &Servers) -> Checked<Striping> {
        let mut striping = Storage::default().striping;
        if let Some(size) = &table.stripe_size {
            self.needs_servers(size, servers)?;
            striping.size = size.get_ref().0;
            if striping.size == Bytes(0) {
                return Err(self.wrong(size, "a stripe has at least one byte"));
            }
        }
        if let Some(count) = &table.stripe_count {
            self.needs_servers(count, servers)?;
            striping.count = *count.get_ref();
            if !(1..=servers.count()).contains(&striping.count) {
                let message = format!("a file lies on 1 to {} servers: there are no more", servers.count());
                return Err(self.wrong(count, message));
            }
        }
        Ok(striping)
    }

    fn control(&self, table: &StorageTable, servers: &Servers) -> Checked<Option<Bytes>> {
        let Some(control) = &table.control else { return Ok(None) };
        match servers {
            Servers::Hosts(_) => Ok(Some(control.get_ref().0)),
            Servers::Local | Servers::Apart(_) => {
                let mistake = self.wrong(control, "no message asks these disks for an access");
                Err(mistake.with_help("place servers at hosts: servers = { hosts = [0] }"))
            }
        }
    }

    fn needs_servers<T>(&self, written: &Spanned<T>, servers: &Servers) -> Checked<()> {
        match servers {
            Servers::Hosts(_) | Servers::Apart(_) => Ok(()),
            Servers::Local => {
                let mistake = self.wrong(written, "files on local disks are not cut into stripes");
                Err(mistake.with_help("add servers: servers = { hosts = [0, 1] } or servers = { apart = 4 }"))
            }
        }
    }

    fn aggregators(&self, written: Option<Spanned<u32>>) -> Checked<Option<u32>> {
        match written {
            Some(aggregators) if *aggregators.get_ref() == 0 => {
                Err(self.wrong(&aggregators, "somebody has to access the storage: there is at least one aggregator"))
            }
            written => Ok(written.map(Spanned::into_inner)),
        }
    }
}
