//! `titr vary`: one program on variations of a platform.

use std::str::FromStr;

use clap::Args;
use titr_common::format::count;
use titr_common::output::claim;
use titr_simulation::parallel::Jobs;

use super::machine::MachineArgs;
use super::program::ProgramArgs;
use super::report::ReportArgs;
use super::runs::RunsArgs;
use super::time::TimeArgs;
use super::{Failure, Out};
use crate::call_sites::CallSiteNames;
use crate::report::Results;
use crate::report::variations::{self, Variations, VariedResult};
use crate::studies::places;

const EXAMPLES: &str = "\
Examples:
  titr vary --platform examples/torus.toml --key network.latency=1us,2us,5us traces/
  titr vary --platform examples/torus.toml --key network.latency=1us,2us --key hosts.cores=1,2 traces/";

/// Predicts how long a traced MPI program takes on variations of a machine, and compares the times.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct VaryArgs {
    #[command(flatten)]
    machine: MachineArgs,
    /// Replays the trace with each of these values of a key of the platform. If you repeat this option, replays every
    /// combination of values.
    #[arg(short, long = "key", alias = "vary", value_name = "KEY=VALUE,...", required = true)]
    keys: Vec<VariedKey>,
    #[command(flatten)]
    runs: RunsArgs,
    #[command(flatten)]
    time: TimeArgs,
    #[command(flatten)]
    report: ReportArgs,
    #[command(flatten)]
    program: ProgramArgs,
}

/// A key of the platform, and the values that it has in one replay after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VariedKey {
    key: String,
    values: Vec<String>,
}

impl FromStr for VariedKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (key, values) = text.split_once('=').ok_or("expected KEY=VALUE,VALUE, such as hosts.cores=1,2,4")?;
        let values: Vec<String> = values_of(values).into_iter().map(|value| value.trim().to_owned()).collect();
        if values.iter().any(String::is_empty) {
            return Err("a value is empty".to_owned());
        }
        Ok(Self { key: key.trim().to_owned(), values })
    }
}

/// The parts of a text between commas that are neither in brackets nor in quotes.
fn values_of(text: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut from) = (0_i32, false, 0);
    let mut values = Vec::new();
    for (at, letter) in text.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            ',' if !quoted && depth <= 0 => {
                values.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    values.push(&text[from..]);
    values
}

/// Keys and their values, one of each.
pub(super) type Combination = Vec<(String, String)>;

/// The largest number of combinations. All their results stay in memory until the last replay ends.
const MOST: usize = 10_000;

/// The number of combinations.
pub(super) fn count_combinations(keys: &[VariedKey]) -> Result<usize, Failure> {
    let all = keys.iter().fold(1_u128, |all, key| all.saturating_mul(key.values.len() as u128));
    usize::try_from(all).ok().filter(|&all| all <= MOST).ok_or_else(|| {
        let (all, most) = (count(u64::try_from(all).unwrap_or(u64::MAX)), count(MOST as u64));
        Failure::Value(format!("{all} combinations of values, and at most {most} are compared"))
    })
}

/// The combination of that number. The values of the last key take turns first.
pub(super) fn combination(keys: &[VariedKey], number: usize) -> Combination {
    let value = |(VariedKey { key, values }, place): (&VariedKey, usize)| (key.clone(), values[place].clone());
    keys.iter().zip(places(keys.iter().map(|key| key.values.len()), number)).map(value).collect()
}

/// The settings of a combination, as `--set` has them.
pub(super) fn settings(combination: &Combination) -> Vec<String> {
    combination.iter().map(|(key, value)| format!("{key}={value}")).collect()
}

pub(super) fn vary(args: &VaryArgs, out: &mut Out) -> Result<(), Failure> {
    args.time.measure(out, |out| {
        let results = args.run()?;
        args.report.write(Results::Variations(&results), out)?;
        if args.report.has_summary() {
            variations::summary(&results, out)?;
        }
        Ok(Some(results.variations.iter().map(|varied| varied.result.events).sum()))
    })
}

impl VaryArgs {
    /// Replays with each combination of values, several of them at the same time.
    ///
    /// # Errors
    /// The error of the first combination that has one.
    pub(super) fn run(&self) -> Result<Variations, Failure> {
        self.machine.load()?;
        let program = self.program.open()?.kept();
        claim(self.report.files())?;
        let jobs = self.runs.jobs();
        let variations = jobs.map(count_combinations(&self.keys)?, |number| {
            let set = combination(&self.keys, number);
            let platform = program.on(self.machine.load_with(&settings(&set))?)?;
            let names = CallSiteNames::default();
            let simulation = program.simulation(&platform, &names, true).runs(self.runs.runs.unwrap_or(1));
            let simulation = simulation.jobs(Jobs::ONE).read_ahead(!jobs.are_several());
            let mut result = self.program.analysed(simulation, self.program.analyses(), Jobs::ONE).run()?;
            result.warnings.extend(names.unnamed());
            Ok::<_, Failure>(VariedResult { set, result })
        })?;
        Ok(Variations { variations })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Result<VariedKey, String> {
        text.parse()
    }

    #[test]
    fn values_are_between_commas_that_are_not_part_of_one() {
        let values = |text| key(text).unwrap().values;
        assert_eq!(values("a=1"), ["1"]);
        assert_eq!(values("a=1 us, 2 us"), ["1 us", "2 us"]);
        assert_eq!(values("dims=[4,4],[2,8]"), ["[4,4]", "[2,8]"]);
        assert_eq!(values("a=\"x,y\",z=1"), ["\"x,y\"", "z=1"]);
        assert!(key("a").is_err() && key("a=").is_err() && key("a=1,,2").is_err());
    }

    #[test]
    fn each_value_is_combined_with_each() {
        let keys = [key("a=1,2").unwrap(), key("b=x,y").unwrap()];
        let shown = |number| combination(&keys, number).into_iter().map(|(_, value)| value).collect::<String>();
        assert_eq!([0, 1, 2, 3].map(shown), ["1x", "1y", "2x", "2y"]);
        assert_eq!((count_combinations(&keys).unwrap(), count_combinations(&[]).unwrap()), (4, 1));
    }

    #[test]
    fn more_combinations_than_fit_are_refused_before_the_first() {
        let keys = vec![key("a=1,2,3,4,5,6,7,8,9,10").unwrap(); 50];
        assert_eq!(count_combinations(&keys[..4]).unwrap(), 10_000);
        for (keys, number) in [(&keys[..5], "100,000"), (&keys[..], "18,446,744,073,709,551,615")] {
            let error = count_combinations(keys).unwrap_err().to_string();
            assert!(error.contains(number), "{error}");
        }
    }
}
