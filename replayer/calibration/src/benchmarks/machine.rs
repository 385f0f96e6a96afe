//! A platform fitted to the results of benchmarks on few nodes, and the errors of its predictions.
//!
//! 1. **Within a node**: latency and the cost of copies by size, from ping-pongs of two ranks and from `Sendrecv` of all, or from
//!    windows of messages; the bandwidth of memory, from large messages of all ranks.
//! 2. **Cards**: bandwidth, in one direction and in both, and rate of messages, from the all-to-all between two nodes, or from
//!    windows of messages.
//! 3. **Between nodes**: costs by size from ping-pongs there. What is not measured is from the data sheet.
//! 4. **Collectives**, for each size: the algorithm that explains the step from one node to two best at the costs of other
//!    messages, and then the factors on these costs, within nodes and between them, at which both predictions are right.
//!    Libraries have code of their own for each collective: they copy less, or more, than a send and a receive do.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::Path;

use titr_common::collectives::Library;
use titr_common::event::CollectiveKind;
use titr_common::statistics::quantile;
use titr_common::units::{Bytes, Seconds};
use titr_platform::{Platform, PlatformError};
use titr_simulation::parallel::Jobs;

use super::BenchmarkError;
use super::costs::{Costs, EAGER_THRESHOLD, at, steps, times};
use super::prediction::{PredictionError, predict};
use super::row::{Benchmark, Place, Row};
use crate::NamedTopology;

/// What is known of a machine without a measurement.
#[derive(Clone, Debug)]
pub struct DataSheet {
    /// Hosts of the machine.
    pub hosts: u32,
    /// Cores of a host, if they are more than the ranks that results have there.
    pub cores: u32,
    /// Its topology.
    pub topology: NamedTopology,
    /// Bytes per second of the links of a host.
    pub bandwidth: f64,
    /// Latency between two hosts.
    pub latency: Seconds,
    /// Bytes per second of the memory of a host.
    pub memory: Option<f64>,
    /// The part of the caches of a core.
    pub cache: Option<Bytes>,
    /// The library whose rules hold where nothing is fitted.
    pub library: Library,
}

/// A machine that is being fitted.
#[derive(Clone, Debug)]
pub(super) struct Machine<'a> {
    sheet: &'a DataSheet,
    cores: u32,
    bandwidth: f64,
    latency: f64,
    /// Bytes per second of a host in both directions together.
    limiter: Option<f64>,
    pub(super) process_bandwidth: Option<f64>,
    pub(super) messages_per_second: Option<f64>,
    levels: Vec<FittedLevel>,
    node_send: Costs,
    node_receive: Costs,
    memory: Option<f64>,
    send: Costs,
    /// Of sends that do not block; empty if they cost as much.
    isend: Costs,
    receive: Costs,
    /// Of blocking sends that wait for their receives.
    rendezvous: Costs,
    pub(super) reduction: Costs,
    collectives: BTreeMap<CollectiveKind, BTreeMap<u64, CollectiveFit>>,
}

/// A level of the cores of a host.
#[derive(Clone, Debug)]
struct FittedLevel {
    place: Place,
    cores: u32,
    latency: f64,
    bandwidth: f64,
    shared: Option<f64>,
}

/// How the calls of a collective of one size are made.
#[derive(Clone, Debug, PartialEq)]
struct CollectiveFit {
    algorithm: &'static str,
    /// Within nodes, and between them.
    factors: [f64; 2],
}

/// A prediction beside the measured time.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The row.
    pub row: Row,
    /// What was measured.
    pub measured: Seconds,
    /// What is predicted.
    pub predicted: Seconds,
}

impl Compared {
    /// The error of the prediction as a part of the measured time.
    pub(crate) fn error(&self) -> f64 {
        self.predicted.0 / self.measured.0 - 1.0
    }
}

/// A fitted platform.
#[derive(Clone, Debug)]
pub struct FittedMachine {
    /// The platform file.
    pub cluster: String,
    /// The rows that it was fitted to.
    pub fitted: Vec<Compared>,
    /// What the rows do not show: it is from the data sheet, or typical.
    pub unknown: Vec<String>,
}

/// The middle and nine tenths of the errors of predictions.
#[derive(Clone, Copy, Debug)]
pub struct Errors {
    /// The number of predictions.
    pub count: usize,
    /// The median of the errors without their signs.
    pub median: f64,
    /// What nine tenths of them do not exceed.
    pub most: f64,
}

