//! Functions that libraries add to MPI, `MPIX_`.

super::chapter! {
    local:
        MPIX_Comm_failure_ack(1), MPIX_Comm_failure_get_acked(2), MPIX_Delete_error_class(1),
        MPIX_Delete_error_code(1), MPIX_Delete_error_string(1), MPIX_GPU_query_support(2),
        MPIX_Grequest_class_allocate(3), MPIX_Grequest_class_create(6), MPIX_Grequest_start(7),
        MPIX_Query_cuda_support(0), MPIX_Query_hip_support(0), MPIX_Query_ze_support(0);
    communicates:
        MPIX_Allgather_init(9), MPIX_Allgatherv_init(10), MPIX_Allreduce_init(8), MPIX_Alltoall_init(9),
        MPIX_Alltoallv_init(11), MPIX_Alltoallw_init(11), MPIX_Barrier_init(3), MPIX_Bcast_init(7),
        MPIX_Comm_agree(2), MPIX_Comm_revoke(1), MPIX_Comm_shrink(2), MPIX_Exscan_init(8), MPIX_Gather_init(10),
        MPIX_Gatherv_init(11), MPIX_Neighbor_allgather_init(9), MPIX_Neighbor_allgatherv_init(10),
        MPIX_Neighbor_alltoall_init(9), MPIX_Neighbor_alltoallv_init(11), MPIX_Neighbor_alltoallw_init(11),
        MPIX_Reduce_init(9), MPIX_Reduce_scatter_block_init(8), MPIX_Reduce_scatter_init(8), MPIX_Scan_init(8),
        MPIX_Scatter_init(10), MPIX_Scatterv_init(11);
}
