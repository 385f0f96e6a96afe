//! The measured programs, the places of their results, and the measured quantities.

use crate::configuration::Configuration;
use crate::sections::Mark;

/// A program that runs in the lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// The communication patterns of `tests/programs/accuracy`.
    Patterns,
    /// LAMMPS, which simulates a melt.
    Lammps,
}

impl Program {
    /// All programs.
    pub const ALL: [Self; 2] = [Self::Patterns, Self::Lammps];

    /// The directory that has a file for each configuration, with the times that were measured there.
    pub fn measured(self) -> &'static str {
        match self {
            Self::Patterns => "measured",
            Self::Lammps => "measured-lammps",
        }
    }

    /// The file with the times of the run that was traced for a configuration.
    pub fn sections(self, configuration: &Configuration) -> String {
        match self {
            Self::Patterns => format!("sections-{}-{}", configuration.ranks(), configuration.rate),
            Self::Lammps => format!("sections-lammps-{}", configuration.ranks()),
        }
    }

    /// The directory with the trace of that run. That of LAMMPS is the same for all rates.
    pub fn traces(self, configuration: &Configuration) -> String {
        match self {
            Self::Patterns => format!("traces-{}-{}", configuration.ranks(), configuration.rate),
            Self::Lammps => format!("traces-lammps-{}", configuration.ranks()),
        }
    }

    /// The intervals before the first whose time the program prints: LAMMPS begins with one in which it makes the atoms.
    pub fn unmeasured(self) -> usize {
        match self {
            Self::Patterns => 0,
            Self::Lammps => 1,
        }
    }

    /// The calls between which the program measures.
    pub fn mark(self) -> Mark {
        match self {
            Self::Patterns => Mark::Iprobe,
            Self::Lammps => Mark::Barrier,
        }
    }
}
