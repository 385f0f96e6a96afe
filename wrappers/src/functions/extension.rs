//! Functions that libraries add to MPI, `MPIX_`, except persistent collectives, which are listed with other
//! collectives.

super::chapter! {
    local:
        MPIX_Async_get_state(1), MPIX_Async_spawn(4), MPIX_Async_start(3), MPIX_Comm_ack_failed(3),
        MPIX_Comm_create_errhandler_x(4), MPIX_Comm_failure_ack(1), MPIX_Comm_failure_get_acked(2),
        MPIX_Comm_get_failed(2), MPIX_Comm_get_stream(3), MPIX_Comm_is_revoked(2),
        MPIX_Comm_test_threadcomm(2), MPIX_Delete_error_class(1), MPIX_Delete_error_code(1),
        MPIX_Delete_error_string(1), MPIX_File_create_errhandler_x(4), MPIX_GPU_query_support(2),
        MPIX_Grequest_class_allocate(3), MPIX_Grequest_class_create(6), MPIX_Grequest_start(7),
        MPIX_Info_set_hex(4), MPIX_Op_create_x(5), MPIX_Query_cuda_support(0), MPIX_Query_hip_support(0),
        MPIX_Query_rocm_support(0), MPIX_Query_ze_support(0), MPIX_Request_is_complete(1),
        MPIX_Session_create_errhandler_x(4), MPIX_Start_progress_thread(1), MPIX_Stop_progress_thread(1),
        MPIX_Stream_create(2), MPIX_Stream_free(1), MPIX_Type_iov(5), MPIX_Type_iov_len(4),
        MPIX_Win_create_errhandler_x(4);
    communicates:
        MPIX_Allreduce_enqueue(6), MPIX_Allreduce_enqueue_c(6), MPIX_Comm_agree(2), MPIX_Comm_iagree(3),
        MPIX_Comm_revoke(1), MPIX_Comm_shrink(2), MPIX_Irecv_enqueue(7), MPIX_Irecv_enqueue_c(7),
        MPIX_Isend_enqueue(7), MPIX_Isend_enqueue_c(7), MPIX_Recv_enqueue(7), MPIX_Recv_enqueue_c(7),
        MPIX_Send_enqueue(6), MPIX_Send_enqueue_c(6), MPIX_Stream_comm_create(3),
        MPIX_Stream_comm_create_multiplex(4), MPIX_Stream_irecv(9), MPIX_Stream_irecv_c(9),
        MPIX_Stream_isend(9), MPIX_Stream_isend_c(9), MPIX_Stream_progress(1), MPIX_Stream_recv(9),
        MPIX_Stream_recv_c(9), MPIX_Stream_send(8), MPIX_Stream_send_c(8), MPIX_Threadcomm_finish(1),
        MPIX_Threadcomm_free(1), MPIX_Threadcomm_init(3), MPIX_Threadcomm_start(1), MPIX_Wait_enqueue(2),
        MPIX_Waitall_enqueue(3);
}
