//! One-sided communications (chapter 12).

super::chapter! {
    local:
        MPI_Win_call_errhandler(2), MPI_Win_create_errhandler(2), MPI_Win_create_keyval(4),
        MPI_Win_delete_attr(2), MPI_Win_free_keyval(1), MPI_Win_get_attr(4), MPI_Win_get_errhandler(2),
        MPI_Win_get_group(2), MPI_Win_get_info(2), MPI_Win_get_name(3), MPI_Win_set_attr(3),
        MPI_Win_set_errhandler(2), MPI_Win_set_info(2), MPI_Win_set_name(2), MPI_Win_shared_query(5),
        MPI_Win_shared_query_c(5), MPI_Win_sync(1);
    communicates:
        MPI_Accumulate(9), MPI_Accumulate_c(9), MPI_Compare_and_swap(7), MPI_Fetch_and_op(7), MPI_Get(8),
        MPI_Get_accumulate(12), MPI_Get_accumulate_c(12), MPI_Get_c(8), MPI_Put(8), MPI_Put_c(8),
        MPI_Raccumulate(10), MPI_Raccumulate_c(10), MPI_Rget(9), MPI_Rget_accumulate(13),
        MPI_Rget_accumulate_c(13), MPI_Rget_c(9), MPI_Rput(9), MPI_Rput_c(9), MPI_Win_allocate(6),
        MPI_Win_allocate_c(6), MPI_Win_allocate_shared(6), MPI_Win_allocate_shared_c(6), MPI_Win_attach(3),
        MPI_Win_complete(1), MPI_Win_create(6), MPI_Win_create_c(6), MPI_Win_create_dynamic(3),
        MPI_Win_detach(2), MPI_Win_fence(2), MPI_Win_flush(2), MPI_Win_flush_all(1), MPI_Win_flush_local(2),
        MPI_Win_flush_local_all(1), MPI_Win_free(1), MPI_Win_lock(4), MPI_Win_lock_all(2), MPI_Win_post(3),
        MPI_Win_start(3), MPI_Win_test(2), MPI_Win_unlock(2), MPI_Win_unlock_all(1), MPI_Win_wait(1);
}
