//! The time that a platform predicts for a row: the benchmark's calls as a trace, replayed.
//!
//! **The program.** Each rank makes the calls of the benchmark's loop three times; the first time is to warm up. A collective is
//! called once: IMB and OSU let the ranks meet in a barrier before each call, which is not timed. Sizes are IMB's: of
//! an all-to-all or allgather, what each rank has for each other one; of a reduction, the vector, of floating-point numbers of 4
//! bytes; a reduce-scatter shares its vector out. The root is rank 0.
//!
//! **The time.** That of an iteration, in the mean over all ranks for collectives, and of the slowest rank otherwise: in
//! a chain, it sets the pace of all in the end. A ping-pong has half of it, and a message of a window its part of all messages of the window of all pairs.
//!
//! **The place.** Rank *r* is on host *⌊r / ranks per node⌋*, whatever the platform's placement is.

use std::path::PathBuf;

use thiserror::Error;
use titr_common::collectives::{Call, Step};
use titr_common::event::{Collective, CollectiveKind, CommId, Completion, Event, Extent, Rank, Volumes};
use titr_common::event_buffer::EventRef;
use titr_common::statistics::mean;
use titr_common::time::Time;
use titr_common::trace::{EventSource, LocatedEvents, Location, RankSources, Trace, TraceError};
use titr_common::units::{Bytes, Seconds};
use titr_network::topology::HostId;
use titr_platform::{Platform, Policy};
use titr_simulation::observe::Observer;
use titr_simulation::{Simulation, SimulationError};

use super::row::{Benchmark, Place, Row};
use crate::events::{incoming, irecv, isend, outgoing, recv, send, waitall};

/// Iterations that are not timed, and that are, of messages that follow each other.
const WARM_UP: usize = 1;
const TIMED: usize = 2;

/// Messages of a window, in IMB and, by default, in OSU's programs.
pub(super) const WINDOW: u32 = 64;

/// The answer of the second rank of a pair to a window.
const ANSWER: Bytes = Bytes(1);

/// An element of a reduction.
const ELEMENT: u64 = 4;

/// The most messages of a prediction: more of them take longer than a row is worth.
const MOST_MESSAGES: u64 = 6_000_000;

/// The most steps of a collective, with those within a rank: the small messages of an all-to-all are copied many times.
const MOST_STEPS: u64 = 1 << 27;

impl Benchmark {
    /// The calls of a rank of `ranks` in an iteration.
    #[must_use]
    pub fn calls(self, ranks: u32, bytes: Bytes, me: u32) -> Vec<Event> {
        Program { benchmark: self, ranks, bytes }.iteration(me)
    }

    /// The time of a row, where iterations took these times at each rank, in seconds.
    #[must_use]
    pub fn time(self, of_ranks: &[f64]) -> Seconds {
        let longest = of_ranks.iter().copied().fold(0.0, f64::max);
        let messages = f64::from(WINDOW) * (of_ranks.len() / 2) as f64;
        Seconds(match self {
            Self::PingPong => longest / 2.0,
            Self::PingPing | Self::Sendrecv | Self::Exchange => longest,
            Self::Uniband => longest / messages,
            Self::Biband => longest / (2.0 * messages),
            Self::ReduceLocal | Self::Collective(_) => mean(of_ranks),
        })
    }

    /// How often its calls are made.
    fn iterations(self) -> usize {
        if matches!(self, Self::Collective(_)) { 1 } else { WARM_UP + TIMED }
    }
}

/// A reason why a row has no prediction.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum PredictionError {
    #[error(
        "{benchmark} in line {line} was measured on {nodes} nodes, and the platform has {hosts} hosts: choose rows with --nodes"
    )]
    TooFewHosts { benchmark: Benchmark, line: u64, nodes: u32, hosts: u32 },
    #[error("{benchmark} in line {line}: {source}")]
    Replay { benchmark: Benchmark, line: u64, source: SimulationError },
}

/// The time of a row on a platform, comparable with [`Row::measured`]. `None`: the row would need too many messages.
///
/// # Errors
/// If the ranks have no place on the platform.
pub fn predict(platform: &Platform, row: &Row) -> Result<Option<Seconds>, PredictionError> {
    let Row { benchmark, line, ranks, .. } = *row;
    if !is_feasible(platform, row) {
        return Ok(None);
    }
    if benchmark == Benchmark::ReduceLocal {
        return Ok(Some(platform.mpi.reduction.of(row.bytes)));
    }
    let hosts = platform.topology.hosts();
    let host = |rank: u32| match row.place {
        Some(Place::BetweenNodes) if ranks == 2 => rank,
        Some(place) if ranks == 2 || place != Place::BetweenNodes => 0,
        _ => rank / row.ranks_per_node.max(1),
    };
    let cores = match row.place {
        Some(place) if place != Place::BetweenNodes => {
            let Some(cores) = cores_at(platform, place, ranks / 2) else { return Ok(None) };
            cores
        }
        Some(_) | None => Vec::new(),
    };
    let nodes = host(ranks - 1) + 1;
    if nodes > hosts {
        return Err(PredictionError::TooFewHosts { benchmark, line, nodes, hosts });
    }
    let mut platform = platform.clone();
    let hosts = (0..ranks).map(host).map(HostId).collect();
    platform.policy = Policy::Explicit { hosts, cores, file: PathBuf::from("the benchmark") };
    let program = Program { benchmark, ranks, bytes: row.bytes };
    let mut stopwatch = Stopwatch::new(&program);
    let trace = Trace::new(ranks, program);
    let simulation = Simulation::new(&platform, &trace).read_ahead(false).observe(&mut stopwatch);
    simulation.run().map_err(|source| PredictionError::Replay { benchmark, line, source })?;
    Ok(Some(benchmark.time(&Vec::from_iter(stopwatch.times()))))
}

