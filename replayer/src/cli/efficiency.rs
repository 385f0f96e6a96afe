//! `titr efficiency`.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use titr_analyses::diff::ReplayedResult;
use titr_analyses::scaling::{EfficiencyTable, Scaling};

use super::Failure;
use crate::report::efficiency;

/// Compares the parallel efficiencies of results of `titr replay --json`, and how they scale from the first result on.
#[derive(Debug, Args)]
pub(super) struct EfficiencyArgs {
    /// The results. The first one is the reference of the scalings.
    #[arg(value_name = "RESULT.json", required = true)]
    results: Vec<PathBuf>,
    /// Compares the work of a rank, not the work of all ranks: the problem grows with the number of ranks.
    #[arg(long)]
    weak: bool,
    /// Prints one JSON object.
    #[arg(long)]
    json: bool,
}

/// The command.
pub(super) fn efficiency(args: &EfficiencyArgs, out: &mut impl Write) -> Result<(), Failure> {
    let read = |path: &PathBuf| Ok::<_, Failure>((path.display().to_string(), ReplayedResult::read_prediction(path)?));
    let results = args.results.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let scaling = if args.weak { Scaling::Weak } else { Scaling::Strong };
    let table = EfficiencyTable::of(&results, scaling);
    if !args.json {
        return Ok(efficiency::summary(&table, scaling, out)?);
    }
    serde_json::to_writer(&mut *out, &table).map_err(std::io::Error::from)?;
    Ok(writeln!(out)?)
}
