//! Refines a platform by whole runs: values of the platform are multiplied by factors, so that replays of traces take as long
//! as the runs of their programs took.
//!
//! ```toml
//! platform = "cluster.toml"           # relative to this file, like the traces
//! values = ["hosts.speed", "mpi.send_overhead"]
//! choices = ["mpi.rendezvous_duplex"]
//!
//! [[run]]
//! trace = "traces-lu"
//! seconds = 12.3                      # from MPI_Init to MPI_Finalize
//!
//! [[run]]
//! trace = "traces-ft"
//! seconds = 5.1
//! held_out = true                     # tells how good the refined platform is
//! ```
//!
//! **The problem.** For run *i*, the residual is *rᵢ = ln (predicted / measured)*, and the factor of value *k* is *exp xₖ*. The
//! factors minimise *Σ rᵢ²* over all runs that are not held out, by the method of Gauss and Newton (J. Nocedal and S. Wright,
//! "Numerical Optimization", 2006, §10.3); the derivatives are differences between replays. Flags (`choices`) are tried both ways.
//!
//! **What runs cannot tell.** A value that changes no predicted time, or changes the times of all runs as other values do, has no
//! best factor. Such a value is refused: the part of its derivatives that is not a combination of those of the values before it
//! has to be large enough.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use thiserror::Error;
use titr_common::input::{self, WRITTEN_BY_HAND};
use titr_common::terminal::on_one_line;
use titr_common::trace::{Trace, TraceError};
use titr_document::{Checked, Mistake, Source, Spanned};
use titr_platform::{Platform, PlatformError};
use titr_simulation::{Computation, Simulation, SimulationError};

/// A platform that was refined by runs.
#[derive(Clone, Debug)]
pub struct Refinement {
    /// The platform file.
    pub cluster: String,
    /// The values that were refined.
    pub values: Vec<RefinedValue>,
    /// The flags that were tried both ways, with the better one.
    pub choices: Vec<(String, bool)>,
    /// All runs.
    pub runs: Vec<RefinedRun>,
    /// The part of their speed at which cores compute when others of their host work, if it is more than all of it, which cannot be.
    pub impossible_sharing: Option<f64>,
}

/// A value of a platform that was multiplied by a factor.
#[derive(Clone, Debug, PartialEq)]
pub struct RefinedValue {
    /// Its key.
    pub key: String,
    /// The factor.
    pub factor: f64,
    /// The standard error of the factor, as a fraction of it. `None`: there are no more runs than values.
    pub uncertainty: Option<f64>,
}

/// A run, measured and predicted, in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct RefinedRun {
    /// Its trace, as the file names it.
    pub trace: String,
    /// Whether the factors were found without it.
    pub held_out: bool,
    /// The measured time.
    pub measured: f64,
    /// The time that the platform predicted.
    pub before: f64,
    /// The time that the refined platform predicts.
    pub after: f64,
}

/// A reason why a platform was not refined.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum RefineError {
    #[error("cannot read the runs {}: {error}", path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error(transparent)]
    Mistaken(#[from] Mistake),
    #[error(transparent)]
    Platform(#[from] PlatformError),
    #[error("{trace}: {source}")]
    Replay { trace: String, source: SimulationError },
}

/// The factor by which a value is multiplied to see what depends on it.
const PROBE: f64 = 1.02;

/// A value has to change the times by this fraction of its own change, as a root of the mean square.
const LEAST_EFFECT: f64 = 0.005;

/// Steps of the method at most, the smallest that counts, and the largest.
const STEPS: usize = 8;
const SMALLEST_STEP: f64 = 1e-4;
const LARGEST_STEP: f64 = 0.7;

/// The most flags that are tried both ways.
const MOST_CHOICES: usize = 4;

/// A run of the file.
struct Run {
    trace: Trace,
    name: String,
    measured: f64,
    /// Keys of the platform that were otherwise in this run, with their values.
    set: Vec<String>,
    held_out: bool,
}

/// The best factors with some flags.
struct Solution {
    choices: Vec<(String, bool)>,
    logarithms: Vec<f64>,
    /// The times of all runs, in seconds.
    predicted: Vec<f64>,
}

/// The platform of the file, and its runs.
struct Problem<'f> {
    source: &'f Source,
    platform: PathBuf,
    text: String,
    keys: &'f [Spanned<String>],
    runs: Vec<Run>,
}

