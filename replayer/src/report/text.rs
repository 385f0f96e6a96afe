//! The text summary for the user.

use std::collections::BTreeMap;
use std::io::{self, Write};

use titr_analyses::interval::IntervalTime;
use titr_analyses::{AnalysedResult, CriticalPath, Findings, ProgramPlace, SegmentKind, WaitFindings};
use titr_common::format::{TimeUnit, count, counted, plural, significant, uncertain, volume};
use titr_common::terminal::{BOLD, CYAN, Escaped, GREEN, RED, YELLOW, message, on_one_line};
use titr_common::units::Seconds;
use titr_network::statistics::Percentiles;
use titr_network::traffic::Burst;
use titr_simulation::observe::Shares;
use titr_simulation::recording::Recording;
use titr_simulation::result::{ChannelUse, Extrapolated, LinkUse, Packets, Runs, Suggestion, TriedChanges, WorldRanks};
use titr_simulation::spread::{ActivitySpread, PredictedSpread, Quantiles, RunGroup};
use titr_simulation::traffic::{MeasuredPoint, TrafficResult};
use titr_simulation::{JobResult, SharedLink};

use super::main_cause;

/// Prints the beginning of the summary of a simulation: what was traced, the answer, and its main cause.
pub(crate) fn answer(report: &AnalysedResult, out: &mut Escaped<impl Write>) -> io::Result<()> {
    let AnalysedResult { simulated_time, uncertainty, ranks, hosts_used: used, network, .. } = report;
    let hosts = u64::from(network.hosts);
    writeln!(out, "Program         {}", on_one_line(&program(report)))?;
    let part = if *used as u64 == hosts { String::new() } else { format!("{} of ", count(*used as u64)) };
    let noun = plural(hosts, "host", "hosts");
    let topology = on_one_line(&network.topology);
    writeln!(out, "Machine         {topology}; {part}{} {noun}; {} model", count(hosts), network.model)?;
    if let Some(ended) = report.recording.as_ref().and_then(|recording| recording.ended.as_ref()) {
        out.styled(RED, "Not finished")?;
        writeln!(out, "    {ended}; the replay ends where the trace does")?;
    }
    if report.waiting_ranks == 0 {
        write!(out, "Predicted time  ")?;
        out.styled(BOLD, &uncertain(*simulated_time, *uncertainty))?;
        writeln!(out)?;
    } else {
        let (waiting, verb) = (count(report.waiting_ranks), plural(report.waiting_ranks, "waits", "wait"));
        out.styled(RED, "No prediction")?;
        writeln!(out, "   {waiting} of {ranks} ranks {verb} for ever, for events that are not in the trace")?;
        writeln!(out, "Simulated until {}", uncertain(*simulated_time, None))?;
    }
    if let Some(runs) = &report.runs {
        writeln!(out, "                {}", of_runs(runs))?;
    }
    if report.recording.is_some() && report.messages > 0 {
        writeln!(out, "                communication by a data sheet is typically 33 % wrong (TRUTH.md)")?;
    }
    if let Some(IntervalTime { interval, time, .. }) =
        report.analyses.as_ref().and_then(|found| found.interval.as_ref())
    {
        let part = if simulated_time.0 > 0.0 { 100.0 * time.0 / simulated_time.0 } else { 0.0 };
        writeln!(out, "                {} of it in {interval} ({part:.1} %)", uncertain(*time, *uncertainty))?;
    }
    if let Some(left_out) = &report.left_out {
        settled(left_out, out)?;
    }
    if let Some(cause) = main_cause(report).filter(|_| report.jobs.is_empty()) {
        writeln!(out, "Mostly          {cause}")?;
    }
    out.flush()
}

