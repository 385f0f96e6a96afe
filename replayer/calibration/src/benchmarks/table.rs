//! Results as CSV, whose first line names the columns, in any order.
//!
//! | column | |
//! | --- | --- |
//! | `benchmark`, `bench` | as IMB-MPI1 or OSU's program is called: `PingPong`, `osu_alltoall` |
//! | `ranks`, `bytes` | the ranks that take part; the size of a message |
//! | `nodes` | the number of nodes. Without the column, the same for all rows, as the command says |
//! | `ranks_per_node` | the ranks that the job had on each node. Without the column, the ranks are spread evenly over the nodes; but the two of a ping-pong are on one node, unless `place` says otherwise, or no row has more ranks than nodes |
//! | `place` | `intraccx`, `intranuma`, `intrasocket`, `intranode`, `internode`, or empty |
//! | `microseconds` | the time |
//! | `megabytes_per_second`, `messages_per_second` | the rates of `Uniband` and `Biband` |
//! | `machine`; `library`, `environment`; `runs` | may be left out |

use std::str::FromStr;

use csv::{ReaderBuilder, StringRecord, Trim};
use titr_common::units::{Bytes, Seconds};
use titr_document::{Checked, Source};

use super::row::{Benchmark, Place, Row};
use super::{Job, Results, check, measured, mistake, nodes_of};

/// The columns, each with its names.
const COLUMNS: [&[&str]; 12] = [
    &["machine"],
    &["library", "environment"],
    BENCHMARK,
    &["place"],
    &["nodes"],
    &["ranks_per_node"],
    &["ranks"],
    &["bytes"],
    &["microseconds"],
    &["megabytes_per_second"],
    &["messages_per_second"],
    &["runs"],
];
const BENCHMARK: &[&str] = &["benchmark", "bench"];

/// Whether the first line of a text names the columns of such a table.
pub(super) fn is_table(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    first.split(',').any(|name| BENCHMARK.contains(&name.trim()))
}

pub(super) fn read(source: &Source, job: Job, results: &mut Results) -> Checked<()> {
    let mut reader = ReaderBuilder::new().trim(Trim::All).from_reader(source.text().as_bytes());
    let torn = |error: csv::Error| {
        let line = error.position().map_or(1, csv::Position::line);
        mistake(source, line, "the row has not as many columns as the first line", "correct the row")
    };
    let header = reader.headers().map_err(torn)?.clone();
    for name in &header {
        if !COLUMNS.iter().any(|names| names.contains(&name)) {
            let help = format!("the columns are {}", COLUMNS.map(|names| names.join(" or ")).join(", "));
            return Err(mistake(source, 1, format!("there is no column `{name}`"), &help));
        }
    }
    for record in reader.records() {
        let record = record.map_err(torn)?;
        let line = record.position().map_or(1, csv::Position::line);
        let cells = Cells { source, header: &header, record: &record, line };
        let name = cells.required(BENCHMARK)?;
        match Benchmark::named(name) {
            Some(benchmark) => results.rows.push(cells.row(benchmark, job)?),
            None => _ = results.passed_over.insert(name.to_owned()),
        }
    }
    // Where no row has two ranks on a node, those of a ping-pong are not there either.
    if !header.iter().any(|name| name == "ranks_per_node") && results.rows.iter().all(|row| row.ranks <= row.nodes) {
        results.rows.iter_mut().filter(|row| row.place.is_none()).for_each(|row| row.ranks_per_node = 1);
    }
    Ok(())
}

/// The cells of a row.
struct Cells<'t> {
    source: &'t Source,
    header: &'t StringRecord,
    record: &'t StringRecord,
    line: u64,
}

impl Cells<'_> {
    /// The text of the column that has one of these names; empty if there is none.
    fn text(&self, names: &[&str]) -> &str {
        let column = self.header.iter().position(|name| names.contains(&name));
        column.and_then(|column| self.record.get(column)).unwrap_or_default()
    }

    fn required(&self, names: &[&str]) -> Checked<&str> {
        match self.text(names) {
            "" => {
                let message = format!("the row has no `{}`", names[0]);
                Err(mistake(self.source, self.line, message, "fill the column in, or add it"))
            }
            text => Ok(text),
        }
    }

    fn whole<T: FromStr>(&self, name: &str) -> Checked<Option<T>> {
        let text = self.text(&[name]);
        let wrong = |_| {
            let message = format!("`{name}` is a whole number, not `{text}`");
            mistake(self.source, self.line, message, "correct the row")
        };
        if text.is_empty() { Ok(None) } else { text.parse().map(Some).map_err(wrong) }
    }

    fn measured(&self, name: &str) -> Checked<Option<f64>> {
        let text = self.text(&[name]);
        if text.is_empty() { Ok(None) } else { measured(self.source, self.line, text).map(Some) }
    }

    fn place(&self) -> Checked<Option<Place>> {
        let text = self.text(&["place"]);
        match Place::NAMES.into_iter().find(|(name, _)| *name == text) {
            Some((_, place)) => Ok(Some(place)),
            None if text.is_empty() => Ok(None),
            None => {
                let help = format!("the places are {}", Place::NAMES.map(|(name, _)| name).join(", "));
                Err(mistake(self.source, self.line, format!("there is no place `{text}`"), &help))
            }
        }
    }

    fn row(&self, benchmark: Benchmark, job: Job) -> Checked<Row> {
        let Self { source, line, .. } = *self;
        let place = self.place()?;
        self.required(&["ranks"]).and(self.required(&["bytes"]))?;
        let (ranks, bytes): (u32, u64) = (self.whole("ranks")?.unwrap_or(0), self.whole("bytes")?.unwrap_or(0));
        let nodes = match self.whole("nodes")? {
            Some(nodes) => nodes,
            None => nodes_of(source, line, job)?,
        };
        let is_of_two = ranks == 2 && matches!(benchmark, Benchmark::PingPong | Benchmark::PingPing);
        let ranks_per_node = self.whole("ranks_per_node")?.unwrap_or(match place {
            Some(Place::BetweenNodes) => 1,
            _ if is_of_two => 2,
            _ => ranks.div_ceil(nodes.max(1)),
        });
        let row = Row {
            machine: self.text(&["machine"]).to_owned(),
            library: self.text(&["library", "environment"]).to_owned(),
            benchmark,
            place,
            nodes,
            ranks_per_node,
            ranks,
            bytes: Bytes(bytes),
            time: self.measured("microseconds")?.map(|time| Seconds(time / 1e6)),
            messages_per_second: self.measured("messages_per_second")?,
            bandwidth: self.measured("megabytes_per_second")?.map(|rate| rate * 1e6),
            runs: self.whole("runs")?.unwrap_or(1),
            line,
        };
        check(source, &row)?;
        let (has_result, columns) = match benchmark {
            Benchmark::Uniband | Benchmark::Biband => {
                (row.messages_per_second.or(row.bandwidth).is_some(), "`messages_per_second` or `megabytes_per_second`")
            }
            _ => (row.time.is_some(), "`microseconds`"),
        };
        if !has_result {
            return Err(mistake(source, line, format!("the row has no {columns}"), "fill the column in, or add it"));
        }
        Ok(row)
    }
}