impl Errors {
    /// The errors of some predictions; `None` if there are none.
    pub fn of<'c>(compared: impl IntoIterator<Item = &'c Compared>) -> Option<Self> {
        let mut errors: Vec<f64> = compared.into_iter().map(|compared| compared.error().abs()).collect();
        errors.sort_by(f64::total_cmp);
        (!errors.is_empty()).then(|| Self {
            count: errors.len(),
            median: quantile(&errors, 0.5),
            most: quantile(&errors, 0.9),
        })
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let percent = |part: f64| (100.0 * part).round();
        write!(f, "off by {} % in the median and {} % for nine tenths", percent(self.median), percent(self.most))
    }
}

/// Rows beside their predictions on a platform; rows that have no time or no data, or are too large, are left out.
///
/// # Errors
/// If a row cannot be predicted.
pub fn compare(platform: &Platform, rows: &[Row]) -> Result<Vec<Compared>, PredictionError> {
    let compared = |row: &Row| -> Result<Option<Compared>, PredictionError> {
        // Of a collective without data, only the call is measured.
        let is_call = row.bytes == Bytes(0) && matches!(row.benchmark, Benchmark::Collective(_));
        let Some(measured) = row.measured().filter(|measured| measured.0 > 0.0 && !is_call) else { return Ok(None) };
        let predicted = predict(platform, row)?;
        Ok(predicted.map(|predicted| Compared { row: row.clone(), measured, predicted }))
    };
    in_parallel(rows, compared)
}

/// The results of a function for all items that have one, in their order, by all processors.
fn in_parallel<T: Sync, R: Send, E: Send, C: FromIterator<R>>(
    items: &[T],
    function: impl Fn(&T) -> Result<Option<R>, E> + Sync,
) -> Result<C, E> {
    let results = Jobs::of_processors().map(items.len(), |at| function(&items[at]))?;
    Ok(results.into_iter().flatten().collect())
}

/// Costs of a message between nodes of a typical machine, and of its bytes, for each of both processors. These and the
/// following are chosen by half of the machines of TRUTH.md, and judged by the others.
const COST: f64 = 0.3e-6;
const COPY: f64 = 1.0 / 12e9;
/// The part of the data sheet's bandwidth of memory that messages get, as every copy reads and writes.
const OF_MEMORY: f64 = 0.2;
/// The part of the data sheet's bandwidth of a card that data gets.
const OF_CARD: f64 = 0.9;
/// The bytes that a typical card could send in the time of a message.
const MESSAGE: f64 = 3000.0;
/// Bytes per second of a message within a host, besides what its copies cost.
const WITHIN: f64 = 100e9;
/// Messages of at least so many bytes fill a card before its rate of messages is reached.
const FILLING: u64 = 4096;
/// Messages of at least so many bytes take about as long as the link does.
const LARGE: u64 = 1 << 20;
/// A time that is so many times another is longer not only by chance.
const SLOWER: f64 = 1.1;
/// Bytes per second that a core reduces.
const REDUCTION: f64 = 2e9;

/// Messages within a host of at least so many bytes wait for what all of them share, if all ranks send; smaller ones do not.
const SHARED: u64 = 16_384;

/// Costs that grow with the size of a message.
fn typical_costs() -> Costs {
    [0, 1 << 22].map(|size| (size, COST + COPY * size as f64)).into()
}

impl<'a> Machine<'a> {
    /// The machine as the data sheet and typical costs say.
    pub(super) fn typical(sheet: &'a DataSheet, cores: u32) -> Self {
        Self {
            sheet,
            cores,
            bandwidth: OF_CARD * sheet.bandwidth,
            latency: sheet.latency.0,
            limiter: None,
            process_bandwidth: None,
            messages_per_second: Some(sheet.bandwidth / MESSAGE),
            levels: Vec::new(),
            node_send: Costs::new(),
            node_receive: Costs::new(),
            memory: sheet.memory.map(|memory| OF_MEMORY * memory),
            send: typical_costs(),
            isend: Costs::new(),
            receive: typical_costs(),
            // A request and an answer.
            rendezvous: [EAGER_THRESHOLD, 1 << 22].map(|size| (size, 2.0 * (COST + sheet.latency.0))).into(),
            reduction: Costs::new(),
            collectives: BTreeMap::new(),
        }
    }

