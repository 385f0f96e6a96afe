//! The meaning of `[mpi]`.

use titr_common::collectives::Selection;
use titr_common::units::Bytes;

use super::Builder;
use crate::mpi::Mpi;
use crate::schema::{CollectivesTable, MpiTable};
use crate::source::Checked;

/// SimGrid's smpi/send-is-detached-thresh.
const EAGER_THRESHOLD: Bytes = Bytes(65536);

impl Builder<'_> {
    /// Protocols, their costs, and algorithms of collectives.
    pub(super) fn mpi(&self, table: MpiTable) -> Checked<Mpi> {
        Ok(Mpi {
            eager_threshold: table.eager_threshold.map_or(EAGER_THRESHOLD, |size| size.0),
            eager_transfer: table.eager_transfer,
            send_overhead: table.send_overhead,
            isend_overhead: table.isend_overhead,
            recv_overhead: table.recv_overhead,
            collectives: self.collectives(&table.collectives)?,
        })
    }

    fn collectives(&self, table: &CollectivesTable) -> Checked<Selection> {
        let mut selection = Selection::from(table.library);
        for (collective, algorithm) in &table.algorithms {
            let forced = selection.force(collective, algorithm.get_ref());
            forced.map_err(|unknown| self.wrong(algorithm, unknown.to_string()))?;
        }
        Ok(selection)
    }
}
