//! The change that a replay suggests: found by trying changes in further replays, not by guessing.
//!
//! Each key of the platform by which the machine could be faster is tried with twice the speed or bandwidth, or half the
//! latency; computation that is uneven, balanced. Where replays take long, only the likeliest changes are tried.

use std::path::Path;
use std::time::Duration;

use titr_analyses::AnalysedResult;
use titr_common::format::counted;
use titr_common::units::Seconds;
use titr_hypotheses::{Change, Hypotheses, Scope};
use titr_platform::Property;
use titr_simulation::observe::Shares;
use titr_simulation::parallel::Jobs;
use titr_simulation::result::{Suggestion, TriedChanges};

use super::machine::MachineArgs;
use super::meter::Meter;
use super::program::Program;
use crate::call_sites::CallSiteNames;

/// Replays of changes together take at most this long where the user waits: none is tried where one replay takes longer.
const PATIENCE: Duration = Duration::from_secs(1);

/// The part of the time that a change has to save to be worth mentioning.
const WORTH: f64 = 0.01;

/// A change that comes into question, and an upper bound of what it may save, as a fraction of the time.
struct Candidate {
    change: String,
    /// Of the machine: a key of the platform and its value.
    set: Option<String>,
    /// Of the program: a file of hypotheses.
    what_if: Option<String>,
    at_most: f64,
}

/// Tries changes of the machine and the program, to suggest the one that saves most; `None` if nothing can be saved. Tries all
/// changes, or, if the user is waiting, as many as take little time.
pub(super) fn tried(
    result: &AnalysedResult,
    machine: &MachineArgs,
    program: &Program,
    jobs: Jobs,
    is_all: bool,
) -> Option<TriedChanges> {
    if result.simulated_time.0 <= 0.0 || result.waiting_ranks > 0 {
        return None;
    }
    let candidates = candidates(result, machine);
    let replay = Duration::from_secs_f64(result.replay.wall_seconds.max(1e-6));
    let rounds = (PATIENCE.as_secs_f64() / replay.as_secs_f64()).floor();
    let most = (rounds * jobs.0.get() as f64) as usize;
    let chosen = candidates.get(..most).filter(|_| !is_all).unwrap_or(&candidates);
    let _meter = Meter::saying(format!("trying {}", counted(chosen.len(), "change", "changes")));
    let times = jobs.map(chosen.len(), |number| {
        // A change that does not fit the program or the machine saves nothing.
        let time = chosen.get(number).and_then(|candidate| time_with(candidate, machine, program, !jobs.are_several()));
        Ok::<_, std::convert::Infallible>(time)
    });
    let Ok(times) = times;
    let saves = |time: Seconds| 1.0 - time.0 / result.simulated_time.0;
    let suggestion = |(candidate, time): (&Candidate, Option<Seconds>)| {
        let simulated_time = time?;
        let Candidate { change, set, what_if, .. } = candidate;
        let (change, set, what_if) = (change.clone(), set.clone(), what_if.clone());
        Some(Suggestion { change, set, what_if, simulated_time, saves: saves(simulated_time) })
    };
    let mut saved: Vec<Suggestion> = chosen.iter().zip(times).filter_map(suggestion).collect();
    // Stable: of equal savings, the first is the likelier one.
    saved.sort_by(|one, other| other.saves.total_cmp(&one.saves));
    let best = saved.iter().find(|tried| tried.set.is_some()).filter(|best| best.saves >= WORTH).cloned();
    saved.retain(|suggestion| suggestion.what_if.is_some());
    Some(TriedChanges { changes: chosen.len(), of: candidates.len(), best, program: saved })
}

/// All changes that come into question, the likeliest first.
fn candidates(result: &AnalysedResult, machine: &MachineArgs) -> Vec<Candidate> {
    let ranks = result.per_rank.len().max(1) as f64;
    let whole = result.simulated_time.0 * ranks;
    let part = |of: &dyn Fn(&Shares) -> f64| (result.per_rank.iter().map(of).sum::<f64>() / whole).clamp(0.0, 1.0);
    let computing = part(&|shares| shares.compute.0);
    let most = result.per_rank.iter().map(|shares| shares.compute.0).fold(0.0, f64::max) / result.simulated_time.0;
    let filled = result.links.iter().map(|link| link.utilization).fold(0.0, f64::max).min(1.0);
    let mut candidates: Vec<Candidate> = Vec::new();
    for lever in machine.levers().unwrap_or_default() {
        let (faster, at_most) = match lever.property {
            Property::Speed => ("hosts twice as fast", most.min(1.0) / 2.0),
            Property::Bandwidth => ("twice the bandwidth", (1.0 - computing) * (1.0 + filled) / 2.0),
            Property::Latency => ("half the latency", (1.0 - computing) * (1.0 - filled / 2.0)),
        };
        let of = match lever.key.strip_prefix("topology.").and_then(|key| key.rsplit('.').nth(1)) {
            Some(part) => format!("{faster} of the {part}"),
            None if lever.key.starts_with("network.loopback") => format!("{faster} within hosts"),
            None => faster.to_owned(),
        };
        let set = Some(format!("{}={}", lever.key, lever.value));
        candidates.push(Candidate { change: of, set, what_if: None, at_most });
    }
    candidates.sort_by(|one, other| other.at_most.total_cmp(&one.at_most));
    // The program comes before the machine.
    let messages = part(&|shares| shares.send.0 + shares.recv.0 + shares.wait.0);
    let changes = [
        (
            "even computation",
            Change::BalanceCompute { region: None, call_site: None, over: Scope::Totals },
            most - computing,
        ),
        ("messages while ranks compute", Change::Nonblocking, messages),
        ("half the bytes", Change::ScaleMessages { factor: 0.5, collective: None }, 1.0 - computing),
    ];
    let of_program =
        changes.into_iter().filter(|(.., at_most)| *at_most >= WORTH).filter_map(|(change, kind, at_most)| {
            let what_if = Some(Change::file(&[kind]).ok()?);
            Some(Candidate { change: change.to_owned(), set: None, what_if, at_most })
        });
    of_program.chain(candidates).collect()
}

/// The predicted time with a change; `None` if it does not fit.
fn time_with(candidate: &Candidate, machine: &MachineArgs, program: &Program, read_ahead: bool) -> Option<Seconds> {
    let read = |text: &String| Hypotheses::parse(Path::new("suggestion"), text.clone());
    let hypotheses = candidate.what_if.as_ref().map(read).transpose().ok()?;
    let platform = program.on(machine.load_with(candidate.set.as_slice()).ok()?).ok()?;
    let names = CallSiteNames::default();
    let simulation = program.simulation(&platform, &names, false).read_ahead(read_ahead);
    let simulation = hypotheses.iter().fold(simulation, |simulation, change| simulation.transform(change));
    Some(simulation.run().ok()?.simulated_time)
}