    /// The platform file.
    fn cluster(&self) -> String {
        let DataSheet { hosts, topology, library, .. } = self.sheet;
        let topology = topology.of_hosts(*hosts, self.bandwidth / self.sheet.bandwidth);
        let mut text = String::from("schema = 1\n\n[hosts]\n");
        if topology == NamedTopology::Star {
            let _ = writeln!(text, "count = {hosts}");
        }
        let cores = self.cores.max(self.sheet.cores);
        let _ = writeln!(text, "cores = {cores}\nspeed = \"1 x recorded\"\n\n{}", topology.table());
        let _ = writeln!(
            text,
            "[network]\nbandwidth = \"{:.0} B/s\"\nlatency = \"{:.3e} s\"\n",
            self.bandwidth,
            self.latency / f64::from(topology.longest_route())
        );
        if let Some(limiter) = self.limiter.filter(|_| topology == NamedTopology::Star) {
            let _ = writeln!(text, "limiter = \"{limiter:.0} B/s\"\n");
        }
        text.extend([self.card(), self.inside()]);
        let _ = writeln!(text, "\n[mpi]\neager_threshold = \"{EAGER_THRESHOLD} B\"");
        let isend = if self.isend.is_empty() { &self.send } else { &self.isend };
        for (key, costs) in [("send_overhead", &self.send), ("isend_overhead", isend)] {
            let _ = writeln!(text, "{key} = {}", steps(costs));
        }
        let _ = writeln!(text, "rendezvous_overhead = {}", steps(&self.rendezvous));
        let _ = writeln!(text, "recv_overhead = {}", steps(&self.receive));
        let _ = match self.reduction.is_empty() {
            true => writeln!(text, "reduction = [[0, 0.0, {:.1e}]]", 1.0 / REDUCTION),
            false => writeln!(text, "reduction = {}", steps(&self.reduction)),
        };
        let _ = writeln!(text, "\n[mpi.collectives]\nlibrary = \"{}\"", library.name());
        for (kind, sizes) in &self.collectives {
            let mut last = "";
            let mut named = Vec::new();
            for (size, fit) in sizes {
                if fit.algorithm != last {
                    named.push(format!("[\"{size} B\", \"{}\"]", fit.algorithm));
                    last = fit.algorithm;
                }
            }
            if !named.is_empty() {
                let _ = writeln!(text, "{} = [{}]", kind.name(), named.join(", "));
            }
        }
        if !self.collectives.is_empty() {
            text += "\n# From each size of a call on, the factors within hosts and between them.\n[mpi.collective_factor]\n";
        }
        for (kind, sizes) in &self.collectives {
            let step = |(size, fit): (&u64, &CollectiveFit)| {
                format!("[\"{size} B\", {:.4}, {:.4}]", fit.factors[0], fit.factors[1])
            };
            let _ = writeln!(text, "{} = [{}]", kind.name(), sizes.iter().map(step).collect::<Vec<_>>().join(", "));
        }
        text
    }

    /// The table of the cards.
    pub(super) fn card(&self) -> String {
        let mut text = String::from("[network.card]\n");
        if let Some(rate) = self.messages_per_second {
            let _ = writeln!(text, "messages_per_second = {rate:.3e}");
        }
        if let Some(bandwidth) = self.process_bandwidth {
            let _ = writeln!(text, "process_bandwidth = \"{bandwidth:.0} B/s\"");
        }
        text
    }

    /// The tables of the inside of hosts.
    pub(super) fn inside(&self) -> String {
        let mut text = String::from("\n[node]\n");
        if let Some(cache) = self.sheet.cache {
            let _ = writeln!(text, "cache = \"{} B\"", cache.0);
        }
        if let Some(memory) = self.memory {
            let _ = writeln!(text, "memory = \"{memory:.0} B/s\"");
        }
        for (key, costs) in [("send_overhead", &self.node_send), ("recv_overhead", &self.node_receive)] {
            if !costs.is_empty() {
                let _ = writeln!(text, "{key} = {}", steps(costs));
            }
        }
        for FittedLevel { place, cores, latency, bandwidth, shared } in &self.levels {
            let _ = writeln!(text, "\n[[node.level]]\nname = \"{}\"", place.level());
            if *cores < self.cores {
                let _ = writeln!(text, "cores = {cores}");
            }
            let _ = writeln!(text, "latency = \"{latency:.3e} s\"\nbandwidth = \"{bandwidth:.0} B/s\"");
            if let Some(shared) = shared {
                let _ = writeln!(text, "shared = \"{shared:.0} B/s\"");
            }
        }
        text
    }

    fn platform(&self) -> Result<Platform, PlatformError> {
        Platform::parse(Path::new("cluster.toml"), self.cluster(), &[])
    }

    fn predict(&self, row: &Row) -> Result<Option<f64>, BenchmarkError> {
        Ok(predict(&self.platform()?, row)?.map(|time| time.0))
    }
}

