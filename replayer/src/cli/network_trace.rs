//! `titr-replay --network-trace` and `--triggered`: traces of the messages in a network.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use titr_analyses::NetworkTraceRecorder;
use titr_common::output::OutputFile;
use titr_network_traces::NetworkTraceWriter;
use titr_simulation::triggered::TriggeredReplay;

use super::report::ReportArgs;
use super::{Failure, Out};
use crate::report::{Results, triggered};

/// The options for network traces.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network traces")]
pub struct NetworkTraceArgs {
    /// Writes each message that enters the network to this file, gzipped (see docs/NETWORK-TRACES.md). With several runs, the
    /// file is of the first.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["traffic", "triggered"])]
    network_trace: Option<PathBuf>,
    /// Replays a network trace instead of a program: each message is injected when its triggers have arrived, so that the
    /// network's speed feeds back into its load.
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "traffic", "collectives", "compute", "compute_scale", "what_if", "partial", "normalise", "causality", "analyses",
    ])]
    triggered: Option<PathBuf>,
    /// Injects each message of the network trace at its own time, whatever triggers it.
    #[arg(long, requires = "triggered")]
    open_loop: bool,
}

impl NetworkTraceArgs {
    /// The network trace that is to be replayed, if one is.
    pub(super) fn triggered(&self) -> Option<&Path> {
        self.triggered.as_deref()
    }

    /// Whether triggers are ignored.
    pub(super) fn open_loop(&self) -> bool {
        self.open_loop
    }

    /// Begins the file that is asked for, of a network of so many nodes.
    pub(super) fn recorder(&self, nodes: u32) -> io::Result<Option<NetworkTraceRecorder<OutputFile>>> {
        let writer = self.network_trace.as_ref().map(|path| NetworkTraceWriter::create(path, nodes, true));
        Ok(writer.transpose()?.map(NetworkTraceRecorder::new))
    }

    /// Ends the file.
    pub(super) fn finish(&self, recorder: Option<NetworkTraceRecorder<OutputFile>>) -> io::Result<()> {
        recorder.map_or(Ok(()), |recorder| recorder.finish()?.finish())
    }

    /// The file that is going to be written, if one is.
    pub(super) fn file(&self) -> Option<&Path> {
        self.network_trace.as_deref()
    }
}

/// Replays a network trace, and prints what comes of it.
pub(super) fn replay(replay: &TriggeredReplay, report: &ReportArgs, out: &mut Out) -> Result<(), Failure> {
    let result = replay.run()?;
    report.write(Results::Triggered(&result), out)?;
    if report.has_summary() {
        triggered::summary(&result, out)?;
    }
    Ok(())
}