/// Measured times are not more exact.
const IMPOSSIBLE_SHARING: f64 = 1.005;

impl Refinement {
    /// Refines the platform of a file by the runs of that file, whose traces are opened with `open`.
    ///
    /// # Errors
    /// If the file, the platform or a trace is not valid, or if the runs cannot tell the values apart.
    pub fn of(path: &Path, open: impl Fn(&Path) -> Result<Trace, TraceError>) -> Result<Self, RefineError> {
        let text = input::read_text(path, WRITTEN_BY_HAND)
            .map_err(|error| RefineError::Unreadable { path: path.to_owned(), error })?;
        let source = Source::new(&path.display().to_string(), text, []);
        let file: File = source.read()?;
        let folder = path.parent().unwrap_or(Path::new(""));
        check(&source, &file)?;
        let platform = folder.join(file.platform.get_ref());
        let text = Platform::text(&platform).map_err(|error| source.wrong(&file.platform, error.to_string()))?;
        let runs = file.run.iter().map(|table| run(&source, folder, table, &open)).collect::<Checked<Vec<_>>>()?;
        let problem = Problem { source: &source, platform, text, keys: &file.values, runs };

        let before = problem.predict(&[], &vec![0.0; problem.keys.len()])?;
        let mut best: Option<Solution> = None;
        for tried in 0..1_u32 << file.choices.len() {
            let choice = |(at, key): (usize, &Spanned<String>)| (key.get_ref().clone(), tried >> at & 1 == 1);
            let choices: Vec<(String, bool)> = file.choices.iter().enumerate().map(choice).collect();
            let (logarithms, predicted) = problem.minimise(&choices)?;
            if best.as_ref().is_none_or(|best| problem.misses(&predicted) < problem.misses(&best.predicted)) {
                best = Some(Solution { choices, logarithms, predicted });
            }
        }
        let nothing = || Solution { choices: Vec::new(), logarithms: Vec::new(), predicted: before.clone() };
        let Solution { choices, logarithms, predicted: after } = best.unwrap_or_else(nothing);
        let columns = problem.derivatives(&choices, &logarithms, &after)?;
        let uncertainty = problem.uncertainty(&columns, &after);
        let value = |((key, logarithm), uncertainty): ((&Spanned<String>, &f64), Option<f64>)| RefinedValue {
            key: key.get_ref().clone(),
            factor: logarithm.exp(),
            uncertainty,
        };
        let values: Vec<RefinedValue> = problem.keys.iter().zip(&logarithms).zip(uncertainty).map(value).collect();
        let times = before.into_iter().zip(after);
        let runs: Vec<RefinedRun> = problem
            .runs
            .iter()
            .zip(times)
            .map(|(run, (before, after))| RefinedRun {
                trace: run.name.clone(),
                held_out: run.held_out,
                measured: run.measured,
                before,
                after,
            })
            .collect();
        let (overrides, factors) = problem.settings(&choices, &logarithms);
        let text = Platform::as_toml_scaled(&problem.platform, &overrides, &factors)?;
        let parsed = Platform::parse(&problem.platform, text.clone(), &[])?;
        let most = (1..=parsed.cores).map(|ranks| parsed.sharing.part(ranks)).fold(0.0, f64::max);
        let impossible_sharing = Some(most).filter(|&most| most > IMPOSSIBLE_SHARING);
        let mut refined = Self { cluster: String::new(), values, choices, runs, impossible_sharing };
        let comments: String =
            refined.to_string().lines().map(|line| format!("# {line}").trim_end().to_owned() + "\n").collect();
        refined.cluster = format!("# A platform for titr replay, refined by whole runs.\n#\n{comments}\n{text}");
        Ok(refined)
    }

    /// The median of the absolute errors of the runs that were held out, or not, before and after; `None` without such runs.
    pub(crate) fn errors(&self, held_out: bool) -> Option<[f64; 2]> {
        let runs = || self.runs.iter().filter(|run| run.held_out == held_out);
        let error = |of: fn(&RefinedRun) -> f64| {
            crate::robust::median(&runs().map(|run| (of(run) / run.measured - 1.0).abs()).collect::<Vec<_>>())
        };
        Some([error(|run| run.before)?, error(|run| run.after)?])
    }
}