/// Bytes per second that messages at a level share, if many pairs at once show a limit: if a ping-pong takes longer than alone, at
/// the largest size within the caches.
fn shared(rows: &[Row], place: Place, alone: &Costs, (latency, cache): (f64, u64)) -> Option<f64> {
    let is_it = |row: &&Row| {
        row.benchmark == Benchmark::PingPong && row.place == Some(place) && row.ranks > 2 && row.bytes.0 <= cache
    };
    let crowd = rows.iter().filter(is_it).max_by_key(|row| (row.ranks, row.bytes))?;
    let (time, once) = (crowd.measured()?.0, at(alone, crowd.bytes.0)?);
    (time > SLOWER * once).then(|| f64::from(crowd.ranks / 2) * crowd.bytes.0 as f64 / (time - latency).max(1e-9))
}

/// The rows of windows of messages whose pairs are all between two nodes.
fn between_nodes(rows: &[Row], windows: Benchmark) -> impl Iterator<Item = &Row> + Clone {
    rows.iter().filter(move |row| row.benchmark == windows && row.nodes == 2 && row.ranks == 2 * row.ranks_per_node)
}

/// The last row of each size.
fn by_size(rows: Vec<&Row>) -> BTreeMap<u64, &Row> {
    rows.into_iter().map(|row| (row.bytes.0, row)).collect()
}

/// The time of each message of a window from one rank to another on another node.
fn of_a_pair(rows: &[Row]) -> Costs {
    times(between_nodes(rows, Benchmark::Uniband).filter(|row| row.ranks == 2))
}

impl FittedMachine {
    /// Fits a platform to rows on few nodes.
    ///
    /// # Errors
    /// If a row cannot be predicted.
    pub fn of(rows: &[Row], sheet: &DataSheet) -> Result<Self, BenchmarkError> {
        let cores = rows.iter().map(|row| row.ranks_per_node).max().unwrap_or(1);
        let mut machine = Machine::typical(sheet, cores);
        machine.fit_node(rows, &[(Place::Node, cores)]);
        machine.fit_cards(rows);
        let has_ping_pong = machine.fit_network(rows)?;
        machine.fit_ring(rows, has_ping_pong)?;
        machine.fit_collectives(rows)?;
        let used: Vec<Row> = rows.iter().filter(|row| machine.is_fitted_to(row.benchmark)).cloned().collect();
        let fitted = compare(&machine.platform()?, &used)?;
        Ok(Self { cluster: machine.cluster(), fitted, unknown: machine.unknown() })
    }

    /// The platform of a data sheet, with hosts of this many cores.
    #[must_use]
    pub fn of_sheet(sheet: &DataSheet, cores: u32) -> String {
        Machine::typical(sheet, cores).cluster()
    }
}

