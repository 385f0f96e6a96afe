//! Neighbourhood collectives (MPI 4.0 §8.6): each rank exchanges with those that its topology makes its neighbours.

use super::{CommId, Rank};
use crate::units::Bytes;

/// A neighbourhood collective, as one rank calls it. A neighbour may be there twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighborhood {
    /// The communicator, which has a topology.
    pub comm: CommId,
    /// What it does.
    pub op: NeighborOp,
    /// What goes to each destination, in the order of the topology.
    pub sends: Vec<(Rank, Bytes)>,
    /// What comes from each source.
    pub recvs: Vec<(Rank, Bytes)>,
}

/// Which neighbourhood collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Named as MPI names them.
pub enum NeighborOp {
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    Alltoallw,
}
