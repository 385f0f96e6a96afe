//! Hosts with all their ranks at work: their inside, cards and reductions, from the rows that titr-calibrate measures.
//!
//! Within a host, rows are fitted as those of benchmarks are ([`machine`](super::machine)). Between two hosts, windows of
//! messages of ever more pairs show what a process reaches and what a card: a card is the limit where all pairs together reach
//! less than each of them alone would. Collectives are not fitted: their errors show how good the platform is.

use serde::{Deserialize, Serialize};
use titr_common::collectives::Library;
use titr_common::event::CollectiveKind;
use titr_common::format::significant;
use titr_common::units::{Bytes, Seconds};

use super::costs::steps;
use super::machine::{Compared, DataSheet, Errors, Machine};
use super::row::{Benchmark, Place, Row};
use crate::NamedTopology;

/// What ranks measured together on full hosts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FullHosts {
    /// Processors of the first host.
    pub processors: u32,
    /// The part of the last two levels of cache that a processor has; 0: not known.
    pub cache: Bytes,
    /// The levels of the ranks of the first host, from the inside outwards, with the ranks that each holds.
    pub levels: Vec<(Place, u32)>,
    /// Whether ranks are bound to processors, so that near and far ones are known.
    pub are_bound: bool,
    /// Whether ranks of a host are numbered as its levels hold them, as a platform has them.
    pub are_in_order: bool,
    /// The results. Those within a host are of the first one, and those between two of the first two.
    pub rows: Vec<Row>,
}

/// What was fitted to the results of full hosts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HostsFit {
    /// The tables of cards and of the inside of hosts.
    pub tables: String,
    /// Whether messages within hosts were measured.
    pub has_inside: bool,
    /// Bytes per second of a host's links, which are more than a process reaches.
    pub bandwidth: Option<f64>,
    /// Bytes per second that a host sends and receives together.
    pub limiter: Option<f64>,
    /// The steps of `mpi.reduction`.
    pub reduction: Option<String>,
    /// Sentences on results that cannot be, and on what was not measured.
    pub remarks: Vec<String>,
}

/// The collectives that prove a platform.
pub const PROOF: [CollectiveKind; 3] = [CollectiveKind::Alltoall, CollectiveKind::Allgather, CollectiveKind::Allreduce];

/// Bytes per second that neither a memory nor a card of a process reaches.
const IMPOSSIBLE: f64 = 1e12;
/// Something is a limit that several reach together if it is less than this part of what each would alone.
const LIMITED: f64 = 0.8;
/// Times that are shorter by more than this part were not measured under equal conditions.
const DOUBTFUL: f64 = 0.8;

impl FullHosts {
    /// The first contradiction, if there is one. `ranks` are all ranks.
    pub(crate) fn check(&self, ranks: usize) -> Result<(), String> {
        let rising = self.levels.windows(2).all(|pair| pair[0].1 < pair[1].1);
        if !rising || self.levels.iter().any(|&(_, held)| held == 0 || held as usize > ranks) {
            return Err("the levels of a host do not hold ever more ranks".to_owned());
        }
        for Row { benchmark, nodes, ranks_per_node, ranks: of_row, bytes, .. } in &self.rows {
            let has_room =
                *of_row as usize <= ranks && u64::from(*of_row) <= u64::from(*nodes) * u64::from(*ranks_per_node);
            if *of_row == 0 || *nodes as usize > ranks || !has_room || (benchmark.has_pairs() && *of_row < 2) {
                return Err(format!("{benchmark} of {} bytes: {of_row} ranks have no place on {nodes} hosts", bytes.0));
            }
        }
        let is_time = |row: &&Row| row.measured().is_some_and(|time| time.0.is_finite() && time.0 > 0.0);
        match self.rows.iter().find(|row| !is_time(row)) {
            Some(row) => Err(format!("{} of {} bytes took no time, or an impossible one", row.benchmark, row.bytes.0)),
            None => Ok(()),
        }
    }