/// Refuses a file that has nothing to refine, or nothing to refine it by.
fn check(source: &Source, file: &File) -> Checked<()> {
    if file.values.is_empty() && file.choices.is_empty() {
        let mistake = source.mistake(Some(0..0), "there is nothing to refine");
        return Err(mistake.with_help("name keys of the platform: values = [\"hosts.speed\"]"));
    }
    let keys: Vec<&Spanned<String>> = file.values.iter().chain(&file.choices).collect();
    for (at, key) in keys.iter().enumerate() {
        if keys[..at].iter().any(|other| other.get_ref() == key.get_ref()) {
            return Err(source.wrong(key, format!("`{}` is there twice", key.get_ref())));
        }
    }
    if let Some(choice) = file.choices.get(MOST_CHOICES) {
        return Err(source.wrong(choice, format!("titr tries at most {MOST_CHOICES} flags both ways")));
    }
    let fitted = file.run.iter().filter(|run| !run.held_out).count();
    if fitted == 0 {
        let mistake = source.mistake(Some(0..0), "there is no run to refine the platform by");
        return Err(mistake.with_help("write a table [[run]] with `trace` and `seconds`"));
    }
    match file.values.get(fitted) {
        Some(key) => {
            let message = format!("{fitted} runs cannot tell {} values apart", file.values.len());
            Err(source.wrong(key, message).with_help("leave values out, or add runs"))
        }
        None => Ok(()),
    }
}

fn run(
    source: &Source,
    folder: &Path,
    table: &RunTable,
    open: impl Fn(&Path) -> Result<Trace, TraceError>,
) -> Checked<Run> {
    let measured = *table.seconds.get_ref();
    if !(measured > 0.0 && measured.is_finite()) {
        return Err(source.wrong(&table.seconds, format!("a run does not take {measured} s")));
    }
    let name = table.trace.get_ref().clone();
    let trace = open(&folder.join(&name)).map_err(|error| source.wrong(&table.trace, error.to_string()))?;
    Ok(Run { trace, name, measured, set: table.set.clone(), held_out: table.held_out })
}

