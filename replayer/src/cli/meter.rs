//! The progress line of a long command.

use std::io::{IsTerminal, stderr};
use std::path::Path;

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use titr_common::format::{count, significant, uncertain};
use titr_common::terminal::{columns_of, on_one_line};
use titr_common::trace::{Manifest, Trace};
use titr_common::units::Seconds;
use titr_simulation::ReplayProgress;

/// The progress line if the manifest has the number of events, and the line if it does not. What is told of the progress is
/// [as long as fits](Meter::tell).
const OF_KNOWN: &str = "{bar:12.cyan} {percent:>3} %  {msg}";
const OF_UNKNOWN: &str = "{msg}";

/// The columns before the message.
const BEFORE: usize = 20;

/// The progress line of a study.
const OF_POINTS: &str = "{bar:12.cyan} {human_pos} of {human_len} points, {eta} left";

/// Shows the progress of a replay on one line of a terminal: events, their rate, and the remaining time.
pub(super) struct Meter(ProgressBar);

impl Meter {
    /// The meter of a replay; `None` if standard error is not a terminal.
    pub(super) fn new(trace: &Trace) -> Option<Self> {
        let total = |manifest: &Manifest| manifest.per_rank.iter().map(|rank| rank.events).sum();
        let total: Option<u64> = trace.manifest().map(total).filter(|&total| total > 0);
        Self::shown(total, if total.is_some() { OF_KNOWN } else { OF_UNKNOWN })
    }

    /// The meter of this many points of a study; `None` if standard error is not a terminal.
    pub(super) fn of_points(points: usize) -> Option<Self> {
        Self::shown(Some(points as u64), OF_POINTS)
    }

    fn shown(length: Option<u64>, template: &str) -> Option<Self> {
        stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            Self(length.map_or_else(ProgressBar::no_length, ProgressBar::new).with_style(style))
        })
    }

    /// Shows that this many points are done.
    pub(super) fn done(&self, points: usize) {
        self.0.set_position(points as u64);
    }

    /// A line that names the file that is being written; `None` if standard error is not a terminal.
    pub(super) fn writing(path: &Path) -> Option<Self> {
        Self::saying(format!("writing {}", on_one_line(&path.display().to_string())))
    }

    /// A line that says what is being done; `None` if standard error is not a terminal.
    pub(super) fn saying(what: String) -> Option<Self> {
        stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner().with_message(what);
            bar.tick();
            Self(bar)
        })
    }
}

impl ReplayProgress for Meter {
    fn at(&mut self, events: u64, simulated: f64) {
        let rate = self.0.per_sec();
        let left = self.0.length().map(|_| format!("{} left", HumanDuration(self.0.eta())));
        let simulated = (simulated > 0.0).then(|| format!("{} simulated", uncertain(Seconds(simulated), None)));
        let parts = [left, Some(format!("{} events", count(events))), Some(format!("{}/s", short(rate))), simulated];
        self.tell(parts.into_iter().flatten());
        self.0.set_position(events);
    }
}

impl Meter {
    /// Shows as many parts as fit on the line.
    fn tell(&self, parts: impl Iterator<Item = String>) {
        let columns = columns_of(stderr()).unwrap_or(80).saturating_sub(BEFORE);
        let mut line = String::new();
        for part in parts {
            let more = if line.is_empty() { part } else { format!(", {part}") };
            if line.len() + more.len() < columns {
                line += &more;
            }
        }
        self.0.set_message(line);
    }
}

/// A number with three digits: `208 k`.
fn short(number: f64) -> String {
    let units = [(1e9, " G"), (1e6, " M"), (1e3, " k"), (1.0, "")];
    let (unit, name) = units.into_iter().find(|(unit, _)| number >= *unit).unwrap_or((1.0, ""));
    format!("{}{name}", significant(number / unit, 3))
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_as_the_library_wants_them() {
        assert!(
            [OF_KNOWN, OF_UNKNOWN, OF_POINTS].iter().all(|template| ProgressStyle::with_template(template).is_ok())
        );
    }
}
