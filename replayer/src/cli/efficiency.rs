//! `titr efficiency`.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use titr_common::format::uncertain;
use titr_common::terminal::on_one_line;

use super::{Failure, print_json};
use crate::diff::ReplayedResult;
use crate::scaling::{EfficiencyTable, ScaledResult, Scaling};

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

pub(super) fn efficiency(args: &EfficiencyArgs, out: &mut impl Write) -> Result<(), Failure> {
    let read = |path: &PathBuf| Ok::<_, Failure>((path.display().to_string(), ReplayedResult::read_prediction(path)?));
    let results = args.results.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let scaling = if args.weak { Scaling::Weak } else { Scaling::Strong };
    let table = EfficiencyTable::of(&results, scaling);
    Ok(if args.json { print_json(&table, out) } else { summary(&table, scaling, out) }?)
}

/// A row of the table: its name, a number of a result, and the formula of this number.
type EfficiencyRow = (&'static str, fn(&ScaledResult) -> Option<f64>, &'static str);

const ROWS: [EfficiencyRow; 8] = [
    ("Global efficiency", |result| result.global, "parallel efficiency × computation scaling"),
    ("  Parallel efficiency", |result| Some(result.efficiencies?.parallel), "load balance × communication efficiency"),
    ("    Load balance", |result| Some(result.efficiencies?.load_balance), "mean / largest computation of a rank"),
    (
        "    Communication efficiency",
        |result| Some(result.efficiencies?.communication),
        "largest computation of a rank / time = serialisation × transfer",
    ),
    (
        "      Serialisation",
        |result| result.efficiencies?.serialisation,
        "largest computation of a rank / time on an ideal network",
    ),
    ("      Transfer", |result| result.efficiencies?.transfer, "time on an ideal network / time"),
    ("  Computation scaling", |result| result.computation_scaling, ""),
    ("    Instruction scaling", |result| result.instruction_scaling, ""),
];

/// The width of the first column.
const NAME: usize = 28;

/// The width of a column of numbers.
const NUMBER: usize = 12;

/// Prints a table of efficiencies in percent.
fn summary(table: &EfficiencyTable, scaling: Scaling, out: &mut impl Write) -> io::Result<()> {
    let width = |result: &ScaledResult| (on_one_line(&result.name).chars().count() + 2).max(NUMBER);
    let line = |out: &mut dyn Write, name: &str, cell: &dyn Fn(&ScaledResult) -> String, formula: &str| {
        write!(out, "{name:<NAME$}")?;
        for result in &table.results {
            write!(out, "{:>width$}", cell(result), width = width(result))?;
        }
        if formula.is_empty() { writeln!(out) } else { writeln!(out, "  {formula}") }
    };
    line(out, "", &|result| on_one_line(&result.name).into_owned(), "")?;
    line(out, "Ranks", &|result| result.ranks.to_string(), "")?;
    line(out, "Predicted time", &|result| uncertain(result.simulated_time, None), "")?;
    let (work, whose) = match scaling {
        Scaling::Strong => ("", "all ranks"),
        Scaling::Weak => ("mean ", "a rank"),
    };
    for (name, value, formula) in &ROWS {
        let formula = match *name {
            "  Computation scaling" => format!("{work}computation of {whose}: first result / this one"),
            "    Instruction scaling" => format!("{work}instructions of {whose}: first result / this one"),
            _ => (*formula).to_owned(),
        };
        let cell =
            |result: &ScaledResult| value(result).map_or("-".to_owned(), |part| format!("{:.1} %", 100.0 * part));
        line(out, name, &cell, &formula)?;
    }
    if table.results.iter().all(|result| result.efficiencies.is_none_or(|found| found.transfer.is_none())) {
        writeln!(out, "\nSerialisation and transfer are in results of titr replay --analyse critical-path.")?;
    }
    Ok(())
}
