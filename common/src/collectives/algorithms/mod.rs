//! The algorithms, each a pure function from (member, size, root, volumes) to that member's steps, and their names.
//!
//! A collective's algorithms stand in the collective's own file, beside the enum that names them. Libraries call different
//! algorithms by one name: Open MPI's binomial broadcast serves the nearest child first, MPICH's the farthest. So each
//! algorithm has a name that is its alone, and each library its own names ([`Algorithm::named`], [`Algorithm::called`]).

pub(super) mod allgather;
pub(super) mod allreduce;
pub(super) mod alltoall;
pub(super) mod alltoallv;
pub(super) mod barrier;
pub(super) mod bcast;
pub(super) mod blocks;
pub(super) mod comm;
pub(super) mod gather;
pub(super) mod rabenseifner;
pub(super) mod reduce;
pub(super) mod reduce_scatter;
pub(super) mod scan;
pub(super) mod scatter;
pub(super) mod schedule;
mod tree;

use std::fmt;

pub use allgather::{Allgather, Allgatherv};
pub use allreduce::Allreduce;
pub use alltoall::Alltoall;
pub use alltoallv::Alltoallv;
pub use barrier::Barrier;
pub use bcast::Bcast;
pub use gather::{Gather, Gatherv};
pub use reduce::Reduce;
pub use reduce_scatter::ReduceScatter;
pub use scan::Scan;
pub use scatter::{Scatter, Scatterv};

use super::library::Library;
use crate::event::CollectiveOp;
use crate::units::Bytes;

/// The algorithms of one collective.
pub(super) trait Family: Copy + 'static {
    /// All of them.
    const ALL: &'static [Self];

    /// The names of one, its own first.
    fn names(self) -> &'static [&'static str];
}

/// Writes a collective's enum and the names of its variants side by side.
macro_rules! algorithms {
    ($(#[$doc:meta])* $family:ident { $($(#[$about:meta])* $variant:ident = $($name:literal)|+,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $family {
            $($(#[$about])* $variant,)+
        }

        impl $crate::collectives::algorithms::Family for $family {
            const ALL: &'static [Self] = &[$(Self::$variant),+];

            fn names(self) -> &'static [&'static str] {
                match self {
                    $(Self::$variant => &[$($name),+],)+
                }
            }
        }
    };
}
pub(super) use algorithms;

/// Writes what must name all collectives.
macro_rules! collectives {
    ($($collective:ident($family:ty) = $name:literal,)+) => {
        /// A collective operation without its volumes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs)] // Named as MPI names them.
        pub enum Collective {
            $($collective,)+
        }

        /// An algorithm of a collective.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)] // Each stands beside the collective's algorithms.
        pub enum Algorithm {
            $($collective($family),)+
        }

        impl Collective {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$collective),+];

            /// Its name: as MPI's, in lower case.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$collective => $name,)+
                }
            }

            /// Which one an event is about.
            #[must_use]
            pub fn of(op: &CollectiveOp) -> Self {
                match op {
                    $(CollectiveOp::$collective { .. } => Self::$collective,)+
                }
            }

            /// All algorithms that do it.
            #[must_use]
            pub fn algorithms(self) -> Vec<Algorithm> {
                match self {
                    $(Self::$collective => <$family>::ALL.iter().copied().map(Algorithm::$collective).collect(),)+
                }
            }
        }

        impl Algorithm {
            /// The collective that it does.
            #[must_use]
            pub fn collective(self) -> Collective {
                match self {
                    $(Self::$collective(_) => Collective::$collective,)+
                }
            }

            /// Its names, its own first.
            #[must_use]
            pub fn names(self) -> &'static [&'static str] {
                match self {
                    $(Self::$collective(algorithm) => algorithm.names(),)+
                }
            }
        }
    };
}

