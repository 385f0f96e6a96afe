//! The rules of MPI libraries for collectives: the algorithms that they choose, their names for them, and their
//! substitutes for impossible ones.

mod fallback;
mod libnbc;
mod mpich;
mod openmpi;
mod openmpi_4_0;
mod openmpi_tables;
mod simgrid;
mod simgrid_openmpi;

use serde::Deserialize;

use super::algorithms::schedule::Empty;
use super::algorithms::{Algorithm, Choice};
use super::call::{Call, CallMode};
use crate::event::CollectiveKind;

/// Whose selection rules to follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Library {
    /// MPICH's defaults, which are the same from 3.4 to 4.3.
    #[default]
    Mpich,
    /// Open MPI 4.1's `tuned` component with its fixed decision rules.
    OpenMpi,
    /// The same before 4.1.
    #[serde(rename = "openmpi-4.0")]
    OpenMpi40,
    /// Open MPI 5.0: the component `han` where members share nodes, and else the rules of 4.1.
    #[serde(rename = "openmpi-5.0")]
    OpenMpi50,
    /// SimGrid 3.32's default selector.
    SimGrid,
    /// SimGrid 3.32's selector `ompi`.
    #[serde(rename = "simgrid-openmpi")]
    SimGridOpenMpi,
}

impl Library {
    /// All libraries.
    pub const ALL: &[Self] =
        &[Self::Mpich, Self::OpenMpi, Self::OpenMpi40, Self::OpenMpi50, Self::SimGrid, Self::SimGridOpenMpi];

    /// The name of the library on the command line and in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mpich => "mpich",
            Self::OpenMpi => "openmpi",
            Self::OpenMpi40 => "openmpi-4.0",
            Self::OpenMpi50 => "openmpi-5.0",
            Self::SimGrid => "simgrid",
            Self::SimGridOpenMpi => "simgrid-openmpi",
        }
    }

    /// The library of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|library| library.name() == name)
    }

    /// The library whose rules a library follows that describes itself so (`MPI_Get_library_version`); `None` if that is unknown.
    /// Intel's, Cray's and MVAPICH are made of MPICH.
    #[must_use]
    pub fn of_version(version: &str) -> Option<Self> {
        let known = [
            ("Open MPI", Self::OpenMpi),
            ("MPICH", Self::Mpich),
            ("MVAPICH", Self::Mpich),
            ("Intel(R) MPI", Self::Mpich),
        ];
        let library = known.into_iter().find(|(name, _)| version.contains(name)).map(|(_, library)| library)?;
        let mut numbers = version.split_once("Open MPI v").map_or("", |(_, it)| it).split(['.', ',', 'r', 'a']);
        let mut number = || numbers.next()?.parse::<u32>().ok();
        Some(match number().zip(number()) {
            Some(number) if number < (4, 1) => Self::OpenMpi40,
            Some((5.., _)) => Self::OpenMpi50,
            _ => library,
        })
    }

    /// Whether the library is Open MPI itself.
    #[must_use]
    pub fn is_open_mpi(self) -> bool {
        matches!(self, Self::OpenMpi | Self::OpenMpi40 | Self::OpenMpi50)
    }

    /// The algorithm that the library calls so, or else the one that has that name. Case does not matter, nor `-` for `_`.
    pub(crate) fn algorithm_named(self, mode: CallMode, collective: CollectiveKind, name: &str) -> Option<Algorithm> {
        let name = spelled(name);
        let is_its_own = |(algorithm, own): &&(Algorithm, &str)| algorithm.collective() == collective && *own == name;
        self.own_names(mode).iter().find(is_its_own).map(|&(algorithm, _)| algorithm).or_else(|| {
            Algorithm::all(collective).into_iter().find(|algorithm| algorithm.names().contains(&name.as_str()))
        })
    }

    /// The library's own name for an algorithm.
    #[must_use]
    pub fn name_of(self, mode: CallMode, algorithm: Algorithm) -> &'static str {
        let mut own_names = self.own_names(mode).iter();
        own_names.find(|(own, _)| *own == algorithm).map_or_else(|| algorithm.name(), |(_, name)| name)
    }

    /// The library's names for algorithms that have other names here.
    fn own_names(self, mode: CallMode) -> &'static [(Algorithm, &'static str)] {
        match (self, mode) {
            (Self::Mpich, CallMode::Blocking) => mpich::OWN_NAMES,
            (Self::Mpich, CallMode::Nonblocking) => mpich::NONBLOCKING_NAMES,
            (Self::OpenMpi | Self::OpenMpi40 | Self::OpenMpi50, CallMode::Blocking) => openmpi::OWN_NAMES,
            (Self::OpenMpi | Self::OpenMpi40 | Self::OpenMpi50, CallMode::Nonblocking) => libnbc::OWN_NAMES,
            (Self::SimGrid | Self::SimGridOpenMpi, _) => simgrid::OWN_NAMES,
        }
    }

    /// The choice of the library's rules.
    pub(super) fn choose(self, call: &Call) -> Choice {
        let choice = match (self, call.mode) {
            (Self::Mpich, CallMode::Blocking) => Choice::new(mpich::choose(call)),
            (Self::Mpich, CallMode::Nonblocking) => Choice::new(mpich::choose_nonblocking(call)),
            (Self::OpenMpi, CallMode::Blocking) => Choice::new(openmpi::choose(call)),
            (Self::OpenMpi40, CallMode::Blocking) => openmpi_4_0::choose(call),
            (Self::OpenMpi50, CallMode::Blocking) => Choice::new(openmpi::choose_by_nodes(call)),
            (Self::OpenMpi | Self::OpenMpi40 | Self::OpenMpi50, CallMode::Nonblocking) => libnbc::choose(call),
            (Self::SimGrid, CallMode::Blocking) => Choice::new(simgrid::choose(call)),
            (Self::SimGridOpenMpi, CallMode::Blocking) => simgrid_openmpi::choose(call),
            (Self::SimGrid | Self::SimGridOpenMpi, CallMode::Nonblocking) => {
                Choice::new(simgrid::choose_nonblocking(call))
            }
        };
        fallback::possible(self, choice, call)
    }

    /// A choice, or the library's substitute if that is impossible.
    pub(super) fn possible(self, choice: Choice, call: &Call) -> Choice {
        fallback::possible(self, choice, call)
    }

    /// Whether the library does nothing at all in a call without any data. SimGrid replays even such calls, and the
    /// non-blocking collectives of libraries have fewer of these shortcuts.
    pub(super) fn leaves_out_empty_call(self, call: &Call) -> bool {
        let is_left_out = match call.mode {
            _ if self.is_simgrid() => false,
            CallMode::Blocking => true,
            CallMode::Nonblocking if self.is_open_mpi() => libnbc::leaves_out_empty(call.kind),
            CallMode::Nonblocking => mpich::leaves_out_empty(call.kind),
        };
        is_left_out && call.moves_nothing()
    }

    /// Whether the algorithms are SimGrid's.
    pub(super) fn is_simgrid(self) -> bool {
        matches!(self, Self::SimGrid | Self::SimGridOpenMpi)
    }

    /// The library's treatment of empty messages where each pair of members has its own length.
    pub(super) fn empty_messages(self, mode: CallMode, collective: CollectiveKind) -> Empty {
        let is_sent = match mode {
            _ if self.is_simgrid() => true,
            _ if !self.is_open_mpi() => false,
            CallMode::Blocking => collective == CollectiveKind::Alltoallv,
            CallMode::Nonblocking => !matches!(collective, CollectiveKind::Alltoallv | CollectiveKind::Alltoallw),
        };
        if is_sent { Empty::Sent } else { Empty::Skipped }
    }

    /// The unit in bytes that a broadcast's scatter cuts at multiples of: an element, or a single byte.
    pub(super) fn scatter_unit(self, element: u64) -> u64 {
        if self == Self::Mpich { 1 } else { element }
    }
}

