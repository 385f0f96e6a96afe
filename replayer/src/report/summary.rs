//! The summary for people.

use std::io::{self, Write};

use titr_common::units::Seconds;

use super::{LinkUse, Report};
use crate::observe::Shares;
use crate::words::{TimeUnit, count, plural, volume};

/// Prints it.
///
/// # Errors
/// Where `out` cannot be written.
pub fn summary(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let Report { simulated_time, ranks, events, messages, bytes, network, .. } = report;
    let hosts = u64::from(network.hosts);
    writeln!(out, "Predicted time  {:.9} s", simulated_time.0)?;
    writeln!(
        out,
        "                {ranks} {} on a {}, {} {}, {} model",
        plural(*ranks as u64, "rank", "ranks"),
        network.topology,
        count(hosts),
        plural(hosts, "host", "hosts"),
        network.model
    )?;
    writeln!(
        out,
        "                {} {}, {} {}, {}",
        count(*events),
        plural(*events, "event", "events"),
        count(*messages),
        plural(*messages, "message", "messages"),
        volume(*bytes)
    )?;
    if report.simulated_time.0 > 0.0 {
        time(report, out)?;
    }
    links(&report.links, out)?;
    if !report.warnings.is_empty() {
        writeln!(out, "\nNot as in the program")?;
        for warning in &report.warnings {
            writeln!(out, "  {warning}")?;
        }
    }
    let speed = report.replay;
    let events_per_second = count(speed.events_per_second as u64);
    writeln!(out, "\nReplayed in {:.3} s, {events_per_second} events a second", speed.wall_seconds)
}

/// What is told of each rank.
type Part<'a> = &'a dyn Fn(&Shares) -> Seconds;

/// Where the time goes: the mean over the ranks, and who spends most.
fn time(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let ranks = &report.per_rank;
    let unit = TimeUnit::of(report.simulated_time);
    // A rank that is done earlier waits for the last one.
    let idle = |share: &Shares| Seconds(report.simulated_time.0 - share.finish.0);
    let parts: [(&str, Part); 6] = [
        ("compute", &|share| share.compute),
        ("send", &|share| share.send),
        ("receive", &|share| share.recv),
        ("wait", &|share| share.wait),
        ("collective", &|share| share.collective),
        ("done early", &idle),
    ];
    // Several threads of a rank spend more than the time there is.
    let whole: f64 = parts.iter().map(|(_, part)| mean(ranks, part).0).sum();
    writeln!(out, "\nWhere it goes   {:>9}  {:>7}  {:>12}  by rank", format!("mean, {}", unit.name), "share", "most")?;
    for (name, part) in parts {
        let mean = mean(ranks, part);
        let Some((rank, most)) = most(ranks, part).filter(|(_, most)| most.0 > 0.0) else { continue };
        let share = 100.0 * mean.0 / whole;
        writeln!(out, "  {name:<12}  {:>9}  {share:>5.1} %  {:>12}  {rank}", unit.show(mean), unit.show(most))?;
    }
    let compute = mean(ranks, &|share| share.compute);
    if let (Some((slowest, last)), Some((fastest, first))) =
        (most(ranks, &|share| share.finish), most(ranks, &|share| Seconds(-share.finish.0)))
        && ranks.len() > 1
    {
        let (first, last) = (unit.show(Seconds(-first.0)), unit.show(last));
        writeln!(
            out,
            "  first done: rank {fastest} after {first} {0}; last: rank {slowest} after {last} {0}",
            unit.name
        )?;
        if compute.0 > 0.0 {
            let heaviest = most(ranks, &|share| share.compute).map_or(0.0, |(_, most)| most.0);
            let over = 100.0 * (heaviest / compute.0 - 1.0);
            writeln!(out, "  load imbalance: {over:.1} % (the most computing rank over the mean)")?;
        }
    }
    Ok(())
}

fn mean(ranks: &[Shares], part: Part) -> Seconds {
    Seconds(ranks.iter().map(|share| part(share).0).sum::<f64>() / ranks.len().max(1) as f64)
}

/// The first rank that has most of `part`.
fn most(ranks: &[Shares], part: Part) -> Option<(usize, Seconds)> {
    let parts = ranks.iter().map(part).enumerate();
    parts.reduce(|most, next| if next.1.0 > most.1.0 { next } else { most })
}

fn links(links: &[LinkUse], out: &mut impl Write) -> io::Result<()> {
    if links.is_empty() {
        return Ok(());
    }
    let width = links.iter().map(|link| link.name.chars().count()).max().unwrap_or_default().max(13);
    let column = width + 2;
    writeln!(out, "\n{:<column$}  {:>7}  {:>9}  messages", "Busiest links", "use", "payload")?;
    for LinkUse { name, bytes, messages, utilization } in links {
        let (use_, payload, messages) = (100.0 * utilization, volume(*bytes), count(*messages));
        writeln!(out, "  {name:<width$}  {use_:>5.1} %  {payload:>9}  {messages:>8}")?;
    }
    Ok(())
}
