//! Process topologies (chapter 8).

use crate::argument::{Comm, Opaque, Place, Request};
use crate::signature::{Allgather, NeighborAllgatherv, NeighborAlltoallv, NeighborAlltoallw};

super::chapter! {
    /// Making communicators that have a topology, and communicating along it.
    pub enum Topology<'c> {
        MPI_Cart_create (6): Comm, i32, Opaque, Opaque, i32, Place<'c, Comm>;
        MPI_Cart_sub (3): Comm, Opaque, Place<'c, Comm>;
        MPI_Graph_create (6): Comm, i32, Opaque, Opaque, i32, Place<'c, Comm>;
        MPI_Dist_graph_create (9): Comm, i32, Opaque, Opaque, Opaque, Opaque, Opaque, i32, Place<'c, Comm>;
        MPI_Dist_graph_create_adjacent (10): Comm, i32, Opaque, Opaque, i32, Opaque, Opaque, Opaque, i32, Place<'c, Comm>;
        MPI_Neighbor_allgather, MPI_Neighbor_allgather_c (7): Allgather<'c>;
        MPI_Ineighbor_allgather, MPI_Ineighbor_allgather_c (8): Allgather<'c>, Place<'c, Request>;
        MPI_Neighbor_allgather_init, MPI_Neighbor_allgather_init_c, MPIX_Neighbor_allgather_init (9): Allgather<'c>, Opaque, Place<'c, Request>;
        MPI_Neighbor_allgatherv, MPI_Neighbor_allgatherv_c (8): NeighborAllgatherv<'c>;
        MPI_Ineighbor_allgatherv, MPI_Ineighbor_allgatherv_c (9): NeighborAllgatherv<'c>, Place<'c, Request>;
        MPI_Neighbor_allgatherv_init, MPI_Neighbor_allgatherv_init_c, MPIX_Neighbor_allgatherv_init (10): NeighborAllgatherv<'c>, Opaque, Place<'c, Request>;
        MPI_Neighbor_alltoall, MPI_Neighbor_alltoall_c (7): Allgather<'c>;
        MPI_Ineighbor_alltoall, MPI_Ineighbor_alltoall_c (8): Allgather<'c>, Place<'c, Request>;
        MPI_Neighbor_alltoall_init, MPI_Neighbor_alltoall_init_c, MPIX_Neighbor_alltoall_init (9): Allgather<'c>, Opaque, Place<'c, Request>;
        MPI_Neighbor_alltoallv, MPI_Neighbor_alltoallv_c (9): NeighborAlltoallv<'c>;
        MPI_Ineighbor_alltoallv, MPI_Ineighbor_alltoallv_c (10): NeighborAlltoallv<'c>, Place<'c, Request>;
        MPI_Neighbor_alltoallv_init, MPI_Neighbor_alltoallv_init_c, MPIX_Neighbor_alltoallv_init (11): NeighborAlltoallv<'c>, Opaque, Place<'c, Request>;
        MPI_Neighbor_alltoallw, MPI_Neighbor_alltoallw_c (9): NeighborAlltoallw<'c>;
        MPI_Ineighbor_alltoallw, MPI_Ineighbor_alltoallw_c (10): NeighborAlltoallw<'c>, Place<'c, Request>;
        MPI_Neighbor_alltoallw_init, MPI_Neighbor_alltoallw_init_c, MPIX_Neighbor_alltoallw_init (11): NeighborAlltoallw<'c>, Opaque, Place<'c, Request>;
    }
    local:
        MPI_Cart_coords(4), MPI_Cart_get(5), MPI_Cart_map(5), MPI_Cart_rank(3), MPI_Cart_shift(5),
        MPI_Cartdim_get(2), MPI_Dims_create(3), MPI_Dist_graph_neighbors(7), MPI_Dist_graph_neighbors_count(4),
        MPI_Graph_get(5), MPI_Graph_map(5), MPI_Graph_neighbors(4), MPI_Graph_neighbors_count(3),
        MPI_Graphdims_get(3), MPI_Topo_test(2);
}
