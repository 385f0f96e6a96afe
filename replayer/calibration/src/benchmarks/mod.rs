//! Results of the benchmarks that everybody runs, read from their files, and predicted.
//!
//! 1. `row`: a [`Row`] of results, whichever file it is from.
//! 2. A reader for each format: `imb`, the text of the Intel MPI Benchmarks (IMB-MPI1); `osu`, the text of the OSU
//!    Micro-Benchmarks; `table`, CSV. [`read`] finds the format of a file by its content. Several outputs may follow each other in
//!    one file, among other text.
//! 3. `selection`: the rows of one machine.
//! 4. `prediction`: the time that a platform predicts for a row, by a replay of what the benchmark does.
//! 5. `machine`: a platform fitted to rows, with `costs` by size. `full_hosts`: the inside of hosts, fitted to the rows that titr-calibrate measures.

mod costs;
mod full_hosts;
mod imb;
mod machine;
mod osu;
mod prediction;
mod row;
mod selection;
mod table;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use titr_common::input::{self, WRITTEN_BY_PROGRAM};
use titr_document::{Checked, Mistake, Source};
use titr_platform::PlatformError;

pub use full_hosts::{FullHosts, PROOF};
pub(crate) use full_hosts::{HostsFit, errors};
pub use machine::{Compared, DataSheet, Errors, FittedMachine, compare};
pub use prediction::{PredictionError, pairs_of, predict};
pub use row::{Benchmark, Place, Row};
pub use selection::{InvalidNodes, Selection, SelectionError, node_range};

/// The rows of a file.
#[derive(Debug)]
pub struct Results {
    /// The rows, in the order of the file.
    pub rows: Vec<Row>,
    /// Benchmarks of the file that titr does not know, by their names.
    pub passed_over: BTreeSet<String>,
}

/// What the text of a benchmark does not say of the job that it ran in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// The number of ranks. OSU's collectives do not say it.
    pub ranks: Option<u32>,
    /// The number of nodes.
    pub nodes: Option<u32>,
}

