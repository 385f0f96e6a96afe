//! The algorithms, each a pure function from (member, size, root, volumes) to that member's steps, and their names.
//!
//! The algorithms of a collective are in its own file, next to the enum that names them. Libraries use the same name
//! for different algorithms: Open MPI's binomial broadcast serves the nearest child first, MPICH's the farthest. Each
//! algorithm therefore has a unique name, and each library its own names ([`Library`](super::Library)).

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

use crate::event::CollectiveKind;
use crate::units::Bytes;

/// The algorithms of one collective.
pub(super) trait Family: Copy + 'static {
    /// All algorithms of the collective.
    const ALL: &'static [Self];

    /// The names of an algorithm, its own first.
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

/// Generates the code that has to name the algorithms of all collectives.
macro_rules! collectives {
    ($($collective:ident($family:ty),)+) => {
        /// An algorithm of a collective.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)] // Each stands beside the collective's algorithms.
        pub enum Algorithm {
            $($collective($family),)+
        }

        impl Algorithm {
            /// All algorithms of a collective.
            #[must_use]
            pub fn all(kind: CollectiveKind) -> Vec<Self> {
                match kind {
                    $(CollectiveKind::$collective => {
                        <$family>::ALL.iter().copied().map(Self::$collective).collect()
                    })+
                }
            }

            /// The collective that the algorithm performs.
            #[must_use]
            pub fn collective(self) -> CollectiveKind {
                match self {
                    $(Self::$collective(_) => CollectiveKind::$collective,)+
                }
            }

            /// The names of the algorithm, its own first.
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
    Barrier(Barrier),
    Bcast(Bcast),
    Reduce(Reduce),
    Allreduce(Allreduce),
    Scan(Scan),
    Exscan(Scan),
    ReduceScatter(ReduceScatter),
    ReduceScatterBlock(ReduceScatter),
    Gather(Gather),
    Scatter(Scatter),
    Allgather(Allgather),
    Alltoall(Alltoall),
    Gatherv(Gatherv),
    Scatterv(Scatterv),
    Allgatherv(Allgatherv),
    Alltoallv(Alltoallv),
    Alltoallw(Alltoallv),
}

impl Algorithm {
    /// Whether the algorithm consists of others, on each node and among the nodes.
    pub(crate) fn knows_nodes(self) -> bool {
        self.is_han() || self.name().starts_with("smp")
    }

    /// Whether the algorithm is one of Open MPI's component `han`.
    pub(crate) fn is_han(self) -> bool {
        self.name() == "han"
    }

    /// The name that no other algorithm of the collective has.
    pub(crate) fn name(self) -> &'static str {
        self.names().first().copied().unwrap_or_default()
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
    /// The number of chains below the root of a chain.
    pub fanout: u32,
}

impl Choice {
    /// An algorithm as Open MPI's decision rules use it: nothing is divided into segments, and a chain is one chain.
    pub(crate) const fn new(algorithm: Algorithm) -> Self {
        Self { algorithm, segment: Bytes(0), fanout: 1 }
    }

    /// An algorithm as Open MPI uses it when it is selected by name (`coll_tuned_init_chain_fanout` is 4).
    pub(crate) const fn forced(algorithm: Algorithm) -> Self {
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
        for collective in CollectiveKind::ALL {
            let mut names: Vec<_> = Algorithm::all(collective).iter().flat_map(|it| it.names()).collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{collective}");
        }
    }
}
