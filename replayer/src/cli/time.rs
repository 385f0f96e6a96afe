//! `--time`: where titr's own time went.

use std::io::{Write, stderr};

use clap::Args;
use titr_common::terminal::Escaped;
use titr_simulation::profile::Profiler;

use super::{Failure, Out};
use crate::report::own_profile;

/// The option for a profile of titr itself.
#[derive(Debug, Args)]
pub(super) struct TimeArgs {
    /// Prints on standard error the processor time and the memory that titr itself used: the time of reading, ranks,
    /// network and results, and the memory for each rank.
    #[arg(long)]
    time: bool,
}

impl TimeArgs {
    /// Does `work`, which returns the number of events where a trace of a program was replayed, and says where its time went.
    pub(super) fn measure(
        &self,
        out: &mut Out,
        work: impl FnOnce(&mut Out) -> Result<Option<u64>, Failure>,
    ) -> Result<(), Failure> {
        let profiler = self.time.then(Profiler::start);
        let events = work(out)?;
        if let Some(profiler) = profiler {
            out.flush()?;
            own_profile::summary(&profiler.finish(), events, &mut Escaped::new(stderr().lock()))?;
        }
        Ok(())
    }
}
