//! The sources of a prediction's error: the same pattern predicted from counted computation, predicted from the
//! recorded times of computation, and reenacted. `ci/error-split` measures, and prints the table.
//!
//! The directory RESULTS/split has for each configuration of the lab a directory with
//!
//! * `output`, the output of the program when it was traced there;
//! * `traced`, the extended trace of that run;
//! * `again`, the extended trace of its reenactment in the same lab.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;

use titr_simulation::{Computation, Trace};

use crate::calibration::Calibration;
use crate::configuration::{Configuration, Model};
use crate::machine;
use crate::measured::{Measured, median};
use crate::sections::{Mark, Sections};

/// The table of all configurations in RESULTS/split.
pub fn table(results: &Path) -> Result<String, Box<dyn Error>> {
    let mut text = "\
| pattern | shape | hosts × ranks | Mbit/s | measured, s | counted, s | error | timed, s | error | reenacted, s | error |
|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|
"
    .to_owned();
    let mut errors: [Vec<f64>; 3] = Default::default();
    for configuration in Configuration::measured(&results.join("split"))? {
        let directory = results.join("split").join(configuration.to_string());
        let calibration = Calibration::read(&results.join(format!("cluster-{}.toml", configuration.machine())))?;
        let platform = machine::platform(&calibration, &configuration, Model::Flow, &[])?;
        let trace = Trace::open(&directory.join("traced"))?;
        let columns = [
            Sections::replayed(&platform, &trace, Computation::Counted, Mark::Iprobe, None)?,
            Sections::replayed(&platform, &trace, Computation::Timed, Mark::Iprobe, None)?,
            Sections::recorded(&Trace::open(&directory.join("again"))?)?,
        ];
        let mut place = 0;
        for measured in Measured::read(&directory.join("output"))? {
            let (pattern, seconds) = (&measured.pattern, measured.median());
            let repeats = place..place + measured.repeats();
            place = repeats.end;
            let rate = configuration.rate.trim_end_matches("mbit");
            let Configuration { shape, hosts, slots, .. } = configuration;
            write!(text, "| {pattern} | {shape} | {hosts} × {slots} | {rate} | {seconds:.4} |")?;
            for (column, errors) in columns.iter().zip(&mut errors) {
                let missing = || format!("{pattern} is not in a trace of {configuration}");
                let predicted = median(column.get(repeats.clone()).ok_or_else(missing)?);
                let error = predicted / seconds - 1.0;
                errors.push(error.abs());
                write!(text, " {predicted:.4} | {:+.1} % |", error * 100.0)?;
            }
            writeln!(text)?;
        }
    }
    let [counted, timed, reenacted] = errors.map(|errors| median(&errors) * 100.0);
    writeln!(text, "\nMedian error: counted {counted:.1} %, timed {timed:.1} %, reenacted {reenacted:.1} %.")?;
    Ok(text)
}