impl Machine<'_> {
    /// What no row shows.
    fn unknown(&self) -> Vec<String> {
        let typical = Machine::typical(self.sheet, self.cores);
        let parts = [
            ("the latency between hosts", self.latency == typical.latency),
            ("the bandwidth of hosts", self.bandwidth == typical.bandwidth),
            ("the rate of messages", self.messages_per_second == typical.messages_per_second),
            ("costs of messages between hosts", self.send == typical.send),
            ("costs of messages within hosts", self.node_send == typical.node_send),
            ("the bandwidth of memory", self.memory == typical.memory),
        ];
        let algorithms = CANDIDATES.iter().filter(|(kind, _)| !self.collectives.contains_key(kind));
        let parts = parts.into_iter().filter(|(_, is_unknown)| *is_unknown).map(|(part, _)| part.to_owned());
        parts.chain(algorithms.map(|(kind, _)| format!("algorithms of {}", kind.name()))).collect()
    }

    /// Whether results of a benchmark have been used.
    fn is_fitted_to(&self, benchmark: Benchmark) -> bool {
        match benchmark {
            Benchmark::PingPing | Benchmark::Exchange => false,
            Benchmark::Collective(CollectiveKind::Alltoall) => true,
            Benchmark::Collective(kind) => self.collectives.contains_key(&kind),
            Benchmark::PingPong
            | Benchmark::Sendrecv
            | Benchmark::Uniband
            | Benchmark::Biband
            | Benchmark::ReduceLocal => true,
        }
    }

    /// Whether all ranks of the nodes take part in a row.
    fn is_full(&self, row: &Row) -> bool {
        row.ranks_per_node == self.cores && row.ranks == row.nodes * row.ranks_per_node
    }

    fn full<'r>(&self, rows: &'r [Row], benchmark: Benchmark, nodes: u32) -> Vec<&'r Row> {
        let is_it = |row: &&Row| row.benchmark == benchmark && row.nodes == nodes && self.is_full(row);
        rows.iter().filter(is_it).collect()
    }

    /// Latency, copies and memory of a node with these levels.
    pub(super) fn fit_node(&mut self, rows: &[Row], levels: &[(Place, u32)]) {
        let within = |row: &&Row| {
            row.benchmark == Benchmark::PingPong
                && row.ranks == 2
                && match row.place {
                    None => row.nodes == 1 || row.ranks_per_node >= 2,
                    Some(place) => place != Place::BetweenNodes,
                }
        };
        let ping_pongs = |place| {
            let is_there = |row: &&Row| levels.len() == 1 || row.place == Some(place);
            times(rows.iter().filter(within).filter(is_there))
        };
        self.reduction = times(rows.iter().filter(|row| row.benchmark == Benchmark::ReduceLocal));
        let cache = self.sheet.cache.map_or(2 << 20, |cache| cache.0);
        let ping_pong = levels.first().map(|&(innermost, _)| ping_pongs(innermost)).unwrap_or_default();
        let Some((_, &least)) = ping_pong.first_key_value() else {
            self.fit_windows(rows, cache);
            return;
        };
        let latency = 0.5 * least;
        for &(place, cores) in levels {
            // Farther apart, the way takes longer, and copies the same.
            let alone = ping_pongs(place);
            let Some((&small, &of_small)) = alone.first_key_value() else { continue };
            let farther = (of_small - at(&ping_pong, small).unwrap_or(of_small)).max(0.0);
            // The receiver copies while a message is on its way: the longer of both counts.
            let large = alone.range(1..=cache.max(1)).next_back();
            let slow = large.filter(|&(&size, &time)| time - farther > SLOWER * at(&ping_pong, size).unwrap_or(time));
            let bandwidth =
                slow.map_or(WITHIN, |(&size, &time)| WITHIN.min(size as f64 / (time - latency - farther).max(1e-9)));
            let shared = shared(rows, place, &alone, (latency + farther, cache));
            self.levels.push(FittedLevel { place, cores, latency: latency + farther, bandwidth, shared });
        }
        if let Some(outermost) = self.levels.last_mut() {
            outermost.cores = self.cores;
        }
        self.node_receive = ping_pong.iter().map(|(&size, &time)| (size, (time - latency).max(1e-9))).collect();
        self.node_send = self.node_receive.clone();
        let exchange = times(self.full(rows, Benchmark::Sendrecv, 1));
        let ranks = f64::from(self.cores);
        if !exchange.is_empty() {
            // Of large messages, what a pair alone does not see is what all share, and not the time of a copy.
            let copy = |(&size, &time): (&u64, &f64)| {
                let receive = at(&self.node_receive, size)?;
                let most = if size < SHARED { f64::INFINITY } else { receive };
                Some((size, (time - receive).max(0.1 * receive).min(most)))
            };
            self.node_send = exchange.iter().filter_map(copy).collect();
        }
        // Each rank gets so many messages of the size of the call.
        let all = [
            (Benchmark::Sendrecv, 1.0),
            (Benchmark::Collective(CollectiveKind::Alltoall), ranks - 1.0),
            (Benchmark::Collective(CollectiveKind::Allgather), ranks - 1.0),
        ];
        let rates = all.into_iter().flat_map(|(benchmark, messages)| {
            times(self.full(rows, benchmark, 1)).into_iter().filter_map(move |(size, time)| {
                let is_large = messages * size as f64 > cache as f64;
                is_large.then_some(ranks * messages * size as f64 / time)
            })
        });
        let fastest = rates.fold(0.0, f64::max);
        if fastest > 0.0 {
            self.memory = Some(fastest);
        }
    }

    /// The costs of messages within a node from windows of messages, if possible of all its ranks, in both directions. Beyond the
    /// caches, they share the memory.
    fn fit_windows(&mut self, rows: &[Row], cache: u64) {
        let all = [(Benchmark::Biband, self.cores), (Benchmark::Uniband, self.cores), (Benchmark::Uniband, 2)];
        let windows = all.map(|(benchmark, ranks)| {
            let is_it = |row: &&Row| row.benchmark == benchmark && row.ranks == ranks && row.ranks_per_node >= ranks;
            (f64::from(ranks / 2), rows.iter().filter(is_it).collect::<Vec<_>>())
        });
        let Some((pairs, windows)) = windows.into_iter().find(|(_, rows)| !rows.is_empty()) else { return };
        // In one direction, each message takes the longer of both copies; in both, each rank makes two.
        self.node_send = times(windows.iter().copied()).into_iter().map(|(size, time)| (size, pairs * time)).collect();
        let beyond = windows.into_iter().filter(|row| row.ranks == self.cores && row.bytes.0 > cache);
        if let Some(rate) = beyond.filter_map(Row::rate).max_by(f64::total_cmp) {
            self.memory = Some(rate);
            self.node_send.retain(|&size, _| size <= cache);
        }
        self.node_receive = self.node_send.clone();
    }

    /// The bandwidth and the rate of messages of the cards.
    fn fit_cards(&mut self, rows: &[Row]) {
        let all_to_all = times(self.full(rows, Benchmark::Collective(CollectiveKind::Alltoall), 2));
        let ranks = f64::from(self.cores);
        let filling = all_to_all.range(FILLING..);
        let fastest = filling.map(|(&size, &time)| ranks * ranks * size as f64 / time).fold(0.0, f64::max);
        if fastest > 0.0 {
            self.bandwidth = fastest;
        }
        let most = all_to_all.range(64..).map(|(_, &time)| ranks * ranks / time).fold(0.0, f64::max);
        if most > 0.0 {
            self.messages_per_second = Some(most);
        }
        let windows = between_nodes(rows, Benchmark::Uniband);
        let rate =
            |rows: &mut dyn Iterator<Item = &Row>| rows.filter_map(|row| row.messages_per_second).fold(0.0, f64::max);
        let rate = rate(&mut windows.clone()).max(0.5 * rate(&mut between_nodes(rows, Benchmark::Biband)));
        // One pair of ranks reaches no more than the card, and no less than it reaches.
        let pairs = windows.clone().filter_map(Row::measured).map(|time| 1.0 / time.0).filter(|rate| rate.is_finite());
        let of_pairs = pairs.fold(0.0, f64::max);
        let windows = windows.filter(|row| row.bytes.0 >= FILLING);
        let most = windows.clone().filter_map(Row::rate).fold(0.0, f64::max);
        let single = windows.filter(|row| row.ranks == 2).filter_map(Row::rate).fold(0.0, f64::max);
        if rate > 0.0 {
            self.messages_per_second = Some(rate);
        }
        self.messages_per_second = self.messages_per_second.map(|rate| rate.max(of_pairs));
        if most > 0.0 {
            self.bandwidth = most;
        }
        self.process_bandwidth = (single > 0.0 && single < self.bandwidth).then_some(single);
        let both = between_nodes(rows, Benchmark::Biband).filter(|row| self.is_full(row) && row.bytes.0 >= FILLING);
        let both = both.filter_map(Row::rate).max_by(f64::total_cmp);
        if let Some(limit) = both.filter(|_| most.max(fastest) == 0.0) {
            // What a host sends is no more than this, nor less than half.
            let is_star = self.sheet.topology.of_hosts(self.sheet.hosts, 1.0) == NamedTopology::Star;
            self.bandwidth = self.bandwidth.min(if is_star { limit } else { 0.5 * limit });
        }
        self.limiter = both.filter(|limit| SLOWER * limit < 2.0 * self.bandwidth);
    }

    /// The costs of messages between nodes, and the bandwidth that one process reaches. Returns whether a ping-pong shows them.
    fn fit_network(&mut self, all: &[Row]) -> Result<bool, BenchmarkError> {
        let between = |row: &&Row| {
            row.benchmark == Benchmark::PingPong
                && row.ranks == 2
                && (row.place == Some(Place::BetweenNodes)
                    || row.place.is_none() && row.nodes == 2 && row.ranks_per_node == 1)
        };
        let rows: Vec<&Row> = all.iter().filter(between).collect();
        let ping_pong = times(rows.iter().copied());
        let (Some((_, &least)), Some((&size, &time))) = (ping_pong.first_key_value(), ping_pong.last_key_value())
        else {
            self.bound_by_window(all);
            return Ok(false);
        };
        self.latency = 0.5 * least;
        let single = size as f64 / (time - least).max(1e-9);
        if size > EAGER_THRESHOLD && SLOWER * single < self.bandwidth {
            self.process_bandwidth.get_or_insert(single);
        }
        if size >= LARGE {
            self.bandwidth = self.bandwidth.max(single);
        }
        let free = [(0, 0.0)];
        let ways = Machine { send: free.into(), receive: free.into(), rendezvous: free.into(), ..self.clone() };
        let cost = |(size, row): &(u64, &Row)| -> Result<Option<(u64, f64)>, BenchmarkError> {
            let Some(way) = ways.predict(row)? else { return Ok(None) };
            Ok(ping_pong.get(size).map(|time| (*size, (time - way).max(0.1 * least))))
        };
        let sizes = Vec::from_iter(by_size(rows));
        self.rendezvous = in_parallel(&sizes, cost)?;
        self.send = self.rendezvous.iter().map(|(&size, &cost)| (size, 0.5 * cost)).collect();
        self.receive = self.send.clone();
        self.fit_window(all);
        Ok(true)
    }

    /// What a window of messages from one rank to another shows of their costs: a processor spends no longer on each than that, and
    /// a message is on its way for the rest of the time of a ping-pong.
    fn fit_window(&mut self, rows: &[Row]) {
        let each = of_a_pair(rows);
        let Some((size, cost)) = self.rendezvous.first_key_value().filter(|_| !each.is_empty()) else { return };
        let on_its_way = (cost - 2.0 * at(&each, *size).unwrap_or(*cost)).max(0.0);
        self.latency += on_its_way;
        for (size, cost) in &mut self.rendezvous {
            let most = at(&each, *size).unwrap_or(*cost);
            let processor = most.min(0.5 * *cost);
            *cost = (*cost - on_its_way).max(2.0 * processor);
            self.isend.insert(*size, processor);
            self.receive.insert(*size, processor);
            self.send.insert(*size, *cost - processor);
        }
    }

    /// Typical costs of messages, where there is no ping-pong, and where a window shows that a processor spends less on each.
    fn bound_by_window(&mut self, rows: &[Row]) {
        let each = of_a_pair(rows);
        if !each.is_empty() {
            let processor = |(&size, &most): (&u64, &f64)| (size, at(&self.send, size).unwrap_or(COST).min(most));
            self.send = each.iter().map(processor).collect();
            self.receive = self.send.clone();
        }
    }

    /// The costs of messages between nodes from `Sendrecv` on two nodes, where no ping-pong was measured there.
    fn fit_ring(&mut self, rows: &[Row], has_ping_pong: bool) -> Result<(), BenchmarkError> {
        let ring = by_size(self.full(rows, Benchmark::Sendrecv, 2));
        if ring.is_empty() {
            return Ok(());
        }
        let sizes: Vec<u64> = ring.keys().copied().collect();
        let base = self.send.clone();
        let fit = |&size: &u64| -> Result<Option<(u64, f64)>, BenchmarkError> {
            let Some((row, measured)) = ring.get(&size).and_then(|row| Some((*row, row.measured()?))) else {
                return Ok(None);
            };
            let cost = at(&base, size).unwrap_or(COST);
            let with = |factor: f64| {
                let costs: Costs = [(size, factor * cost), (2 * size + 1, factor * cost)].into();
                Machine { send: costs.clone(), receive: costs, ..self.clone() }.predict(row)
            };
            Ok(root(with, measured.0)?.map(|(factor, _)| (size, factor.max(0.1) * cost)))
        };
        self.send = in_parallel(&sizes, fit)?;
        self.receive = self.send.clone();
        self.isend.clear();
        // In a chain, messages follow each other without waiting: what its ranks do not pay of a ping-pong is on the way.
        if let Some((&size, &cost)) = self.send.first_key_value().filter(|_| has_ping_pong) {
            self.latency += (2.0 * (at(&base, size).unwrap_or(cost) - cost)).max(0.0);
        }
        Ok(())
    }

    /// Algorithms of collectives, and factors on the costs of their messages.
    fn fit_collectives(&mut self, rows: &[Row]) -> Result<(), BenchmarkError> {
        for (kind, candidates) in CANDIDATES {
            let [one, two] = [1, 2].map(|nodes| by_size(self.full(rows, Benchmark::Collective(kind), nodes)));
            let sizes: Vec<u64> = one.keys().filter(|size| **size > 0).copied().collect();
            let fit = |&size: &u64| -> Result<Option<(u64, CollectiveFit)>, BenchmarkError> {
                let rows = [one.get(&size), two.get(&size)].map(Option::<&&Row>::copied);
                let gathered = rows[1].map_or(0, |row| u64::from(row.ranks) * size);
                let is_small = kind == CollectiveKind::Allgather && (1..=GATHERED).contains(&gathered);
                let candidates = [candidates, if is_small { &[BY_NODES] } else { &[] }].concat();
                Ok(self.fit_collective(kind, size, rows, &candidates)?.map(|fit| (size, fit)))
            };
            let fits: BTreeMap<u64, CollectiveFit> = in_parallel(&sizes, fit)?;
            if !fits.is_empty() {
                self.collectives.insert(kind, fits);
            }
        }
        Ok(())
    }

    /// The fit of a collective at one size, to rows on one node and on two.
    fn fit_collective(
        &self,
        kind: CollectiveKind,
        size: u64,
        rows: [Option<&Row>; 2],
        candidates: &[&'static str],
    ) -> Result<Option<CollectiveFit>, BenchmarkError> {
        let [Some(one), two] = rows else { return Ok(None) };
        let with = |fit: CollectiveFit| Machine { collectives: [(kind, [(size, fit)].into())].into(), ..self.clone() };
        let (Some(measured), measured_two) = (one.measured(), two.and_then(Row::measured)) else { return Ok(None) };
        let mut best: Option<(f64, CollectiveFit)> = None;
        for &algorithm in candidates {
            let mut factors = [1.0; 2];
            let mut score = 0.0;
            for (place, row, measured) in [(0, Some(one), Some(measured)), (1, two, measured_two)] {
                let (Some(row), Some(measured)) = (row, measured) else { continue };
                let predict = |factor: f64| {
                    let mut factors = factors;
                    factors[place] = factor;
                    with(CollectiveFit { algorithm, factors }).predict(row)
                };
                let Some((factor, error)) = root(predict, measured.0)? else {
                    score = f64::INFINITY;
                    break;
                };
                factors[place] = factor;
                score += 6.0 * error.abs();
            }
            let [node, network] = factors.map(|factor| factor.max(0.03));
            score += 0.1 * node.ln().abs();
            if two.is_some() {
                score += 0.3 * (network / node).ln().abs();
            }
            if algorithm != BY_NODES && candidates.contains(&BY_NODES) {
                score += PREFERENCE;
            }
            if best.as_ref().is_none_or(|(least, _)| score < *least) {
                best = Some((score, CollectiveFit { algorithm, factors }));
            }
        }
        Ok(best.map(|(_, fit)| fit))
    }
}

