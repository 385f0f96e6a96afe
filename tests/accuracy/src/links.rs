//! Errors on links of several kinds, each calibrated with the documented command on all its hosts: the directory RESULTS/links
//! has
//!
//! * for each size UNIT of large messages, `traces-UNIT` and `sections-UNIT`, a trace of the program and its output;
//! * for each kind of link a directory with `cluster.toml`, the calibrated platform, and `measured-UNIT`, the output of the
//!   program there.
//!
//! All rows are written to `links/rows.csv`.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;

use titr_simulation::{Computation, Trace};

use crate::calibration::Calibration;
use crate::configuration::{Configuration, Model, Shape};
use crate::machine;
use crate::measured::{Measured, median};
use crate::program::Program;
use crate::sections::Sections;

/// The table of all kinds: the errors of all patterns and sizes, by flows and by packets, and the largest one.
pub fn table(results: &Path) -> Result<String, Box<dyn Error>> {
    let links = results.join("links");
    let names = |prefix: &str| -> Result<Vec<String>, Box<dyn Error>> {
        let files = std::fs::read_dir(&links).map_err(|error| format!("{}: {error}", links.display()))?;
        let names = files.map(|file| Ok(file?.file_name().to_string_lossy().into_owned()));
        let mut names = names.collect::<Result<Vec<_>, std::io::Error>>()?;
        names.retain(|name| name.starts_with(prefix));
        names.sort();
        Ok(names)
    };
    let units: Vec<String> = names("traces-")?.iter().map(|name| name.replace("traces-", "")).collect();
    let mut text = "\
| link | patterns | flow: median | worst | | packet: median | worst | |
|---|--:|--:|--:|---|--:|--:|---|
"
    .to_owned();
    let mut rows = "link,pattern,bytes,measured_s,spread,model,predicted_s,error\n".to_owned();
    for kind in names("")? {
        let folder = links.join(&kind);
        if !folder.join("cluster.toml").is_file() {
            continue;
        }
        let calibration = Calibration::read(&folder.join("cluster.toml"))?;
        let mut errors: [Vec<(f64, String)>; 2] = Default::default();
        for unit in &units {
            let trace = Trace::open(&links.join(format!("traces-{unit}")))?;
            let traced = Measured::read(&links.join(format!("sections-{unit}")))?;
            let measured = Measured::read(&folder.join(format!("measured-{unit}")))?;
            let configuration =
                Configuration { shape: Shape::Star, hosts: trace.ranks(), slots: 1, rate: "100mbit".to_owned() };
            for (model, errors) in [Model::Flow, Model::Packet].into_iter().zip(&mut errors) {
                let platform = machine::platform(&calibration, &configuration, model, &[])?;
                let predicted =
                    Sections::replayed(&platform, &trace, Computation::Counted, Program::Patterns.mark(), None)?;
                for (traced, predicted) in traced.iter().zip(predicted) {
                    let measured = measured.iter().find(|measured| measured.pattern == traced.pattern);
                    let measured = measured.ok_or_else(|| format!("{kind} has no {}", traced.pattern))?;
                    let (seconds, spread) = (measured.median(), measured.spread());
                    let error = predicted / seconds - 1.0;
                    let row = format!("{kind},{},{unit},{seconds:.4},{spread:.3},{model}", traced.pattern);
                    writeln!(rows, "{row},{predicted:.4},{error:.3}")?;
                    errors.push((error, format!("{} of {unit} B", traced.pattern)));
                }
            }
        }
        write!(text, "| {} | {} |", kind, errors[0].len())?;
        for errors in &errors {
            let sizes: Vec<f64> = errors.iter().map(|(error, _)| error.abs()).collect();
            let worst = errors.iter().max_by(|one, other| one.0.abs().total_cmp(&other.0.abs()));
            let (worst, pattern) = worst.cloned().unwrap_or_default();
            write!(text, " {:.1} % | {:+.1} % | {pattern} |", 100.0 * median(&sizes), 100.0 * worst)?;
        }
        writeln!(text)?;
    }
    std::fs::write(links.join("rows.csv"), rows)?;
    Ok(text)
}
