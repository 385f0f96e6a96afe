//! `titr gather`.

use std::path::PathBuf;

use clap::Parser;
use titr_common::format::{plural, volume};
use titr_common::terminal::say;
use titr_common::trace;

use super::Failure;

const NOTES: &str = "\
If the hosts of a run share no file system, each has a part of the trace. Copy the parts to one host (scp, rsync), and \
gather them, or name all copies wherever a command takes a trace:

  titr gather copy1/traces copy2/traces --output traces.tar
  titr replay --platform examples/torus.toml copy1/traces copy2/traces

An archive is a tar file: titr reads it as it is, and `tar -xf` makes a trace directory of it. Each stream is \
compared with the checksum that its rank wrote, and ranks that do the same get one stream. The parts are not changed.

Exit status: 0 done; 1 the parts or the output are at fault; 2 wrong usage.";

/// Joins the parts of a trace.
#[derive(Debug, Parser)]
#[command(after_help = NOTES)]
pub(super) struct GatherArgs {
    /// The output: an archive if its name ends with .tar, otherwise a directory.
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
    /// Directories and archives that hold parts.
    #[arg(required = true, value_name = "PART")]
    parts: Vec<PathBuf>,
}

pub(super) fn gather(args: &GatherArgs) -> Result<(), Failure> {
    let gathered = trace::gather(&args.parts, &args.output)?;
    let of = plural(u64::from(gathered.ranks), "rank", "ranks");
    say(format_args!("{}: {} {of}, {}", args.output.display(), gathered.ranks, volume(gathered.size)));
    if gathered.unchecked > 0 {
        let left = plural(u64::from(gathered.unchecked), "rank", "ranks");
        say(format_args!("  {} {left} left no checksum: killed, or the disk was full", gathered.unchecked));
    }
    Ok(())
}
