//! Advice: hypotheses that the causes of waiting suggest, each with the time that it saves in a replay.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use titr_common::collectives::{Algorithm, collective_named};
use titr_common::event::CollectiveKind;
use titr_common::format::uncertain;
use titr_common::trace::{Trace, TraceError};
use titr_common::units::{Bytes, Seconds};
use titr_document::Mistake;
use titr_hypotheses::{Change, Hypotheses, Network, Scope};
use titr_simulation::parallel::Jobs;
use titr_simulation::{Computation, Platform, Simulation, SimulationError};

use titr_analyses::{
    AnalysedResult, AnalysedSimulation, AnalysisError, CollectiveWaiting, Pattern, ProgramPlace, SegmentKind,
    WaitFindings, apply_machine_changes,
};

/// The times that a program would take under a standard set of hypotheses.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Advice {
    /// The predicted time of the program as it is.
    pub(crate) simulated_time: Seconds,
    /// The hypotheses that were replayed, the largest saving first.
    pub(crate) hypotheses: Vec<TriedHypothesis>,
    /// Hypotheses that no program can reach, such as a network without cost: upper bounds of the savings.
    pub(crate) bounds: Vec<TriedHypothesis>,
    /// Hypotheses that do not fit the program.
    pub(crate) not_tried: Vec<NotTried>,
}

/// A hypothesis that was replayed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct TriedHypothesis {
    /// The hypothesis in words.
    pub(crate) hypothesis: String,
    /// The cause that suggests the hypothesis; `None` for a bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) because: Option<String>,
    /// The predicted time.
    pub(crate) simulated_time: Seconds,
    /// The time that the hypothesis saves; negative if the program would take longer.
    pub(crate) saves: Seconds,
    /// A file of hypotheses for `titr replay --what-if`.
    pub(crate) changes: String,
}

/// A hypothesis that does not fit the program.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct NotTried {
    /// The hypothesis in words.
    pub(crate) hypothesis: String,
    /// The reason.
    pub(crate) why: String,
}

/// The most hypotheses that are replayed, besides the bounds: so many at least, and four times as many of a trace whose
/// replays take no time.
const MOST: usize = 12;

/// The events that all replays of hypotheses may have together, beyond the least number of them: some seconds.
const EVENTS: u64 = 4_000_000;

/// A step of the work, for users who wait for it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'a> {
    /// The program was replayed as it is; so many hypotheses follow.
    Replayed(Seconds, usize),
    /// A hypothesis was tried, and saves so much; `None` if it does not fit the program.
    Tried(&'a str, Option<Seconds>),
}

