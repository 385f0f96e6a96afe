//! The progress line of a long command.

use std::io::{IsTerminal, stderr};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use titr_common::terminal::on_one_line;
use titr_common::trace::{Manifest, Trace};
use titr_simulation::ReplayProgress;

/// The progress line if the manifest has the number of events, and the line if it does not.
const OF_KNOWN: &str = "{bar:24} {percent:>3} %  {human_pos} events, {per_sec}, {eta} left{msg}";
const OF_UNKNOWN: &str = "{human_pos} events, {per_sec}{msg}";

/// The progress line of a study.
const OF_POINTS: &str = "{bar:24} {human_pos} of {human_len} points, {eta} left";

/// Shows the progress of a replay on one line of a terminal: events, their rate, and the remaining time.
pub(super) struct Meter(ProgressBar);

impl Meter {
    /// The meter of a replay; `None` if standard error is not a terminal.
    pub(super) fn new(trace: &Trace) -> Option<Self> {
        if !stderr().is_terminal() {
            return None;
        }
        let total = |manifest: &Manifest| manifest.per_rank.iter().map(|rank| rank.events).sum();
        let total: Option<u64> = trace.manifest().map(total).filter(|&total| total > 0);
        let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new);
        let style = ProgressStyle::with_template(if total.is_some() { OF_KNOWN } else { OF_UNKNOWN });
        Some(Self(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))))
    }

    /// The meter of this many points of a study; `None` if standard error is not a terminal.
    pub(super) fn of_points(points: usize) -> Option<Self> {
        if !stderr().is_terminal() {
            return None;
        }
        let style = ProgressStyle::with_template(OF_POINTS).unwrap_or_else(|_| ProgressStyle::default_bar());
        Some(Self(ProgressBar::new(points as u64).with_style(style)))
    }

    /// Shows that this many points are done.
    pub(super) fn done(&self, points: usize) {
        self.0.set_position(points as u64);
    }

    /// A line that names the file that is being written; `None` if standard error is not a terminal.
    pub(super) fn writing(path: &Path) -> Option<Self> {
        if !stderr().is_terminal() {
            return None;
        }
        let name = path.display().to_string();
        let bar = ProgressBar::new_spinner().with_message(format!("writing {}", on_one_line(&name)));
        bar.tick();
        Some(Self(bar))
    }
}

impl ReplayProgress for Meter {
    fn at(&mut self, events: u64, simulated: f64) {
        if simulated > 0.0 {
            self.0.set_message(format!(", {simulated:.6} s simulated"));
        }
        self.0.set_position(events);
    }
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