/// Prints the rest of the summary: what would help, and the details.
pub(crate) fn details(report: &AnalysedResult, out: &mut Escaped<impl Write>) -> io::Result<()> {
    let AnalysedResult { ranks, hosts_used: used, events, messages, bytes, network, .. } = report;
    let hosts = u64::from(network.hosts);
    if let Some(spread) = &report.spread {
        spread_time(spread, out)?;
    }
    if let Some(tried) = &report.tried {
        for (number, line) in suggested(tried, report.simulated_time).iter().enumerate() {
            write!(out, "{:<16}", if number == 0 { "To try" } else { "" })?;
            out.styled(GREEN, line)?;
            writeln!(out)?;
        }
    }
    for WorldRanks { trace, first, ranks } in &report.worlds {
        let (noun, last) = (plural(u64::from(*ranks), "rank", "ranks"), first + ranks - 1);
        let which = if *ranks > 1 { format!("{first}–{last}") } else { first.to_string() };
        writeln!(out, "                {noun} {which}: the world of {}", on_one_line(trace))?;
    }
    if report.spawned_in_no_time > 0 {
        let spawned = report.spawned_in_no_time;
        let processes = plural(spawned, "process", "processes");
        writeln!(
            out,
            "                {spawned} {processes} spawned in no time: mpi.spawn of the platform says how long it takes"
        )?;
    }
    if *used == 1 && *ranks > 1 && hosts > 1 {
        writeln!(out, "                all on one host: hosts.cores or placement.policy of the platform spreads them")?;
    }
    writeln!(
        out,
        "                {} {}, {} {}, {}",
        count(*events),
        plural(*events, "event", "events"),
        count(*messages),
        plural(*messages, "message", "messages"),
        volume(*bytes)
    )?;
    job_table(&report.jobs, out)?;
    if report.simulated_time.0 > 0.0 {
        // The shares of ranks of different programs have no mean.
        if report.jobs.is_empty() {
            time(report, out)?;
            if let Some(spread) = &report.spread {
                activity_spreads(spread, out)?;
            }
        }
        explained(report, out)?;
    }
    if let Some(found) = &report.packets {
        packets(found, out)?;
    }
    links(&report.links, report.packets.as_ref(), out)?;
    if let Some(channels) = report.packets.as_ref().and_then(|packets| packets.channels.as_ref()) {
        channel_table(channels, out)?;
    }
    if !report.warnings.is_empty() {
        out.styled(YELLOW, "\nAssumptions and limits")?;
        writeln!(out)?;
        for warning in &report.warnings {
            writeln!(out, "  {}", message(warning))?;
        }
    }
    let speed = report.replay;
    let events_per_second = count(speed.events_per_second as u64);
    writeln!(out, "\nReplayed in {:.3} s, {events_per_second} events a second", speed.wall_seconds)
}

/// The recorded program.
fn program(report: &AnalysedResult) -> String {
    let ranks = counted(report.ranks, "rank", "ranks");
    let Some(Recording { program, mpi, tool, date, ended: _, counted }) = &report.recording else { return ranks };
    let known = [Some(program), Some(&ranks), Some(mpi), tool.as_ref(), date.as_ref()];
    let known = known.into_iter().flatten().filter(|text| !text.is_empty());
    format!("{}, counted in {counted}", known.map(String::as_str).collect::<Vec<_>>().join(", "))
}

/// The times of several runs.
pub(crate) fn of_runs(runs: &Runs) -> String {
    let number = runs.times.len();
    if !runs.differ() {
        return format!("the same in {number} runs");
    }
    let [from, to] = runs.interval;
    let half_width = (to.0 - from.0) / 2.0;
    let part = if runs.mean.0 > 0.0 { half_width / runs.mean.0 } else { 0.0 };
    format!("{} in the mean of {number} runs, with 99 % confidence", uncertain(runs.mean, Some(part)))
}

/// The changes of the program that were tried and, after them, the one of the machine that saves most: a line for each.
fn suggested(tried: &TriedChanges, whole: Seconds) -> Vec<String> {
    let TriedChanges { changes, of, best, program } = tried;
    let saved = |Suggestion { saves, .. }: &Suggestion| match *saves {
        saves if saves >= 0.001 => {
            format!("−{} ({} %)", uncertain(Seconds(saves * whole.0), None), significant(100.0 * saves, 2))
        }
        _ => "nothing".to_owned(),
    };
    let of_program = |suggestion: &Suggestion| format!("{}: {}", suggestion.change, saved(suggestion));
    let mut lines: Vec<String> = program.iter().take(OF_PROGRAM).map(of_program).collect();
    lines.extend(
        best.iter()
            .filter_map(|best| Some(format!("{}: {} (--set '{}')", best.change, saved(best), best.set.as_ref()?))),
    );
    match lines.is_empty() {
        false => lines,
        true if *changes == 0 => vec![format!(
            "titr advise: each trial of a change takes about as long as this replay, and {} are possible",
            count(*of as u64)
        )],
        true => vec![format!("nothing: no change of the {changes} that were tried saves 1 %")],
    }
}

/// The changes of the program that are shown.
const OF_PROGRAM: usize = 3;

