//! The text that the OSU Micro-Benchmarks print.
//!
//! ```text
//! # OSU MPI Multiple Bandwidth / Message Rate Test v5.6.2
//! # [ pairs: 8 ] [ window size: 64 ]
//! # Size                  MB/s        Messages/s
//! 1                      10.77       10769254.85
//! ```
//!
//! Of the columns behind the first value (least and greatest times, percentiles) none is used. Programs for accelerators, for
//! non-blocking collectives and for several threads, and windows of other than 64 messages, are passed over.

use titr_common::collectives::{CallMode, collective_named};
use titr_common::event::CollectiveKind;
use titr_common::units::{Bytes, Seconds};
use titr_document::{Checked, Source};

use super::prediction::WINDOW;
use super::row::{Benchmark, Row};
use super::{Job, Results, Rows, check, is_heading, lines, measured, mistake, nodes_of};

/// A test whose rows follow.
#[derive(Default)]
struct OsuTest<'t> {
    title: &'t str,
    /// `None`: one that titr does not know.
    benchmark: Option<Benchmark>,
    pairs: Option<u32>,
    /// The line that names the columns; empty before the rows.
    columns: &'t str,
    rows: Rows,
}

pub(super) fn read(source: &Source, job: Job, results: &mut Results) -> Checked<()> {
    let mut current = OsuTest::default();
    for (line, text) in lines(source) {
        if let Some(title) = text.strip_prefix("# OSU ") {
            let title = title.split_once(" Test").map_or(title, |(title, _)| title);
            current = OsuTest { title, benchmark: named(title), ..OsuTest::default() };
        } else if let Some(pairs) = parameter(text, "[ pairs:") {
            current.pairs = pairs.parse().ok();
            if parameter(text, "[ window size:").is_some_and(|size| size.parse() != Ok(WINDOW)) {
                current.benchmark = None;
            }
        } else if text.starts_with("# Size") || text.starts_with("# Avg Latency") {
            (current.columns, current.rows) = (text, Rows::default());
        } else if is_heading(text) {
            current.columns = "";
        } else if !current.columns.is_empty() && current.rows.has(text) {
            match current.benchmark {
                Some(benchmark) => results.rows.push(row(source, job, &current, benchmark, (line, text))?),
                None => _ = results.passed_over.insert(format!("OSU {}", current.title)),
            }
        }
    }
    Ok(())
}

/// The value of a parameter of the run, such as `[ pairs: 8 ]`.
fn parameter<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.strip_prefix('#')?.split_once(name)?;
    Some(rest.split_once(']')?.0.trim())
}

/// The benchmark whose title stands between `OSU` and `Test`.
fn named(title: &str) -> Option<Benchmark> {
    Some(match title.strip_prefix("MPI ")? {
        "Latency" | "Multi Latency" => Benchmark::PingPong,
        "Bandwidth" | "Multiple Bandwidth / Message Rate" => Benchmark::Uniband,
        "Bi-Directional Bandwidth" => Benchmark::Biband,
        "Broadcast Latency" => Benchmark::Collective(CollectiveKind::Bcast),
        "All-to-All Personalized Exchange Latency" => Benchmark::Collective(CollectiveKind::Alltoall),
        "All-to-Allv Personalized Exchange Latency" => Benchmark::Collective(CollectiveKind::Alltoallv),
        "All-to-Allw Personalized Exchange Latency" => Benchmark::Collective(CollectiveKind::Alltoallw),
        other => match collective_named(other.strip_suffix(" Latency")?)? {
            (kind, CallMode::Blocking) => Benchmark::Collective(kind),
            (_, CallMode::Nonblocking) => return None,
        },
    })
}

fn row(source: &Source, job: Job, current: &OsuTest, benchmark: Benchmark, (line, text): (u64, &str)) -> Checked<Row> {
    let mut cells = text.split_whitespace();
    let mut next = || {
        let torn = || mistake(source, line, "the row has too few columns", "take the line out: it is torn");
        cells.next().ok_or_else(torn)
    };
    let bytes = if current.columns.starts_with("# Size") { next()? } else { "0" };
    let bytes = bytes.parse().map_err(|_| {
        mistake(source, line, format!("`{bytes}` is no number of bytes"), "take the line out, or correct it")
    })?;
    let value = measured(source, line, next()?)?;
    let is_time = current.columns.contains("Latency");
    let unit = if is_time { "(us)" } else { "MB/s" };
    if !current.columns.contains(unit) {
        let message = format!("the table is not in {unit}: {}", current.columns);
        return Err(mistake(source, line, message, "convert the results to the unit that OSU's programs print"));
    }
    let has_messages = current.columns.contains("Messages/s");
    let messages_per_second = if has_messages { Some(measured(source, line, next()?)?) } else { None };
    let nodes = nodes_of(source, line, job)?;
    // Programs that do not name pairs, except that of many latencies, run on two ranks.
    let is_of_two = benchmark.has_pairs() && current.title != "MPI Multi Latency";
    let of_pairs = current.pairs.map(|pairs| pairs.saturating_mul(2)).or(is_of_two.then_some(2));
    let ranks = of_pairs.or(job.ranks).ok_or_else(|| {
        let message = "the file does not say on how many ranks this was measured";
        mistake(source, line, message, "give the number of ranks, --ranks")
    })?;
    let ranks_per_node = ranks.div_ceil(nodes).max(1);
    let row = Row {
        machine: String::new(),
        library: String::new(),
        benchmark,
        place: None,
        nodes: ranks.div_ceil(ranks_per_node),
        ranks_per_node,
        ranks,
        bytes: Bytes(bytes),
        time: is_time.then_some(Seconds(value / 1e6)),
        messages_per_second,
        bandwidth: (!is_time).then_some(value * 1e6),
        runs: 1,
        line,
    };
    check(source, &row)?;
    Ok(row)
}
