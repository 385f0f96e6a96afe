//! Compares the measurements of `ci/accuracy` with titr's predictions: `titr-accuracy RESULTS ROWS > docs/ACCURACY.md`.
//! All rows are written to the CSV file ROWS.
//!
//! The directory RESULTS has
//!
//! * `cluster-HOSTSxSLOTS-RATE.toml`, the platform that `titr-calibrate` has fitted to a star of these hosts;
//! * `traces-RANKS-RATE/`, a trace of `tests/programs/accuracy` on this many ranks, and `sections-RANKS-RATE`, the
//!   output of that run;
//! * `measured/SHAPE-HOSTSxSLOTS-RATE`, the program's output in each configuration of the lab;
//! * `traces-lammps-RANKS/`, `sections-lammps-RANKS` and `measured-lammps/`, the same for LAMMPS;
//! * optionally `timed/`, applications that were recorded in the lab;
//! * optionally `remarks`, facts that a reader should know about these measurements.
//!
//! `titr-accuracy split RESULTS` prints the sources of errors, `titr-accuracy links RESULTS` the errors on links of several
//! kinds, and `titr-accuracy timed RESULTS` the applications that were recorded in the lab.

mod calibration;
mod configuration;
mod links;
mod machine;
mod measured;
mod page;
mod program;
mod row;
mod sections;
mod split;
mod timed;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use calibration::Calibration;
use configuration::Configuration;
use program::Program;
use row::Row;

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let printed = match &arguments[..] {
        [command, results] if command.as_os_str() == "split" => split::table(results),
        [command, results] if command.as_os_str() == "links" => links::table(results),
        [command, results] if command.as_os_str() == "timed" => {
            calibrations(results).and_then(|calibrations| timed::table(results, &calibrations))
        }
        [results, rows] => page(results, rows),
        _ => {
            eprintln!(
                "usage: titr-accuracy RESULTS ROWS\n       titr-accuracy split RESULTS\n       titr-accuracy links RESULTS\n       \
                 titr-accuracy timed RESULTS"
            );
            return ExitCode::from(2);
        }
    };
    match printed {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("titr-accuracy: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The page `docs/ACCURACY.md`. Writes its rows into the file `csv`.
fn page(results: &Path, csv: &Path) -> Result<String, Box<dyn Error>> {
    let (calibrations, rows) = compare(results)?;
    std::fs::write(csv, page::csv(&rows)?)?;
    let remarks = std::fs::read_to_string(results.join("remarks")).unwrap_or_default();
    let timed = timed::table(results, &calibrations)?;
    Ok(page::Page { rows: &rows, remarks: &remarks, timed: &timed }.to_string())
}

/// The calibrations, by their hosts, ranks and rate.
type Calibrations = BTreeMap<String, Calibration>;

/// The calibrations in RESULTS.
fn calibrations(results: &Path) -> Result<Calibrations, Box<dyn Error>> {
    let mut calibrations = Calibrations::new();
    for file in std::fs::read_dir(results)? {
        let name = file?.file_name().to_string_lossy().into_owned();
        let Some(machine) = name.strip_prefix("cluster-").and_then(|rest| rest.strip_suffix(".toml")) else {
            continue;
        };
        calibrations.insert(machine.to_owned(), Calibration::read(&results.join(&name))?);
    }
    Ok(calibrations)
}

/// The calibrations, and the rows of all configurations that were measured.
fn compare(results: &Path) -> Result<(Calibrations, Vec<Row>), Box<dyn Error>> {
    let calibrations = calibrations(results)?;
    let mut rows = Vec::new();
    for program in Program::ALL {
        for configuration in Configuration::measured(&results.join(program.measured()))? {
            let machine = configuration.machine();
            let calibration =
                calibrations.get(&machine).ok_or_else(|| format!("there is no cluster-{machine}.toml"))?;
            rows.extend(row::predicted(results, program, &configuration, calibration)?);
        }
    }
    Ok((calibrations, rows))
}