/// The collective of a name, and its mode: `bcast` blocks, `ibcast` does not. Case does not matter, nor `-` for `_`.
pub fn collective_named(name: &str) -> Option<(CollectiveKind, CallMode)> {
    let name = spelled(name);
    CallMode::ALL.into_iter().find_map(|mode| {
        let name = name.strip_prefix(mode.prefix())?;
        CollectiveKind::ALL
            .into_iter()
            .find(|collective| collective.name() == name)
            .map(|collective| (collective, mode))
    })
}

fn spelled(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collectives::algorithms::{Bcast, Reduce};

    #[test]
    fn every_algorithm_is_found_by_its_name_and_by_what_a_library_calls_it() {
        for collective in CollectiveKind::ALL {
            for mode in CallMode::ALL {
                let name = format!("{}{}", mode.prefix(), collective.name());
                assert_eq!(collective_named(&name), Some((collective, mode)));
                for algorithm in Algorithm::all(collective) {
                    for &library in Library::ALL {
                        for name in [algorithm.name(), library.name_of(mode, algorithm)] {
                            let found = library.algorithm_named(mode, collective, name);
                            // A name of the library's own comes first.
                            let is_found =
                                found == Some(algorithm) || found.map(|it| library.name_of(mode, it)) == Some(name);
                            assert!(is_found, "{library:?} {mode:?} {collective} {name}: {found:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_library_is_known_by_what_it_calls_itself() {
        for (version, library) in [
            ("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", Some(Library::OpenMpi)),
            ("Open MPI v5.0.0rc2, package: x", Some(Library::OpenMpi50)),
            ("Open MPI v4.0.3, package: x", Some(Library::OpenMpi40)),
            ("Open MPI v3.1.4, package: x", Some(Library::OpenMpi40)),
            ("MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7 12:34:45 CDT 2022", Some(Library::Mpich)),
            ("MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)", Some(Library::Mpich)),
            ("MVAPICH2 Version      :\t2.3.7", Some(Library::Mpich)),
            ("Intel(R) MPI Library 2021.11 for Linux* OS\n", Some(Library::Mpich)),
            ("none", None),
            ("", None),
        ] {
            assert_eq!(Library::of_version(version), library, "{version}");
        }
    }

    #[test]
    fn a_name_means_what_the_library_means_by_it() {
        let binomial = |library: Library, mode| library.algorithm_named(mode, CollectiveKind::Bcast, "Binomial");
        assert_eq!(binomial(Library::Mpich, CallMode::Blocking), Some(Algorithm::Bcast(Bcast::Binomial)));
        assert_eq!(binomial(Library::OpenMpi, CallMode::Blocking), Some(Algorithm::Bcast(Bcast::BinomialDoubling)));
        assert_eq!(binomial(Library::OpenMpi, CallMode::Nonblocking), Some(Algorithm::Bcast(Bcast::BinomialExchanged)));
        let in_order = Library::OpenMpi.algorithm_named(CallMode::Blocking, CollectiveKind::Reduce, "in-order_binary");
        assert_eq!(in_order, Some(Algorithm::Reduce(Reduce::InOrderBinary)));
        assert_eq!(Library::Mpich.algorithm_named(CallMode::Blocking, CollectiveKind::Bcast, "no such"), None);
    }
}
