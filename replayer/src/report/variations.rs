//! Results of one trace on several variations of a platform, side by side.

use std::collections::BTreeMap;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use titr_analyses::AnalysedResult;
use titr_common::format::uncertain;
use titr_common::terminal::on_one_line;

/// The result on one variation.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct VariedResult {
    /// The keys of the platform that were varied, and their values.
    #[serde(serialize_with = "as_object")]
    #[schemars(with = "BTreeMap<String, String>")]
    pub set: Vec<(String, String)>,
    /// The result of the replay.
    pub result: AnalysedResult,
}

fn as_object<S: Serializer>(set: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(set.iter().map(|(key, value)| (key, value)))
}

/// The results on all variations, in their order.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Variations {
    /// The results.
    pub variations: Vec<VariedResult>,
}

/// The warnings of several results, each once.
pub(crate) fn distinct<'w>(all: impl Iterator<Item = &'w String>) -> Vec<&'w str> {
    let mut warnings: Vec<&str> = Vec::new();
    for warning in all {
        if !warnings.contains(&warning.as_str()) {
            warnings.push(warning);
        }
    }
    warnings
}

/// Prints the predicted times of all variations, and how they compare with the first.
pub(crate) fn summary(results: &Variations, out: &mut impl Write) -> io::Result<()> {
    let Some(first) = results.variations.first() else { return Ok(()) };
    if let Some(waiting) =
        results.variations.iter().map(|varied| varied.result.waiting_ranks).max().filter(|&most| most > 0)
    {
        writeln!(out, "No prediction: up to {waiting} ranks wait for ever, for events that are not in the trace\n")?;
    }
    let width = |(column, (key, _)): (usize, &(String, String))| {
        let values = results.variations.iter().filter_map(|varied| Some(&varied.set.get(column)?.1));
        values.chain([key]).map(|text| on_one_line(text).chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = first.set.iter().enumerate().map(width).collect();
    for ((key, _), width) in first.set.iter().zip(&widths) {
        write!(out, "{:<width$}  ", on_one_line(key))?;
    }
    writeln!(out, "  Predicted time  of the first")?;
    let base = first.result.simulated_time.0;
    for VariedResult { set, result } in &results.variations {
        for ((_, value), width) in set.iter().zip(&widths) {
            write!(out, "{:<width$}  ", on_one_line(value))?;
        }
        let time = result.simulated_time.0;
        let part = if base > 0.0 { format!("{:.1} %", 100.0 * time / base) } else { "-".to_owned() };
        writeln!(out, "{:>16}  {part:>12}", uncertain(result.simulated_time, result.uncertainty))?;
    }
    let warnings = distinct(results.variations.iter().flat_map(|varied| &varied.result.warnings));
    if !warnings.is_empty() {
        writeln!(out, "\nAssumptions and limits, in some or all of these")?;
    }
    warnings.iter().try_for_each(|warning| writeln!(out, "  {}", on_one_line(warning)))
}
