//! Collective communication (chapter 6).

use crate::argument::{Opaque, Place, Request};
use crate::signature::{
    Allgather, Allgatherv, Allreduce, Alltoallv, Alltoallw, Barrier, Bcast, Gather, Gatherv, Reduce, ReduceScatter,
    ReduceScatterBlock, Scatterv,
};

super::chapter! {
    /// Collective operations, those that only start, and those that are set up to be started.
    pub enum Collective<'c> {
        MPI_Barrier (1): Barrier<'c>;
        MPI_Ibarrier (2): Barrier<'c>, Place<'c, Request>;
        MPI_Bcast, MPI_Bcast_c (5): Bcast<'c>;
        MPI_Ibcast, MPI_Ibcast_c (6): Bcast<'c>, Place<'c, Request>;
        MPI_Reduce, MPI_Reduce_c (7): Reduce<'c>;
        MPI_Ireduce, MPI_Ireduce_c (8): Reduce<'c>, Place<'c, Request>;
        MPI_Allreduce, MPI_Allreduce_c (6): Allreduce<'c>;
        MPI_Iallreduce, MPI_Iallreduce_c (7): Allreduce<'c>, Place<'c, Request>;
        MPI_Scan, MPI_Scan_c (6): Allreduce<'c>;
        MPI_Iscan, MPI_Iscan_c (7): Allreduce<'c>, Place<'c, Request>;
        MPI_Exscan, MPI_Exscan_c (6): Allreduce<'c>;
        MPI_Iexscan, MPI_Iexscan_c (7): Allreduce<'c>, Place<'c, Request>;
        MPI_Reduce_scatter, MPI_Reduce_scatter_c (6): ReduceScatter<'c>;
        MPI_Ireduce_scatter, MPI_Ireduce_scatter_c (7): ReduceScatter<'c>, Place<'c, Request>;
        MPI_Reduce_scatter_block, MPI_Reduce_scatter_block_c (6): ReduceScatterBlock<'c>;
        MPI_Ireduce_scatter_block, MPI_Ireduce_scatter_block_c (7): ReduceScatterBlock<'c>, Place<'c, Request>;
        MPI_Gather, MPI_Gather_c (8): Gather<'c>;
        MPI_Igather, MPI_Igather_c (9): Gather<'c>, Place<'c, Request>;
        MPI_Scatter, MPI_Scatter_c (8): Gather<'c>;
        MPI_Iscatter, MPI_Iscatter_c (9): Gather<'c>, Place<'c, Request>;
        MPI_Allgather, MPI_Allgather_c (7): Allgather<'c>;
        MPI_Iallgather, MPI_Iallgather_c (8): Allgather<'c>, Place<'c, Request>;
        MPI_Alltoall, MPI_Alltoall_c (7): Allgather<'c>;
        MPI_Ialltoall, MPI_Ialltoall_c (8): Allgather<'c>, Place<'c, Request>;
        MPI_Gatherv, MPI_Gatherv_c (9): Gatherv<'c>;
        MPI_Igatherv, MPI_Igatherv_c (10): Gatherv<'c>, Place<'c, Request>;
        MPI_Scatterv, MPI_Scatterv_c (9): Scatterv<'c>;
        MPI_Iscatterv, MPI_Iscatterv_c (10): Scatterv<'c>, Place<'c, Request>;
        MPI_Allgatherv, MPI_Allgatherv_c (8): Allgatherv<'c>;
        MPI_Iallgatherv, MPI_Iallgatherv_c (9): Allgatherv<'c>, Place<'c, Request>;
        MPI_Alltoallv, MPI_Alltoallv_c (9): Alltoallv<'c>;
        MPI_Ialltoallv, MPI_Ialltoallv_c (10): Alltoallv<'c>, Place<'c, Request>;
        MPI_Alltoallw, MPI_Alltoallw_c (9): Alltoallw<'c>;
        MPI_Ialltoallw, MPI_Ialltoallw_c (10): Alltoallw<'c>, Place<'c, Request>;
        MPI_Barrier_init, MPIX_Barrier_init (3): Barrier<'c>, Opaque, Place<'c, Request>;
        MPI_Bcast_init, MPI_Bcast_init_c, MPIX_Bcast_init (7): Bcast<'c>, Opaque, Place<'c, Request>;
        MPI_Reduce_init, MPI_Reduce_init_c, MPIX_Reduce_init (9): Reduce<'c>, Opaque, Place<'c, Request>;
        MPI_Allreduce_init, MPI_Allreduce_init_c, MPIX_Allreduce_init (8): Allreduce<'c>, Opaque, Place<'c, Request>;
        MPI_Scan_init, MPI_Scan_init_c, MPIX_Scan_init (8): Allreduce<'c>, Opaque, Place<'c, Request>;
        MPI_Exscan_init, MPI_Exscan_init_c, MPIX_Exscan_init (8): Allreduce<'c>, Opaque, Place<'c, Request>;
        MPI_Reduce_scatter_init, MPI_Reduce_scatter_init_c, MPIX_Reduce_scatter_init (8): ReduceScatter<'c>, Opaque, Place<'c, Request>;
        MPI_Reduce_scatter_block_init, MPI_Reduce_scatter_block_init_c, MPIX_Reduce_scatter_block_init (8): ReduceScatterBlock<'c>, Opaque, Place<'c, Request>;
        MPI_Gather_init, MPI_Gather_init_c, MPIX_Gather_init (10): Gather<'c>, Opaque, Place<'c, Request>;
        MPI_Scatter_init, MPI_Scatter_init_c, MPIX_Scatter_init (10): Gather<'c>, Opaque, Place<'c, Request>;
        MPI_Allgather_init, MPI_Allgather_init_c, MPIX_Allgather_init (9): Allgather<'c>, Opaque, Place<'c, Request>;
        MPI_Alltoall_init, MPI_Alltoall_init_c, MPIX_Alltoall_init (9): Allgather<'c>, Opaque, Place<'c, Request>;
        MPI_Gatherv_init, MPI_Gatherv_init_c, MPIX_Gatherv_init (11): Gatherv<'c>, Opaque, Place<'c, Request>;
        MPI_Scatterv_init, MPI_Scatterv_init_c, MPIX_Scatterv_init (11): Scatterv<'c>, Opaque, Place<'c, Request>;
        MPI_Allgatherv_init, MPI_Allgatherv_init_c, MPIX_Allgatherv_init (10): Allgatherv<'c>, Opaque, Place<'c, Request>;
        MPI_Alltoallv_init, MPI_Alltoallv_init_c, MPIX_Alltoallv_init (11): Alltoallv<'c>, Opaque, Place<'c, Request>;
        MPI_Alltoallw_init, MPI_Alltoallw_init_c, MPIX_Alltoallw_init (11): Alltoallw<'c>, Opaque, Place<'c, Request>;
    }
    local:
        MPI_Op_commutative(2), MPI_Op_create(3), MPI_Op_create_c(3), MPI_Op_free(1), MPI_Reduce_local(5),
        MPI_Reduce_local_c(5);
}
