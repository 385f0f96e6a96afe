//! Neighbourhood collectives. A neighbour that is `MPI_PROC_NULL`, as at the edge of a grid, moves nothing and is left out.

use titr_common::event::{CommId, Event, NeighborOp, Neighborhood, Rank};
use titr_common::units::Bytes;
use titr_wrappers::argument::Comm;
use titr_wrappers::functions::topology::Topology::{self, *};
use titr_wrappers::pmpi::{self, Neighbors};
use titr_wrappers::signature::{Allgather, NeighborAllgatherv, NeighborAlltoallv, NeighborAlltoallw};

use super::omitted_calls::Omission;
use super::{Outcome, Recorder};
use crate::collective_call::Start;
use crate::ranks::Ranks;

/// The communicator of a call.
struct NeighborContext {
    comm: CommId,
    members: Ranks,
    neighbors: Neighbors,
}

impl Recorder {
    pub(super) fn neighborhood(&mut self, call: &Topology<'_>) -> Outcome {
        use Start::{Blocking, Nonblocking, Persistent};
        let (collective, start) = match call {
            MPI_Neighbor_allgather(call) => (self.equal(NeighborOp::Allgather, call), Blocking),
            MPI_Ineighbor_allgather(call, request) => (self.equal(NeighborOp::Allgather, call), Nonblocking(*request)),
            MPI_Neighbor_allgather_init(call, _, request) => {
                (self.equal(NeighborOp::Allgather, call), Persistent(*request))
            }
            MPI_Neighbor_alltoall(call) => (self.equal(NeighborOp::Alltoall, call), Blocking),
            MPI_Ineighbor_alltoall(call, request) => (self.equal(NeighborOp::Alltoall, call), Nonblocking(*request)),
            MPI_Neighbor_alltoall_init(call, _, request) => {
                (self.equal(NeighborOp::Alltoall, call), Persistent(*request))
            }
            MPI_Neighbor_allgatherv(call) => (self.allgatherv(call), Blocking),
            MPI_Ineighbor_allgatherv(call, request) => (self.allgatherv(call), Nonblocking(*request)),
            MPI_Neighbor_allgatherv_init(call, _, request) => (self.allgatherv(call), Persistent(*request)),
            MPI_Neighbor_alltoallv(call) => (self.alltoallv(call), Blocking),
            MPI_Ineighbor_alltoallv(call, request) => (self.alltoallv(call), Nonblocking(*request)),
            MPI_Neighbor_alltoallv_init(call, _, request) => (self.alltoallv(call), Persistent(*request)),
            MPI_Neighbor_alltoallw(call) => (self.alltoallw(call), Blocking),
            MPI_Ineighbor_alltoallw(call, request) => (self.alltoallw(call), Nonblocking(*request)),
            MPI_Neighbor_alltoallw_init(call, _, request) => (self.alltoallw(call), Persistent(*request)),
            // The rest makes communicators, see `creation`.
            MPI_Cart_create(..)
            | MPI_Cart_sub(..)
            | MPI_Graph_create(..)
            | MPI_Dist_graph_create(..)
            | MPI_Dist_graph_create_adjacent(..) => return Err(Omission::Untraced),
        };
        let completion = self.begin_collective(&start, collective.is_ok());
        self.emit(&Event::Neighborhood(collective?, completion));
        Ok(())
    }

    /// One volume for all.
    fn equal(&mut self, op: NeighborOp, call: &Allgather<'_>) -> Result<Neighborhood, Omission> {
        let context = self.along(call.comm())?;
        let send = Self::bytes(call.sendcount(), call.sendtype());
        let recv = Self::bytes(call.recvcount(), call.recvtype());
        Ok(context.collective(op, |_| send, |_| recv))
    }

    fn allgatherv(&mut self, call: &NeighborAllgatherv<'_>) -> Result<Neighborhood, Omission> {
        let context = self.along(call.comm())?;
        let send = Self::bytes(call.sendcount(), call.sendtype());
        let (counts, element) = (call.recvcounts(), Self::element(call.recvtype()));
        let recv = |at| counts.get(at).map_or(Bytes(0), |count| element.times(count.get()));
        Ok(context.collective(NeighborOp::Allgatherv, |_| send, recv))
    }

    fn alltoallv(&mut self, call: &NeighborAlltoallv<'_>) -> Result<Neighborhood, Omission> {
        let context = self.along(call.comm())?;
        let (sends, sent) = (call.sendcounts(), Self::element(call.sendtype()));
        let (recvs, received) = (call.recvcounts(), Self::element(call.recvtype()));
        let send = |at| sends.get(at).map_or(Bytes(0), |count| sent.times(count.get()));
        let recv = |at| recvs.get(at).map_or(Bytes(0), |count| received.times(count.get()));
        Ok(context.collective(NeighborOp::Alltoallv, send, recv))
    }

    fn alltoallw(&mut self, call: &NeighborAlltoallw<'_>) -> Result<Neighborhood, Omission> {
        let context = self.along(call.comm())?;
        let (sends, sent) = (call.sendcounts(), call.sendtypes());
        let (recvs, received) = (call.recvcounts(), call.recvtypes());
        let send = |at| sends.get(at).zip(sent.get(at)).map_or(Bytes(0), |(count, of)| Self::bytes(count, of));
        let recv = |at| recvs.get(at).zip(received.get(at)).map_or(Bytes(0), |(count, of)| Self::bytes(count, of));
        Ok(context.collective(NeighborOp::Alltoallw, send, recv))
    }

    fn along(&mut self, comm: Comm) -> Result<NeighborContext, Omission> {
        let neighbors = pmpi::neighbors(self.abi, comm);
        let known = self.known(comm)?;
        Ok(NeighborContext { comm: known.id, members: known.members.clone(), neighbors })
    }
}

impl NeighborContext {
    /// With the volumes of each place among the neighbours.
    fn collective(&self, op: NeighborOp, send: impl Fn(usize) -> Bytes, recv: impl Fn(usize) -> Bytes) -> Neighborhood {
        let (comm, neighbors) = (self.comm, &self.neighbors);
        Neighborhood {
            comm,
            op,
            sends: self.volumes(&neighbors.destinations, send),
            recvs: self.volumes(&neighbors.sources, recv),
        }
    }

    fn volumes(&self, ranks: &[i32], volume: impl Fn(usize) -> Bytes) -> Vec<(Rank, Bytes)> {
        let there = ranks.iter().enumerate();
        there.filter_map(|(at, &rank)| Some((self.members.get(rank)?, volume(at)))).collect()
    }
}
