//! `titr`: replays traces of MPI programs, and everything else about them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use serde_json::json;
use titr_common::event::Rank;
use titr_common::format::{count, plural, uncertain, volume};
use titr_common::terminal::{on_one_line, say};
use titr_common::trace::manifest::{Ended, ForeignOrigin, Manifest};
use titr_common::units::Seconds;
use titr_simulation::recording::counted;
use titr_simulation::{Follower, unfinished};

use super::meter::Meter;
use super::{
    Failure, Out, TraceArgs, advise, arguments, calibrate, cat, combine, convert, diff, efficiency, extrapolate,
    gather, generate, manual, place, platform, replay, run, schedule, schema, sweep, symbolize, tolerance, traffic,
    trigger, triggers, vary,
};
use crate::inspect::{Inventory, TraceInfo, Verdict, check, recorded_part, uncounted};

const EXAMPLES: &str = "\
Examples:
  titr replay --platform cluster.toml traces/
  titr info traces/
  titr check traces/
  titr cat traces/ --rank 5 | head
  titr gather node1/ node2/ --output traces.tar
  titr combine run-1/ run-2/ run-3/ --output traces
  titr extrapolate --ranks 1024 run-16/ run-64/ --output traces
  titr convert --to simgrid traces/ -o for-simgrid
  titr diff before.json after.json
  titr efficiency 16.json 32.json 64.json
  titr advise --platform cluster.toml traces/
  titr sweep study.toml --output results
  titr tolerance --platform cluster.toml traces/
  titr place --platform cluster.toml --output rankfile traces/
  titr platform show \"torus:4x4x4 10Gbit/s 1us host:4\" --svg torus.svg
  titr generate all-to-all --ranks 32 --bytes 10kB -o all-to-all
  titr schedule allreduce --library openmpi --algorithm ring --ranks 8 --bytes 64KiB
  titr calibrate measurements.json --output cluster.toml
  titr triggers messages.gz --exact -o triggered.gz

Exit status: 0 done; 1 the trace or a value is at fault; 2 wrong usage.";

/// Replays, inspects, checks, converts and generates traces of MPI programs.
#[derive(Parser)]
#[command(name = "titr", version, propagate_version = true, after_help = EXAMPLES)]
struct TitrArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Replay(Box<replay::ReplayArgs>),
    Vary(Box<vary::VaryArgs>),
    Traffic(traffic::TrafficArgs),
    Trigger(trigger::TriggerArgs),
    /// Prints the contents of a trace, how it was recorded, and what it lacks.
    Info {
        /// Prints one JSON object.
        #[arg(long)]
        json: bool,
        /// Prints only the number of ranks and how the trace was recorded, as one JSON object, and does not read the events.
        #[arg(long, conflicts_with = "json")]
        manifest: bool,
        /// Prints only the messages outside of collectives between each pair of ranks, as a table (CSV).
        #[arg(long, conflicts_with_all = ["json", "manifest"])]
        matrix: bool,
        #[command(flatten)]
        trace: TraceArgs,
    },
    /// Checks that a trace is complete, that its messages, collectives and requests match, and that its ranks count
    /// computation in the same way.
    Check {
        #[command(flatten)]
        trace: TraceArgs,
    },
    Advise(advise::AdviseArgs),
    Calibrate(calibrate::CalibrateArgs),
    Cat(cat::CatArgs),
    Combine(combine::CombineArgs),
    Completions(manual::CompletionsArgs),
    Convert(convert::ConvertArgs),
    Diff(diff::DiffArgs),
    Efficiency(efficiency::EfficiencyArgs),
    Extrapolate(extrapolate::ExtrapolateArgs),
    Gather(gather::GatherArgs),
    Generate(generate::GenerateArgs),
    Man(manual::ManArgs),
    Place(Box<place::PlaceArgs>),
    Platform(platform::PlatformArgs),
    Schedule(schedule::ScheduleArgs),
    Schema(schema::SchemaArgs),
    Sweep(sweep::SweepArgs),
    Symbolize(symbolize::SymbolizeArgs),
    Tolerance(Box<tolerance::ToleranceArgs>),
    Triggers(triggers::TriggersArgs),
}

