//! Results as tables: CSV files (RFC 4180) in a directory, one for each kind of thing, for plots and spreadsheets.

use std::fs;
use std::io;
use std::path::Path;

use csv::WriterBuilder;
use serde::Serialize;
use serde_json::Value;
use titr_simulation::SimulationResult;
use titr_simulation::result::{LinkUse, NetworkName, Packets};
use titr_simulation::traffic::{MeasuredPoint, TrafficResult};
use titr_simulation::triggered::TriggeredResult;

use super::{Form, Renderer, Results};

/// The option `--csv`.
pub(super) const CSV: Form = Form {
    option: "csv",
    help: "Also writes tables into this directory: CSV files of the summary, ranks, links, channels and hops, or of the points \
           of a curve",
    renderer: Renderer::Save {
        place: "DIRECTORY",
        save: |results, directory| {
            fs::create_dir_all(directory)?;
            match results {
                Results::Simulation(result) => of_simulation(result, directory),
                Results::Traffic(result) => of_traffic(result, directory),
                Results::Triggered(result) => of_triggered(result, directory),
                Results::Variations(result) => table(&directory.join("summary.csv"), result.variations.iter().map(row)),
            }
        },
    },
};

/// Writes `points.csv`, and what `channels.csv` and `hops.csv` say at each point.
fn of_traffic(result: &TrafficResult, directory: &Path) -> io::Result<()> {
    let points = &result.points;
    table(&directory.join("points.csv"), points.iter().map(|measured| row(&measured.point)))?;
    let at = |measured: &MeasuredPoint| vec![("offered".to_owned(), measured.point.offered.to_string())];
    let hops = points.iter().flat_map(|measured| {
        hops(&measured.point.figures.hop_histogram).map(move |row| Ok([at(measured), row].concat()))
    });
    table(&directory.join("hops.csv"), hops)?;
    let channels = points.iter().flat_map(|measured| {
        let channels = result.network.named(&measured.point.figures.channels);
        channels.into_iter().map(move |channel| Ok([at(measured), row(&channel)?].concat()))
    });
    table(&directory.join("channels.csv"), channels)
}

/// Writes `summary.csv`, `ranks.csv` and `links.csv`, and of a packet network `channels.csv` and `hops.csv`.
fn of_simulation(result: &SimulationResult, directory: &Path) -> io::Result<()> {
    table(&directory.join("summary.csv"), std::iter::once(row(result)))?;
    let ranks = (0_u64..).zip(&result.per_rank);
    let ranks = ranks.map(|(rank, shares)| Ok([vec![("rank".to_owned(), rank.to_string())], row(shares)?].concat()));
    table(&directory.join("ranks.csv"), ranks)?;
    of_network(&result.network, &result.all_links, result.packets.as_ref(), directory)
}

/// Writes `summary.csv` and `links.csv`, and of a packet network `channels.csv` and `hops.csv`.
fn of_triggered(result: &TriggeredResult, directory: &Path) -> io::Result<()> {
    table(&directory.join("summary.csv"), std::iter::once(row(result)))?;
    of_network(&result.network, &result.all_links, result.packets.as_ref(), directory)
}

/// Writes `links.csv`, and of a packet network `channels.csv` and `hops.csv`.
fn of_network(network: &NetworkName, links: &[LinkUse], packets: Option<&Packets>, directory: &Path) -> io::Result<()> {
    table(&directory.join("links.csv"), links.iter().map(row))?;
    let Some(packets) = packets else { return Ok(()) };
    table(&directory.join("hops.csv"), hops(&packets.figures.hop_histogram).map(Ok))?;
    table(&directory.join("channels.csv"), network.named(&packets.figures.channels).iter().map(row))
}

/// Writes rows that all have the same columns.
fn table(path: &Path, rows: impl Iterator<Item = io::Result<Row>>) -> io::Result<()> {
    let mut out = WriterBuilder::new().from_path(path)?;
    for (number, row) in rows.enumerate() {
        let row = row?;
        if number == 0 {
            out.write_record(row.iter().map(|(name, _)| name))?;
        }
        out.write_record(row.iter().map(|(_, value)| value))?;
    }
    out.flush()
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
