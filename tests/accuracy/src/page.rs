//! The page `docs/ACCURACY.md`, and the rows that it summarises.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::{self, Write};

use crate::configuration::{Configuration, Model, Shape};
use crate::measured::median;
use crate::row::{Half, Row};

/// Rows whose runs differ by more than this part of the median are not judged.
const STEADY: f64 = 0.1;

/// A bar: a name, the part of the cases whose errors it is for, and the largest error that is accepted, in percent.
const BARS: [(&str, f64, f64); 3] =
    [("median error", 0.5, 5.0), ("90 % of the cases within", 0.9, 15.0), ("worst error", 1.0, 25.0)];

/// The part of all cases whose measured median the 90 % interval should have, in percent.
const COVERAGE: [f64; 2] = [85.0, 95.0];

/// The page of these rows.
pub struct Page<'r> {
    pub rows: &'r [Row],
    /// Remarks on the measurements, in Markdown.
    pub remarks: &'r str,
    /// The section on applications that were recorded in the lab, in Markdown.
    pub timed: &'r str,
}

impl fmt::Display for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "{}", introduction())?;
        let steady: Vec<&Row> = self.rows.iter().filter(|row| row.measured.spread() < STEADY).collect();
        let half = |half: Half| steady.iter().copied().filter(|row| row.half() == half).collect::<Vec<_>>();
        let (tuned, held_out) = (half(Half::Tuned), half(Half::HeldOut));
        writeln!(
            f,
            "| {} of {} cases | bar | suited model | | tuned half | held out | flow | packet |",
            steady.len(),
            self.rows.len()
        )?;
        writeln!(f, "|---|--:|--:|---|--:|--:|--:|--:|")?;
        let columns = [
            percent_errors(&steady, Row::error_of_suited),
            percent_errors(&tuned, Row::error_of_suited),
            percent_errors(&held_out, Row::error_of_suited),
            percent_errors(&steady, |row| row.error(Model::Flow)),
            percent_errors(&steady, |row| row.error(Model::Packet)),
        ];
        for (what, part, bar) in BARS {
            let [suited, tuned, held_out, flow, packet] = columns.each_ref().map(|errors| quantile(errors, part));
            let verdict = verdict(suited, bar);
            write!(f, "| {what} | ≤ {bar} % | {suited:.1} % | {verdict} ")?;
            writeln!(f, "| {tuned:.1} % | {held_out:.1} % | {flow:.1} % | {packet:.1} % |")?;
        }
        self.intervals(f)?;
        if !self.remarks.is_empty() {
            write!(f, "\n{}", self.remarks)?;
        }
        f.write_str(self.timed)?;
        write!(f, "\n## {}", section("How to repeat it"))?;
        f.write_str(SHAPES)?;
        for shape in Shape::ALL {
            let rows: Vec<&Row> = steady.iter().copied().filter(|row| row.configuration.shape == shape).collect();
            write!(f, "| {shape} | {} | {} |", shape.model(), rows.len())?;
            writeln!(f, "{}", errors_by_model(&rows))?;
        }
        f.write_str(PATTERNS)?;
        let mut patterns: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
        for row in steady {
            patterns.entry(&row.measured.pattern).or_default().push(row);
        }
        for (pattern, rows) in patterns {
            writeln!(f, "| {pattern} | {} |{}", rows.len(), errors_by_model(&rows))?;
        }
        write!(f, "\n## {}", section("Where the errors come from"))
    }
}

