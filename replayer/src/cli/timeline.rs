//! The files that a timeline is drawn into.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use super::Failure;
use titr_common::trace::EventSource;
use titr_formats::timeline::{Chronicle, Format, Paje, Perfetto};
use titr_network::Network;
use titr_platform::Mpi;
use titr_simulation::observe::{Breakdown, Timeline};
use titr_simulation::ranks::Seat;
use titr_simulation::replay::{Options, Outcome, replay};
use titr_simulation::workload::Workload;

/// Which there are to be.
#[derive(Debug, Default, Args)]
pub(super) struct TimelineArgs {
    /// Writes a timeline for ViTE and pj_dump: what each rank does when, and each message as an arrow. With several runs,
    /// the timeline is that of the first.
    #[arg(long, value_name = "FILE", conflicts_with = "traffic")]
    paje: Option<PathBuf>,
    /// Writes the timeline for <https://ui.perfetto.dev> (Chrome's JSON).
    #[arg(long, value_name = "FILE", conflicts_with = "traffic")]
    perfetto: Option<PathBuf>,
}

/// What time it is that goes by.
const SIMULATED: &str = "simulated time";

impl TimelineArgs {
    /// Replays, and draws that if asked to.
    pub(super) fn replay<S: EventSource>(
        &self,
        workload: Workload<S>,
        seats: Vec<Seat>,
        mpi: &Mpi,
        network: &mut dyn Network,
        breakdown: Breakdown,
        options: Options,
    ) -> Result<Outcome<Breakdown>, Failure> {
        let timeline = self.chronicle(workload.ranks() as u32)?.map(|chronicle| Box::new(Timeline::new(chronicle)));
        let (outcome, timeline) = replay(workload, seats, mpi, network, (breakdown, timeline), options)?.split();
        timeline.map_or(Ok(()), |timeline| timeline.into_chronicle().finish())?;
        Ok(outcome)
    }

    /// What writes them; nothing if none was asked for.
    fn chronicle(&self, ranks: u32) -> io::Result<Option<Chronicle>> {
        let mut formats: Vec<Box<dyn Format>> = Vec::new();
        if let Some(path) = &self.paje {
            formats.push(Box::new(Paje::new(create(path)?, ranks)?));
        }
        if let Some(path) = &self.perfetto {
            formats.push(Box::new(Perfetto::new(create(path)?, ranks, SIMULATED)?));
        }
        Ok((!formats.is_empty()).then(|| Chronicle::new(formats)))
    }
}

/// An empty file.
pub(super) fn create(path: &Path) -> io::Result<BufWriter<Named>> {
    let file = File::create(path).map_err(|error| of(path, error))?;
    Ok(BufWriter::new(Named { path: path.into(), file }))
}

/// A file whose errors say which it is.
pub(super) struct Named {
    path: PathBuf,
    file: File,
}

impl Write for Named {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.file.write(text).map_err(|error| of(&self.path, error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|error| of(&self.path, error))
    }
}

fn of(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
