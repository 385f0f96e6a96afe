//! Traces written in a test, on a machine whose times can be computed by hand: a message of *n* bytes takes 2 µs + *n*
//! ns independent of other messages, and an instruction takes a nanosecond. Sends of fewer than 10,000 bytes are eager.

pub mod programs;

use std::sync::Arc;

use titr_analyses::{ANALYSES, Analysis, CriticalPath, Findings, WaitFindings};
use titr_common::collectives::Library;
use titr_common::event::Event;
use titr_common::grammar::Parser;
use titr_common::time::Time;
use titr_common::trace::{EventSource, LocatedEvents, Location, TraceError};
use titr_common::units::{Bytes, Seconds, Speed};
use titr_network::ideal::Ideal;
use titr_network::topology::{Cable, Duplex, HostId, Star};
use titr_platform::{Mpi, Progress};
use titr_simulation::observe::{Breakdown, Observer, Shares};
use titr_simulation::ranks::{Core, ReplayError};
use titr_simulation::replay::{Options, Outcome, replay};
use titr_workload::Workload;

/// What MPI costs: nothing, and eager messages travel at once.
pub fn mpi() -> Mpi {
    Mpi { eager_threshold: Bytes(10_000), progress: Progress::Thread, ..Mpi::from(Library::Mpich) }
}

/// The events of each rank.
pub fn events(ranks: u32, trace: &str) -> Vec<Vec<Event>> {
    let mut events = vec![Vec::new(); ranks as usize];
    let mut parsers: Vec<Parser> = (0..ranks).map(|_| Parser::new(ranks)).collect();
    for line in trace.lines() {
        let rank: usize = line.split_whitespace().next().map_or(0, |rank| rank.parse().unwrap());
        if let Some((_, event)) = parsers[rank].line(line.trim().as_bytes()).unwrap() {
            events[rank].push(event);
        }
    }
    events
}

/// Replays a program, as [`run_workload`] does.
///
/// # Errors
/// As [`replay`].
pub fn run(events: Vec<Vec<Event>>, mpi: &Mpi) -> Result<Outcome<Breakdown>, ReplayError> {
    run_programs(events.into_iter().map(Vec::into_iter).collect(), mpi)
}

/// Lines of several threads of a rank.
pub struct Lines {
    rank: u32,
    lines: std::vec::IntoIter<String>,
    parser: Parser,
}

impl EventSource for Lines {
    fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        for line in self.lines.by_ref() {
            let (actor, event) = self.parser.line(line.as_bytes()).unwrap().unwrap();
            if actor.rank.0 == self.rank {
                events.push(event, Location { thread: actor.thread, line: None });
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The lines of each rank, with those of all its threads.
pub fn threads(ranks: u32, trace: &str) -> Vec<Lines> {
    let lines: Vec<String> = trace.lines().map(|line| line.trim().to_owned()).collect();
    let lines = |rank| Lines { rank, lines: lines.clone().into_iter(), parser: Parser::new(ranks) };
    (0..ranks).map(lines).collect()
}

/// Replays the program of each rank, as [`run_workload`] does.
///
/// # Errors
/// As [`replay`].
pub fn run_programs<S: EventSource>(programs: Vec<S>, mpi: &Mpi) -> Result<Outcome<Breakdown>, ReplayError> {
    run_workload(Workload::new(programs), mpi)
}

/// Replays a workload, whose analyses add up to what it takes.
///
/// # Errors
/// As [`replay`].
pub fn run_workload<S: EventSource>(workload: Workload<S>, mpi: &Mpi) -> Result<Outcome<Breakdown>, ReplayError> {
    explained(workload.windows.len(), |observer| observe(workload, mpi, observer))
}

/// The breakdown of a replay, and analyses.
pub type Watched<'o> = (Breakdown, Vec<&'o mut dyn Observer>);

/// The outcome of a replay that is watched by analyses as well, whose findings add up to what it takes.
///
/// # Errors
/// As [`replay`].
pub fn explained(
    ranks: usize,
    replay: impl for<'o> FnOnce(Watched<'o>) -> Result<Outcome<Watched<'o>>, ReplayError>,
) -> Result<Outcome<Breakdown>, ReplayError> {
    let ranks = ranks as u32;
    let (mut path, mut waits) = (analysis("critical-path", ranks), analysis("wait-states", ranks));
    let outcome = replay((Breakdown::new(ranks), vec![&mut *path, &mut *waits]))?.map(|(breakdown, _)| breakdown);
    let mut found = Findings::default();
    path.add_to(&mut found);
    waits.add_to(&mut found);
    let length = found.critical_path.unwrap().length;
    assert_eq!(micros(length), micros(outcome.simulated_time.seconds()), "the length of the critical path");
    let WaitFindings { waiting, patterns, causes, .. } = found.wait_states.unwrap();
    let sums = [sum(patterns.iter().map(|part| part.seconds)), sum(causes.iter().map(|part| part.seconds))];
    assert_eq!(sums, [picoseconds(waiting); 2], "waiting and its causes");
    Ok(outcome)
}

/// A new analysis of this name.
fn analysis(name: &str, ranks: u32) -> Box<dyn Analysis> {
    (ANALYSES.iter().find(|kind| kind.name == name).unwrap().new)(ranks)
}

/// Replays a workload, watched by an observer.
///
/// # Errors
/// As [`replay`].
pub fn observe<S: EventSource, O: Observer>(
    workload: Workload<S>,
    mpi: &Mpi,
    observer: O,
) -> Result<Outcome<O>, ReplayError> {
    let ranks = workload.windows.len() as u32;
    let cable = Cable { bandwidth: 1e9, latency: Seconds(1e-6), duplex: Duplex::Full };
    let mut network = Ideal::new(Arc::new(Star::new(ranks, cable, None)));
    let cores = (0..ranks).map(|host| Core::new(HostId(host), Speed { per_second: 1e9 })).collect();
    replay(workload, cores, mpi, &mut network, observer, Options::default())
}

/// When a program ends, and its critical path.
pub fn critical_path<S: EventSource>(workload: Workload<S>, mpi: &Mpi) -> (Time, CriticalPath) {
    let (time, found) = analyse("critical-path", workload, mpi);
    (time, found.critical_path.unwrap())
}

/// The wait states of a program.
pub fn wait_states<S: EventSource>(workload: Workload<S>, mpi: &Mpi) -> WaitFindings {
    analyse("wait-states", workload, mpi).1.wait_states.unwrap()
}

fn analyse<S: EventSource>(name: &str, workload: Workload<S>, mpi: &Mpi) -> (Time, Findings) {
    let mut analysis = analysis(name, workload.windows.len() as u32);
    let observers: Vec<&mut dyn Observer> = vec![&mut *analysis];
    let time = observe(workload, mpi, observers).unwrap().simulated_time;
    let mut found = Findings::default();
    analysis.add_to(&mut found);
    (time, found)
}

/// A time in picoseconds.
pub fn picoseconds(Seconds(seconds): Seconds) -> u64 {
    (seconds * 1e12).round() as u64
}

/// The sum of times in picoseconds.
pub fn sum(times: impl Iterator<Item = Seconds>) -> u64 {
    times.map(picoseconds).sum()
}

/// When each rank is done, in microseconds.
pub fn finishes(outcome: &Outcome<Breakdown>) -> Vec<f64> {
    outcome.observer.per_rank().map(|Shares { finish, .. }| micros(finish)).collect()
}

/// Microseconds, to the picosecond.
pub fn micros(seconds: Seconds) -> f64 {
    (seconds.0 * 1e12).round() / 1e6
}
