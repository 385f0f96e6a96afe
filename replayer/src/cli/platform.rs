//! `titr platform`.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use titr_common::output::claim;
use titr_common::terminal::say;
use titr_platform::Platform;

use super::{Failure, print_json};
use crate::machine::{MachineSummary, write_links};
use crate::page::{MOST_DRAWN, write_machine};

const EXAMPLES: &str = "\
A platform is a file, or one line: a topology, the bandwidth and the latency of its cables and, if you like, the cores of a host,
the speed of a core (2.5Ginstr/s) and the network model (packet).

Examples:
  titr platform show examples/torus.toml
  titr platform show \"dragonfly:g=9,a=4,h=2,p=2 10Gbit/s 1us host:4\" --report dragonfly.html
  titr platform write \"fat-tree:8x8,1x4 100Gbit/s 500ns\" > cluster.toml

Exit status: 0 done; 1 the platform is at fault; 2 wrong usage.";

/// Shows and writes platforms.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true, disable_help_subcommand = true)]
pub(super) struct PlatformArgs {
    #[command(subcommand)]
    command: PlatformCommand,
}

#[derive(Debug, Subcommand)]
enum PlatformCommand {
    /// Counts the hosts, routers and links of a platform, measures diameter, routes and bisection, and checks that all hosts reach
    /// each other.
    Show {
        #[command(flatten)]
        platform: NamedPlatform,
        /// Prints one JSON object.
        #[arg(long)]
        json: bool,
        /// Prints the name, class, bandwidth and latency of each link instead, as `[[network.link]]` and `[[network.failed]]` name it.
        #[arg(long, conflicts_with = "json")]
        links: bool,
        /// Also writes a page for a browser, in one file of HTML: the hosts in the shape of the network, and the links.
        #[arg(long, value_name = "FILE")]
        report: Option<PathBuf>,
    },
    /// Prints a platform, with the keys that are set, as a platform file in TOML.
    Write {
        #[command(flatten)]
        platform: NamedPlatform,
    },
}

/// A platform, and keys that are set.
#[derive(Debug, Args)]
struct NamedPlatform {
    /// The platform file: TOML, or SimGrid's XML; or, if no file has that name, a platform of one line, such as
    /// "torus:4x4x4 10Gbit/s 1us host:4".
    platform: PathBuf,
    /// Sets a key of the platform, such as network.model=packet. You can repeat this option.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

pub(super) fn platform(args: &PlatformArgs, out: &mut impl Write) -> Result<(), Failure> {
    match &args.command {
        PlatformCommand::Show { platform, links: true, .. } => {
            Ok(write_links(&*Platform::load(&platform.platform, &platform.set)?.topology, out)?)
        }
        PlatformCommand::Show { platform, json, report, links: false } => show(platform, *json, report.as_deref(), out),
        PlatformCommand::Write { platform } => {
            Ok(out.write_all(Platform::as_toml(&platform.platform, &platform.set)?.as_bytes())?)
        }
    }
}

fn show(named: &NamedPlatform, json: bool, report: Option<&Path>, out: &mut impl Write) -> Result<(), Failure> {
    let platform = Platform::load(&named.platform, &named.set)?;
    claim(report.map(Path::to_owned))?;
    let hosts = platform.topology.hosts();
    if report.is_some() && hosts > MOST_DRAWN {
        return Err(Failure::Value(format!(
            "--report: {hosts} hosts are too many for a picture: at most {MOST_DRAWN}"
        )));
    }
    let summary = MachineSummary::of(&platform);
    if let Some(file) = report {
        write_machine(&summary, &*platform.topology, file)?;
    }
    if json {
        print_json(&summary, out)?;
    } else {
        summary.warnings.iter().for_each(|warning| say(format_args!("{warning}")));
        summary.write(out)?;
    }
    if summary.findings.is_empty() { Ok(()) } else { Err(Failure::Findings) }
}