/// The iterations that were not simulated.
fn settled(left_out: &Extrapolated, out: &mut impl Write) -> io::Result<()> {
    let Extrapolated { iterations, simulated_iterations, simulated_events, simulated_time, period, error_bound } =
        left_out;
    let unit = TimeUnit::of(*period);
    writeln!(
        out,
        "                ± {:.2} %: {} of {} iterations ({} events, {}) were simulated; each other one takes {} {}",
        100.0 * error_bound,
        count(*simulated_iterations),
        count(*iterations),
        count(*simulated_events),
        uncertain(*simulated_time, None),
        unit.show(*period),
        unit.name
    )
}

/// A part of a rank's time.
type Part<'a> = &'a dyn Fn(&Shares) -> Seconds;

/// The shares of the time: the mean over the ranks, and the rank with the largest share.
fn time(report: &AnalysedResult, out: &mut Escaped<impl Write>) -> io::Result<()> {
    let ranks: Vec<Shares> = report.per_rank.iter().map(Shares::per_thread).collect();
    let unit = TimeUnit::of(report.simulated_time);
    let rows = Shares::default().rows(report.simulated_time).into_iter().enumerate();
    let part = |row: usize| move |share: &Shares| share.rows(report.simulated_time)[row].1;
    let whole: f64 = (0..Shares::ROWS).map(|row| mean(&ranks, &part(row)).0).sum();
    out.styled(CYAN, "\nWhere it goes")?;
    writeln!(out, "   {:>9}  {:>7}  {:>12}  by rank", format!("mean, {}", unit.name), "share", "most")?;
    for (row, (name, _)) in rows {
        let mean = mean(&ranks, &part(row));
        let Some((rank, most)) = most(&ranks, &part(row)).filter(|(_, most)| most.0 > 0.0) else { continue };
        let share = 100.0 * mean.0 / whole;
        writeln!(out, "  {name:<12}  {:>9}  {share:>5.1} %  {:>12}  {rank}", unit.show(mean), unit.show(most))?;
    }
    if ranks != report.per_rank {
        writeln!(out, "  of ranks with several threads: in the mean over the threads that run")?;
    }
    let compute = mean(&ranks, &|share| share.compute);
    if let (Some((slowest, last)), Some((fastest, first))) =
        (most(&ranks, &|share| share.finish), most(&ranks, &|share| Seconds(-share.finish.0)))
        && ranks.len() > 1
    {
        let (first, last) = (unit.show(Seconds(-first.0)), unit.show(last));
        writeln!(
            out,
            "  first done: rank {fastest} after {first} {0}; last: rank {slowest} after {last} {0}",
            unit.name
        )?;
        if compute.0 > 0.0 {
            let heaviest = most(&ranks, &|share| share.compute).map_or(0.0, |(_, most)| most.0);
            let over = (100.0 * (heaviest / compute.0 - 1.0)).max(0.0);
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

/// Prints the figures of the routers.
pub(crate) fn packets(packets: &Packets, out: &mut Escaped<impl Write>) -> io::Result<()> {
    let Packets { cycles, figures, .. } = packets;
    out.styled(CYAN, "\nRouters")?;
    writeln!(out, "         {} cycles, {:.4} phits a cycle and host", count(*cycles), figures.accepted)?;
    let mut latency = |name: &str, mean: f64, ci99: Option<f64>, of: &Percentiles<u64>| {
        let sure = ci99.map_or(String::new(), |half_width| format!(" ± {half_width:.1}"));
        let Percentiles { p50, p95, p99, max } = of;
        writeln!(out, "  {name:<14}{mean:.1}{sure} cycles; half within {p50}, 95 % {p95}, 99 % {p99}, all {max}")
    };
    let all = &figures.message_latency_percentiles;
    latency("message takes", figures.message_latency, figures.message_latency_ci99, all)?;
    let all = &figures.packet_latency_percentiles;
    latency("packet takes", figures.packet_latency, figures.packet_latency_ci99, all)?;
    let hops: Vec<_> = figures.hop_histogram.iter().map(|packets| count(*packets)).collect();
    writeln!(out, "  channels      {:.2} a packet; packets with 0, 1, …: {}", figures.hops, hops.join(", "))?;
    let (mean, most) = (100.0 * figures.link_use, 100.0 * figures.link_use_max);
    writeln!(out, "  links in use  {mean:.1} %, at most {most:.1} %; {:.2} packets a queue", figures.queue_occupancy)
}

/// Prints the busiest links, if the network has been used.
pub(crate) fn links(links: &[LinkUse], packets: Option<&Packets>, out: &mut Escaped<impl Write>) -> io::Result<()> {
    if links.iter().all(|link| link.is_loopback) {
        return Ok(());
    }
    let width = links.iter().map(|link| on_one_line(&link.name).chars().count()).max().unwrap_or_default().max(13);
    let column = width + 2;
    out.styled(CYAN, &format!("\n{:<column$}", "Busiest links"))?;
    let what = if packets.is_some() { "packets" } else { "messages" };
    writeln!(out, "  {:>7}  {:>9}  {what:>8}", "use", "payload")?;
    for LinkUse { name, bytes, messages, utilization, is_loopback: _ } in links {
        let name = on_one_line(name);
        let (use_, payload, messages) = (100.0 * utilization, volume(*bytes), count(*messages));
        writeln!(out, "  {name:<width$}  {use_:>5.1} %  {payload:>9}  {messages:>8}")?;
    }
    Ok(())
}

/// Prints a row for each virtual channel.
pub(crate) fn channel_table(channels: &[ChannelUse], out: &mut impl Write) -> io::Result<()> {
    let width =
        channels.iter().map(|channel| on_one_line(&channel.link).chars().count()).max().unwrap_or_default().max(4);
    writeln!(out, "\n  {:<width$}  channel    packets    use  queue", "Link")?;
    for ChannelUse { link, channel, packets, utilization, occupancy } in channels {
        let link = on_one_line(link);
        writeln!(out, "  {link:<width$}  {channel:>7}  {packets:>9}  {utilization:>5.3}  {occupancy:>5.2}")?;
    }
    Ok(())
}

/// The columns of a curve.
const HEADING: &str = "
 offered  injected  accepted          message latency   network   p95   p99      max   hops  use  most
               phits a cycle and host                                  cycles                   links";

/// Prints the subject of the measurement, and the columns of the curve.
pub(crate) fn curve_heading(what: &str, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", on_one_line(what))?;
    writeln!(out, "{HEADING}")
}

/// Prints a point of a curve, and its virtual channels if requested.
pub(crate) fn curve_point(measured: &MeasuredPoint, out: &mut impl Write) -> io::Result<()> {
    curve_row(measured, out)?;
    if let Some(channels) = &measured.channels {
        channel_table(channels, out)?;
    }
    out.flush()
}

/// Prints the closing remarks of a curve.
pub(crate) fn curve_end(result: &TrafficResult, out: &mut impl Write) -> io::Result<()> {
    for warning in &result.warnings {
        writeln!(out, "warning: {}", message(warning))?;
    }
    let rate = result.phit_hops_per_second / 1e6;
    writeln!(out, "{rate:.1} million phit-hops a second of a processor's time")
}

fn curve_row(measured: &MeasuredPoint, out: &mut impl Write) -> io::Result<()> {
    let MeasuredPoint { point, saturated, .. } = measured;
    let sure = |half_width: Option<f64>| half_width.map_or(String::new(), |half_width| format!("± {half_width:.2}"));
    let figures = &point.figures;
    let percentiles = figures.message_latency_percentiles;
    writeln!(
        out,
        "{:8.3}  {:8.4}  {:8.4} {:<9}{:9.2} {:<9} {:8.2} {:5} {:5} {:8}  {:5.2}  {:.2}  {:.2}{}",
        point.offered,
        figures.injected,
        figures.accepted,
        figures.accepted_ci99.map_or(String::new(), |half_width| format!("± {half_width:.4}")),
        figures.message_latency,
        sure(figures.message_latency_ci99),
        figures.network_latency,
        percentiles.p95,
        percentiles.p99,
        percentiles.max,
        figures.hops,
        figures.link_use,
        figures.link_use_max,
        match (*saturated, point.figures.messages) {
            (_, 0) => "  no message arrived",
            (true, _) => "  saturated",
            (false, _) if measured.is_perhaps_saturated() => "  perhaps saturated: more --runs tell",
            (false, _) => "",
        },
    )?;
    let Some(Burst { messages, cycles, cycles_ci99 }) = point.burst else { return Ok(()) };
    let sure = cycles_ci99.map_or(String::new(), |half_width| format!(" ± {half_width:.1}"));
    writeln!(out, "a burst of {messages} messages a host takes {cycles:.1}{sure} cycles")
}

/// Prints a row for each job; nothing if all ranks were of one program.
fn job_table(jobs: &[JobResult], out: &mut Escaped<impl Write>) -> io::Result<()> {
    let Some(longest) = jobs.iter().map(|job| job.simulated_time.0.max(job.alone.0)).reduce(f64::max) else {
        return Ok(());
    };
    let unit = TimeUnit::of(Seconds(longest));
    let width = jobs.iter().map(|job| on_one_line(&job.name).chars().count()).max().unwrap_or_default().max(12);
    let column = width + 2;
    let (start, time, alone) = (format!("start, {}", unit.name), format!("time, {}", unit.name), "alone");
    out.styled(CYAN, &format!("\n{:<column$}", "Jobs"))?;
    writeln!(out, "  {start:>12}  {time:>12}  {alone:>12}  slowdown  efficiency  ranks")?;
    for JobResult { name, first, ranks, start, simulated_time, alone, slowdown, efficiencies, .. } in jobs {
        let name = on_one_line(name);
        let start = start.map_or("never".to_owned(), |start| unit.show(start));
        let (time, alone) = (unit.show(*simulated_time), unit.show(*alone));
        let slowdown = slowdown.map_or(String::new(), |slowdown| format!("{slowdown:.3}"));
        let efficiency = efficiencies.map_or(String::new(), |found| format!("{:.1} %", 100.0 * found.parallel));
        let which = match ranks {
            1 => first.to_string(),
            ranks => format!("{first}–{}", first + ranks - 1),
        };
        writeln!(
            out,
            "  {name:<width$}  {start:>12}  {time:>12}  {alone:>12}  {slowdown:>8}  {efficiency:>10}  {which}"
        )?;
    }
    shared_links(jobs, unit, out)
}

/// Prints the link that each job shared longest with each other one.
fn shared_links(jobs: &[JobResult], unit: TimeUnit, out: &mut impl Write) -> io::Result<()> {
    for job in jobs {
        let mut last = None;
        for SharedLink { with, link, time } in &job.shared_links {
            if last.replace(with) != Some(with) {
                let (name, with, link) = (on_one_line(&job.name), on_one_line(with), on_one_line(link));
                let time = unit.show(*time);
                writeln!(out, "  {name} met messages of {with}: for {time} {} on {link}", unit.name)?;
            }
        }
    }
    Ok(())
}

/// Prints the quantiles of the predicted time, and its groups.
fn spread_time(spread: &PredictedSpread, out: &mut impl Write) -> io::Result<()> {
    let PredictedSpread { time, runs, groups, activities: _ } = spread;
    let (unit, runs) = (TimeUnit::of(time.median), count(*runs as u64));
    if !spread.differs() {
        return writeln!(out, "                the same in {runs} replays");
    }
    let Quantiles { median, interval_50, interval_90 } = time;
    writeln!(
        out,
        "                {runs} replays: median {} {1}, half of them {2} {1}, 90 % {3} {1}",
        unit.show(*median),
        unit.name,
        range(unit, interval_50),
        range(unit, interval_90)
    )?;
    for RunGroup { share, interval, .. } in groups {
        let share = significant(100.0 * share, 2);
        writeln!(out, "                a group of {share} % of them: {} {}", range(unit, interval), unit.name)?;
    }
    Ok(())
}

/// Prints the quantiles of each row of the summary.
fn activity_spreads(spread: &PredictedSpread, out: &mut impl Write) -> io::Result<()> {
    if !spread.differs() {
        return Ok(());
    }
    let unit = TimeUnit::of(spread.time.median);
    let heading = format!("median, {}", unit.name);
    writeln!(out, "\nSpread         {heading:>10}  {:>19}  {:>19}", "half of replays", "90 % of replays")?;
    for ActivitySpread { activity, time: Quantiles { median, interval_50, interval_90 } } in &spread.activities {
        let (half, most) = (range(unit, interval_50), range(unit, interval_90));
        writeln!(out, "  {activity:<12} {:>10}  {half:>19}  {most:>19}", unit.show(*median))?;
    }
    Ok(())
}

/// An interval in a unit.
fn range(unit: TimeUnit, [from, to]: &[Seconds; 2]) -> String {
    format!("{}–{}", unit.show(*from), unit.show(*to))
}

/// Number of places of a kind that are shown.
const SHOWN: usize = 3;

/// The smallest part of a time that has a line, and so the smallest that is shown as more than 0.0 %.
const LEAST: f64 = 0.0005;

/// Prints the causes of waiting, and the parts of the critical path, from the requested analyses.
fn explained(report: &AnalysedResult, out: &mut Escaped<impl Write>) -> io::Result<()> {
    let Some(Findings { critical_path, wait_states, interval: _, matrix: _ }) = &report.analyses else { return Ok(()) };
    if let Some(WaitFindings { waiting, causes, .. }) = wait_states {
        let causes = causes.iter().map(|cause| (kind(cause.kind, cause.with.as_deref()), &cause.place, cause.seconds));
        parts("Ranks wait because of", *waiting, causes, out)?;
    }
    if let Some(CriticalPath { length, segments, .. }) = critical_path {
        let segments = segments
            .iter()
            .map(|segment| (kind(segment.kind, segment.with.as_deref()), &segment.place, segment.seconds));
        parts("On the critical path", *length, segments, out)?;
    }
    Ok(())
}

/// Prints the parts of a time: all kinds, and the largest places of each. They add up to the whole.
fn parts<'a>(
    title: &str,
    whole: Seconds,
    parts: impl Iterator<Item = (String, &'a ProgramPlace, Seconds)>,
    out: &mut Escaped<impl Write>,
) -> io::Result<()> {
    let mut kinds = BTreeMap::<String, BTreeMap<String, f64>>::new();
    for (kind, place, seconds) in parts {
        *kinds.entry(kind).or_default().entry(name(place)).or_default() += seconds.0;
    }
    if whole.0 <= 0.0 || kinds.is_empty() {
        return Ok(());
    }
    let unit = TimeUnit::of(whole);
    out.styled(CYAN, &format!("\n{title:<24}"))?;
    writeln!(out, "{:>16} = 100 %", format!("{} {}", unit.show(whole), unit.name))?;
    let share = |seconds: f64| 100.0 * seconds / whole.0;
    let sums = kinds.iter().map(|(kind, places)| (kind.clone(), places.values().sum())).collect();
    for (kind, seconds) in largest(sums, usize::MAX, whole) {
        writeln!(out, "  {:>5.1} %  {kind}", share(seconds))?;
        let places = kinds.remove(&kind).unwrap_or_default();
        if places.keys().all(String::is_empty) {
            continue;
        }
        for (place, seconds) in largest(places.into_iter().collect(), SHOWN, whole) {
            let place = if place.is_empty() { "outside of regions and call sites" } else { &place };
            writeln!(out, "           {:>5.1} %  {place}", share(seconds))?;
        }
    }
    Ok(())
}

/// The largest of some named times, at most so many, and the sum of all others, so that they add up. A time that rounds to nothing of
/// the whole is among the others.
fn largest(mut times: Vec<(String, f64)>, most: usize, whole: Seconds) -> Vec<(String, f64)> {
    times.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let counts = times.iter().take_while(|(_, seconds)| *seconds >= LEAST * whole.0).count();
    // One more is no longer than a line for all others.
    let shown = if times.len() == most.saturating_add(1) { counts } else { counts.min(most) };
    let others = times.split_off(shown);
    let sum: f64 = others.iter().map(|(_, seconds)| seconds).sum();
    if sum >= LEAST * whole.0 {
        times.push((counted(others.len(), "other", "others"), sum));
    }
    times
}

/// The kind of a cause or a segment, and the other job whose messages it is due to.
fn kind(kind: SegmentKind, with: Option<&str>) -> String {
    let kind = match kind {
        SegmentKind::Compute => "computation",
        SegmentKind::Sleep => "computation of a fixed time",
        SegmentKind::Overhead => "overheads of messages",
        SegmentKind::Latency => "latencies of messages",
        SegmentKind::Transfer => "the bytes of messages",
        SegmentKind::Contention => "messages that share links",
        SegmentKind::Storage => "accesses to files",
        SegmentKind::Other => "other",
    };
    with.map_or(kind.to_owned(), |with| format!("{kind} with messages of {with}"))
}

/// A place of the program; empty outside of regions and call sites. Of a call site without a name, the nearest place alone.
fn name(ProgramPlace { region, call_site }: &ProgramPlace) -> String {
    let site = call_site.as_ref().map(|site| {
        let nearest = site.split(" < ").next().filter(|place| place.contains("+0x") && !place.contains(" ("));
        format!("at {}", nearest.unwrap_or(site))
    });
    let region = region.as_ref().map(|region| format!("in region {region}"));
    site.into_iter().chain(region).collect::<Vec<_>>().join(" ")
}
