//! MPI's neighbourhood collectives in one form: the kind, and the arguments that describe a block for each neighbour.
//!
//! The recorder reads volumes from a [`NeighborhoodCall`], the extended mode reads the places of the data.

use titr_common::event::NeighborOp;
use titr_wrappers::argument::{Array, Buffer, ByteDisplacement, Comm, Count, Datatype, Displacement};
use titr_wrappers::functions::topology::Topology::{self, *};
use titr_wrappers::pmpi::region::Region;
use titr_wrappers::signature::{Allgather, NeighborAllgatherv, NeighborAlltoallv, NeighborAlltoallw};

use crate::collective_call::Start;

/// A call of a neighbourhood collective.
pub(crate) struct NeighborhoodCall<'c> {
    /// The operation.
    pub op: NeighborOp,
    /// When the operation takes place.
    pub start: Start<'c>,
    /// The communicator, which has a topology.
    pub comm: Comm,
    /// The data for the destinations.
    pub send: NeighborBlocks<'c>,
    /// The data from the sources.
    pub recv: NeighborBlocks<'c>,
}

/// The blocks of a buffer, by the places of the neighbours.
#[derive(Clone, Copy)]
pub(crate) struct NeighborBlocks<'c> {
    buffer: Buffer,
    layout: Layout<'c>,
}

/// The layout of the blocks in a buffer.
#[derive(Clone, Copy)]
enum Layout<'c> {
    /// One block, which is everybody's.
    Same(Count, Datatype),
    /// Blocks of one size, one behind the other.
    Equal(Count, Datatype),
    /// Blocks displaced by multiples of the datatype's extent.
    Displaced(Array<'c, Count>, Array<'c, Displacement>, Datatype),
    /// Blocks displaced by bytes, each with its own datatype.
    Typed(Array<'c, Count>, Array<'c, ByteDisplacement>, Array<'c, Datatype>),
}

impl<'c> NeighborBlocks<'c> {
    /// Whether blocks are of this datatype.
    #[must_use]
    pub(crate) fn have(&self, datatype: Datatype) -> bool {
        match self.layout {
            Layout::Same(_, of) | Layout::Equal(_, of) | Layout::Displaced(.., of) => of == datatype,
            Layout::Typed(_, _, datatypes) => datatypes.iter().any(|of| of == datatype),
        }
    }

    /// The number and the type of the elements in the block of a neighbour.
    #[must_use]
    pub(crate) fn elements(&self, place: usize) -> Option<(Count, Datatype)> {
        match self.layout {
            Layout::Same(count, datatype) | Layout::Equal(count, datatype) => Some((count, datatype)),
            Layout::Displaced(counts, _, datatype) => Some((counts.get(place)?, datatype)),
            Layout::Typed(counts, _, datatypes) => counts.get(place).zip(datatypes.get(place)),
        }
    }

    /// The block of a neighbour; `None` if MPI itself has to report an error in the arguments.
    #[must_use]
    pub(crate) fn region(&self, place: usize) -> Option<Region> {
        let (count, datatype) = self.elements(place)?;
        let count = count.checked()?;
        let region = Region::new(self.buffer, count, datatype)?;
        Some(match self.layout {
            Layout::Same(..) => region,
            Layout::Equal(..) => region.displaced((place as i64).saturating_mul(count as i64)),
            Layout::Displaced(counts, displacements, _) => {
                region.displaced(displacements.along(&counts).get(place)?.get())
            }
            Layout::Typed(counts, displacements, _) => {
                region.displaced_bytes(displacements.along(&counts).get(place)?.get())
            }
        })
    }
}

