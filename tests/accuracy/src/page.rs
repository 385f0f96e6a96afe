//! The page `docs/ACCURACY.md`, and the rows that it summarises.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::{self, Write};

use crate::Calibrations;
use crate::measured::median;
use crate::row::Row;

/// Rows whose runs differ by more than this part of the median are not judged.
const STEADY: f64 = 0.1;

/// The largest median error that is accepted, in percent.
const MEDIAN_BAR: f64 = 5.0;

/// The largest error of a row that is accepted, in percent.
const WORST_BAR: f64 = 15.0;

/// Returns the prediction of a model, in seconds.
type Prediction = fn(&Row) -> f64;

/// The network models, by name.
const MODELS: [(&str, Prediction); 2] = [("flow", Row::flow), ("packet", Row::packet)];

/// The page of these rows, which were predicted with these calibrations.
pub struct Page<'r> {
    pub rows: &'r [Row],
    pub calibrations: &'r Calibrations,
    /// Remarks on the measurements, in Markdown.
    pub remarks: &'r str,
}

impl fmt::Display for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(INTRODUCTION)?;
        let steady: Vec<&Row> = self.rows.iter().filter(|row| row.measured.spread() < STEADY).collect();
        writeln!(f, "| {} of {} cases | bar | flow | | packet | |", steady.len(), self.rows.len())?;
        writeln!(f, "|---|--:|--:|---|--:|---|")?;
        let errors = MODELS.map(|(_, prediction)| percent_errors(&steady, prediction));
        for (what, part, bar) in [("median error", 0.5, MEDIAN_BAR), ("worst error", 1.0, WORST_BAR)] {
            write!(f, "| {what} | ≤ {bar} % |")?;
            for error in errors.each_ref().map(|errors| quantile(errors, part)) {
                write!(f, " {error:.1} % | {} |", verdict(error, bar))?;
            }
            writeln!(f)?;
        }
        let [flow, packet] = errors.each_ref().map(|errors| quantile(errors, 0.9));
        writeln!(f, "| 90 % of the cases within | | {flow:.1} % | | {packet:.1} % | |")?;
        let [flow, packet] = errors.each_ref().map(|errors| errors.iter().filter(|error| **error <= WORST_BAR).count());
        writeln!(f, "| cases within {WORST_BAR} % | all | {flow} | | {packet} | |")?;
        if !self.remarks.is_empty() {
            write!(f, "\n{}", self.remarks)?;
        }
        f.write_str(METHOD)?;
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
        f.write_str(PATTERNS)?;
        let mut patterns: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
        for row in steady {
            patterns.entry(&row.measured.pattern).or_default().push(row);
        }
        for (pattern, rows) in patterns {
            write!(f, "| {pattern} | {} |", rows.len())?;
            for errors in MODELS.map(|(_, prediction)| percent_errors(&rows, prediction)) {
                write!(f, " {:.1} % | {:.1} % |", median(&errors), quantile(&errors, 1.0))?;
            }
            writeln!(f)?;
        }
        f.write_str(ERRORS)
    }
}

/// The errors of a model's predictions in percent, without their signs, in ascending order.
fn percent_errors(rows: &[&Row], prediction: Prediction) -> Vec<f64> {
    let mut errors: Vec<f64> = rows.iter().map(|row| row.error(prediction(row)).abs() * 100.0).collect();
    errors.sort_by(f64::total_cmp);
    errors
}

/// Whether an error is within the bar.
fn verdict(error: f64, bar: f64) -> &'static str {
    match error.partial_cmp(&bar) {
        None => "not measured",
        Some(Ordering::Greater) => "**missed**",
        Some(Ordering::Equal | Ordering::Less) => "met",
    }
}

/// The number that `part` of the sorted `numbers` do not exceed.
fn quantile(numbers: &[f64], part: f64) -> f64 {
    numbers.get(((numbers.len() as f64 - 1.0) * part).round() as usize).copied().unwrap_or(f64::NAN)
}

/// All rows as CSV, the largest error of the flow model first.
pub fn csv(rows: &[Row]) -> Result<String, fmt::Error> {
    let mut rows: Vec<&Row> = rows.iter().collect();
    rows.sort_by(|a, b| b.size_of_error().total_cmp(&a.size_of_error()));
    let mut text = COLUMNS.to_owned();
    for row in rows {
        let (configuration, measured) = (&row.configuration, &row.measured);
        writeln!(
            text,
            "{},{},{},{},{},{:.4},{:.3},{:.4},{:.3},{:.4},{:.3}",
            measured.pattern,
            configuration.shape,
            configuration.hosts,
            configuration.slots,
            configuration.rate.trim_end_matches("mbit"),
            measured.median(),
            measured.spread(),
            row.flow(),
            row.error(row.flow()),
            row.packet(),
            row.error(row.packet()),
        )?;
    }
    Ok(text)
}

const COLUMNS: &str =
    "pattern,shape,hosts,ranks_per_host,mbit_per_s,measured_s,spread,flow_s,flow_error,packet_s,packet_error\n";

const INTRODUCTION: &str = include_str!("introduction.md");

const METHOD: &str = include_str!("method.md");

const ERRORS: &str = include_str!("errors.md");

const CALIBRATIONS: &str = "
## The links, as they were calibrated

| rate, Mbit/s | bandwidth for data | latency of a cable | eager below | `rendezvous_duplex` |
|--:|--:|--:|--:|---|
";

const PATTERNS: &str = "
## Errors by pattern

| pattern | cases | flow: median | worst | packet: median | worst |
|---|--:|--:|--:|--:|--:|
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_compared_with_its_bar() {
        assert_eq!([4.9, 5.0, 5.1].map(|error| verdict(error, 5.0)), ["met", "met", "**missed**"]);
        assert_eq!(verdict(quantile(&[], 0.5), 5.0), "not measured");
    }

    #[test]
    fn quantiles_are_numbers_of_the_list() {
        let numbers = [1.0, 2.0, 3.0, 4.0, 9.0];
        assert_eq!([0.0, 0.5, 0.9, 1.0].map(|part| quantile(&numbers, part)), [1.0, 3.0, 9.0, 9.0]);
    }
}
