//! `[mpi]`: protocols of the MPI library, and their costs.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::Deserialize;
use serde::de::value::StrDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use titr_common::collectives::{Library, Selection, SiteRules, collective_named};
use titr_common::event::CollectiveKind;
use titr_common::input::{self, WRITTEN_BY_HAND};
use titr_common::units::{Bytes, Quantity, Seconds};
use titr_document::Checked;
use toml::Spanned;

use super::Builder;
use super::value::NonNegative;
use crate::mpi::{CollectiveFactors, EagerTransfer, Mpi, Progress, Rendezvous, Spawn};
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
    /// Cost of `MPI_Send` of a rendezvous message before it leaves, in such steps: the handshake. Default: none.
    pub rendezvous_overhead: Overhead,
    /// Cost of receiving an eager message, in such steps. Default: none.
    pub recv_overhead: Overhead,
    /// Cost of a test (`MPI_Test` and its relatives), and of `MPI_Iprobe` and `MPI_Improbe`. Default: none.
    pub test_overhead: Option<Quantity<Seconds>>,
    pub iprobe_overhead: Option<Quantity<Seconds>>,
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
    /// MPI library whose algorithms titr uses for collectives: `"mpich"` (3.4 to 4.3), `"openmpi"` (4.1), `"openmpi-5.0"` (with
    /// `han`), `"openmpi-4.0"` (and before), `"simgrid"` or `"simgrid-openmpi"`. `{ rules = "FILE" }`: a site's rules for Open MPI
    /// (`coll_tuned_dynamic_rules_filename`) or MPICH (`MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE`). Default: the library
    /// that recorded the trace, or else `"mpich"`.
    pub collectives: CollectivesTable,
    /// Factors on the costs of messages in a collective, by the size of the call, as steps `[[from_bytes, within_hosts,
    /// between_hosts], …]`: `collective_factor.alltoall = [["0 B", 0.5, 1.2]]`. `titr calibrate` writes them. Default: none.
    pub collective_factor: BTreeMap<String, Spanned<FactorsBySize>>,
    /// Cost of reducing data in a collective, in steps as `send_overhead`: at the speed of caches for small vectors and of
    /// memory for large ones. Default: none.
    pub reduction: Overhead,
    /// One-sided communication.
    pub one_sided: OneSidedTable,
    /// Time from `MPI_Comm_spawn` until the new processes are in `MPI_Init`. `{ call = "0.2 s", process = "10 ms" }`:
    /// 0.2 s for each call and 10 ms for each process. The time depends on the launcher and the file system; the
    /// summary says when it is the default. Default: no time.
    pub spawn: Spawn,
}

/// Steps of the size of a call, with the factors within hosts and between them.
type FactorsBySize = Vec<(Quantity<Bytes>, NonNegative, NonNegative)>;

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

/// An algorithm, or `[[from_bytes, algorithm], …]`.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected an algorithm, or steps [[from_bytes, algorithm], …]")]
pub(crate) enum NameOrSteps {
    Name(String),
    Steps(Vec<(Quantity<Bytes>, String)>),
}

/// `[mpi] collectives`: a library, or a table that names one and algorithms that override its choices (`bcast =
/// "binomial"`, or with a segment size in bytes `"pipeline:65536"`).
#[derive(Default)]
pub(crate) struct CollectivesTable {
    /// Default: the library that reads `rules`, or else the one that recorded the trace.
    pub library: Option<Library>,
    /// A site's file of rules for its library. Default: none.
    pub rules: Option<Spanned<String>>,
    /// The algorithm of each collective that does not follow the library.
    pub algorithms: BTreeMap<String, Spanned<NameOrSteps>>,
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
                Ok(CollectivesTable { library: Some(library), ..CollectivesTable::default() })
            }
            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
                let mut table = CollectivesTable::default();
                while let Some(key) = entries.next_key::<String>()? {
                    match &*key {
                        "library" => table.library = Some(entries.next_value()?),
                        "rules" => table.rules = Some(entries.next_value()?),
                        _ => drop(table.algorithms.insert(key, entries.next_value()?)),
                    }
                }
                Ok(table)
            }
        }
        deserializer.deserialize_any(LibraryOrTable)
    }
}

