//! `titr tolerance`.

use std::io::{self, Write};

use clap::{Args, ValueEnum};
use titr_analyses::Parameter;
use titr_common::format::{significant, uncertain};
use titr_common::trace::Transformation;
use titr_common::units::Seconds;
use titr_simulation::SimulationError;
use titr_simulation::parallel::Jobs;

use super::machine::MachineArgs;
use super::program::ProgramArgs;
use super::runs::JobsArgs;
use super::{Failure, print_json};
use crate::call_sites::CallSiteNames;
use crate::studies::tolerance::{
    LateRankTolerance, ParameterTolerance, ToleranceSubject, Tolerances, ToleratedDelay, ToleratedFactor,
};

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
    /// Properties to degrade: `latency` and `bandwidth` of all links between hosts, `speed` of all hosts, and `ranks`: each rank in turn begins
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

pub(super) fn tolerance(args: &ToleranceArgs, out: &mut impl Write) -> Result<(), Failure> {
    let platform = args.machine.load()?;
    let program = args.program.open()?.kept();
    let platform = program.on(platform)?;
    let names = CallSiteNames::default();
    let simulation = || program.simulation(&platform, &names, false).jobs(Jobs::ONE).read_ahead(false);
    let analysed = args.program.analysed(simulation(), &["critical-path"], args.jobs.jobs()).run()?;
    if analysed.waiting_ranks > 0 || analysed.simulated_time.0 <= 0.0 {
        let message = "the trace is not complete or takes no time: no change of it can be predicted";
        return Err(Failure::Value(message.to_owned()));
    }
    let path = analysed.analyses.as_ref().and_then(|found| found.critical_path.as_ref());
    let sensitivities = path.map_or(&[][..], |path| &path.sensitivities);
    let (_, replay) = simulation().run_observed::<()>(Vec::new())?;
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
    Ok(if args.json { print_json(&found, out) } else { summary(&found, out) }?)
}

/// Number of ranks that are shown: those with the smallest tolerance.
const RANKS: usize = 16;

/// The width of a slowdown.
const SLOWDOWN: usize = 8;

/// Prints tolerances.
fn summary(found: &Tolerances, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "Predicted time  {}", uncertain(found.simulated_time, None))?;
    for tolerance in &found.parameters {
        let (name, direction) = match tolerance.parameter {
            Parameter::Latency => ("Latency", "more latency"),
            Parameter::Bandwidth => ("Bandwidth", "of the bandwidth"),
            Parameter::HostSpeed => ("Hosts", "of the speed of hosts"),
            Parameter::Overheads => ("Overheads", "more MPI overheads"),
        };
        writeln!(out, "\n{name}")?;
        for point in &tolerance.curve {
            writeln!(
                out,
                "  {:>SLOWDOWN$} longer with {}",
                in_percent(point.slowdown),
                of_factor(tolerance, point, direction)
            )?;
        }
    }
    late_ranks(&found.late_ranks, out)
}

fn of_factor(tolerance: &ParameterTolerance, point: &ToleratedFactor, direction: &str) -> String {
    let Some(factor) = point.factor else { return "no factor up to 10,000".to_owned() };
    let shown = match (tolerance.parameter, tolerance.link_latency) {
        (Parameter::Latency | Parameter::Overheads, Some(latency)) => {
            let [added, all] =
                [latency.0 * (factor - 1.0), latency.0 * factor].map(|time| uncertain(Seconds(time), None));
            format!("{added} more latency of each link, {all}")
        }
        (Parameter::Latency | Parameter::Overheads, None) => {
            format!("{} % {direction}", significant(100.0 * (factor - 1.0), 3))
        }
        (Parameter::Bandwidth | Parameter::HostSpeed, _) => format!("{} % {direction}", significant(100.0 * factor, 3)),
    };
    shown + &jump(point.jumps, point.simulated_time)
}

/// A remark on a time that jumps over the slowdown.
fn jump(jumps: bool, time: Option<Seconds>) -> String {
    match time.filter(|_| jumps) {
        Some(time) => format!(": the time jumps there to {}", uncertain(time, None)),
        None => String::new(),
    }
}

/// Prints the ranks with the smallest tolerance to a late beginning.
fn late_ranks(ranks: &[LateRankTolerance], out: &mut impl Write) -> io::Result<()> {
    let mut sorted: Vec<&LateRankTolerance> = ranks.iter().collect();
    let least = |rank: &LateRankTolerance| {
        rank.curve.first().and_then(|point| point.delay).map_or(f64::INFINITY, |delay| delay.0)
    };
    // Stable: ranks that tolerate as much stay in their order.
    sorted.sort_by(|one, other| least(one).total_cmp(&least(other)));
    if !sorted.is_empty() {
        writeln!(out, "\nLate ranks, the least tolerated first")?;
    }
    for rank in sorted.iter().take(RANKS) {
        let point = |point: &ToleratedDelay| match point.delay {
            Some(delay) => {
                let shown = uncertain(delay, None) + &jump(point.jumps, point.simulated_time);
                format!("{} longer {shown} late", in_percent(point.slowdown))
            }
            None => format!("{} longer with no delay", in_percent(point.slowdown)),
        };
        writeln!(out, "  rank {:<6} {}", rank.rank, rank.curve.iter().map(point).collect::<Vec<_>>().join("; "))?;
    }
    match sorted.len().saturating_sub(RANKS) {
        0 => Ok(()),
        more => writeln!(out, "  and {more} other ranks, which may be later"),
    }
}

/// A slowdown in percent.
fn in_percent(slowdown: f64) -> String {
    format!("{} %", significant(100.0 * slowdown, 3))
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