/// The cores of the two ranks of each of so many pairs that are in one part of a host at a level and in none within it: the
/// first ranks, and then their partners. `None`: the platform's hosts have not so many.
fn cores_at(platform: &Platform, place: Place, pairs: u32) -> Option<Vec<u32>> {
    let levels = platform.node.as_ref().map_or(&[][..], |node| &node.levels);
    let Some(at) = levels.iter().position(|level| level.name == place.level()) else { return Some(Vec::new()) };
    let share = |one: u32, other: u32, level: usize| one / levels[level].cores == other / levels[level].cores;
    let are_there = |one, other| share(one, other, at) && (at == 0 || !share(one, other, at - 1));
    let found = pairs_of(platform.cores, pairs, are_there);
    (found.len() == pairs as usize)
        .then(|| [0, 1].iter().flat_map(|&end| found.iter().map(move |pair| pair[end])).collect())
}

/// At most so many pairs of `ranks` ranks which `are_there`, none of them twice.
pub fn pairs_of(ranks: u32, pairs: u32, are_there: impl Fn(u32, u32) -> bool) -> Vec<[u32; 2]> {
    let mut found: Vec<[u32; 2]> = Vec::new();
    for one in 0..ranks {
        let is_free = |rank: u32| !found.as_flattened().contains(&rank);
        if is_free(one)
            && found.len() < pairs as usize
            && let Some(other) = (one + 1..ranks).find(|&other| is_free(other) && are_there(one, other))
        {
            found.push([one, other]);
        }
    }
    found
}

/// Whether the row has ranks, and not too many messages.
fn is_feasible(platform: &Platform, row: &Row) -> bool {
    let Row { benchmark, ranks, bytes, .. } = *row;
    let members = u64::from(ranks);
    let most = MOST_MESSAGES / benchmark.iterations() as u64;
    if members < if benchmark.has_pairs() { 2 } else { 1 } || members > most {
        return false;
    }
    let messages = match benchmark {
        Benchmark::PingPong | Benchmark::PingPing | Benchmark::Sendrecv => members,
        Benchmark::Exchange => 2 * members,
        Benchmark::Uniband => members * u64::from(WINDOW) / 2,
        Benchmark::Biband => members * u64::from(WINDOW),
        Benchmark::ReduceLocal => 0,
        Benchmark::Collective(kind) => {
            let signature = kind.signature();
            // A list of the volumes of all members takes as much time and memory as a message to each of them.
            if [signature.send, signature.recv].contains(&Extent::PerMember) && members * members > most {
                return false;
            }
            let program = Program { benchmark, ranks, bytes };
            let count = |me| {
                let call = program.collective(kind, me);
                let steps = platform.mpi.collectives.steps(&Call::of(&call, me, ranks, 0));
                let sends =
                    |step: &&Step| matches!(step, Step::Send { .. } | Step::Sendrecv { .. } | Step::Isend { .. });
                [steps.iter().filter(sends).count(), steps.len()].map(|count| count as u64)
            };
            // The root, and members that make as many steps as the others, or more.
            let [root, second, last] = [0, 1.min(ranks - 1), ranks - 1].map(count);
            let [messages, steps] = [0, 1].map(|of| root[of] + (members - 1) * second[of].max(last[of]));
            if steps > MOST_STEPS {
                return false;
            }
            messages
        }
    };
    messages <= most
}

/// The calls of all ranks.
struct Program {
    benchmark: Benchmark,
    ranks: u32,
    bytes: Bytes,
}

impl RankSources for Program {
    fn source(&self, rank: Rank, _partial: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        Ok(Box::new(Loop { iteration: self.iteration(rank.0), iterations: self.benchmark.iterations(), next: 0 }))
    }
}