impl Problem<'_> {
    /// The overrides of a platform with these flags, and the factors of its values.
    fn settings(&self, choices: &[(String, bool)], logarithms: &[f64]) -> (Vec<String>, Vec<(String, f64)>) {
        let overrides = choices.iter().map(|(key, flag)| format!("{key}={flag}")).collect();
        let factor = |(key, logarithm): (&Spanned<String>, &f64)| (key.get_ref().clone(), logarithm.exp());
        (overrides, self.keys.iter().zip(logarithms).map(factor).collect())
    }

    /// The times of all runs on such a platform, in seconds.
    fn predict(&self, choices: &[(String, bool)], logarithms: &[f64]) -> Result<Vec<f64>, RefineError> {
        let (overrides, factors) = self.settings(choices, logarithms);
        let platform =
            |overrides: &[String]| Platform::parse_scaled(&self.platform, self.text.clone(), overrides, &factors);
        let common = platform(&overrides)?;
        let time = |run: &Run| {
            let own = match run.set.as_slice() {
                [] => common.clone(),
                set => platform(&[overrides.as_slice(), set].concat())?,
            };
            let platform = own.for_trace(&run.trace);
            let has_times = run.trace.manifest().is_some_and(|manifest| manifest.foreign.is_some());
            let computation = if has_times { Computation::Timed } else { Computation::Counted };
            let result = Simulation::new(&platform, &run.trace).computation(computation).run();
            let result = result.map_err(|source| RefineError::Replay { trace: run.name.clone(), source })?;
            Ok(result.simulated_time.0)
        };
        self.runs.iter().map(time).collect()
    }

    /// The residuals of the runs that are not held out.
    fn residuals(&self, predicted: &[f64]) -> Vec<f64> {
        let fitted = self.runs.iter().zip(predicted).filter(|(run, _)| !run.held_out);
        fitted.map(|(run, predicted)| (predicted / run.measured).ln()).collect()
    }

    /// The sum of the squares of the residuals.
    fn misses(&self, predicted: &[f64]) -> f64 {
        self.residuals(predicted).iter().map(|residual| residual * residual).sum()
    }

    /// The derivatives of the residuals by the logarithm of each factor.
    fn derivatives(
        &self,
        choices: &[(String, bool)],
        logarithms: &[f64],
        predicted: &[f64],
    ) -> Result<Vec<Vec<f64>>, RefineError> {
        let here = self.residuals(predicted);
        let derivative = |at: usize| {
            let mut there = logarithms.to_vec();
            there[at] += PROBE.ln();
            let there = self.residuals(&self.predict(choices, &there)?);
            Ok(there.iter().zip(&here).map(|(there, here)| (there - here) / PROBE.ln()).collect())
        };
        (0..self.keys.len()).map(derivative).collect()
    }

    /// The logarithms of the best factors with these flags, and the times of the runs with them.
    fn minimise(&self, choices: &[(String, bool)]) -> Result<(Vec<f64>, Vec<f64>), RefineError> {
        let mut logarithms = vec![0.0; self.keys.len()];
        let mut predicted = self.predict(choices, &logarithms)?;
        for _ in 0..STEPS {
            let columns = self.derivatives(choices, &logarithms, &predicted)?;
            let least = LEAST_EFFECT * (self.residuals(&predicted).len() as f64).sqrt();
            if let Some(at) = first_dependent(&columns, least) {
                return Err(self.untold(at, &columns[at], least).into());
            }
            let wanted: Vec<f64> = self.residuals(&predicted).iter().map(|residual| -residual).collect();
            let (step, _) = solve(&columns, &wanted);
            let longest = step.iter().fold(0.0_f64, |longest, step| longest.max(step.abs()));
            let mut scale = (LARGEST_STEP / longest.max(f64::MIN_POSITIVE)).min(1.0);
            // A step that makes it worse was too long.
            let better = loop {
                if scale * longest < SMALLEST_STEP {
                    break None;
                }
                let there: Vec<f64> = logarithms.iter().zip(&step).map(|(here, step)| here + scale * step).collect();
                let times = self.predict(choices, &there)?;
                if self.misses(&times) < self.misses(&predicted) {
                    break Some((there, times));
                }
                scale /= 2.0;
            };
            let Some(better) = better else { break };
            (logarithms, predicted) = better;
        }
        Ok((logarithms, predicted))
    }

    /// The mistake of a value that the runs do not determine.
    fn untold(&self, at: usize, column: &[f64], least: f64) -> Mistake {
        let key = &self.keys[at];
        if column.iter().map(|number| number * number).sum::<f64>().sqrt() < least {
            let message = format!("no run depends on `{}`", key.get_ref());
            return self.source.wrong(key, message).with_help("leave it out, or add a run that does");
        }
        let others: Vec<String> = self.keys[..at].iter().map(|key| format!("`{}`", key.get_ref())).collect();
        let message = format!("the runs cannot tell `{}` from {}", key.get_ref(), others.join(", "));
        let help = "leave one of them out, or add a run in which they matter otherwise";
        self.source.wrong(key, message).with_help(help)
    }

    /// The standard error of each logarithm, by the residuals that are left.
    fn uncertainty(&self, columns: &[Vec<f64>], predicted: &[f64]) -> Vec<Option<f64>> {
        let residuals = self.residuals(predicted);
        let freedom = residuals.len().saturating_sub(columns.len());
        if freedom == 0 || columns.is_empty() {
            return vec![None; columns.len()];
        }
        let variance = self.misses(predicted) / freedom as f64;
        solve(columns, &residuals).1.into_iter().map(|error| Some((error.max(0.0) * variance).sqrt())).collect()
    }
}