collectives! {
    Barrier(Barrier) = "barrier",
    Bcast(Bcast) = "bcast",
    Reduce(Reduce) = "reduce",
    Allreduce(Allreduce) = "allreduce",
    Scan(Scan) = "scan",
    Exscan(Scan) = "exscan",
    ReduceScatter(ReduceScatter) = "reduce_scatter",
    ReduceScatterBlock(ReduceScatter) = "reduce_scatter_block",
    Gather(Gather) = "gather",
    Scatter(Scatter) = "scatter",
    Allgather(Allgather) = "allgather",
    Alltoall(Alltoall) = "alltoall",
    Gatherv(Gatherv) = "gatherv",
    Scatterv(Scatterv) = "scatterv",
    Allgatherv(Allgatherv) = "allgatherv",
    Alltoallv(Alltoallv) = "alltoallv",
    Alltoallw(Alltoallv) = "alltoallw",
}

impl Collective {
    /// The collective of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = spelled(name);
        Self::ALL.iter().copied().find(|collective| collective.name() == name)
    }
}

impl Algorithm {
    /// The algorithm that `library` calls so, or else the one that has that name. Case does not matter, nor `-` for `_`.
    #[must_use]
    pub fn named(library: Library, collective: Collective, name: &str) -> Option<Self> {
        let name = spelled(name);
        library
            .own_names()
            .iter()
            .find(|(algorithm, own)| algorithm.collective() == collective && *own == name)
            .map(|&(algorithm, _)| algorithm)
            .or_else(|| {
                let mut all = collective.algorithms().into_iter();
                all.find(|algorithm| algorithm.names().contains(&name.as_str()))
            })
    }

    /// What `library` calls it.
    #[must_use]
    pub fn called(self, library: Library) -> &'static str {
        let mut own_names = library.own_names().iter();
        own_names.find(|(algorithm, _)| *algorithm == self).map_or_else(|| self.name(), |(_, name)| name)
    }

    /// The name that is its alone.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.names().first().copied().unwrap_or_default()
    }
}

fn spelled(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace('-', "_")
}

impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An algorithm with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Length of the segments that travel in a pipeline, where the algorithm knows any; 0: everything at once.
    pub segment: Bytes,
    /// How many chains hang from the root of a chain.
    pub fanout: u32,
}

impl Choice {
    /// An algorithm as Open MPI's decision rules use it: nothing is cut into segments, and a chain is one chain.
    #[must_use]
    pub const fn new(algorithm: Algorithm) -> Self {
        Self { algorithm, segment: Bytes(0), fanout: 1 }
    }

    /// An algorithm as Open MPI uses it when it is asked for by name (`coll_tuned_init_chain_fanout` is 4).
    #[must_use]
    pub const fn forced(algorithm: Algorithm) -> Self {
        Self { fanout: 4, ..Self::new(algorithm) }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.segment {
            Bytes(0) => self.algorithm.fmt(f),
            Bytes(segment) => write!(f, "{}:{segment}", self.algorithm),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_algorithms_alone() {
        for collective in Collective::ALL {
            let mut names: Vec<_> = collective.algorithms().iter().flat_map(|it| it.names()).collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{collective}");
        }
    }

    #[test]
    fn every_algorithm_is_found_by_its_name_and_by_what_a_library_calls_it() {
        for collective in Collective::ALL {
            assert_eq!(Collective::named(collective.name()), Some(*collective));
            for algorithm in collective.algorithms() {
                for &library in Library::ALL {
                    for name in [algorithm.name(), algorithm.called(library)] {
                        let found = Algorithm::named(library, *collective, name);
                        assert_eq!(found, Some(algorithm), "{library:?} {collective} {name}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_name_means_what_the_library_means_by_it() {
        let binomial = |library| Algorithm::named(library, Collective::Bcast, "Binomial");
        assert_eq!(binomial(Library::Mpich), Some(Algorithm::Bcast(Bcast::Binomial)));
        assert_eq!(binomial(Library::OpenMpi), Some(Algorithm::Bcast(Bcast::BinomialDoubling)));
        let in_order = Algorithm::named(Library::OpenMpi, Collective::Reduce, "in-order_binary");
        assert_eq!(in_order, Some(Algorithm::Reduce(Reduce::InOrderBinary)));
        assert_eq!(Algorithm::named(Library::Mpich, Collective::Bcast, "no such"), None);
    }
}
