//! `titr combine`.

use std::fs;
use std::path::PathBuf;

use clap::Parser;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use titr_common::terminal::say;
use titr_common::trace::combined::CombinedBy;
use titr_formats::input;

use super::Failure;
use crate::combine::{self, NamedTrace};

const NOTES: &str = "\
The runs must be recordings of one program with the same input, and the program must send the same messages in every run, \
in whatever order they arrive. The new trace has the calls of the runs, and each volume of computation between two calls is the least or the median of all runs:

  for run in 1 2 3; do TITRACE_DIR=run-$run mpirun -np 16 titrace ./lu.B.16; done
  titr combine run-1 run-2 run-3 --output traces

The manifest holds the spread of the volumes; `titr info` prints it. `titrace --repeat 3 mpirun …` records and combines in \
one command.

Exit status: 0 done; 1 the runs differ in communication, or a run or the output is at fault; 2 wrong usage.";

/// Combines recordings of several runs of one program into one trace.
#[derive(Debug, Parser)]
#[command(after_help = NOTES)]
pub(super) struct CombineArgs {
    /// The output: a new or empty directory.
    #[arg(short, long, value_name = "TRACE")]
    output: PathBuf,
    /// The choice of each volume: the smallest of all runs, or the median.
    #[arg(long, value_name = "CHOICE", default_value = "least", value_parser = choices())]
    by: CombinedBy,
    /// The recordings: trace directories or archives, each of one run. Everything except the volumes is from the first
    /// run.
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    runs: Vec<PathBuf>,
}

fn choices() -> impl clap::builder::TypedValueParser<Value = CombinedBy> {
    let named = |name: String| CombinedBy::ALL.into_iter().find(|by| by.name() == name).unwrap_or_default();
    PossibleValuesParser::new(CombinedBy::ALL.map(CombinedBy::name)).map(named)
}

pub(super) fn combine(args: &CombineArgs) -> Result<(), Failure> {
    let mut runs: Vec<NamedTrace<'_>> = Vec::new();
    let mut places: Vec<PathBuf> = Vec::new();
    for path in &args.runs {
        runs.push((path, input::open_one(&[path])?));
        let Ok(place) = fs::canonicalize(path) else { continue };
        if places.contains(&place) {
            let twice =
                format!("{}: the run is named twice, and would count twice: name each run once", path.display());
            return Err(Failure::Value(twice));
        }
        places.push(place);
    }
    let combined = combine::combine(&runs, args.by, &args.output)?;
    say(format_args!("{}: combined {combined}", args.output.display()));
    Ok(())
}