impl fmt::Display for Refinement {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for RefinedValue { key, factor, uncertainty } in &self.values {
            let error = uncertainty.map_or(String::new(), |error| format!(" ± {:.1} %", error * 100.0));
            writeln!(f, "{key}: times {factor:.4}{error}")?;
        }
        for (key, flag) in &self.choices {
            writeln!(f, "{key}: {flag}")?;
        }
        if let Some(part) = self.impossible_sharing {
            writeln!(
                f,
                "NOTE: cores cannot compute at {part:.3} times their speed because others of their host work (hosts.sharing). The runs \
                 differ in something else: measure each several times with nothing else running and a fixed frequency, or leave \
                 hosts.sharing out"
            )?;
        }
        writeln!(f, "\n{:<40}{:>12}{:>12}{:>12}", "run", "measured, s", "before", "after")?;
        for run in &self.runs {
            let [before, after] = [run.before, run.after].map(|time| (time / run.measured - 1.0) * 100.0);
            let held_out = if run.held_out { " (held out)" } else { "" };
            let name = format!("{}{held_out}", on_one_line(&run.trace));
            writeln!(f, "{name:<40}{:>12.4}{before:>+10.1} %{after:>+10.1} %", run.measured)?;
        }
        for (held_out, words) in [(false, "of the runs that were fitted"), (true, "of the runs that were held out")] {
            if let Some([before, after]) = self.errors(held_out) {
                writeln!(f, "Median error {words}: {:.1} % before, {:.1} % after.", before * 100.0, after * 100.0)?;
            }
        }
        Ok(())
    }
}

/// A column whose part across the columns before it is shorter than this fraction of it depends on them.
const LEAST_ACROSS: f64 = 0.05;

/// The first of the columns that is a combination of those before it, or shorter than `least`; `None`: there is none.
fn first_dependent(columns: &[Vec<f64>], least: f64) -> Option<usize> {
    let mut across: Vec<Vec<f64>> = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        let mut rest = column.clone();
        for unit in &across {
            let along = dot(&rest, unit);
            rest.iter_mut().zip(unit).for_each(|(number, unit)| *number -= along * unit);
        }
        let (whole, left) = (dot(column, column).sqrt(), dot(&rest, &rest).sqrt());
        if whole < least || left < LEAST_ACROSS * whole {
            return Some(at);
        }
        across.push(rest.into_iter().map(|number| number / left).collect());
    }
    None
}

/// The coefficients of independent columns whose combination is nearest to `target`, and for each the square of its error
/// where the target has errors of 1.
fn solve(columns: &[Vec<f64>], target: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let count = columns.len();
    // The normal equations, with the unit matrix and the right-hand side behind them.
    let mut rows: Vec<Vec<f64>> = (0..count)
        .map(|row| {
            let products = columns.iter().map(|column| dot(&columns[row], column));
            let unit = (0..count).map(|at| f64::from(u8::from(at == row)));
            products.chain(unit).chain([dot(&columns[row], target)]).collect()
        })
        .collect();
    for at in 0..count {
        let pivot =
            (at..count).max_by(|&one, &other| rows[one][at].abs().total_cmp(&rows[other][at].abs())).unwrap_or(at);
        rows.swap(at, pivot);
        let scale = rows[at][at];
        rows[at].iter_mut().for_each(|number| *number /= scale);
        let row = rows[at].clone();
        for (_, other) in rows.iter_mut().enumerate().filter(|(number, _)| *number != at) {
            let factor = other[at];
            other.iter_mut().zip(&row).for_each(|(number, pivot)| *number -= factor * pivot);
        }
    }
    let coefficients = rows.iter().map(|row| row[2 * count]).collect();
    (coefficients, (0..count).map(|at| rows[at][count + at]).collect())
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// The platform file, relative to this file.
    pub platform: Spanned<String>,
    /// Keys of the platform whose values are multiplied by a factor.
    #[serde(default)]
    pub values: Vec<Spanned<String>>,
    /// Keys of the platform that are flags, which are tried both ways.
    #[serde(default)]
    pub choices: Vec<Spanned<String>>,
    #[serde(default)]
    pub run: Vec<RunTable>,
}

/// `[[run]]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunTable {
    /// The trace, relative to the file.
    pub trace: Spanned<String>,
    /// The time that the program took, from `MPI_Init` to `MPI_Finalize`.
    pub seconds: Spanned<f64>,
    /// Keys of the platform that were otherwise in this run: `hosts.cores=1`.
    #[serde(default)]
    pub set: Vec<String>,
    /// Whether the factors are found without this run. Default: no.
    #[serde(default)]
    pub held_out: bool,
}

#[cfg(test)]
mod tests;
