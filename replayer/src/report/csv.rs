//! Results as tables: CSV files (RFC 4180) in a directory, one for each kind of data, for plots and spreadsheets; and the summary
//! of a replay as text.

use std::io;
use std::path::{Path, PathBuf};

use csv::WriterBuilder;
use serde::Serialize;
use serde_json::Value;
use titr_analyses::AnalysedResult;
use titr_common::format::cell;
use titr_common::output::{OutputFile, make_directory};
use titr_common::terminal::Escaped;
use titr_simulation::result::{LinkUse, NetworkName, Packets};
use titr_simulation::traffic::{MeasuredPoint, TrafficResult};
use titr_simulation::triggered::TriggeredResult;

use super::{Results, text};

/// The files that may be written into `directory`.
pub(crate) fn files(directory: &Path) -> impl Iterator<Item = PathBuf> {
    FILES.iter().map(|name| directory.join(name))
}

/// Writes the tables of `results` into `directory`.
pub(crate) fn write(results: Results, directory: &Path) -> io::Result<()> {
    let mut tables = Tables::begin(directory)?;
    match results {
        Results::Simulation(result) => of_simulation(result, &mut tables),
        Results::Traffic(result) => of_traffic(result, &mut tables),
        Results::Triggered(result) => of_triggered(result, &mut tables),
        Results::Variations(result) => tables.add(SUMMARY, result.variations.iter().map(row)),
    }?;
    tables.finish()
}

/// The names of all files.
const FILES: [&str; 7] = [TEXT, SUMMARY, RANKS, LINKS, HOPS, CHANNELS, POINTS];
const TEXT: &str = "summary.txt";
const SUMMARY: &str = "summary.csv";
const RANKS: &str = "ranks.csv";
const LINKS: &str = "links.csv";
const HOPS: &str = "hops.csv";
const CHANNELS: &str = "channels.csv";
const POINTS: &str = "points.csv";

/// Tables that get their names when all are whole.
struct Tables<'a> {
    directory: &'a Path,
    files: Vec<OutputFile>,
}

impl<'a> Tables<'a> {
    fn begin(directory: &'a Path) -> io::Result<Self> {
        make_directory(directory)?;
        Ok(Self { directory, files: Vec::new() })
    }

    /// Writes rows that all have the same columns.
    fn add(&mut self, name: &str, rows: impl Iterator<Item = io::Result<Row>>) -> io::Result<()> {
        let mut out = WriterBuilder::new().from_writer(OutputFile::create(&self.directory.join(name))?);
        for (number, row) in rows.enumerate() {
            let row = row?;
            if number == 0 {
                out.write_record(row.iter().map(|(name, _)| cell(name).into_owned()))?;
            }
            out.write_record(row.iter().map(|(_, value)| cell(value).into_owned()))?;
        }
        self.files.push(out.into_inner().map_err(csv::IntoInnerError::into_error)?);
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.files.iter_mut().try_for_each(OutputFile::finish)
    }
}

/// Writes `points.csv`, and `channels.csv` and `hops.csv` for each point.
fn of_traffic(result: &TrafficResult, tables: &mut Tables) -> io::Result<()> {
    let points = &result.points;
    tables.add(POINTS, points.iter().map(|measured| row(&measured.point)))?;
    let at = |measured: &MeasuredPoint| vec![("offered".to_owned(), measured.point.offered.to_string())];
    let hops = points.iter().flat_map(|measured| {
        hops(&measured.point.figures.hop_histogram).map(move |row| Ok([at(measured), row].concat()))
    });
    tables.add(HOPS, hops)?;
    let channels = points.iter().flat_map(|measured| {
        let channels = result.network.named(&measured.point.figures.channels);
        channels.into_iter().map(move |channel| Ok([at(measured), row(&channel)?].concat()))
    });
    tables.add(CHANNELS, channels)
}

/// Writes `summary.txt`, `summary.csv`, `ranks.csv` and `links.csv`, and of a packet network `channels.csv` and `hops.csv`.
fn of_simulation(result: &AnalysedResult, tables: &mut Tables) -> io::Result<()> {
    let mut summary = OutputFile::create(&tables.directory.join(TEXT))?;
    let mut shown = Escaped::new(&mut summary);
    text::answer(result, &mut shown)?;
    text::details(result, &mut shown)?;
    tables.files.push(summary);
    tables.add(SUMMARY, std::iter::once(row(result)))?;
    let ranks = (0_u64..).zip(&result.per_rank);
    let ranks = ranks.map(|(rank, shares)| Ok([vec![("rank".to_owned(), rank.to_string())], row(shares)?].concat()));
    tables.add(RANKS, ranks)?;
    of_network(&result.network, &result.all_links, result.packets.as_ref(), tables)
}

/// Writes `summary.csv` and `links.csv`, and of a packet network `channels.csv` and `hops.csv`.
fn of_triggered(result: &TriggeredResult, tables: &mut Tables) -> io::Result<()> {
    tables.add(SUMMARY, std::iter::once(row(result)))?;
    of_network(&result.network, &result.all_links, result.packets.as_ref(), tables)
}

/// Writes `links.csv`, and of a packet network `channels.csv` and `hops.csv`.
fn of_network(
    network: &NetworkName,
    links: &[LinkUse],
    packets: Option<&Packets>,
    tables: &mut Tables,
) -> io::Result<()> {
    tables.add(LINKS, links.iter().map(row))?;
    let Some(packets) = packets else { return Ok(()) };
    tables.add(HOPS, hops(&packets.figures.hop_histogram).map(Ok))?;
    tables.add(CHANNELS, network.named(&packets.figures.channels).iter().map(row))
}

/// Names of columns with their values.
type Row = Vec<(String, String)>;

/// The values that `--json` has of a thing, without lists; names of values within others are joined by `_`.
fn row(thing: &impl Serialize) -> io::Result<Row> {
    let mut row = Vec::new();
    flatten("", &serde_json::to_value(thing)?, &mut row);
    Ok(row)
}

fn flatten(name: &str, value: &Value, row: &mut Row) {
    match value {
        Value::Object(parts) => {
            for (part, value) in parts {
                let name = if name.is_empty() { part.clone() } else { format!("{name}_{part}") };
                flatten(&name, value, row);
            }
        }
        Value::Array(_) => {}
        Value::Null => row.push((name.to_owned(), String::new())),
        Value::String(text) => row.push((name.to_owned(), text.clone())),
        Value::Bool(_) | Value::Number(_) => row.push((name.to_owned(), value.to_string())),
    }
}

fn hops(histogram: &[u64]) -> impl Iterator<Item = Row> {
    (0_u64..)
        .zip(histogram)
        .map(|(hops, packets)| vec![("hops".to_owned(), hops.to_string()), ("packets".to_owned(), packets.to_string())])
}