impl Program {
    /// The calls of a rank in an iteration.
    fn iteration(&self, me: u32) -> Vec<Event> {
        let Self { benchmark, ranks, bytes } = *self;
        let half = ranks / 2;
        let (right, left) = ((me + 1) % ranks, (me + ranks - 1) % ranks);
        let is_first = me < half;
        let partner = if is_first { me + half } else { me.wrapping_sub(half) };
        if benchmark.has_pairs() && me >= 2 * half {
            return Vec::new();
        }
        let sends = |first| (first..first + WINDOW).map(|request| isend(partner, bytes, request));
        let receives = || (0..WINDOW).map(|request| irecv(partner, bytes, request));
        let answer = if is_first { recv(partner, ANSWER) } else { send(partner, ANSWER) };
        match benchmark {
            Benchmark::PingPong if is_first => vec![send(partner, bytes), recv(partner, bytes)],
            Benchmark::PingPong => vec![recv(partner, bytes), send(partner, bytes)],
            Benchmark::PingPing => vec![isend(partner, bytes, 0), recv(partner, bytes), waitall()],
            Benchmark::Sendrecv => vec![Event::Sendrecv(Some(outgoing(right, bytes)), Some(incoming(left, bytes)))],
            Benchmark::Exchange => {
                let sends = [isend(right, bytes, 0), isend(left, bytes, 1)];
                sends.into_iter().chain([recv(left, bytes), recv(right, bytes), waitall()]).collect()
            }
            Benchmark::Uniband if is_first => sends(0).chain([waitall(), answer]).collect(),
            Benchmark::Uniband => receives().chain([waitall(), answer]).collect(),
            Benchmark::Biband => receives().chain(sends(WINDOW)).chain([waitall(), answer]).collect(),
            Benchmark::ReduceLocal => Vec::new(),
            Benchmark::Collective(kind) => {
                vec![Event::Collective(self.collective(kind, me), Completion::Blocking)]
            }
        }
    }

    /// The part of a rank in a collective.
    fn collective(&self, kind: CollectiveKind, me: u32) -> Collective {
        let Self { ranks, bytes, .. } = *self;
        let signature = kind.signature();
        let element = if signature.reduces { ELEMENT } else { 1 };
        let volumes = |extent, is_significant: bool| {
            let bytes = if is_significant { bytes } else { Bytes(0) };
            match extent {
                Extent::None => Volumes::None,
                Extent::Each => Volumes::Each(bytes),
                Extent::PerMember if kind.is_shared_out() => Volumes::PerMember(self.shares()),
                Extent::PerMember => Volumes::PerMember(vec![bytes; ranks as usize]),
            }
        };
        let scatters = matches!(kind, CollectiveKind::Scatter | CollectiveKind::Scatterv);
        let gathers = matches!(kind, CollectiveKind::Gather | CollectiveKind::Gatherv);
        Collective {
            kind,
            root: signature.is_rooted.then_some(Rank(0)),
            send: volumes(signature.send, me == 0 || !scatters),
            recv: volumes(signature.recv, me == 0 || !gathers),
            element: Bytes(element),
            ..Collective::barrier(CommId::WORLD)
        }
    }

    /// The parts of a vector that each rank gets: whole elements, the first ranks one more.
    fn shares(&self) -> Vec<Bytes> {
        let (elements, ranks) = (self.bytes.0 / ELEMENT, u64::from(self.ranks));
        let share = |rank| elements / ranks + u64::from(rank < elements % ranks);
        (0..ranks).map(|rank| Bytes(share(rank) * ELEMENT)).collect()
    }
}

/// The events of a rank: its iterations between `MPI_Init` and `MPI_Finalize`.
struct Loop {
    iteration: Vec<Event>,
    iterations: usize,
    next: usize,
}

impl EventSource for Loop {
    fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        let calls = self.iteration.len() * self.iterations;
        let event = match self.next.checked_sub(1) {
            None => Event::Init,
            Some(call) if call < calls => self.iteration[call % self.iteration.len()].clone(),
            Some(call) if call == calls => Event::Finalize,
            Some(_) => return Ok(false),
        };
        self.next += 1;
        events.push(event, Location::default());
        Ok(true)
    }
}

/// Times the iterations of each rank.
struct Stopwatch {
    /// The calls of an iteration.
    calls: usize,
    /// The calls that are not timed, and those that are.
    warm_up: usize,
    timed: usize,
    ranks: Vec<Lap>,
}

/// What is known of a rank.
#[derive(Clone, Copy, Default)]
struct Lap {
    /// The events that have begun.
    begun: usize,
    /// The beginning of the first timed call.
    start: Time,
    /// The end of the last.
    end: Time,
}

impl Observer for Stopwatch {
    fn event_began(&mut self, rank: Rank, _event: EventRef<'_>, at: Time) {
        let lap = &mut self.ranks[rank.0 as usize];
        // The first event is `MPI_Init`.
        let call = lap.begun.checked_sub(1);
        if call == Some(self.warm_up) {
            lap.start = at;
        }
        if call == Some(self.warm_up + self.timed) {
            lap.end = at;
        }
        lap.begun += 1;
    }
}

impl Stopwatch {
    fn new(program: &Program) -> Self {
        let calls = program.iteration(0).len();
        let iterations = program.benchmark.iterations();
        let warm_up = if iterations > 1 { WARM_UP * calls } else { 0 };
        Self {
            calls,
            warm_up,
            timed: iterations * calls - warm_up,
            ranks: vec![Lap::default(); program.ranks as usize],
        }
    }

    /// The time of an iteration of each rank, in seconds.
    fn times(&self) -> impl Iterator<Item = f64> {
        let iterations = self.timed as f64 / self.calls.max(1) as f64;
        self.ranks.iter().map(move |lap| (lap.end - lap.start).0 / iterations)
    }
}