impl Builder<'_> {
    /// Protocols, their costs, and algorithms of collectives; those of a library by `default` if the table names none.
    pub(super) fn mpi(&self, table: &MpiTable, default: Library, rules: Option<SiteRules>) -> Checked<Mpi> {
        let named = table.collectives.library.or(rules.as_ref().map(|rules| rules.library)).unwrap_or(default);
        let library = Mpi::from(named);
        Ok(Mpi {
            eager_threshold: table.eager_threshold.map_or(library.eager_threshold, |size| size.0),
            eager_transfer: table.eager_transfer,
            send_overhead: table.send_overhead.clone(),
            isend_overhead: table.isend_overhead.clone(),
            send_overlap: table
                .send_overlap
                .as_ref()
                .map_or(Ok(library.send_overlap), |part| self.part_of_a_send(part))?,
            rendezvous_overhead: table.rendezvous_overhead.clone(),
            recv_overhead: table.recv_overhead.clone(),
            test_overhead: table.test_overhead.map_or(library.test_overhead, |time| time.0),
            iprobe_overhead: table.iprobe_overhead.map_or(library.iprobe_overhead, |time| time.0),
            progress: table.progress.unwrap_or(library.progress),
            rendezvous: table.rendezvous,
            rendezvous_duplex: table.rendezvous_duplex.unwrap_or(library.rendezvous_duplex),
            spawn: table.spawn,
            one_sided: one_sided(&table.one_sided, named),
            collectives: self.collectives(&table.collectives, named, rules)?,
            collective_factors: self.collective_factors(&table.collective_factor)?,
            reduction: table.reduction.clone(),
            local: None,
        })
    }

    /// The same where Open MPI recorded the trace; `None` if the table names a library, or an algorithm by a name that Open
    /// MPI has not.
    pub(super) fn mpi_of_open_mpi(&self, table: &MpiTable) -> Option<Mpi> {
        if table.collectives.library.is_some() || table.collectives.rules.is_some() {
            None
        } else {
            self.mpi(table, Library::OpenMpi, None).ok()
        }
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

    fn collective_factors(
        &self,
        table: &BTreeMap<String, Spanned<FactorsBySize>>,
    ) -> Checked<BTreeMap<CollectiveKind, CollectiveFactors>> {
        let mut factors = BTreeMap::new();
        for (name, steps) in table {
            let Some((kind, _)) = collective_named(name) else {
                return Err(self.wrong(steps, format!("there is no collective `{name}`")));
            };
            let step = |(from, node, network): &(Quantity<Bytes>, NonNegative, NonNegative)| {
                (from.0, [node.0 as f32, network.0 as f32])
            };
            factors.insert(kind, CollectiveFactors(steps.get_ref().iter().map(step).collect()));
        }
        Ok(factors)
    }

    /// The rules of the file that `collectives.rules` names.
    pub(super) fn site_rules(&self, table: &CollectivesTable) -> Checked<Option<SiteRules>> {
        let Some(written) = &table.rules else { return Ok(None) };
        let file = self.path.parent().unwrap_or(Path::new("")).join(written.get_ref());
        let wrong = |what: &dyn fmt::Display| self.wrong(written, format!("{}: {what}", file.display()));
        let text = input::read_text(&file, WRITTEN_BY_HAND).map_err(|error| wrong(&error))?;
        let rules = SiteRules::parse(&text).map_err(|mistake| wrong(&mistake))?;
        if table.library.is_some_and(|library| library.is_open_mpi() != rules.library.is_open_mpi()) {
            return Err(
                wrong(&format!("these rules are for {}", rules.library.name())).with_help("leave `library` out")
            );
        }
        Ok(Some(rules))
    }

    fn collectives(&self, table: &CollectivesTable, library: Library, rules: Option<SiteRules>) -> Checked<Selection> {
        let mut selection = Selection::from(library);
        if let Some(rules) = rules {
            selection.follow(rules);
        }
        for (collective, algorithm) in &table.algorithms {
            let forced = match algorithm.get_ref() {
                NameOrSteps::Name(name) => selection.force(collective, name),
                NameOrSteps::Steps(steps) => {
                    let steps = steps.iter().map(|(from, name)| (from.0, name.as_str()));
                    selection.force_by_size(collective, steps)
                }
            };
            forced.map_err(|unknown| self.wrong(algorithm, unknown.to_string()))?;
        }
        Ok(selection)
    }
}

/// One-sided communication as the table says, and otherwise as the `library` of the collectives does it.
fn one_sided(table: &OneSidedTable, library: Library) -> OneSided {
    let preset = OneSided::from(table.preset.unwrap_or_else(|| Implementation::from(library)));
    OneSided {
        passive_progress: table.passive_progress.unwrap_or(preset.passive_progress),
        control: table.control.map_or(preset.control, |bytes| bytes.0),
        header: table.header.map_or(preset.header, |bytes| bytes.0),
        origin_overhead: table.origin_overhead.clone().unwrap_or(preset.origin_overhead),
        target_overhead: table.target_overhead.clone().unwrap_or(preset.target_overhead),
        ..preset
    }
}
