//! Functions that libraries add to MPI, `MPIX_`, but for persistent collectives, which stand with their kin.

super::chapter! {
    local:
        MPIX_Comm_failure_ack(1), MPIX_Comm_failure_get_acked(2), MPIX_Delete_error_class(1),
        MPIX_Delete_error_code(1), MPIX_Delete_error_string(1), MPIX_GPU_query_support(2),
        MPIX_Grequest_class_allocate(3), MPIX_Grequest_class_create(6), MPIX_Grequest_start(7),
        MPIX_Query_cuda_support(0), MPIX_Query_hip_support(0), MPIX_Query_ze_support(0);
    communicates:
        MPIX_Comm_agree(2), MPIX_Comm_revoke(1), MPIX_Comm_shrink(2);
}
