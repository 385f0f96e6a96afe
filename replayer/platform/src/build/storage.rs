//! The meaning of `[storage]`.

use titr_common::units::Bytes;
use titr_storage::DiskParameters;

use super::Builder;
use crate::schema::StorageTable;
use crate::source::Checked;
use crate::storage::{Buffering, Storage};

impl Builder<'_> {
    /// Disks, and how they are accessed; `None`: the platform says nothing of storage.
    pub(super) fn storage(&self, table: Option<StorageTable>) -> Checked<Storage> {
        let Some(table) = table else { return Ok(Storage::default()) };
        let disk = DiskParameters::default();
        Ok(Storage {
            disk: DiskParameters {
                read_bandwidth: table.read_bandwidth.map_or(disk.read_bandwidth, |bandwidth| bandwidth.0),
                write_bandwidth: table.write_bandwidth.map_or(disk.write_bandwidth, |bandwidth| bandwidth.0),
                latency: table.latency.map_or(disk.latency, |latency| latency.0),
            },
            collective: table.collective,
            buffering: self.buffering(&table)?,
            is_assumed: false,
        })
    }

    fn buffering(&self, table: &StorageTable) -> Checked<Buffering> {
        let default = Buffering::default();
        if let Some(aggregators) = table.aggregators.as_ref().filter(|aggregators| *aggregators.get_ref() == 0) {
            return Err(self.wrong(aggregators, "somebody has to access the storage: there is at least one aggregator"));
        }
        if let Some(buffer) = table.collective_buffer.as_ref().filter(|buffer| buffer.get_ref().0 == Bytes(0)) {
            return Err(self.wrong(buffer, "an aggregator's buffer has at least one byte"));
        }
        Ok(Buffering {
            aggregators: table.aggregators.as_ref().map(|aggregators| *aggregators.get_ref()),
            buffer: table.collective_buffer.as_ref().map_or(default.buffer, |buffer| buffer.get_ref().0),
        })
    }
}
