//! What MPI libraries do with a collective: which algorithm they choose, what they call it, and what they do where an
//! algorithm is impossible.

mod fallback;
mod mpich;
mod openmpi;
mod openmpi_tables;
mod simgrid;
mod simgrid_openmpi;

use super::algorithms::schedule::Empty;
use super::algorithms::{Algorithm, Choice, Collective};
use super::call::Call;

/// Whose selection rules to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Library {
    /// MPICH 4.0's defaults.
    Mpich,
    /// Open MPI 4.1's `tuned` component with its fixed decision rules.
    OpenMpi,
    /// SimGrid 3.32's default selector.
    SimGrid,
    /// SimGrid 3.32's selector `ompi`.
    SimGridOpenMpi,
}

impl Library {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Mpich, Self::OpenMpi, Self::SimGrid, Self::SimGridOpenMpi];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mpich => "mpich",
            Self::OpenMpi => "openmpi",
            Self::SimGrid => "simgrid",
            Self::SimGridOpenMpi => "simgrid-openmpi",
        }
    }

    /// The library of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|library| library.name() == name)
    }

    /// What the library calls algorithms whose names here are others.
    pub(super) fn own_names(self) -> &'static [(Algorithm, &'static str)] {
        match self {
            Self::Mpich => mpich::OWN_NAMES,
            Self::OpenMpi => openmpi::OWN_NAMES,
            Self::SimGrid | Self::SimGridOpenMpi => simgrid::OWN_NAMES,
        }
    }

    /// The choice of the library's rules.
    pub(super) fn choose(self, call: &Call) -> Choice {
        let choice = match self {
            Self::Mpich => Choice::new(mpich::choose(call)),
            Self::OpenMpi => Choice::new(openmpi::choose(call)),
            Self::SimGrid => Choice::new(simgrid::choose(call)),
            Self::SimGridOpenMpi => simgrid_openmpi::choose(call),
        };
        fallback::possible(self, choice, call)
    }

    /// A choice, or what the library does where that is impossible.
    pub(super) fn possible(self, choice: Choice, call: &Call) -> Choice {
        fallback::possible(self, choice, call)
    }

    /// Whether it does nothing at all where nobody has anything to move. SimGrid replays even that.
    pub(super) fn leaves_out_empty_calls(self) -> bool {
        !self.is_simgrid()
    }

    /// Whether the algorithms are SimGrid's.
    pub(super) fn is_simgrid(self) -> bool {
        matches!(self, Self::SimGrid | Self::SimGridOpenMpi)
    }

    /// What becomes of empty messages where each pair of members has its own length.
    pub(super) fn empty_messages(self, collective: Collective) -> Empty {
        match (self, collective) {
            (Self::SimGrid | Self::SimGridOpenMpi, _) | (Self::OpenMpi, Collective::Alltoallv) => Empty::Sent,
            _ => Empty::Skipped,
        }
    }

    /// What a broadcast's scatter cuts at multiples of: elements, or single bytes.
    pub(super) fn scatter_unit(self, element: u64) -> u64 {
        match self {
            Self::Mpich => 1,
            Self::OpenMpi | Self::SimGrid | Self::SimGridOpenMpi => element,
        }
    }
}