/// The command.
#[must_use]
pub fn main() -> ExitCode {
    run_command("titr", std::env::args_os().collect()).into()
}

/// Runs the command that these words ask for, and calls itself `name` where something is wrong. Returns the exit status.
pub(super) fn run_command(name: &str, words: Vec<OsString>) -> u8 {
    let args: TitrArgs = arguments(&words);
    run(name, |out| match &args.command {
        Command::Replay(args) => replay::replay(args, out),
        Command::Vary(args) => vary::vary(args, out),
        Command::Traffic(args) => traffic::traffic(args, out),
        Command::Trigger(args) => trigger::trigger(args, out),
        Command::Info { manifest: true, trace, .. } => manifest(trace, out),
        Command::Info { matrix: true, trace, .. } => cat::matrix(trace, out),
        Command::Info { json, trace, .. } => info(trace, *json, out),
        Command::Check { trace } => report_check(trace, out),
        Command::Advise(args) => advise::advise(args, out),
        Command::Calibrate(args) => calibrate::calibrate(args, out),
        Command::Cat(args) => cat::cat(args, out),
        Command::Combine(args) => combine::combine(args),
        Command::Completions(args) => manual::completions(args, TitrArgs::command(), out),
        Command::Convert(args) => convert::convert(args),
        Command::Diff(args) => diff::diff(args, out),
        Command::Efficiency(args) => efficiency::efficiency(args, out),
        Command::Extrapolate(args) => extrapolate::extrapolate(args),
        Command::Gather(args) => gather::gather(args),
        Command::Generate(args) => generate::generate(args, out),
        Command::Man(args) => manual::man(args, TitrArgs::command()),
        Command::Schedule(args) => schedule::schedule(args, out),
        Command::Schema(args) => schema::print_schema(args, out),
        Command::Place(args) => place::place(args, out),
        Command::Platform(args) => platform::platform(args, out),
        Command::Sweep(args) => sweep::sweep(args, out),
        Command::Symbolize(args) => symbolize::symbolize(args),
        Command::Tolerance(args) => tolerance::tolerance(args, out),
        Command::Triggers(args) => triggers::triggers(args, out),
    })
}

/// Prints what is known of a trace before its events are read.
fn manifest(trace: &TraceArgs, out: &mut impl Write) -> Result<(), Failure> {
    let source = trace.open_one()?;
    let known = json!({ "ranks": source.ranks(), "manifest": source.manifest() });
    Ok(writeln!(out, "{known}")?)
}

fn info(trace: &TraceArgs, json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let source = trace.open_one()?;
    let manifest = source.manifest().cloned();
    let inventory = Inventory::of(&source)?;
    let untranslated = source.untranslated();
    if json {
        let info = TraceInfo { inventory: &inventory, manifest: manifest.as_ref(), untranslated: &untranslated };
        serde_json::to_writer(&mut *out, &info).map_err(std::io::Error::from)?;
        writeln!(out)?;
        return Ok(());
    }
    writeln!(out, "{}", trace)?;
    if let Some(manifest) = &manifest {
        origin(manifest, out)?;
    }
    row(out, "ranks", &inventory.ranks.to_string())?;
    endings(&inventory, manifest.as_ref(), out)?;
    if let Some(manifest) = &manifest {
        encounters(manifest, out)?;
    }
    let words = [("compute", computation(&inventory, manifest.as_ref())), ("messages", messages(&inventory))];
    if let Some(part) = recorded_part(&source) {
        row(out, "part", &part)?;
    }
    let uncounted = manifest.as_ref().map(uncounted).unwrap_or_default();
    for (name, what) in words.into_iter().chain(uncounted) {
        row(out, name, &what)?;
    }
    row(out, "events", &count(inventory.events))?;
    let width = inventory.kinds.values().map(|number| count(*number).len()).max().unwrap_or_default();
    let mut kinds: Vec<_> = inventory.kinds.iter().collect();
    kinds.sort_by_key(|(kind, number)| (std::cmp::Reverse(**number), **kind));
    for (kind, number) in kinds {
        writeln!(out, "  {:<14}{kind:<20}{:>width$}", "", count(*number))?;
    }
    if let Some(manifest) = manifest.as_ref().filter(|manifest| manifest.foreign.is_none()) {
        calls(manifest, out)?;
    }
    for what in &untranslated {
        row(out, "not in events", what)?;
    }
    Ok(())
}

