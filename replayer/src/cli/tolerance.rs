//! `titr tolerance`.

use std::io::Write;

use clap::{Args, ValueEnum};
use titr_analyses::{Parameter, Sensitivity};
use titr_common::trace::Transformation;
use titr_common::units::Seconds;
use titr_simulation::SimulationError;
use titr_simulation::parallel::Jobs;
use titr_studies::tolerance::ToleranceSubject;
use titr_workload::call_sites::CallSiteNames;

use super::Failure;
use super::machine::MachineArgs;
use super::program::ProgramArgs;
use super::runs::JobsArgs;
use crate::report::tolerance;

const EXAMPLES: &str = "\
Examples:
  titr tolerance --platform examples/torus.toml traces/
  titr tolerance --platform examples/torus.toml --of latency,ranks --slowdown 1%,5% --json traces/";

/// Finds how much more latency, less bandwidth, slower hosts or later ranks make a program 1, 2, 5 and 10 % slower.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ToleranceArgs {
    #[command(flatten)]
    machine: MachineArgs,
    /// Says what becomes worse: `latency` and `bandwidth` of all links between hosts, `speed` of all hosts, and `ranks`: each rank in turn begins
    /// late. Late ranks take some ten replays for each rank and slowdown.
    #[arg(long, value_name = "WHAT,...", value_enum, value_delimiter = ',', hide_possible_values = true,
        default_values_t = [Slowness::Latency, Slowness::Bandwidth, Slowness::Speed])]
    of: Vec<Slowness>,
    /// The slowdowns: by how much longer the program takes.
    #[arg(long, value_name = "PERCENT,...", value_delimiter = ',', value_parser = percent, default_values = ["1%", "2%", "5%", "10%"])]
    slowdown: Vec<f64>,
    /// Prints one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    jobs: JobsArgs,
    #[command(flatten)]
    program: ProgramArgs,
}

/// The part of a machine or program that becomes worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Slowness {
    Latency,
    Bandwidth,
    Speed,
    Ranks,
}

impl Slowness {
    fn parameter(self) -> Option<Parameter> {
        match self {
            Self::Latency => Some(Parameter::Latency),
            Self::Bandwidth => Some(Parameter::Bandwidth),
            Self::Speed => Some(Parameter::HostSpeed),
            Self::Ranks => None,
        }
    }
}

/// A slowdown as a fraction.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let fraction = number.map(|percent| percent / 100.0).filter(|fraction| (1e-3..=10.0).contains(fraction));
    fraction.ok_or_else(|| "expected a percentage from 0.1% to 1000%, such as 1%".to_owned())
}

/// The command.
pub(super) fn tolerance(args: &ToleranceArgs, out: &mut impl Write) -> Result<(), Failure> {
    let platform = args.machine.load()?;
    let program = args.program.open()?;
    let platform = program.on(platform)?;
    let names = CallSiteNames::default();
    let simulation = || program.simulation(&platform, &names, false).jobs(Jobs::ONE).read_ahead(false);
    let analysed = args.program.analysed(simulation(), &["critical-path"], args.jobs.jobs()).run()?;
    if analysed.waiting_ranks > 0 || analysed.simulated_time.0 <= 0.0 {
        let message = "the trace is not complete or takes no time: no change of it can be predicted";
        return Err(Failure::Value(message.to_owned()));
    }
    let sensitivities: &[Sensitivity] = match analysed.analyses.as_ref().and_then(|found| found.critical_path.as_ref())
    {
        Some(path) => &path.sensitivities,
        None => &[],
    };
    let (_, replay) = simulation().run_observed(Vec::new())?;
    let changed = |change: &dyn Transformation| -> Result<Seconds, SimulationError> {
        let names = CallSiteNames::default();
        let simulation = program.simulation(&platform, &names, false).jobs(Jobs::ONE).read_ahead(false);
        Ok(simulation.transform(change).run()?.simulated_time)
    };
    let subject = ToleranceSubject {
        platform: &platform,
        replay: &replay,
        time: analysed.simulated_time,
        sensitivities,
        ranks: program.trace.ranks(),
        changed: &changed,
    };
    let parameters: Vec<Parameter> = args.of.iter().filter_map(|slowness| slowness.parameter()).collect();
    if parameters.iter().any(|parameter| !subject.has(*parameter)) {
        let message = "--of: the packet model has one cycle for all links, so that only the speed of hosts and late ranks can be \
                       searched; compare values of network.latency and network.bandwidth with titr sweep";
        return Err(Failure::Value(message.to_owned()));
    }
    let has_late_ranks = args.of.contains(&Slowness::Ranks);
    let found = subject.tolerances(&parameters, has_late_ranks, &args.slowdown, args.jobs.jobs())?;
    if !args.json {
        return Ok(tolerance::summary(&found, out)?);
    }
    serde_json::to_writer(&mut *out, &found).map_err(std::io::Error::from)?;
    Ok(writeln!(out)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slowdowns_are_percentages() {
        assert_eq!((percent("1%"), percent(" 2.5 %")), (Ok(0.01), Ok(0.025)));
        assert!(["1", "0%", "-1%", "x%", "nan%", "2000%"].iter().all(|text| percent(text).is_err()));
    }
}
