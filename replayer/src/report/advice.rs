//! Advice as text for the user.

use std::io::{self, Write};

use titr_analyses::advise::{Advice, TriedHypothesis};
use titr_common::format::uncertain;
use titr_common::units::Seconds;

/// The hypotheses that are shown.
const SHOWN: usize = 10;

/// Less than this part of the predicted time is not worth trying.
const WORTH: f64 = 0.001;

/// Prints promising changes, with the hypotheses file of the best one.
///
/// # Errors
/// If `out` cannot be written.
pub(crate) fn summary(advice: &Advice, out: &mut impl Write) -> io::Result<()> {
    let Advice { simulated_time: Seconds(simulated_time), hypotheses, bounds, not_tried } = advice;
    writeln!(out, "Predicted time  {}", uncertain(Seconds(*simulated_time), None))?;
    let worth: Vec<&TriedHypothesis> =
        hypotheses.iter().filter(|tried| tried.saves.0 >= WORTH * simulated_time).collect();
    if worth.is_empty() {
        writeln!(out, "\nNone of {} hypotheses saves as much as a thousandth of it.", hypotheses.len())?;
    } else {
        writeln!(out, "\nWould save")?;
        let mut before = None;
        for tried in worth.iter().take(SHOWN) {
            line(tried, *simulated_time, before, out)?;
            before = tried.because.as_deref();
        }
        if worth.len() > SHOWN {
            writeln!(out, "  and {} more (--json)", worth.len() - SHOWN)?;
        }
    }
    writeln!(out, "\nAt most")?;
    bounds.iter().try_for_each(|tried| line(tried, *simulated_time, None, out))?;
    if let Some(best) = worth.first() {
        writeln!(out, "\nThe first, for titr-replay --what-if:\n\n{}", best.changes.trim_end())?;
    }
    if !not_tried.is_empty() {
        writeln!(
            out,
            "\nHypotheses that were not tried, or do not fit the program: {} (--json says why).",
            not_tried.len()
        )?;
    }
    Ok(())
}

/// Prints a hypothesis and what it saves, and its cause unless the line before has it.
fn line(tried: &TriedHypothesis, whole: f64, before: Option<&str>, out: &mut impl Write) -> io::Result<()> {
    let saves = uncertain(tried.saves, None);
    writeln!(out, "  {:>5.1} %  {saves:>9}  {}", 100.0 * tried.saves.0 / whole, tried.hypothesis)?;
    let because = tried.because.iter().filter(|because| Some(because.as_str()) != before);
    because.into_iter().try_for_each(|because| writeln!(out, "                      {because}"))
}