fn row(out: &mut impl Write, name: &str, what: &str) -> std::io::Result<()> {
    writeln!(out, "  {name:<14}{}", on_one_line(what))
}

/// The computation of all ranks, in the unit in which it was counted.
fn computation(inventory: &Inventory, manifest: Option<&Manifest>) -> String {
    let entries = manifest.map_or(&[][..], |manifest| manifest.per_rank.as_slice());
    let rate = entries.first().and_then(|entry| entry.counter.rate);
    match rate.filter(|_| entries.iter().all(|entry| entry.counter.rate == rate)) {
        Some(rate) => {
            let seconds = Seconds(inventory.compute.0 / rate);
            format!("{} of {} in all ranks", uncertain(seconds, None), entries.first().map_or("", counted))
        }
        None => format!("{} instructions", count(inventory.compute.0 as u64)),
    }
}

fn messages(inventory: &Inventory) -> String {
    format!("{} outside of collectives, {}", count(inventory.messages), volume(inventory.bytes))
}

/// Counts how often each text is there.
fn tally(all: impl Iterator<Item = String>) -> Vec<(String, u64)> {
    let mut tally = BTreeMap::new();
    for one in all {
        *tally.entry(one).or_default() += 1;
    }
    tally.into_iter().collect()
}

/// Prints the program, its hosts, and how computation was counted.
fn origin(manifest: &Manifest, out: &mut impl Write) -> std::io::Result<()> {
    if let Some(ForeignOrigin { format, creator }) = &manifest.foreign {
        let creator = if creator.is_empty() { String::new() } else { format!(", by {creator}") };
        row(out, "format", &format!("{format}{creator}"))?;
    } else {
        row(out, "program", &manifest.programs())?;
        row(out, "MPI", manifest.mpi.lines().next().unwrap_or_default())?;
    }
    let named = manifest.per_rank.iter().filter(|rank| manifest.foreign.is_none() || !rank.host.is_empty());
    let hosts = named.map(|rank| {
        if rank.cpu.is_empty() && manifest.foreign.is_some() {
            rank.host.clone()
        } else {
            format!("{} ({})", rank.host, rank.cpu)
        }
    });
    for (host, ranks) in tally(hosts) {
        row(out, "host", &format!("{host}: {ranks} {}", plural(ranks, "rank", "ranks")))?;
    }
    let counters = manifest.per_rank.iter().map(|rank| {
        let counter = &rank.counter;
        let rate = counter.rate.map_or(String::new(), |rate| format!(" at {rate:e} a second"));
        let (kind, unit) = (&counter.kind, &counter.unit);
        format!("{kind}: {unit}{rate}, resolution {}", counter.resolution)
    });
    for (counter, ranks) in tally(counters) {
        row(out, "counter", &format!("{counter}: {ranks} {}", plural(ranks, "rank", "ranks")))?;
    }
    if let Some(combined) = &manifest.combined {
        row(out, "combined", &combined.to_string())?;
    }
    Ok(())
}

/// Prints which processes of other worlds the ranks have met.
fn encounters(manifest: &Manifest, out: &mut impl Write) -> std::io::Result<()> {
    for entry in &manifest.per_rank {
        for met in entry.encounters.iter().filter(|met| met.root == entry.rank) {
            let processes = met.remote.len();
            let noun = plural(processes, "process", "processes");
            row(out, "other worlds", &format!("rank {} has {} {} {noun}", entry.rank, met.side, count(processes)))?;
        }
    }
    Ok(())
}

