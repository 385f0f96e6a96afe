//! The meaning of `[mpi]`.

use titr_common::collectives::{Library, Selection};
use titr_common::units::{Bytes, Seconds};
use titr_document::Checked;
use toml::Spanned;

use super::Builder;
use crate::mpi::Mpi;
use crate::one_sided::{Implementation, OneSided};
use crate::schema::{CollectivesTable, MpiTable, NonNegative, OneSidedTable};

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
            send_overlap: table.send_overlap.map_or(Ok(0.0), |part| self.part_of_a_send(&part))?,
            recv_overhead: table.recv_overhead,
            test_overhead: table.test_overhead.map_or(Seconds(0.0), |time| time.0),
            progress: table.progress.unwrap_or_else(|| table.collectives.library.into()),
            rendezvous: table.rendezvous,
            rendezvous_duplex: table.rendezvous_duplex.unwrap_or(true),
            spawn: table.spawn,
            one_sided: one_sided(table.one_sided, table.collectives.library),
            collectives: self.collectives(&table.collectives)?,
        })
    }

    /// A part of a send's cost.
    fn part_of_a_send(&self, written: &Spanned<NonNegative>) -> Checked<f64> {
        let &NonNegative(part) = written.get_ref();
        if part <= 1.0 {
            return Ok(part);
        }
        let mistake = self.wrong(written, format!("{part} is more than all of a send's cost"));
        Err(mistake.with_help("give a number from 0, for a message that leaves when all of the cost is paid, to 1"))
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

/// One-sided communication as the table says, and otherwise as the `library` of the collectives does it.
fn one_sided(table: OneSidedTable, library: Library) -> OneSided {
    let preset = OneSided::from(table.preset.unwrap_or_else(|| Implementation::from(library)));
    OneSided {
        passive_progress: table.passive_progress.unwrap_or(preset.passive_progress),
        control: table.control.map_or(preset.control, |bytes| bytes.0),
        header: table.header.map_or(preset.header, |bytes| bytes.0),
        origin_overhead: table.origin_overhead.unwrap_or(preset.origin_overhead),
        target_overhead: table.target_overhead.unwrap_or(preset.target_overhead),
        ..preset
    }
}