impl<'c> NeighborhoodCall<'c> {
    /// The form of `call`; `None` for one that makes a communicator.
    #[must_use]
    pub(crate) fn of(call: &Topology<'c>) -> Option<Self> {
        use NeighborOp::{Allgather, Alltoall};
        use Start::{Blocking, Nonblocking, Persistent};
        Some(match call {
            MPI_Neighbor_allgather(call) => Self::equal(Allgather, call, Blocking),
            MPI_Ineighbor_allgather(call, request) => Self::equal(Allgather, call, Nonblocking(*request)),
            MPI_Neighbor_allgather_init(call, _, request) => Self::equal(Allgather, call, Persistent(*request)),
            MPI_Neighbor_alltoall(call) => Self::equal(Alltoall, call, Blocking),
            MPI_Ineighbor_alltoall(call, request) => Self::equal(Alltoall, call, Nonblocking(*request)),
            MPI_Neighbor_alltoall_init(call, _, request) => Self::equal(Alltoall, call, Persistent(*request)),
            MPI_Neighbor_allgatherv(call) => Self::allgatherv(call, Blocking),
            MPI_Ineighbor_allgatherv(call, request) => Self::allgatherv(call, Nonblocking(*request)),
            MPI_Neighbor_allgatherv_init(call, _, request) => Self::allgatherv(call, Persistent(*request)),
            MPI_Neighbor_alltoallv(call) => Self::alltoallv(call, Blocking),
            MPI_Ineighbor_alltoallv(call, request) => Self::alltoallv(call, Nonblocking(*request)),
            MPI_Neighbor_alltoallv_init(call, _, request) => Self::alltoallv(call, Persistent(*request)),
            MPI_Neighbor_alltoallw(call) => Self::alltoallw(call, Blocking),
            MPI_Ineighbor_alltoallw(call, request) => Self::alltoallw(call, Nonblocking(*request)),
            MPI_Neighbor_alltoallw_init(call, _, request) => Self::alltoallw(call, Persistent(*request)),
            MPI_Cart_create(..)
            | MPI_Cart_sub(..)
            | MPI_Graph_create(..)
            | MPI_Dist_graph_create(..)
            | MPI_Dist_graph_create_adjacent(..) => return None,
        })
    }

    fn equal(op: NeighborOp, call: &Allgather<'c>, start: Start<'c>) -> Self {
        let (count, datatype) = (call.sendcount(), call.sendtype());
        let layout = match op {
            NeighborOp::Allgather | NeighborOp::Allgatherv => Layout::Same(count, datatype),
            NeighborOp::Alltoall | NeighborOp::Alltoallv | NeighborOp::Alltoallw => Layout::Equal(count, datatype),
        };
        let send = NeighborBlocks { buffer: call.sendbuf(), layout };
        let layout = Layout::Equal(call.recvcount(), call.recvtype());
        Self { op, start, comm: call.comm(), send, recv: NeighborBlocks { buffer: call.recvbuf(), layout } }
    }

    fn allgatherv(call: &NeighborAllgatherv<'c>, start: Start<'c>) -> Self {
        let layout = Layout::Same(call.sendcount(), call.sendtype());
        let send = NeighborBlocks { buffer: call.sendbuf(), layout };
        let layout = Layout::Displaced(call.recvcounts(), call.displs(), call.recvtype());
        let recv = NeighborBlocks { buffer: call.recvbuf(), layout };
        Self { op: NeighborOp::Allgatherv, start, comm: call.comm(), send, recv }
    }

    fn alltoallv(call: &NeighborAlltoallv<'c>, start: Start<'c>) -> Self {
        let layout = Layout::Displaced(call.sendcounts(), call.sdispls(), call.sendtype());
        let send = NeighborBlocks { buffer: call.sendbuf(), layout };
        let layout = Layout::Displaced(call.recvcounts(), call.rdispls(), call.recvtype());
        let recv = NeighborBlocks { buffer: call.recvbuf(), layout };
        Self { op: NeighborOp::Alltoallv, start, comm: call.comm(), send, recv }
    }

    fn alltoallw(call: &NeighborAlltoallw<'c>, start: Start<'c>) -> Self {
        let layout = Layout::Typed(call.sendcounts(), call.sdispls(), call.sendtypes());
        let send = NeighborBlocks { buffer: call.sendbuf(), layout };
        let layout = Layout::Typed(call.recvcounts(), call.rdispls(), call.recvtypes());
        let recv = NeighborBlocks { buffer: call.recvbuf(), layout };
        Self { op: NeighborOp::Alltoallw, start, comm: call.comm(), send, recv }
    }
}
