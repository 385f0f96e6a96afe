//! How far a command is that takes its time.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use titr_common::format::count;
use titr_common::trace::{Manifest, Trace};
use titr_simulation::Follower;

/// Shows how far a replay is, on one line of a terminal.
pub(super) struct Meter {
    start: Instant,
    shown: Duration,
    /// How many events there are, where the trace says so.
    total: Option<u64>,
}

impl Meter {
    /// The meter of a replay; `None` where nobody looks.
    pub(super) fn new(trace: &Trace) -> Option<Self> {
        let total = |manifest: &Manifest| manifest.per_rank.iter().map(|rank| rank.events).sum();
        let total = trace.manifest().map(total).filter(|&total| total > 0);
        stderr().is_terminal().then(|| Self { start: Instant::now(), shown: Duration::ZERO, total })
    }
}

impl Follower for Meter {
    fn at(&mut self, events: u64, simulated: f64) {
        let elapsed = self.start.elapsed();
        if elapsed < self.shown + Duration::from_millis(200) {
            return;
        }
        self.shown = elapsed;
        let part =
            self.total.map_or(String::new(), |total| format!(" ({:.0} %)", 100.0 * events as f64 / total as f64));
        let simulated = if simulated > 0.0 { format!(", {simulated:.6} s simulated") } else { String::new() };
        eprint!("\r\x1b[K{} events{part}{simulated}", count(events));
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        eprint!("\r\x1b[K");
    }
}