/// Replays the trace unchanged, and with the most promising hypotheses that its waits suggest. `jobs` is the number of replays
/// at the same time; `follow` is called after each step, by any thread.
///
/// # Errors
/// If the unchanged trace cannot be replayed.
pub(crate) fn advise(
    platform: &Platform,
    trace: &Trace,
    computation: Computation,
    jobs: Jobs,
    follow: &(dyn Fn(Step<'_>) + Sync),
) -> Result<Advice, AnalysisError> {
    let trace = &trace.clone().kept();
    let base = Simulation::new(platform, trace).computation(computation);
    let base = AnalysedSimulation::new(base).analyse("wait-states").run()?;
    let simulated_time = base.simulated_time;
    let mut advice = Advice { simulated_time, hypotheses: Vec::new(), bounds: Vec::new(), not_tried: Vec::new() };
    let waits = base.analyses.as_ref().and_then(|findings| findings.wait_states.as_ref());
    let mut candidates = VecDeque::from(waits.map(|waits| candidates(&base, waits)).unwrap_or_default());
    let mut serialised = waits.and_then(|waits| serialisation(&base, waits));
    let mut next = bounds().to_vec();
    let limit = ((EVENTS / base.events.max(1)) as usize).clamp(MOST, 4 * MOST);
    follow(Step::Replayed(simulated_time, candidates.len().min(limit) + next.len()));
    loop {
        // In place of those that do not fit the program, others are tried.
        let free = limit.saturating_sub(advice.hypotheses.len()).min(candidates.len());
        next.extend(candidates.drain(..free));
        if next.is_empty() {
            let most = advice.hypotheses.iter().map(|tried| tried.saves.0).fold(0.0, f64::max);
            next.extend(serialised.take().filter(|_| most < SAVED * simulated_time.0));
        }
        if next.is_empty() {
            break;
        }
        let replays = jobs.map(next.len(), |number| {
            let Trial { title, change, .. } = &next[number];
            let replayed = replayed(platform, trace, computation, change, !jobs.are_several());
            let saves = replayed.as_ref().ok().map(|(time, _)| Seconds(simulated_time.0 - time.0));
            follow(Step::Tried(title, saves));
            Ok::<_, SimulationError>(replayed)
        })?;
        for (Trial { title: hypothesis, because, .. }, replayed) in next.drain(..).zip(replays) {
            match replayed {
                Ok((time, changes)) => {
                    let is_bound = because.is_none();
                    let saves = Seconds(simulated_time.0 - time.0);
                    let tried = TriedHypothesis { hypothesis, because, simulated_time: time, saves, changes };
                    if is_bound { advice.bounds.push(tried) } else { advice.hypotheses.push(tried) }
                }
                Err(why) => advice.not_tried.push(NotTried { hypothesis, why }),
            }
        }
    }
    advice.not_tried.extend(candidates.into_iter().map(|candidate| NotTried {
        hypothesis: candidate.title,
        why: format!("its cause makes ranks wait for less than those of the {limit} that were tried"),
    }));
    advice.hypotheses.sort_by(|a, b| b.saves.0.total_cmp(&a.saves.0));
    Ok(advice)
}

/// The predicted time with a change, and the change as a file of hypotheses. An error is the reason that the change
/// does not fit the program.
fn replayed(
    platform: &Platform,
    trace: &Trace,
    computation: Computation,
    change: &Change,
    read_ahead: bool,
) -> Result<(Seconds, String), String> {
    let first_line = |error: &dyn ToString| error.to_string().lines().next().unwrap_or_default().to_owned();
    let message = |mistake: Mistake| mistake.message().to_owned();
    let changes = Change::file(std::slice::from_ref(change)).map_err(|error| first_line(&error))?;
    let hypotheses = Hypotheses::parse(Path::new("advice"), changes.clone()).map_err(message)?;
    let platform = apply_machine_changes(&hypotheses.machine, platform.clone()).map_err(message)?;
    let simulation = Simulation::new(&platform, trace).computation(computation).transform(&hypotheses);
    match simulation.read_ahead(read_ahead).run() {
        Ok(result) => Ok((result.simulated_time, changes)),
        Err(SimulationError::Trace(TraceError::Change(error))) => {
            Err(error.downcast().map_or_else(|error| first_line(&error), |mistake| message(*mistake)))
        }
        Err(error) => Err(first_line(&error)),
    }
}

/// A hypothesis to try.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trial {
    /// The hypothesis in words.
    pub(crate) title: String,
    /// The cause that suggests it; `None` of a bound.
    pub(crate) because: Option<String>,
    /// The change of the program or the machine.
    pub(crate) change: Change,
    /// The waiting of all ranks that the cause explains, in seconds, and less for further hypotheses of one cause: the
    /// change that may save most comes first.
    pub(crate) concerns: f64,
}

/// Causes of less than this part of all ranks' time suggest nothing.
const LEAST: f64 = 0.005;

/// Computation that makes ranks wait for at least this part of all ranks' time serialises them, if no other change saves the
/// second part of the time.
const SERIALISED: f64 = 0.1;
const SAVED: f64 = 0.05;

/// The most places of the program whose computation is balanced.
const PLACES: usize = 3;

/// The hypotheses that a result with these wait states suggests, the most promising first: further ones of a
/// cause count less.
fn candidates(result: &AnalysedResult, waits: &WaitFindings) -> Vec<Trial> {
    let whole = result.simulated_time.0 * result.ranks as f64;
    let is_large = |seconds: &f64| *seconds > 0.0 && *seconds >= LEAST * whole;
    let mut all = imbalances(waits, is_large);
    all.extend(messages(waits, is_large));
    all.extend(waits.collectives.iter().filter(|waiting| is_large(&waiting.own.0)).flat_map(collective));
    all.extend(waits.collectives.iter().filter_map(left_out).filter(|trial| is_large(&trial.concerns)));
    // Stable: of equals, the simpler one comes first.
    all.sort_by(|one, other| other.concerns.total_cmp(&one.concerns));
    all
}

/// A region or a call site, and the waiting of all ranks for its computation, in seconds.
type Awaited<'a> = ((Option<&'a str>, Option<&'a str>), f64);

/// The places whose computation makes ranks wait, most first.
fn awaited(waits: &WaitFindings) -> Vec<Awaited<'_>> {
    let mut computing: BTreeMap<(Option<&str>, Option<&str>), f64> = BTreeMap::new();
    for cause in waits.causes.iter().filter(|cause| cause.kind == SegmentKind::Compute) {
        *computing.entry(innermost(&cause.place)).or_default() += cause.seconds.0;
    }
    let mut computing: Vec<_> = computing.into_iter().collect();
    computing.sort_by(|a, b| b.1.total_cmp(&a.1));
    computing
}

