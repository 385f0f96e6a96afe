//! Neighbourhood collectives (MPI 4.0 §8.6): each rank exchanges data with its neighbours in a topology.

use super::{CommId, Rank};
use crate::units::Bytes;

/// A neighbourhood collective, as one rank calls it. A neighbour may be there twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighborhood {
    /// The communicator, which has a topology.
    pub comm: CommId,
    /// The MPI function.
    pub op: NeighborOp,
    /// Each destination and the bytes that go there, in the order of the topology.
    pub sends: Vec<(Rank, Bytes)>,
    /// Each source and the bytes received from it, in the order of the topology.
    pub recvs: Vec<(Rank, Bytes)>,
}

/// The MPI function of a neighbourhood collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Named as MPI names them.
pub enum NeighborOp {
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    Alltoallw,
}