/// The factor at which a prediction that grows with it is `measured`, and the logarithm of the error that is left. `None`: there is
/// no prediction.
fn root(
    predict: impl Fn(f64) -> Result<Option<f64>, BenchmarkError>,
    measured: f64,
) -> Result<Option<(f64, f64)>, BenchmarkError> {
    const MOST: f64 = 256.0;
    let error = |factor: f64| Ok::<_, BenchmarkError>(predict(factor)?.map(|time| (time / measured).ln()));
    let Some(mut at_high) = error(1.0)? else { return Ok(None) };
    let (mut low, mut high) = (0.0, 1.0);
    let mut at_low = f64::NEG_INFINITY;
    while at_high < 0.0 && high < MOST {
        (low, at_low) = (high, at_high);
        high *= 4.0;
        at_high = error(high)?.unwrap_or(at_high);
    }
    if at_high < 0.0 {
        return Ok(Some((high, at_high)));
    }
    if low == 0.0 {
        at_low = error(0.0)?.unwrap_or(at_low);
        if at_low >= 0.0 {
            return Ok(Some((0.0, at_low)));
        }
    }
    for step in 0..8 {
        if at_high.min(-at_low) < 0.01 {
            break;
        }
        // Regula falsi, and every other time the middle: predictions are flat where something else is the limit.
        let part = if step % 2 == 0 { -at_low / (at_high - at_low) } else { 0.5 };
        let next = low + part * (high - low);
        let Some(at_next) = error(next)? else { break };
        if at_next < 0.0 {
            (low, at_low) = (next, at_next);
        } else {
            (high, at_high) = (next, at_next);
        }
    }
    Ok(Some(if at_high < -at_low { (high, at_high) } else { (low, at_low) }))
}

/// Small blocks are gathered on each node, and exchanged by the nodes' first ranks: rows on one and two nodes hardly show it,
/// those on more do, with most libraries of TRUTH.md. It is preferred up to so many bytes of the result on two nodes.
const BY_NODES: &str = "han";
const GATHERED: u64 = 16_384;
const PREFERENCE: f64 = 0.4;

/// The algorithms among which the one of a collective is found.
const CANDIDATES: [(CollectiveKind, &[&str]); 3] = [
    (CollectiveKind::Alltoall, &["bruck", "scattered", "pairwise_shift"]),
    (CollectiveKind::Allgather, &["recursive_doubling", "bruck", "ring", "neighbor"]),
    (CollectiveKind::Allreduce, &["recursive_doubling", "reduce_scatter_allgather", "ring", "smp"]),
];