/// Prints the ends of the ranks, with the numbers of those that did not end well.
fn endings(inventory: &Inventory, manifest: Option<&Manifest>, out: &mut impl Write) -> std::io::Result<()> {
    let mut by_ending: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (rank, end) in (0..).zip(&inventory.per_rank) {
        let said = manifest.and_then(|manifest| manifest.of_rank(Rank(rank)));
        let how = match (said.map(|entry| entry.ended), &end.torn) {
            (Some(Ended::Running), None) => "not yet".to_owned(),
            (Some(ended), None) => ended.to_string(),
            (None, Some(_)) if manifest.is_some() => "not traced".to_owned(),
            (None, None) if end.finalized => Ended::Finalize.to_string(),
            (None, None) => Ended::Exit.to_string(),
            (ended, Some(_)) if said.is_none_or(|entry| entry.error.is_none()) => {
                match ended.unwrap_or(Ended::Running) {
                    Ended::Running => format!("torn: {}", Ended::Running),
                    ended => format!("torn: damaged since it ended {ended}"),
                }
            }
            (_, Some(_)) => "torn: events could not be written".to_owned(),
        };
        by_ending.entry(how).or_default().push(rank);
    }
    for (how, ranks) in by_ending {
        let who = if ranks.len() == inventory.per_rank.len() {
            "all ranks".to_owned()
        } else {
            let shown: Vec<String> = ranks.iter().take(8).map(u32::to_string).collect();
            let more = if ranks.len() > shown.len() { ", …" } else { "" };
            format!("{} of {} ranks: {}{more}", ranks.len(), inventory.ranks, shown.join(", "))
        };
        row(out, "ended", &format!("{how} ({who})"))?;
    }
    let mut torn = inventory.per_rank.iter().filter_map(|end| end.torn.as_ref());
    let Some(first) = torn.next() else { return Ok(()) };
    let more = torn.count() as u64;
    let others = plural(more, "other rank is", "other ranks are");
    row(out, "torn", &if more > 0 { format!("{first}; {} {others} torn, too", count(more)) } else { first.clone() })
}

/// MPI calls that the trace has no events for.
fn calls(manifest: &Manifest, out: &mut impl Write) -> std::io::Result<()> {
    let sum = |of: &dyn Fn(&titr_common::trace::manifest::RankEntry) -> &BTreeMap<String, u64>| {
        let mut sum = BTreeMap::new();
        for (name, calls) in manifest.per_rank.iter().flat_map(of) {
            *sum.entry(name.clone()).or_insert(0) += calls;
        }
        sum
    };
    let untraced = sum(&|rank| &rank.untraced);
    if untraced.is_empty() {
        row(out, "not traced", "nothing that communicates")?;
    }
    for (name, calls) in untraced {
        row(out, "not traced", &format!("{name:<28}{}", count(calls)))?;
    }
    for (name, calls) in sum(&|rank| &rank.opaque) {
        row(out, "opaque", &format!("{name:<28}{}", count(calls)))?;
    }
    for (name, calls) in sum(&|rank| &rank.null_peer) {
        row(out, "to nobody", &format!("{name:<28}{}", count(calls)))?;
    }
    let local: u64 = sum(&|rank| &rank.local).values().sum();
    row(out, "local", &format!("{} {} that move no data", count(local), plural(local, "call", "calls")))
}

fn report_check(trace: &TraceArgs, out: &mut Out) -> Result<(), Failure> {
    let source = trace.open()?;
    let mut meter = Meter::new(&source);
    let verdict = check(&source, meter.as_mut().map(|meter| meter as &mut dyn Follower))?;
    let Verdict { findings, warnings, relies_on_buffers } = verdict;
    drop(meter);
    let early = match source.manifest().and_then(unfinished) {
        Some(_) => ", of a run that ended without MPI_Finalize",
        None => "",
    };
    for warning in warnings {
        say(format_args!("{warning}"));
    }
    if let Some(deadlock) = relies_on_buffers {
        say(format_args!(
            "the program relies on buffered sends, which MPI does not promise: with none, and in a replay with a small \
             mpi.eager_threshold, it ends in a deadlock: {deadlock}"
        ));
        writeln!(out, "{trace}: sound where sends are buffered{early}")?;
        return Ok(());
    }
    if findings.is_empty() {
        writeln!(out, "{trace}: sound{early}")?;
        return Ok(());
    }
    for finding in findings {
        say(format_args!("{finding}"));
    }
    Err(Failure::Findings)
}