    /// Fits hosts whose processes reach `process` bytes per second between two of them. `explained`: whether
    /// something else explains that hosts send and receive less at once.
    pub(crate) fn fit(&self, process: f64, explained: bool) -> HostsFit {
        let mut fit = HostsFit::default();
        let Some(&(_, cores)) = self.levels.last() else { return fit };
        let rows = self.possible(&mut fit.remarks);
        let sheet = DataSheet {
            hosts: 1,
            cores: 1,
            topology: NamedTopology::Star,
            bandwidth: process,
            latency: Seconds(0.0),
            memory: None,
            cache: Some(self.cache).filter(|cache| cache.0 > 0),
            library: Library::default(),
        };
        let mut machine = Machine::typical(&sheet, cores);
        machine.messages_per_second = None;
        let inside: Vec<Row> = rows.iter().filter(|row| row.nodes == 1 && !is_proof(row)).cloned().collect();
        fit.has_inside = inside.iter().any(|row| row.benchmark == Benchmark::PingPong);
        if fit.has_inside {
            machine.fit_node(&inside, &self.levels);
        }
        fit.reduction = Some(steps(&machine.reduction)).filter(|_| !machine.reduction.is_empty());

        // Of small windows, something may pass the first bytes at once.
        let is_large = |row: &&Row| row.bytes >= LARGE;
        let windows = |benchmark| rows.iter().filter(move |row: &&Row| row.nodes == 2 && row.benchmark == benchmark);
        let small: Vec<(u32, f64)> = windows(Benchmark::Uniband)
            .filter(|row| row.bytes <= SMALL)
            .filter_map(|row| Some((row.ranks / 2, row.messages_per_second?)))
            .collect();
        match limit(&small) {
            Some(rate) => machine.messages_per_second = Some(rate),
            None if !small.is_empty() => fit.remarks.push(
                "the ranks of a host do not reach the rate of messages of its card, which is not limited below: measure with \
                 more ranks on each host"
                    .to_owned(),
            ),
            None => {}
        }
        let most = windows(Benchmark::Uniband).filter(is_large).filter_map(Row::rate).fold(0.0, f64::max);
        if most * LIMITED > process {
            machine.process_bandwidth = Some(process);
            fit.bandwidth = Some(most);
        }
        // A row of ranks, each of which sends and receives at once, or windows both ways.
        let around = rows.iter().filter(|row| row.nodes > 2 && row.benchmark == Benchmark::Sendrecv);
        let around =
            around.filter_map(|row| Some(2.0 * f64::from(row.ranks_per_node) * row.bytes.0 as f64 / row.time?.0));
        let both = windows(Benchmark::Biband).filter(is_large).filter_map(Row::rate).chain(around).fold(0.0, f64::max);
        let sent = fit.bandwidth.unwrap_or(process);
        if both > 2.0 * sent / DOUBTFUL {
            fit.remarks.push(format!(
                "hosts send and receive {} GB/s together, and {} GB/s one way: something else ran meanwhile, or clocks changed; \
                 measure again",
                significant(both * 1e-9, 3),
                significant(sent * 1e-9, 3)
            ));
        } else if both > 0.0 && both < 2.0 * sent * LIMITED && !explained {
            fit.limiter = Some(both);
        }
        if machine.messages_per_second.or(machine.process_bandwidth).is_some() {
            fit.tables += &machine.card();
        }
        if fit.has_inside {
            fit.tables += &machine.inside();
        }
        self.unknown(cores, &mut fit.remarks);
        fit
    }

