//! `titr info`.

use std::collections::BTreeMap;
use std::io::Write;

use clap::Args;
use serde_json::json;
use titr_common::event::Rank;
use titr_common::format::{count, plural, uncertain, volume};
use titr_common::terminal::on_one_line;
use titr_common::trace::manifest::{Ended, ForeignOrigin, PartCalls, RankTimes};
use titr_common::trace::process_time::ProcessTime;
use titr_common::trace::{Manifest, Trace};
use titr_common::units::Seconds;
use titr_simulation::recording::counted;

use super::{Failure, TraceArgs, cat, print_json};
use crate::inspect::{Inventory, TraceInfo};

/// Prints the contents of a trace, how it was recorded, and what it lacks.
#[derive(Args)]
pub(super) struct InfoArgs {
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
}

pub(super) fn info(args: &InfoArgs, out: &mut impl Write) -> Result<(), Failure> {
    let InfoArgs { json, trace, .. } = args;
    if args.matrix {
        return cat::matrix(trace, out);
    }
    let source = trace.open_one()?;
    if args.manifest {
        let known = json!({ "ranks": source.ranks(), "manifest": source.manifest() });
        return Ok(writeln!(out, "{known}")?);
    }
    let manifest = source.manifest().cloned();
    let inventory = Inventory::of(&source)?;
    let untranslated = source.untranslated();
    if *json {
        let info = TraceInfo { inventory: &inventory, manifest: manifest.as_ref(), untranslated: &untranslated };
        return Ok(print_json(&info, out)?);
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
    let messages = format!("{} outside of collectives, {}", count(inventory.messages), volume(inventory.bytes));
    let words = [("compute", computation(&inventory, manifest.as_ref())), ("messages", messages)];
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
    let slept = format!("{} of fixed times in all ranks", uncertain(inventory.slept, None));
    match (inventory.slept.0 > 0.0, inventory.compute.0 > 0.0) {
        (true, true) => format!("{}, and {slept}", volume_of_computation(inventory, manifest)),
        (true, false) => slept,
        (false, _) => volume_of_computation(inventory, manifest),
    }
}

fn volume_of_computation(inventory: &Inventory, manifest: Option<&Manifest>) -> String {
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
            let processes = met.remote.count();
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
    let (opaque, null_peer) = (sum(&|rank| &rank.opaque), sum(&|rank| &rank.null_peer));
    for (what, all) in [("not traced", untraced), ("opaque", opaque), ("to nobody", null_peer)] {
        for (name, calls) in all {
            row(out, what, &format!("{name:<28}{}", count(calls)))?;
        }
    }
    let local: u64 = sum(&|rank| &rank.local).values().sum();
    row(out, "local", &format!("{} {} that move no data", count(local), plural(local, "call", "calls")))
}

/// The text of the line that `titr info` has on the part; `None` if the trace is of the whole program.
fn recorded_part(trace: &Trace) -> Option<String> {
    let (part, manifest) = (trace.recorded_part()?, trace.manifest()?);
    let mut all = PartCalls::default();
    let mut ranks = 0;
    for calls in manifest.per_rank.iter().filter_map(|entry| entry.part) {
        ranks += u64::from(calls.times > 0);
        all.before += calls.before;
        all.inside += calls.inside;
        all.after += calls.after;
    }
    let PartCalls { before, inside, after, .. } = all;
    Some(format!(
        "{part}, of {} {}: {} {} in it, {} before it, {} after it",
        count(ranks),
        plural(ranks, "rank", "ranks"),
        count(inside),
        plural(inside, "call", "calls"),
        count(before),
        count(after)
    ))
}

/// The least CPU time before `MPI_Init` that is worth a line, in seconds: to start a program takes some.
const START: f64 = 0.1;

/// A time of a process, in seconds.
type TimeOf<'a> = &'a dyn Fn(&ProcessTime) -> f64;

/// The name and the text of each line that `titr info` has on it; none of times that would change no prediction.
fn uncounted(manifest: &Manifest) -> Vec<(&'static str, String)> {
    let advice = "; TITRACE_THREADS=sum adds it to the computation";
    // An emulator takes seconds to start itself, which no clock tells from the program's.
    let is_emulated = manifest.per_rank.iter().any(|entry| entry.counter.kind == "emulated");
    let started = |time: &ProcessTime| if is_emulated || time.cpu_before < START { 0.0 } else { time.cpu_before };
    let kinds: [(_, TimeOf<'_>, _); 6] = [
        (
            "not counted",
            &ProcessTime::uncounted_threads,
            format!("of CPU time of threads that do not call MPI{advice}"),
        ),
        ("not counted", &|time| time.children, "of CPU time of child processes".to_owned()),
        ("not counted", &|time| time.passed_over, "of CPU time in calls of MPI that are no events".to_owned()),
        ("not counted", &started, "of CPU time before MPI_Init".to_owned()),
        ("counted too", &|time| time.added, "of CPU time of threads that do not call MPI".to_owned()),
        (
            "waited",
            &|time| time.idle().unwrap_or_default(),
            "outside of MPI at the least, for a device such as a GPU, a file or another thread".to_owned(),
        ),
    ];
    let line = |(name, time, what): (&'static str, TimeOf<'_>, String)| {
        let RankTimes { seconds, ranks, .. } = RankTimes::that_matter(manifest, time)?;
        Some((name, format!("{seconds:.3} s in {} {}, {what}", count(ranks), plural(ranks, "rank", "ranks"))))
    };
    kinds.into_iter().filter_map(line).collect()
}
