//! Files, and the storage that holds them.
//!
//! A call on a file is a sequence of [parts](part::Part): accesses to a disk, and collectives of the members that
//! opened the file together. The call runs in the background ([`calls`]). A blocking call waits
//! for it at once, a non-blocking one by its request, and a split one in the call that ends it.
//!
//! The parts follow ROMIO (MPICH 4, `src/mpi/romio`), which Open MPI includes as well:
//!
//! | call | parts |
//! | --- | --- |
//! | `open`, `set_size`, `preallocate`, `set_view`, `seek_shared`, `sync` | the latency of the disk, then an allreduce of an error code |
//! | `close` | the latency of the disk, then a barrier |
//! | `get_size`, `delete` | the latency of the disk; for a deleted file, of the first server, since its location is unknown |
//! | a read or write of one rank | an access to the disk |
//! | of one rank at the shared pointer | the pointer is read and written under a lock, then an access |
//! | of all ranks | [two-phase access](two_phase); or all exchange their offsets and each accesses its own data |
//! | of all ranks, ordered | the same, after each has read and advanced the shared pointer in rank order |
//!
//! Every rank accesses the disk of its host, or the servers that hold the file ([`storage_access`]). Caches are not
//! simulated: every read and write reaches the disk.

mod calls;
mod file;
mod part;
mod storage_access;
mod two_phase;

use rustc_hash::FxHashMap;
use slab::Slab;
use titr_common::event::{FileId, Rank};
use titr_common::format::volume;
use titr_common::program::{Context, Fault};
use titr_common::units::Bytes;
use titr_platform::Storage;

use super::ids::FileCallIndex;
use crate::warnings::many;
use file::{File, FileCall, FileIndex, OpenFile};
use storage_access::StorageAccesses;

pub(super) struct Files {
    pub(super) storage_accesses: StorageAccesses,
    /// The files that each rank has open, by the numbers that it gives them.
    names: Vec<FxHashMap<FileId, OpenFile>>,
    files: Slab<File>,
    /// Files that some members have opened and others have not, by the number of the call on the communicator.
    opening: FxHashMap<(Context, u64), (FileIndex, usize)>,
    pub(super) calls: Slab<FileCall>,
    opened: u32,
    /// How many accesses there were, and of how many bytes.
    accesses: u64,
    accessed: Bytes,
}

impl Files {
    pub(super) fn new(ranks: usize, storage: Storage) -> Self {
        Self {
            storage_accesses: StorageAccesses::new(storage),
            names: (0..ranks).map(|_| FxHashMap::default()).collect(),
            files: Slab::new(),
            opening: FxHashMap::default(),
            calls: Slab::new(),
            opened: 0,
            accesses: 0,
            accessed: Bytes(0),
        }
    }

    fn call(&self, index: FileCallIndex) -> &FileCall {
        &self.calls[index.0 as usize]
    }

    fn call_mut(&mut self, index: FileCallIndex) -> &mut FileCall {
        &mut self.calls[index.0 as usize]
    }

    /// A sentence on storage that the platform does not describe, where it was used.
    pub(super) fn assumption(&self) -> Option<String> {
        let Storage { disk, is_assumed, .. } = &self.storage_accesses.storage;
        (*is_assumed && self.accesses > 0).then(|| {
            let (read, write) =
                (disk.read_bandwidth.bytes_per_second / 1e9, disk.write_bandwidth.bytes_per_second / 1e9);
            format!(
                "assumed, as the platform has no [storage]: {} ({}) took a disk at each host, which reads {read} GB/s \
                 and writes {write} GB/s after {} µs",
                many(self.accesses, "access to a file", "accesses to files"),
                volume(self.accessed),
                (disk.latency.0 * 1e9).round() / 1e3
            )
        })
    }

    fn find(&mut self, rank: Rank, id: FileId) -> Result<&mut OpenFile, Fault> {
        self.names[rank.0 as usize].get_mut(&id).ok_or(Fault::NoSuchFile(id))
    }
}