impl Page<'_> {
    /// The sentence on intervals: how many of all rows have their measured median in them.
    fn intervals(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let percent = |half: Option<Half>| {
            let rows = self.rows.iter().filter(|row| half.is_none_or(|half| row.half() == half));
            let within: Vec<bool> = rows.map(Row::is_within).collect();
            100.0 * within.iter().filter(|within| **within).count() as f64 / within.len() as f64
        };
        let [all, tuned, held_out] = [None, Some(Half::Tuned), Some(Half::HeldOut)].map(percent);
        let widths: Vec<f64> = self.rows.iter().map(Row::half_width).collect();
        let [low, high] = COVERAGE;
        let verdict = if (low..=high).contains(&all) { "met" } else { "**missed**" };
        writeln!(
            f,
            "\nOf all {} cases, {all:.0} % have their measured median in the 90 % interval of `titr replay --spread` ({tuned:.0} % of \
             the tuned half, {held_out:.0} % of the other; bar {low:.0} to {high:.0} %: {verdict}). Half an interval is ±{:.0} % of the \
             measured time (median).",
            self.rows.len(),
            100.0 * median(&widths)
        )
    }
}

/// The cells of the median and the worst error of each model.
fn errors_by_model(rows: &[&Row]) -> String {
    let cells = [Model::Flow, Model::Packet].map(|model| {
        let errors = percent_errors(rows, |row| row.error(model));
        format!(" {:.1} % | {:.1} % |", median(&errors), quantile(&errors, 1.0))
    });
    cells.concat()
}

/// Errors in percent, without their signs, in ascending order.
fn percent_errors(rows: &[&Row], error: impl Fn(&Row) -> f64) -> Vec<f64> {
    let mut errors: Vec<f64> = rows.iter().map(|row| error(row).abs() * 100.0).collect();
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

/// All rows as CSV, the largest error of the suited model first.
pub fn csv(rows: &[Row]) -> Result<String, fmt::Error> {
    let mut rows: Vec<&Row> = rows.iter().collect();
    rows.sort_by(|a, b| b.error_of_suited().abs().total_cmp(&a.error_of_suited().abs()));
    let mut text = COLUMNS.to_owned();
    for row in rows {
        let (configuration, measured, [low, high]) = (&row.configuration, &row.measured, row.interval);
        let rate = configuration.rate.trim_end_matches("mbit");
        let half = match row.half() {
            Half::Tuned => "tuned",
            Half::HeldOut => "held-out",
        };
        let Configuration { shape, hosts, slots, rate: _ } = configuration;
        write!(text, "{},{shape},{hosts},{slots},{rate},{half},", measured.pattern)?;
        write!(text, "{:.4},{:.3},", measured.median(), measured.spread())?;
        for model in [Model::Flow, Model::Packet] {
            write!(text, "{:.4},{:.3},", row.predicted(model), row.error(model))?;
        }
        writeln!(text, "{low:.4},{high:.4}")?;
    }
    Ok(text)
}

const COLUMNS: &str = "pattern,shape,hosts,ranks_per_host,mbit_per_s,half,measured_s,spread,flow_s,flow_error,packet_s,packet_error,\
                       interval_from_s,interval_to_s\n";

/// The page as it is, whose texts stay.
const WRITTEN: &str = include_str!("../../../docs/ACCURACY.md");

/// The text before the first table.
fn introduction() -> &'static str {
    WRITTEN.split_once("\n| ").map_or(WRITTEN, |(text, _)| text)
}

/// The section with this heading, from the heading on.
fn section(heading: &str) -> &'static str {
    WRITTEN.split("\n## ").find(|section| section.starts_with(heading)).unwrap_or_default()
}

const SHAPES: &str = "
## Errors by shape

| shape | suited model | cases | flow: median | worst | packet: median | worst |
|---|---|--:|--:|--:|--:|--:|
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
    fn texts_are_those_of_the_page() {
        assert!(introduction().ends_with("of the project.\n"));
        let sections = ["How to repeat it", "Where the errors come from"].map(section);
        assert!(sections.iter().all(|section| section.ends_with(".\n") && section.contains("\n* **")), "{sections:?}");
    }

    #[test]
    fn quantiles_are_numbers_of_the_list() {
        let numbers = [1.0, 2.0, 3.0, 4.0, 9.0];
        assert_eq!([0.0, 0.5, 0.9, 1.0].map(|part| quantile(&numbers, part)), [1.0, 3.0, 9.0, 9.0]);
    }
}
