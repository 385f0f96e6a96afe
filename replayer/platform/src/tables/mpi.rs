//! `[mpi]`: protocols of the MPI library, and their costs.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::value::StrDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use titr_common::collectives::{Library, Selection};
use titr_common::units::{Bytes, Quantity, Seconds};
use titr_document::Checked;
use toml::Spanned;

use super::Builder;
use super::value::NonNegative;
use crate::mpi::{EagerTransfer, Mpi, Progress, Rendezvous, Spawn};
use crate::one_sided::{Implementation, OneSided, PassiveProgress};
use crate::overhead::Overhead;

/// `[mpi]`
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MpiTable {
    /// Messages with fewer bytes are *eager*: the send completes at once. All others are *rendezvous* messages: the
    /// send waits for the receive. Default: 64 KiB.
    // SimGrid's smpi/send-is-detached-thresh.
    pub eager_threshold: Option<Quantity<Bytes>>,
    /// When an eager message starts to travel. `"at-once"`: when it is sent. `"on-match"`: when the receive is posted.
    /// Default: `"at-once"`.
    pub eager_transfer: EagerTransfer,
    /// Cost of `MPI_Send` and `MPI_Isend`, as steps `[[from_bytes, seconds, seconds_per_byte], …]`. Default: none.
    pub send_overhead: Overhead,
    pub isend_overhead: Overhead,
    /// Part of the cost of a send that is left when its message leaves, from 0 (the message leaves at the end) to 1. A
    /// call that hands the message to the kernel returns later than the message leaves. Partitioned sends have 0.
    /// Default: 0.
    pub send_overlap: Option<Spanned<NonNegative>>,
    /// Cost of receiving an eager message, in such steps. Default: none.
    pub recv_overhead: Overhead,
    /// Cost of a test (`MPI_Test` and its relatives), whether it finds its request complete or not. Default: none.
    pub test_overhead: Option<Quantity<Seconds>>,
    /// When background communication makes [progress](#progress). Default: by `collectives`: `"calls"` for Open MPI and
    /// MPICH, `"thread"` for SimGrid.
    pub progress: Option<Progress>,
    /// `"clear-to-send"`: the receiver of a rendezvous message answers the sender's request, and the sender then sends
    /// the data. `"get"`: the receiver's network adapter reads the data from the sender's memory. Default:
    /// `"clear-to-send"`.
    pub rendezvous: Rendezvous,
    /// Whether the data of two ranks on different hosts that exchange rendezvous messages travels in both directions at
    /// once. `false`: the answer of a receiver waits until it has sent its own data to the same rank, so an exchange
    /// takes twice the time of one message, as in Open MPI 4.1 over TCP (`btl_tcp_flags` with `put`). Default: `true`.
    pub rendezvous_duplex: Option<bool>,
    /// MPI library whose algorithms titr uses for collectives: `"mpich"`, `"openmpi"`, `"simgrid"` or
    /// `"simgrid-openmpi"`. Default: `"mpich"`.
    pub collectives: CollectivesTable,
    /// One-sided communication.
    pub one_sided: OneSidedTable,
    /// Time from `MPI_Comm_spawn` until the new processes are in `MPI_Init`. `{ call = "0.2 s", process = "10 ms" }`:
    /// 0.2 s for each call and 10 ms for each process. The time depends on the launcher and the file system; the
    /// summary says when it is the default. Default: no time.
    pub spawn: Spawn,
}

/// `[mpi.one_sided]`: an implementation, and what can be measured of it.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct OneSidedTable {
    /// An implementation: `"mpich"` or `"openmpi-rdma"`. Default: by `collectives`: `"openmpi-rdma"` for Open MPI,
    /// otherwise `"mpich"`.
    pub preset: Option<Implementation>,
    /// Who handles accesses and locks at the target. `"hardware"`: the network adapter, at any time. `"target"`: the
    /// target rank, only while it is in an MPI call. Default: the preset's.
    pub passive_progress: Option<PassiveProgress>,
    /// Size of a message that only synchronises, and of the request for a get. Default: the preset's.
    pub control: Option<Quantity<Bytes>>,
    /// Size of the header before the data of any other access. Default: the preset's.
    pub header: Option<Quantity<Bytes>>,
    /// Time that an access takes at its origin before it starts, and at its target before it completes, in steps as
    /// `send_overhead`. Default: none.
    pub origin_overhead: Option<Overhead>,
    pub target_overhead: Option<Overhead>,
}

/// `[mpi] collectives`: a library, or a table that names one and algorithms that override its choices (`bcast =
/// "binomial"`, or with a segment size in bytes `"pipeline:65536"`).
#[derive(Default)]
pub(crate) struct CollectivesTable {
    /// Default: `"mpich"`.
    pub library: Library,
    /// The algorithm of each collective that does not follow the library.
    pub algorithms: BTreeMap<String, Spanned<String>>,
}

impl<'de> Deserialize<'de> for CollectivesTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LibraryOrTable;
        impl<'de> Visitor<'de> for LibraryOrTable {
            type Value = CollectivesTable;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a library, or a table of algorithms")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                let library = Library::deserialize(StrDeserializer::new(text))?;
                Ok(CollectivesTable { library, ..CollectivesTable::default() })
            }
            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
                let mut table = CollectivesTable::default();
                while let Some(key) = entries.next_key::<String>()? {
                    if key == "library" {
                        table.library = entries.next_value()?;
                    } else {
                        table.algorithms.insert(key, entries.next_value()?);
                    }
                }
                Ok(table)
            }
        }
        deserializer.deserialize_any(LibraryOrTable)
    }
}

impl Builder<'_> {
    /// Protocols, their costs, and algorithms of collectives.
    pub(super) fn mpi(&self, table: MpiTable) -> Checked<Mpi> {
        let library = Mpi::from(table.collectives.library);
        Ok(Mpi {
            eager_threshold: table.eager_threshold.map_or(library.eager_threshold, |size| size.0),
            eager_transfer: table.eager_transfer,
            send_overhead: table.send_overhead,
            isend_overhead: table.isend_overhead,
            send_overlap: table.send_overlap.map_or(Ok(library.send_overlap), |part| self.part_of_a_send(&part))?,
            recv_overhead: table.recv_overhead,
            test_overhead: table.test_overhead.map_or(library.test_overhead, |time| time.0),
            progress: table.progress.unwrap_or(library.progress),
            rendezvous: table.rendezvous,
            rendezvous_duplex: table.rendezvous_duplex.unwrap_or(library.rendezvous_duplex),
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
