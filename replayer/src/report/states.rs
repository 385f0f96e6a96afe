//! The table of what each rank spends its time on.

use std::io::{self, Write};
use std::path::Path;

use titr_common::event::{Activity, Rank};
use titr_common::output::OutputFile;
use titr_common::time::Time;
use titr_simulation::observe::Observer;

/// An observer that writes a row for each state of a rank, or of a thread of it.
pub(crate) struct States {
    out: OutputFile,
    /// The first error; nothing is written after it.
    written: io::Result<()>,
}

impl States {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let mut out = OutputFile::create(path)?;
        writeln!(out, "rank,activity,begin,end")?;
        Ok(Self { out, written: Ok(()) })
    }

    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.written?;
        self.out.finish()
    }
}

impl Observer for States {
    fn spent(&mut self, rank: Rank, activity: Activity, from: Time, to: Time) {
        if from == to || self.written.is_err() {
            return;
        }
        let activity = match activity {
            Activity::Compute => "compute",
            Activity::Send => "send",
            Activity::Recv => "recv",
            Activity::Wait => "wait",
            Activity::File => "file",
            Activity::Collective => "collective",
        };
        self.written = writeln!(self.out, "{},{activity},{},{}", rank.0, from.seconds().0, to.seconds().0);
    }
}
