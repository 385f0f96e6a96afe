//! The command line.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use thiserror::Error;
use titr_common::event::Rank;
use titr_common::trace::Trace;
use titr_common::trace::manifest::Mode;
use titr_hypotheses::{Hypotheses, HypothesesError};
use titr_workload::Computation;

/// Repeats the MPI calls and the computation of a trace in real time, on the machine on which it runs.
#[derive(Parser)]
#[command(
    name = "titr-reenact",
    version,
    after_help = "\
Examples:
  mpirun -np 16 titr-reenact traces/
  mpirun -np 16 titrace --dir again titr-reenact traces/        # trace the reenactment
  mpirun -np 16 titr-reenact --rate 2.5e9 traces/               # a time-independent trace, at this speed
  mpirun -np 16 titr-reenact --what-if changes.toml traces/     # the program with changes

Exit status: 0 reenacted; 1 the trace cannot be reenacted; 2 wrong usage."
)]
pub(crate) struct ReenactOptions {
    /// The trace: a directory, several parts of one, or an archive.
    #[arg(required = true, value_name = "TRACE")]
    pub places: Vec<PathBuf>,
    /// Sets the time of computation [default: `timed` for an extended trace, else `counted`].
    #[arg(long, value_enum, value_name = "SOURCE")]
    compute: Option<Compute>,
    /// The volume that a rank computes in a second, if computation is `counted` [default: the rate that the tracer
    /// measured].
    #[arg(long, value_name = "RATE", value_parser = positive)]
    rate: Option<f64>,
    /// Multiplies all computation by this factor.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = factor)]
    pub compute_scale: f64,
    /// Reenacts the program with the changes in a TOML file: balanced computation, fewer messages (see docs/WHAT-IF.md).
    #[arg(long, value_name = "FILE")]
    what_if: Option<PathBuf>,
    /// Prints the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// How long computation takes.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Compute {
    /// The recorded volume divided by the rate.
    Counted,
    /// The time that it took when it was traced; needs an extended trace.
    Timed,
    /// No time.
    #[value(alias = "ignored")]
    None,
}

/// A reason why hypotheses are not reenacted.
#[derive(Debug, Error)]
pub(crate) enum Infeasible {
    #[error(transparent)]
    Hypotheses(#[from] HypothesesError),
    #[error("{}: a reenactment runs on a real machine, and cannot assume {change}: replay with `titr replay --what-if`", path.display())]
    Machine { path: PathBuf, change: String },
}

impl ReenactOptions {
    /// Where the computation of the trace comes from.
    pub(crate) fn computation(&self, trace: &Trace) -> Computation {
        match self.compute {
            Some(Compute::Counted) => Computation::Counted,
            Some(Compute::Timed) => Computation::Timed,
            Some(Compute::None) => Computation::Ignored,
            None if is_extended(trace) => Computation::Timed,
            None => Computation::Counted,
        }
    }

    /// The changes of the program.
    pub(crate) fn hypotheses(&self) -> Result<Option<Hypotheses>, Infeasible> {
        let Some(path) = &self.what_if else { return Ok(None) };
        let hypotheses = Hypotheses::load(path)?;
        match &hypotheses.machine[..] {
            [] => Ok(Some(hypotheses)),
            [change, ..] => Err(Infeasible::Machine { path: path.clone(), change: change.to_string() }),
        }
    }

    /// The volume that `rank` computes in a second: as the user says, or as its reference kernel ran when it was traced.
    pub(crate) fn rate_of(&self, trace: &Trace, rank: Rank) -> Result<f64, String> {
        if self.computation(trace) == Computation::Timed && !is_extended(trace) {
            return Err("--compute timed: the trace has no times, as it was not recorded in extended mode".to_owned());
        }
        let entry = trace.manifest().and_then(|manifest| manifest.of_rank(rank));
        let reference = entry.and_then(|entry| entry.counter.reference);
        let measured =
            reference.map(|count| count.volume / count.seconds).filter(|rate| rate.is_finite() && *rate > 0.0);
        match self.rate.or(measured) {
            Some(rate) => Ok(rate),
            None if self.computation(trace) == Computation::Counted => {
                Err("the trace does not say how fast its ranks computed: give the volume of a second, as in --rate 1e9"
                    .to_owned())
            }
            None => Ok(1.0),
        }
    }
}

/// Whether the trace has times.
pub(crate) fn is_extended(trace: &Trace) -> bool {
    trace.manifest().is_some_and(|manifest| manifest.mode == Mode::Extended)
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        Ok(_) | Err(_) => Err("not a positive number".to_owned()),
    }
}

fn factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
        Ok(_) | Err(_) => Err("not a number of at least 0".to_owned()),
    }
}
