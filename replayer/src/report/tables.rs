//! Results as tables: CSV files (RFC 4180) in a directory, one for each kind of thing, for plots and spreadsheets.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::Report;
use super::channels::ChannelUse;
use titr_network::traffic::Point;
use titr_platform::Platform;

/// A directory of tables.
#[derive(Debug)]
pub struct Tables(PathBuf);

impl Tables {
    /// In a directory, which is made if it does not exist.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn create(directory: &Path) -> io::Result<Self> {
        fs::create_dir_all(directory)?;
        Ok(Self(directory.to_owned()))
    }

    /// Of a curve: `points.csv`, and what `channels.csv` and `hops.csv` say at each of its points.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn of_points(&self, platform: &Platform, points: &[Point]) -> io::Result<()> {
        self.write("points.csv", points.iter().map(row))?;
        let at = |point: &Point| vec![("offered".to_owned(), point.offered.to_string())];
        let hops =
            points.iter().flat_map(|point| hops(&point.figures.hop_histogram).map(|row| [at(point), row].concat()));
        self.write("hops.csv", hops.map(Ok))?;
        let channels = points.iter().flat_map(|point| {
            let channels = point.figures.channels.iter();
            channels.map(|channel| Ok([at(point), row(&ChannelUse::new(platform, channel))?].concat()))
        });
        self.write("channels.csv", channels)
    }

    /// Of a replay: `summary.csv`, `ranks.csv` and `links.csv`, and of a packet network `channels.csv` and `hops.csv`.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn of_replay(&self, platform: &Platform, report: &Report) -> io::Result<()> {
        self.write("summary.csv", std::iter::once(row(report)))?;
        let ranks = (0_u64..).zip(&report.per_rank);
        self.write(
            "ranks.csv",
            ranks.map(|(rank, shares)| Ok([vec![("rank".to_owned(), rank.to_string())], row(shares)?].concat())),
        )?;
        self.write("links.csv", report.all_links.iter().map(row))?;
        let Some(packets) = &report.packets else { return Ok(()) };
        self.write("hops.csv", hops(&packets.figures.hop_histogram).map(Ok))?;
        self.write(
            "channels.csv",
            packets.figures.channels.iter().map(|channel| row(&ChannelUse::new(platform, channel))),
        )
    }

    /// Rows that all have the same columns.
    fn write(&self, name: &str, rows: impl Iterator<Item = io::Result<Row>>) -> io::Result<()> {
        let mut out = BufWriter::new(File::create(self.0.join(name))?);
        for (number, row) in rows.enumerate() {
            let row = row?;
            if number == 0 {
                line(&mut out, row.iter().map(|(name, _)| name))?;
            }
            line(&mut out, row.iter().map(|(_, value)| value))?;
        }
        out.flush()
    }
}

/// Columns and what stands in them.
type Row = Vec<(String, String)>;

fn line<'a>(out: &mut impl Write, fields: impl Iterator<Item = &'a String>) -> io::Result<()> {
    let quoted = |field: &String| match field.contains([',', '"', '\n']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.clone(),
    };
    let fields: Vec<_> = fields.map(quoted).collect();
    writeln!(out, "{}", fields.join(","))
}

/// What `--json` says of something, lists aside, with the names of what is within others strung together.
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
