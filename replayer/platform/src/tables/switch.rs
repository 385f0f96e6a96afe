//! `switch` and `buffer` of `[network.packet]`: the kind of all routers, and the memory of output-queued ones.

use titr_common::units::Seconds;
use titr_document::Checked;
use titr_network::packet::{Buffer, BufferSharing, Switch, WhenFull};
use toml::Spanned;

use super::builder::Builder;
use super::network::{BufferSharingName, Full, PacketTable, SwitchKind};

/// The minimum retransmission timeout of Linux.
const RETRANSMIT_AFTER: Seconds = Seconds(0.2);

impl Builder<'_> {
    /// The kind of all routers.
    pub(super) fn switch(&self, table: &PacketTable) -> Checked<Switch> {
        match table.switch {
            SwitchKind::InputQueued => {
                let key = "only switches with switch = \"output-queued\" have a common memory";
                self.refuse(&table.buffer, key)?;
                self.refuse(
                    &table.connection_window,
                    "only hosts of switches with switch = \"output-queued\" have windows",
                )?;
                self.refuse(&table.burst, "only links of switches with switch = \"output-queued\" have token buckets")?;
                self.refuse_keys_of_buffer(table, key)?;
                Ok(Switch::InputQueued)
            }
            SwitchKind::OutputQueued => {
                self.refuse_keys_of_input_queues(table)?;
                self.buffer(table).map(Switch::OutputQueued)
            }
        }
    }

    fn refuse_keys_of_input_queues(&self, table: &PacketTable) -> Checked<()> {
        let why = "an output-queued switch has one memory, whose size is buffer, and no input queues";
        self.refuse(&table.queue_packets, why)?;
        self.refuse(&table.output_queue, why)?;
        self.refuse(&table.injection_queues, why)?;
        let why = "an output-queued switch sends the packets of a port in their order, without arbitration";
        self.refuse(&table.arbitration, why)
    }

    fn refuse_keys_of_buffer(&self, table: &PacketTable, why: &str) -> Checked<()> {
        self.refuse(&table.buffer_sharing, why)?;
        self.refuse(&table.alpha, why)?;
        self.refuse(&table.when_full, why)?;
        self.refuse(&table.retransmit_after, why)
    }

    fn refuse<T>(&self, key: &Option<Spanned<T>>, why: &str) -> Checked<()> {
        key.as_ref().map_or(Ok(()), |key| Err(self.wrong(key, why)))
    }

    /// The memory of a switch, if it is limited.
    fn buffer(&self, table: &PacketTable) -> Checked<Option<Buffer>> {
        let Some(size) = &table.buffer else {
            self.refuse_keys_of_buffer(
                table,
                "a memory without limit is never full: write buffer, the size of the memory",
            )?;
            return Ok(None);
        };
        let sharing = match table.buffer_sharing.as_ref().map(|sharing| *sharing.get_ref()).unwrap_or_default() {
            BufferSharingName::Partitioned => {
                self.refuse(&table.alpha, "only a shared memory has thresholds")?;
                BufferSharing::Partitioned
            }
            BufferSharingName::Shared => BufferSharing::Shared { alpha: self.positive(table.alpha.as_ref(), 1.0)? },
        };
        let when_full = match table.when_full.as_ref().map(|when| *when.get_ref()).unwrap_or_default() {
            Full::Pause => {
                self.refuse(&table.retransmit_after, "packets are lost only with when_full = \"drop\"")?;
                WhenFull::Pause
            }
            Full::Drop => {
                let after = table.retransmit_after.as_ref().map_or(RETRANSMIT_AFTER, |after| after.get_ref().0);
                WhenFull::Drop { retransmit_after: after }
            }
        };
        Ok(Some(Buffer { size: size.get_ref().0, sharing, when_full }))
    }

    fn positive(&self, written: Option<&Spanned<f64>>, default: f64) -> Checked<f64> {
        match written.map(|number| (number, *number.get_ref())) {
            None => Ok(default),
            Some((_, number)) if number > 0.0 && number.is_finite() => Ok(number),
            Some((written, number)) => Err(self.wrong(written, format!("{number} is not a positive number"))),
        }
    }
}