/// A place as a part of a sentence.
fn at((region, call_site): (Option<&str>, Option<&str>)) -> String {
    match (region, call_site) {
        (Some(region), _) => format!(" in region {region}"),
        (None, Some(site)) => format!(" before {site}"),
        (None, None) => String::new(),
    }
}

/// Where balance saves nothing, the code that ranks wait for most is what others are serialised by: it is made faster.
fn serialisation(result: &AnalysedResult, waits: &WaitFindings) -> Option<Trial> {
    let whole = result.simulated_time.0 * result.ranks as f64;
    let (place, seconds) = awaited(waits).into_iter().find(|(place, _)| *place != (None, None))?;
    let (region, call_site) = (place.0.map(str::to_owned), place.1.map(str::to_owned));
    (seconds >= SERIALISED * whole).then(|| Trial {
        title: format!("computation{} takes half as long", at(place)),
        because: Some(format!("ranks wait for it {}, one after another", of_ranks(seconds))),
        change: Change::ScaleCompute { region, call_site, factor: 0.5 },
        concerns: seconds,
    })
}

/// Computation that makes ranks wait is balanced, at the places that make them wait most.
fn imbalances(waits: &WaitFindings, is_large: impl Fn(&f64) -> bool) -> Vec<Trial> {
    let mut computing = awaited(waits);
    // Everywhere, and at the places that matter most.
    if computing.len() > 1 {
        computing.insert(0, ((None, None), computing.iter().map(|(_, seconds)| seconds).sum()));
    }
    computing.retain(|(_, time)| is_large(time));
    let mut all = Vec::new();
    for ((region, call_site), seconds) in computing.into_iter().take(PLACES + 1) {
        let place = at((region, call_site));
        let mut balanced = |over, how, part| {
            let (region, call_site) = (region.map(str::to_owned), call_site.map(str::to_owned));
            all.push(Trial {
                title: format!("all ranks compute the same{place}{how}"),
                because: Some(format!("computation{place} makes ranks wait {}", of_ranks(seconds))),
                change: Change::BalanceCompute { region, call_site, over },
                concerns: seconds * part,
            });
        };
        if place.is_empty() {
            balanced(Scope::Totals, "", 1.0);
        } else {
            balanced(Scope::Instances, ", each time", 1.0);
            balanced(Scope::Totals, " in all", 0.5);
        }
    }
    all
}

