//! `titr diff`.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use titr_analyses::ProgramPlace;
use titr_common::format::{TimeUnit, uncertain, volume};
use titr_common::output::claim;
use titr_common::terminal::on_one_line;
use titr_common::units::Seconds;

use super::{Failure, print_json};
use crate::diff::{CauseChange, Change, Difference, LinkShare, PlaceChange, ReplayedResult};
use crate::page::{ResultKind, write_result};

/// Compares two results of `titr replay --json`: the time by activity and rank, and the load of links.
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The result before the change.
    before: PathBuf,
    /// The result after the change of the program or the machine.
    after: PathBuf,
    /// Prints one JSON object.
    #[arg(long)]
    json: bool,
    /// Also writes a page for a browser, in one file of HTML: both results on one axis.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

pub(crate) fn diff(args: &DiffArgs, out: &mut impl Write) -> Result<(), Failure> {
    claim(args.report.clone())?;
    let difference = ReplayedResult::read(&args.before)?.to(&ReplayedResult::read(&args.after)?);
    if let Some(path) = &args.report {
        let names = [&args.before, &args.after].map(|file| file.display().to_string());
        write_result(ResultKind::Difference, &names, &difference, path)?;
    }
    Ok(if args.json { print_json(&difference, out) } else { summary(&difference, out) }?)
}

/// Number of ranks that are shown: those with the largest changes.
const RANKS: usize = 8;

/// Number of places and causes of waiting that are shown.
const PARTS: usize = 8;

/// The relative difference up to which changes of ranks are the same.
const SAME: f64 = 1e-3;

/// The width of names.
const NAME: usize = 24;

/// Prints a difference.
fn summary(difference: &Difference, out: &mut impl Write) -> io::Result<()> {
    let time = difference.simulated_time;
    let [before, after] = [time.before, time.after].map(|time| uncertain(Seconds(time), None));
    writeln!(out, "Predicted time  {after}, before {before}: {}", percent(time))?;
    for remark in &difference.remarks {
        writeln!(out, "                {}", on_one_line(remark))?;
    }
    let [before, after] = difference.ranks;
    if before != after {
        writeln!(out, "                {after} ranks, before {before}: by the mean rank")?;
    }
    let unit = TimeUnit::of(Seconds(time.before.max(time.after)));
    let row = |out: &mut dyn Write, name: &str, change: Change| {
        let show = |seconds: f64| unit.show(Seconds(seconds));
        let gain = if change.gain() > 0.0 { format!("+{}", show(change.gain())) } else { show(change.gain()) };
        // For a longer name, the figures are in the next line.
        let name = on_one_line(name);
        let name = if name.chars().count() < NAME { name.into_owned() } else { format!("{name}\n{:NAME$}  ", "") };
        writeln!(
            out,
            "  {name:<NAME$}{:>12}{:>12}{gain:>12}  {:>9}",
            show(change.before),
            show(change.after),
            percent(change)
        )
    };

    writeln!(
        out,
        "\nWhere it goes, mean of all ranks in {}\n  {:<24}{:>12}{:>12}{:>12}",
        unit.name, "", "before", "after", "change"
    )?;
    let mut activities: Vec<_> =
        difference.activities.iter().filter(|(_, change)| change.before > 0.0 || change.after > 0.0).collect();
    activities.sort_by(|(_, one), (_, other)| other.gain().abs().total_cmp(&one.gain().abs()));
    for (name, change) in activities {
        row(out, name, *change)?;
    }

    if difference.efficiencies.values().any(|change| change.gain() != 0.0) {
        writeln!(out, "\nEfficiency, in %")?;
        for (name, change) in &difference.efficiencies {
            let [before, after] = [change.before, change.after].map(|part| 100.0 * part);
            let name = on_one_line(name);
            writeln!(out, "  {name:<NAME$}{before:>12.1}{after:>12.1}{:>+12.1}", after - before)?;
        }
    }

    let finishes = difference.finishes();
    let changed = finishes.iter().filter(|(_, change)| change.gain() != 0.0).count();
    if let Some(change) = same_for_all(&finishes) {
        writeln!(out, "\nRanks finish, in {}", unit.name)?;
        row(out, "each rank", change)?;
    } else if changed > 0 {
        writeln!(out, "\nRanks finish, in {}", unit.name)?;
        for (rank, change) in finishes.iter().take(changed.min(RANKS)) {
            row(out, &format!("rank {rank}"), *change)?;
        }
        if changed > RANKS {
            writeln!(out, "  and {} other ranks, by less", changed - RANKS)?;
        }
    }

    if let Some(waits) = &difference.waits {
        let whose = if before == after { "all ranks together" } else { "mean of all ranks" };
        writeln!(out, "\nWaiting, {whose} in {}", unit.name)?;
        row(out, "all", waits.waiting)?;
        let of_place = |place: &PlaceChange| (at(place.pattern, &place.place), place.change);
        parts(out, waits.places.iter().map(of_place), &row)?;
        writeln!(out, "\nWaiting because of, in {}", unit.name)?;
        let of_cause = |cause: &CauseChange| (at(name_of_cause(cause), &cause.place), cause.change);
        parts(out, waits.causes.iter().map(of_cause), &row)?;
    }

    if !difference.links.is_empty() {
        writeln!(out, "\nBusiest links\n  {:<20}{:>24}{:>24}", "", "before", "after")?;
        for link in &difference.links {
            let name = on_one_line(&link.name);
            writeln!(out, "  {name:<20}{:>24}{:>24}", share(link.before), share(link.after))?;
        }
    }
    Ok(())
}

/// The change of each rank, if all ranks have the same one: the finish of the first rank stands for all.
fn same_for_all(finishes: &[(usize, Change)]) -> Option<Change> {
    let (_, first) = finishes.first().filter(|(_, change)| finishes.len() > 1 && change.gain() != 0.0)?;
    let is_same = |(_, change): &(usize, Change)| (change.gain() / first.gain() - 1.0).abs() <= SAME;
    finishes.iter().all(is_same).then_some(*first)
}

/// The kind of a cause, and whose messages it is due to if not the program's own.
fn name_of_cause(CauseChange { kind, with, .. }: &CauseChange) -> String {
    with.as_ref().map_or_else(|| kind.to_string(), |with| format!("{kind} with {with}"))
}

/// A kind of time at a place.
fn at(kind: impl Display, place: &ProgramPlace) -> String {
    let site = place.call_site.as_ref().map_or(String::new(), |site| format!(" at {site}"));
    let region = place.region.as_ref().map_or(String::new(), |region| format!(" in {region}"));
    format!("{kind}{site}{region}")
}

/// Prints the parts of a time that change most.
fn parts(
    out: &mut dyn Write,
    parts: impl Iterator<Item = (String, Change)>,
    row: &dyn Fn(&mut dyn Write, &str, Change) -> io::Result<()>,
) -> io::Result<()> {
    parts.filter(|(_, change)| change.gain() != 0.0).take(PARTS).try_for_each(|(name, change)| row(out, &name, change))
}

/// The change as a fraction of the previous value.
fn percent(change: Change) -> String {
    if change.before == 0.0 { "new".to_owned() } else { format!("{:+.1} %", 100.0 * change.gain() / change.before) }
}

/// The use of a link and its payload.
fn share(share: Option<LinkShare>) -> String {
    share.map_or("less than others".to_owned(), |share| {
        format!("{:.1} %, {}", 100.0 * share.utilization, volume(share.bytes))
    })
}
