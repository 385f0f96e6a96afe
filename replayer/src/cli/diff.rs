//! `titr diff`.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use titr_analyses::diff::ReplayedResult;

use super::Failure;
use crate::report::difference;

/// Compares two results of `titr-replay --json`: the time by activity and rank, and the load of links.
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The result before the change.
    before: PathBuf,
    /// The result after the change of the program or the machine.
    after: PathBuf,
    /// Prints one JSON object.
    #[arg(long)]
    json: bool,
}

/// The command.
pub(crate) fn diff(args: &DiffArgs, out: &mut impl Write) -> Result<(), Failure> {
    let difference = ReplayedResult::read(&args.before)?.to(&ReplayedResult::read(&args.after)?);
    if !args.json {
        return Ok(difference::summary(&difference, out)?);
    }
    serde_json::to_writer(&mut *out, &difference).map_err(std::io::Error::from)?;
    Ok(writeln!(out)?)
}