    /// The rows that can be; sentences on the others.
    fn possible(&self, remarks: &mut Vec<String>) -> Vec<Row> {
        let mut rows = self.rows.clone();
        let is_too_fast = |row: &Row| {
            let time = row.measured().map_or(0.0, |time| time.0);
            row.benchmark != Benchmark::ReduceLocal && row.bytes.0 as f64 > IMPOSSIBLE * time
        };
        if let Some(row) = rows.iter().find(|row| is_too_fast(row)) {
            remarks.push(format!(
                "{} of {} bytes is faster than any memory: it is left out; measure again",
                row.benchmark, row.bytes.0
            ));
        }
        rows.retain(|row| !is_too_fast(row));
        let alone = |row: &Row| {
            let is_it = |one: &&Row| {
                one.ranks == 2
                    && (one.benchmark, one.place, one.nodes, one.bytes)
                        == (row.benchmark, row.place, row.nodes, row.bytes)
            };
            rows.iter().find(is_it).and_then(Row::measured)
        };
        let is_doubtful = |row: &Row| {
            let time = row.measured().map_or(0.0, |time| time.0);
            row.benchmark == Benchmark::PingPong
                && row.ranks > 2
                && alone(row).is_some_and(|alone| time < DOUBTFUL * alone.0)
        };
        let doubtful: Vec<bool> = rows.iter().map(is_doubtful).collect();
        if let Some((row, _)) = rows.iter().zip(&doubtful).find(|(_, is_doubtful)| **is_doubtful) {
            remarks.push(format!(
                "{} pairs of a host exchange messages of {} bytes faster than one pair alone, which cannot be: such results are \
                 left out; measure again with nothing else running and a fixed frequency",
                row.ranks / 2,
                row.bytes.0
            ));
        }
        let mut doubtful = doubtful.into_iter();
        rows.retain(|_| !doubtful.next().unwrap_or_default());
        rows
    }

    /// Sentences on what could not be known.
    fn unknown(&self, ranks: u32, remarks: &mut Vec<String>) {
        let within: Vec<&Row> = self.rows.iter().filter(|row| row.nodes == 1).collect();
        if !within.is_empty() && within.iter().all(|row| row.bytes <= self.cache) {
            remarks.push(
                "all messages within a host fit into its caches: the bandwidth of its memory is not known".to_owned(),
            );
        }
        if ranks > self.processors {
            remarks.push(format!(
                "a host has {ranks} ranks on {} processors: times within it are mostly those of waiting for a processor",
                self.processors
            ));
        } else if 2 * ranks <= self.processors {
            remarks.push(format!(
                "{ranks} ranks measured a host of {} processors: what more of them share is not known",
                self.processors
            ));
        }
        if !self.are_bound && ranks > 2 {
            remarks.push(
                "ranks may run on any processor of a host, so that near ones and far ones are not told apart: measure with mpirun \
                 --bind-to core"
                    .to_owned(),
            );
        } else if !self.are_in_order {
            remarks.push(
                "ranks of a host are not numbered as its processors are, and those of the platform are: measure with mpirun \
                 --map-by core, and run programs so, or give placement.file with a slot for each rank"
                    .to_owned(),
            );
        }
    }
}

/// The largest message whose time is that of its call.
const SMALL: Bytes = Bytes(64);
/// Windows of messages of this size show bandwidths.
const LARGE: Bytes = Bytes(512 << 10);

/// The rate that several pairs reach together, if it is a limit for them, of rates by the number of pairs.
fn limit(rates: &[(u32, f64)]) -> Option<f64> {
    let alone = rates.iter().find(|(pairs, _)| *pairs == 1)?.1;
    let &(pairs, rate) = rates.iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    (pairs > 1 && rate < LIMITED * f64::from(pairs) * alone || pairs == 1 && rates.len() > 1).then_some(rate)
}

/// Whether a row is not fitted, but proves the platform.
pub(crate) fn is_proof(row: &Row) -> bool {
    matches!(row.benchmark, Benchmark::Collective(_))
}

/// Sentences on the errors of rows of full hosts.
pub(crate) fn errors(compared: &[Compared]) -> Vec<String> {
    let of = |proof: bool| compared.iter().filter(move |compared| is_proof(&compared.row) == proof);
    let fitted = Errors::of(of(false)).map(|errors| {
        format!("Fitted besides: {} results of pairs and of all ranks of full hosts, {errors}.", errors.count)
    });
    let proof = Errors::of(of(true)).map(|errors| {
        let of_kind = |kind: CollectiveKind| {
            let errors = Errors::of(of(true).filter(|one| one.row.benchmark == Benchmark::Collective(kind)))?;
            Some(format!("{} {:.0} %", kind.name(), 100.0 * errors.median))
        };
        let kinds: Vec<String> = PROOF.into_iter().filter_map(of_kind).collect();
        format!("Proof: {} results of collectives, not fitted, {errors} ({}).", errors.count, kinds.join(", "))
    });
    fitted.into_iter().chain(proof).collect()
}
