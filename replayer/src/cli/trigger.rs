//! `titr trigger`: replays a trace of the messages in a network.

use std::path::PathBuf;

use clap::Args;
use titr_common::output::claim;
use titr_simulation::triggered::TriggeredReplay;

use super::machine::MachineArgs;
use super::report::ReportArgs;
use super::runs::RunsArgs;
use super::time::TimeArgs;
use super::{Failure, Out};
use crate::report::{Results, triggered};

/// Replays a network trace: each message is injected when its triggers have arrived, so that the network's speed feeds back into
/// its load.
#[derive(Args)]
pub(super) struct TriggerArgs {
    /// The network trace, which `titr replay --network-trace` wrote and to which `titr triggers` added triggers.
    #[arg(value_name = "MESSAGES")]
    messages: PathBuf,
    #[command(flatten)]
    machine: MachineArgs,
    /// Injects each message at its own time, regardless of its triggers.
    #[arg(long)]
    open_loop: bool,
    #[command(flatten)]
    runs: RunsArgs,
    /// Prints each virtual channel of a packet network, not only the busiest links.
    #[arg(long)]
    channels: bool,
    #[command(flatten)]
    time: TimeArgs,
    #[command(flatten)]
    report: ReportArgs,
}

/// The command.
pub(super) fn trigger(args: &TriggerArgs, out: &mut Out) -> Result<(), Failure> {
    args.time.measure(out, |out| args.run(out).map(|()| None))
}

impl TriggerArgs {
    fn run(&self, out: &mut Out) -> Result<(), Failure> {
        let platform = self.machine.load()?;
        claim(self.report.files())?;
        let replay = TriggeredReplay {
            platform: &platform,
            trace: &self.messages,
            open_loop: self.open_loop,
            runs: self.runs.runs().unwrap_or(1),
            jobs: self.runs.jobs(),
            channels: self.channels,
        };
        let result = replay.run()?;
        self.report.write(Results::Triggered(&result), out)?;
        if self.report.has_summary() {
            triggered::summary(&result, out)?;
        }
        Ok(())
    }
}
