//! The text that IMB-MPI1 prints.
//!
//! ```text
//! # Benchmarking Sendrecv
//! # #processes = 2
//! # ( 62 additional processes waiting in MPI_Barrier)
//! #-----------------------------------------------------------------------------
//!        #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
//!             0         1000         0.76         0.77         0.77         0.00
//! ```
//!
//! The first ranks of the job take part, so that two ranks of a job on full nodes are on one node. Benchmarks of several groups at
//! once (`-multi`) and of ranks in another order (`-map`) are passed over.

use titr_common::units::{Bytes, Seconds};
use titr_document::{Checked, Source};

use super::row::{Benchmark, Row};
use super::{Job, Results, Rows, check, is_heading, lines, measured, mistake, nodes_of};

/// A benchmark whose rows follow.
#[derive(Default)]
struct Benchmarking<'t> {
    name: &'t str,
    ranks: u32,
    waiting: u32,
    /// Whether other ranks than the first ones take part.
    is_mapped: bool,
    /// The names of the columns; empty before the rows.
    columns: Vec<&'t str>,
    rows: Rows,
}

pub(super) fn read(source: &Source, job: Job, results: &mut Results) -> Checked<()> {
    let mut current = Benchmarking::default();
    for (line, text) in lines(source) {
        if let Some(name) = text.strip_prefix("# Benchmarking ") {
            current = Benchmarking { name: name.trim(), ..Benchmarking::default() };
        } else if let Some(ranks) = text.strip_prefix("# #processes =") {
            current.columns.clear();
            current.ranks = first_number(ranks).unwrap_or(0);
            current.is_mapped = ranks.contains("rank order");
        } else if let Some(waiting) = text.strip_prefix("# (").filter(|rest| rest.contains(" additional process")) {
            current.waiting = first_number(waiting).unwrap_or(0);
        } else if text.starts_with("#bytes") || text.starts_with("#repetitions") {
            (current.columns, current.rows) = (text.split_whitespace().collect(), Rows::default());
        } else if is_heading(text) {
            current.columns.clear();
        } else if !current.columns.is_empty() && current.rows.has(text) {
            match Benchmark::named(current.name) {
                Some(_) if current.is_mapped => _ = results.passed_over.insert(format!("{} with -map", current.name)),
                Some(benchmark) => results.rows.extend(row(source, job, &current, benchmark, (line, text))?),
                None => _ = results.passed_over.insert(current.name.to_owned()),
            }
        }
    }
    Ok(())
}

fn first_number(text: &str) -> Option<u32> {
    text.split(|c: char| !c.is_ascii_digit()).find(|digits| !digits.is_empty())?.parse().ok()
}

/// The row in a line; `None` of a size that was not measured, for want of memory or time.
fn row(
    source: &Source,
    job: Job,
    current: &Benchmarking,
    benchmark: Benchmark,
    (line, text): (u64, &str),
) -> Checked<Option<Row>> {
    let cells: Vec<&str> = text.split_whitespace().collect();
    let cell = |name: &str| {
        let column = current.columns.iter().position(|column| *column == name)?;
        cells.get(column).copied()
    };
    if cell("#repetitions").is_none_or(|cell| cell.parse::<u64>().is_err()) {
        return Ok(None);
    }
    let number = |name| cell(name).map(|cell| measured(source, line, cell)).transpose();
    let time = number("t_avg[usec]")?.or(number("t[usec]")?).map(|microseconds| Seconds(microseconds / 1e6));
    let messages_per_second = number("Msg/sec")?;
    if time.is_none() && messages_per_second.is_none() {
        let message = format!("the row has not all columns of the table: {}", current.columns.join(" "));
        return Err(mistake(source, line, message, "take the line out: it is torn"));
    }
    let bytes = cell("#bytes").unwrap_or("0");
    let bytes = bytes.parse().map_err(|_| {
        mistake(source, line, format!("`{bytes}` is no number of bytes"), "take the line out, or correct it")
    })?;
    let ranks_per_node = (current.ranks.saturating_add(current.waiting)).div_ceil(nodes_of(source, line, job)?).max(1);
    let row = Row {
        machine: String::new(),
        library: String::new(),
        benchmark,
        place: None,
        nodes: current.ranks.div_ceil(ranks_per_node),
        ranks_per_node,
        ranks: current.ranks,
        bytes: Bytes(bytes),
        time,
        messages_per_second,
        // Where there is a time, the bandwidth follows from it, in units that depend on the version.
        bandwidth: if time.is_none() { number("Mbytes/sec")?.map(|rate| rate * 1e6) } else { None },
        runs: 1,
        line,
    };
    check(source, &row)?;
    Ok(Some(row))
}
