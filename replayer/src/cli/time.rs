//! `--time`: the time and memory that titr itself used.

use std::io::{Write, stderr};
use std::time::{Duration, Instant};

use clap::Args;
use rustix::time::{ClockId, clock_gettime};
use titr_common::format::{uncertain, volume};
use titr_common::terminal::Escaped;
use titr_common::units::{Bytes, Seconds};

use super::{Failure, Out};

#[derive(Debug, Args)]
pub(super) struct TimeArgs {
    /// Prints on standard error the processor time, the time on the wall and the memory that titr itself used.
    #[arg(long)]
    time: bool,
}

impl TimeArgs {
    /// Does `work`, which returns the number of events where a trace of a program was replayed, and says what it took.
    pub(super) fn measure(
        &self,
        out: &mut Out,
        work: impl FnOnce(&mut Out) -> Result<Option<u64>, Failure>,
    ) -> Result<(), Failure> {
        let start = Instant::now();
        let events = work(out)?;
        if self.time {
            out.flush()?;
            let (used, mut err) = (process_time(), Escaped::new(stderr().lock()));
            let shown = |time: Duration| uncertain(Seconds(time.as_secs_f64()), None);
            write!(err, "Own time        {} of a processor", shown(used))?;
            if let Some(events) = events.filter(|&events| events > 0) {
                write!(err, ", {:.0} ns an event", used.as_secs_f64() * 1e9 / events as f64)?;
            }
            writeln!(err, ", {} on the wall", shown(start.elapsed()))?;
            let peak = peak_memory().map_or("not known: the system does not say".to_owned(), volume);
            writeln!(err, "Own memory      {peak}")?;
        }
        Ok(())
    }
}

/// The processor time of the process, of threads that have ended too.
fn process_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

/// The most memory that was resident at any time (the kernel's Documentation/filesystems/proc.rst).
fn peak_memory() -> Option<Bytes> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let rest = status.lines().find_map(|text| text.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(Bytes(kibibytes << 10))
}
