//! The page `docs/ACCURACY.md`.

use std::fmt;

use crate::Calibrations;
use crate::row::Row;

/// Rows whose runs differ by more than this part of the median are not judged.
const STEADY: f64 = 0.1;

/// The page of these rows, which were predicted with these calibrations.
pub struct Page<'r> {
    pub rows: &'r [Row],
    pub calibrations: &'r Calibrations,
    /// What a reader should know of the measurements.
    pub remarks: &'r str,
}

impl fmt::Display for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(INTRODUCTION)?;
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_by(|a, b| b.size_of_error().total_cmp(&a.size_of_error()));
        let steady: Vec<&Row> = rows.iter().copied().filter(|row| row.measured.spread() < STEADY).collect();
        writeln!(f, "| {} of {} rows | median error | 90 % of rows within | worst error |", steady.len(), rows.len())?;
        writeln!(f, "|---|--:|--:|--:|")?;
        for (model, predicted) in [("flow", Row::flow as fn(&Row) -> f64), ("packet", Row::packet)] {
            let mut errors: Vec<f64> = steady.iter().map(|row| row.error(predicted(row)).abs()).collect();
            errors.sort_by(f64::total_cmp);
            let at = |part: f64| errors.get(((errors.len() as f64 - 1.0) * part).round() as usize);
            let [median, most, worst] = [0.5, 0.9, 1.0].map(|part| at(part).copied().unwrap_or(f64::NAN) * 100.0);
            writeln!(f, "| {model} | {median:.1} % | {most:.1} % | {worst:.1} % |")?;
        }
        if !self.remarks.is_empty() {
            write!(f, "\n{}", self.remarks)?;
        }
        f.write_str(CALIBRATIONS)?;
        for (rate, calibration) in self.calibrations {
            writeln!(
                f,
                "| {} | {} | {} | {} | {} |",
                rate.trim_end_matches("mbit"),
                calibration.value("network.bandwidth"),
                calibration.value("network.latency"),
                calibration.value("mpi.eager_threshold"),
                calibration.value("mpi.rendezvous_duplex"),
            )?;
        }
        f.write_str(ALL_ROWS)?;
        for row in rows {
            let (configuration, measured) = (&row.configuration, &row.measured);
            writeln!(
                f,
                "| {} | {} | {} × {} | {} | {:.4} | {:.1} % | {:.4} | {:+.1} % | {:.4} | {:+.1} % |",
                measured.pattern,
                configuration.shape,
                configuration.hosts,
                configuration.slots,
                configuration.rate.trim_end_matches("mbit"),
                measured.median(),
                measured.spread() * 100.0,
                row.flow(),
                row.error(row.flow()) * 100.0,
                row.packet(),
                row.error(row.packet()) * 100.0,
            )?;
        }
        Ok(())
    }
}

const INTRODUCTION: &str = include_str!("introduction.md");

const CALIBRATIONS: &str = "
## The links, as they were calibrated

| rate, Mbit/s | bandwidth for data | latency of a cable | eager below | `rendezvous_duplex` |
|--:|--:|--:|--:|---|
";

const ALL_ROWS: &str = "
## All rows

| pattern | shape | hosts × ranks | Mbit/s | measured, s | spread | flow, s | error | packet, s | error |
|---|---|---|--:|--:|--:|--:|--:|--:|--:|
";
