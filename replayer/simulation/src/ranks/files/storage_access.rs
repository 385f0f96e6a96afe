//! Accesses to the storage in progress: to the disk of a host, or to servers.
//!
//! A rank sends a short request to a server on a host. The disk then works while the data travels, because the data is
//! passed on in small pieces: a read sends it from the server, and for a write the server fetches it. When both are
//! done, the server answers with a short message. Lustre carries out its bulk reads and writes like this (F. Wang et
//! al., "Understanding Lustre Filesystem Internals", ORNL/TM-2009/117, §4). No message is needed for a disk at the
//! rank's own host, or for servers outside the network, whose latency includes the way to them.

use slab::Slab;
use titr_common::event::Direction;
use titr_common::time::Time;
use titr_common::units::Bytes;
use titr_network::Transfer;
use titr_network::topology::HostId;
use titr_platform::{Access, AccessId, DiskId, Disks, Servers, Storage};

use crate::observe::OperationId;
use crate::ranks::ids::StorageAccessId;

/// A piece of a file that a rank reads or writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// The server of the file's first stripe; any number.
    pub(super) first_server: u32,
    /// Where the piece starts, in bytes from the start of the file.
    pub(super) start: u64,
    pub(super) bytes: Bytes,
}

/// The storage, and the accesses to it in progress.
pub(in crate::ranks) struct StorageAccesses {
    pub(super) storage: Storage,
    disks: Disks,
    under_way: Slab<StorageAccess>,
    /// Accesses that the disks are done with, to be taken.
    done: Vec<AccessId>,
    /// The operations of accesses that are complete, to be taken.
    complete: Vec<OperationId>,
    /// Messages that leave now, in order.
    outbox: Vec<Transfer>,
}

/// The part of an access that one disk executes.
struct StorageAccess {
    client: HostId,
    disk: DiskId,
    direction: Direction,
    bytes: Bytes,
    stage: AccessStage,
    operation: OperationId,
}

enum AccessStage {
    /// The request is on its way.
    Asked,
    /// The number of disk and network transfers in progress.
    Served(u32),
    /// The answer is on its way.
    Answered,
}

impl StorageAccesses {
    pub(super) fn new(storage: Storage) -> Self {
        Self {
            disks: Disks::new(storage.disk),
            storage,
            under_way: Slab::new(),
            done: Vec::new(),
            complete: Vec::new(),
            outbox: Vec::new(),
        }
    }

    /// Whether no access is in progress, as in most programs most of the time.
    #[inline]
    pub(in crate::ranks) fn is_idle(&self) -> bool {
        self.under_way.is_empty() && self.complete.is_empty()
    }

    /// The disks that serve an access of a rank at host `client`, and the bytes of each.
    pub(super) fn shares(&self, client: HostId, piece: Piece) -> Vec<(DiskId, Bytes)> {
        let Piece { first_server, start, bytes, .. } = piece;
        match &self.storage.servers {
            Servers::Local => vec![(DiskId(client.0), bytes)],
            servers @ (Servers::Hosts(_) | Servers::Apart(_)) => {
                let servers = servers.count();
                let shares = self.storage.striping.shares(first_server % servers.max(1), servers, start, bytes);
                shares.into_iter().map(|(server, bytes)| (DiskId(server), bytes)).collect()
            }
        }
    }

    /// Starts an access of a rank at host `client` to one disk, which completes `operation`.
    pub(super) fn start(
        &mut self,
        now: Time,
        client: HostId,
        direction: Direction,
        (disk, bytes): (DiskId, Bytes),
        operation: OperationId,
    ) {
        let access = StorageAccess { client, disk, direction, bytes, stage: AccessStage::Asked, operation };
        let id = StorageAccessId(self.under_way.insert(access) as u32);
        match self.server_of(disk) {
            Some(server) => self.send(id, client, server, self.storage.control),
            None => self.serve(now, id),
        }
    }

    /// The host of a disk that is reached over the network.
    fn server_of(&self, disk: DiskId) -> Option<HostId> {
        match &self.storage.servers {
            Servers::Hosts(hosts) => hosts.get(disk.0 as usize).copied(),
            Servers::Local | Servers::Apart(_) => None,
        }
    }

    fn send(&mut self, id: StorageAccessId, from: HostId, to: HostId, bytes: Bytes) {
        self.outbox.push(Transfer::new(id.into(), from, to, bytes));
    }

    /// The disk begins, and so does the data on its way.
    fn serve(&mut self, now: Time, id: StorageAccessId) {
        let access = &mut self.under_way[id.0 as usize];
        let &mut StorageAccess { client, disk, direction, bytes, .. } = access;
        access.stage = AccessStage::Served(1);
        self.disks.start(now, disk, Access { id: AccessId(id.0), direction, bytes });
        if let Some(server) = self.server_of(disk).filter(|_| bytes > Bytes(0)) {
            self.under_way[id.0 as usize].stage = AccessStage::Served(2);
            match direction {
                Direction::Read => self.send(id, server, client, bytes),
                Direction::Write => self.send(id, client, server, bytes),
            }
        }
    }

    /// Goes on with an access after something that it waited for; the operation that is complete, if nothing is left.
    fn advance_access(&mut self, now: Time, id: StorageAccessId) -> Option<OperationId> {
        let StorageAccess { client, disk, stage, .. } = self.under_way.get_mut(id.0 as usize)?;
        let (client, disk) = (*client, *disk);
        match stage {
            AccessStage::Asked => {
                self.serve(now, id);
                return None;
            }
            AccessStage::Served(missing @ 2..) => {
                *missing -= 1;
                return None;
            }
            AccessStage::Served(_) => {
                *stage = AccessStage::Answered;
                if let Some(server) = self.server_of(disk) {
                    self.send(id, server, client, self.storage.control);
                    return None;
                }
            }
            AccessStage::Answered => {}
        }
        Some(self.under_way.remove(id.0 as usize).operation)
    }

    /// The network has delivered a message from or to a server.
    pub(in crate::ranks) fn deliver(&mut self, now: Time, id: StorageAccessId) {
        let complete = self.advance_access(now, id);
        self.complete.extend(complete);
    }

    /// When a disk next has something to do.
    pub(in crate::ranks) fn next_event(&self) -> Option<Time> {
        self.disks.next_event()
    }

    /// Moves on to `now`. Returns the operations that are complete.
    pub(in crate::ranks) fn advance(&mut self, now: Time) -> impl Iterator<Item = OperationId> {
        let mut done = std::mem::take(&mut self.done);
        self.disks.advance(now, &mut done);
        for AccessId(id) in done.drain(..) {
            self.deliver(now, StorageAccessId(id));
        }
        self.done = done;
        self.complete.drain(..)
    }

    pub(in crate::ranks) fn take_leaving(&mut self) -> std::vec::Drain<'_, Transfer> {
        self.outbox.drain(..)
    }
}