/// A reason why results of benchmarks cannot be used.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum BenchmarkError {
    #[error("cannot read the results {}: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error(transparent)]
    Mistaken(#[from] Mistake),
    #[error(transparent)]
    Selection(#[from] SelectionError),
    #[error(transparent)]
    Prediction(#[from] PredictionError),
    #[error(transparent)]
    Platform(#[from] PlatformError),
}

/// The rows of a benchmark's results in a file, whose format is found by its content.
///
/// # Errors
/// If the file cannot be read, or is wrong, or has no row that titr knows, or if `job` leaves out what the file does not say.
pub fn read(path: &Path, job: Job) -> Result<Results, BenchmarkError> {
    let text = input::read_text(path, WRITTEN_BY_PROGRAM)
        .map_err(|error| BenchmarkError::Unreadable { path: path.to_owned(), error })?;
    Ok(results(&Source::new(&path.display().to_string(), text, []), job)?)
}

fn results(source: &Source, job: Job) -> Checked<Results> {
    let mut results = Results { rows: Vec::new(), passed_over: BTreeSet::new() };
    if table::is_table(source.text()) {
        table::read(source, job, &mut results)?;
    } else {
        imb::read(source, job, &mut results)?;
        osu::read(source, job, &mut results)?;
    }
    if results.rows.is_empty() {
        let passed_over = Vec::from_iter(results.passed_over).join(", ");
        let message = match passed_over.as_str() {
            "" => "there are no results of a benchmark".to_owned(),
            others => format!("titr cannot use these results: {others}"),
        };
        let mistake = source.mistake(Some(0..0), message);
        return Err(mistake.with_help(
            "titr reads what IMB-MPI1 and OSU's programs for messages and blocking collectives print, and CSV whose first line names the columns",
        ));
    }
    results.rows.sort_by_key(|row| row.line);
    Ok(results)
}

/// What begins the headings of a table, in the texts of all programs.
const HEADINGS: [&str; 7] =
    ["# OSU ", "# Size", "# Avg Latency", "# Benchmarking ", "# #processes =", "#bytes", "#repetitions"];

fn is_heading(line: &str) -> bool {
    HEADINGS.iter().any(|heading| line.starts_with(heading))
}

/// The lines of a file with their numbers, from 1, without what launchers, logs and quotes put before each: the same stands before
/// the headings of a table.
fn lines(source: &Source) -> impl Iterator<Item = (u64, &str)> {
    let mut before = "";
    (1..).zip(source.text().lines().map(str::trim).map(move |line| {
        let Some(at) = HEADINGS.iter().filter_map(|heading| line.find(heading)).min() else {
            return without(line, before);
        };
        before = &line[..at];
        &line[at..]
    }))
}

/// A line without what stands before all: this text, or as many words, such as another time.
fn without<'t>(line: &'t str, before: &str) -> &'t str {
    let words = if before.ends_with(char::is_whitespace) { before.split_whitespace().count() } else { 0 };
    let rest = |line: &'t str| line.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start());
    line.strip_prefix(before).map_or_else(|| (0..words).fold(line, |line, _| rest(line)), str::trim_start)
}

/// The rows of a table below the names of its columns: lines that begin with a number. Below a line of something else, such as a
/// warning, only those count that are numbers alone and go on with the sizes.
#[derive(Default)]
struct Rows {
    last: Option<f64>,
    is_interrupted: bool,
}

impl Rows {
    /// Whether a line is the next row.
    fn has(&mut self, line: &str) -> bool {
        let mut numbers = line.split_whitespace().map(str::parse::<f64>);
        let first = numbers.next().and_then(Result::ok);
        let mut goes_on = || first > self.last && numbers.all(|number| number.is_ok());
        let is_row = line.starts_with(|first: char| first.is_ascii_digit()) && (!self.is_interrupted || goes_on());
        if is_row {
            self.last = first;
        } else {
            self.is_interrupted = self.last.is_some();
        }
        is_row
    }
}

fn mistake(source: &Source, line: u64, message: impl Into<String>, help: &str) -> Mistake {
    let start = source.at(line as usize, 1).start;
    let length = source.text()[start..].lines().next().map_or(0, str::len);
    source.mistake(start..start + length, message).with_help(help)
}

/// A number that was measured.
fn measured(source: &Source, line: u64, text: &str) -> Checked<f64> {
    match text.parse() {
        Ok(number) if (0.0..f64::INFINITY).contains(&number) => Ok(number),
        _ => Err(mistake(source, line, format!("`{text}` is no measured number"), "take the line out, or correct it")),
    }
}

/// Refuses a row whose ranks have no place on its nodes.
fn check(source: &Source, row: &Row) -> Checked<()> {
    let Row { benchmark, nodes, ranks_per_node, ranks, line, .. } = *row;
    let wrong = |message: String| Err(mistake(source, line, message, "correct the numbers of ranks and of nodes"));
    if benchmark.has_pairs() && ranks < 2 {
        return wrong(format!("{benchmark} needs 2 ranks at least"));
    }
    if ranks == 0 || u64::from(ranks) > u64::from(nodes) * u64::from(ranks_per_node) {
        return wrong(format!("{ranks} ranks cannot be on {nodes} nodes with {ranks_per_node} ranks each"));
    }
    Ok(())
}

/// The number of nodes of the job, which the text of a benchmark does not say.
fn nodes_of(source: &Source, line: u64, job: Job) -> Checked<u32> {
    let nodes = job.nodes.filter(|&nodes| nodes > 0);
    nodes.ok_or_else(|| {
        mistake(
            source,
            line,
            "the file does not say on how many nodes this was measured",
            "give the number of nodes of the job, --job-nodes",
        )
    })
}

#[cfg(test)]
mod tests;