/// Messages that make ranks wait are sent in the background, are fewer, or are smaller.
fn messages(waits: &WaitFindings, is_large: impl Fn(&f64) -> bool) -> Vec<Trial> {
    let in_patterns = |patterns: &[Pattern]| -> f64 {
        waits.patterns.iter().filter(|time| patterns.contains(&time.pattern)).map(|time| time.seconds.0).sum()
    };
    let because_of = |kinds: &[SegmentKind]| -> f64 {
        waits.causes.iter().filter(|cause| kinds.contains(&cause.kind)).map(|cause| cause.seconds.0).sum()
    };
    let point_to_point = in_patterns(&[
        Pattern::LateSender,
        Pattern::LateReceiver,
        Pattern::LateProgress,
        Pattern::WrongOrder,
        Pattern::Transfer,
    ]);
    let small = because_of(&[SegmentKind::Latency, SegmentKind::Overhead]);
    let large = because_of(&[SegmentKind::Transfer, SegmentKind::Contention]);
    let contention = because_of(&[SegmentKind::Contention]);
    let suggested = [
        (
            point_to_point,
            "messages go while ranks compute",
            format!("ranks wait {} in sends and receives", of_ranks(point_to_point)),
            Change::Nonblocking,
        ),
        (
            small,
            "messages without content are not sent",
            format!("latencies and overheads of messages make ranks wait {}", of_ranks(small)),
            Change::RemoveMessages { max_bytes: Some(Bytes(0)), collective: None },
        ),
        (
            large,
            "messages have half the bytes",
            format!("the bytes of messages make ranks wait {}", of_ranks(large)),
            Change::ScaleMessages { factor: 0.5, collective: None },
        ),
        (
            contention,
            "no message slows down another (other placement, more links)",
            format!("messages that share links make ranks wait {}", of_ranks(contention)),
            Change::IdealNetwork { messages: Network::Uncontended },
        ),
    ];
    let candidate = |(concerns, title, because, change): (f64, &str, String, Change)| Trial {
        title: title.to_owned(),
        because: Some(because),
        change,
        concerns,
    };
    suggested.into_iter().filter(|(seconds, ..)| is_large(seconds)).map(candidate).collect()
}

/// Algorithms that only SimGrid has: nobody can tell a library to use them.
const OF_SIMGRID: [&str; 7] = [
    "spreading_simple",
    "all_to_all",
    "equal_ring",
    "posted_linear",
    "posted_chain",
    "posted_binary_tree",
    "linear_nb",
];

/// A barrier is left out: a program may go on without.
fn left_out(waiting: &CollectiveWaiting) -> Option<Trial> {
    let CollectiveWaiting { collective, late, own } = waiting;
    let (kind, _) = collective_named(collective)?;
    let concerns = late.0 + own.0;
    (kind == CollectiveKind::Barrier).then(|| Trial {
        title: format!("no {collective}, where nothing needs it"),
        because: Some(format!("ranks wait {} at a {collective}", of_ranks(concerns))),
        change: Change::RemoveMessages { max_bytes: None, collective: Some(collective.clone()) },
        concerns,
    })
}

/// A collective by each of its algorithms, and with half the bytes.
fn collective(waiting: &CollectiveWaiting) -> Vec<Trial> {
    let named = collective_named(&waiting.collective);
    let (collective, own) = (&waiting.collective, waiting.own.0);
    let candidate = |title, change, concerns| Trial {
        title,
        because: Some(format!("the messages of {collective} make ranks wait {}", of_ranks(own))),
        change,
        concerns,
    };
    let algorithms = named.map(|(kind, _)| Algorithm::all(kind)).unwrap_or_default();
    let by = |(number, algorithm): (u32, Algorithm)| {
        let change = Change::Collective { collective: collective.clone(), algorithm: algorithm.to_string() };
        candidate(format!("{collective} by {algorithm}"), change, own / f64::from(number))
    };
    let of_libraries = algorithms.into_iter().filter(|algorithm| !OF_SIMGRID.contains(&algorithm.to_string().as_str()));
    let mut all: Vec<Trial> = (1..).zip(of_libraries).map(by).collect();
    if named.is_some_and(|(kind, _)| kind != CollectiveKind::Barrier) {
        let change = Change::ScaleMessages { factor: 0.5, collective: Some(collective.clone()) };
        all.push(candidate(format!("{collective} of half the bytes"), change, own));
    }
    all
}

/// Hypotheses that cannot come true.
fn bounds() -> [Trial; 2] {
    let bound = |title: &str, change| Trial { title: title.to_owned(), because: None, change, concerns: f64::INFINITY };
    [
        bound("the network takes no time", Change::IdealNetwork { messages: Network::Instant }),
        bound("computation takes no time", Change::InfiniteCpu),
    ]
}

/// The region of a place, or the innermost of its call sites where it is in none.
fn innermost(ProgramPlace { region, call_site }: &ProgramPlace) -> (Option<&str>, Option<&str>) {
    match region {
        Some(region) => (Some(region), None),
        None => (None, call_site.as_ref().and_then(|site| site.split(" < ").next())),
    }
}

/// Seconds of all ranks together.
fn of_ranks(seconds: f64) -> String {
    format!("{} (all ranks)", uncertain(Seconds(seconds), None))
}
