//! Values of the options for the replay of a program.

use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use titr_analyses::ANALYSES;
use titr_common::collectives::Library;
use titr_simulation::{Causality, Computation};

/// The messages that collectives are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Collectives {
    /// The messages that the trace has of them.
    Recorded,
    /// A library's algorithms.
    Of(Library),
}

/// Where the length of computation comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::cli) enum Compute {
    /// The recorded volume divided by the speed of the simulated host.
    Counted,
    /// The time between the calls of a trace with times, whatever the simulated host.
    Timed,
    /// That time, multiplied by a factor.
    Scaled(f64),
    /// No time.
    None,
}

impl Compute {
    /// The source of computation.
    pub(in crate::cli) fn source(self) -> Computation {
        match self {
            Self::Counted => Computation::Counted,
            Self::Timed | Self::Scaled(_) => Computation::Timed,
            Self::None => Computation::Ignored,
        }
    }

    /// The factor that computation is multiplied by.
    pub(in crate::cli) fn scale(self) -> f64 {
        match self {
            Self::Scaled(factor) => factor,
            Self::Counted | Self::Timed | Self::None => 1.0,
        }
    }
}

pub(in crate::cli) fn compute(text: &str) -> Result<Compute, String> {
    match text {
        "counted" => Ok(Compute::Counted),
        "timed" => Ok(Compute::Timed),
        "none" => Ok(Compute::None),
        text => match text.strip_prefix("scaled=") {
            Some(number) => factor(number).map(Compute::Scaled),
            None => Err("expected counted, timed, scaled=FACTOR or none".into()),
        },
    }
}

/// The events that a send waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum WaitsFor {
    /// A send waits for nothing: each rank sends all its messages in order, as fast as the network takes them (§4.1).
    None,
    /// A send waits for the receives before it; computation and MPI itself take no time (§4.2).
    Causal,
    /// A send waits for the receives and the computation before it (§4.3).
    #[default]
    Timed,
}

impl From<WaitsFor> for Causality {
    fn from(waits_for: WaitsFor) -> Self {
        match waits_for {
            WaitsFor::None => Self::None,
            WaitsFor::Causal => Self::Causal,
            WaitsFor::Timed => Self::Timed,
        }
    }
}

/// The names of all analyses.
pub(super) fn analyses() -> PossibleValuesParser {
    ANALYSES.iter().map(|kind| kind.name).collect::<Vec<_>>().into()
}

pub(super) fn factor(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(factor) if (0.0..f64::INFINITY).contains(&factor) => Ok(factor),
        _ => Err("expected a factor from 0 on, such as 0.5".into()),
    }
}

pub(super) fn collectives(name: &str) -> Result<Collectives, String> {
    match name {
        "recorded" => Ok(Collectives::Recorded),
        name => crate::cli::library(name).map(Collectives::Of).map_err(|others| format!("{others}, and recorded")),
    }
}
