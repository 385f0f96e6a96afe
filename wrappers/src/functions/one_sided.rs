//! One-sided communications (chapter 12).

use crate::argument::{Comm, Group, Op, Opaque, Place, Request, Win};
use crate::signature::{CompareAndSwap, Exchange, FetchAndOp, Transfer, WinAllocate, WinCreate};

super::chapter! {
    /// Windows, accesses to them, and synchronisations.
    pub enum OneSided<'c> {
        MPI_Put, MPI_Put_c (8): Transfer<'c>, Win;
        MPI_Rput, MPI_Rput_c (9): Transfer<'c>, Win, Place<'c, Request>;
        MPI_Get, MPI_Get_c (8): Transfer<'c>, Win;
        MPI_Rget, MPI_Rget_c (9): Transfer<'c>, Win, Place<'c, Request>;
        MPI_Accumulate, MPI_Accumulate_c (9): Transfer<'c>, Op, Win;
        MPI_Raccumulate, MPI_Raccumulate_c (10): Transfer<'c>, Op, Win, Place<'c, Request>;
        MPI_Get_accumulate, MPI_Get_accumulate_c (12): Exchange<'c>, Op, Win;
        MPI_Rget_accumulate, MPI_Rget_accumulate_c (13): Exchange<'c>, Op, Win, Place<'c, Request>;
        MPI_Fetch_and_op (7): FetchAndOp<'c>, Op, Win;
        MPI_Compare_and_swap (7): CompareAndSwap<'c>, Win;
        MPI_Win_create, MPI_Win_create_c (6): WinCreate<'c>;
        MPI_Win_allocate, MPI_Win_allocate_c (6): WinAllocate<'c>;
        MPI_Win_allocate_shared, MPI_Win_allocate_shared_c (6): WinAllocate<'c>;
        MPI_Win_create_dynamic (3): Opaque, Comm, Place<'c, Win>;
        MPI_Win_free (1): Place<'c, Win>;
        MPI_Win_fence (2): i32, Win;
        MPI_Win_post (3): Group, i32, Win;
        MPI_Win_start (3): Group, i32, Win;
        MPI_Win_complete (1): Win;
        MPI_Win_wait (1): Win;
        MPI_Win_test (2): Win, Place<'c, i32>;
        MPI_Win_lock (4): i32, i32, i32, Win;
        MPI_Win_lock_all (2): i32, Win;
        MPI_Win_unlock (2): i32, Win;
        MPI_Win_unlock_all (1): Win;
        MPI_Win_flush (2): i32, Win;
        MPI_Win_flush_all (1): Win;
        MPI_Win_flush_local (2): i32, Win;
        MPI_Win_flush_local_all (1): Win;
    }
    local:
        MPI_Win_attach(3), MPI_Win_call_errhandler(2), MPI_Win_create_errhandler(2), MPI_Win_create_keyval(4),
        MPI_Win_delete_attr(2), MPI_Win_detach(2), MPI_Win_free_keyval(1), MPI_Win_get_attr(4),
        MPI_Win_get_errhandler(2), MPI_Win_get_group(2), MPI_Win_get_info(2), MPI_Win_get_name(3),
        MPI_Win_set_attr(3), MPI_Win_set_errhandler(2), MPI_Win_set_name(2),
        MPI_Win_shared_query(5), MPI_Win_shared_query_c(5), MPI_Win_sync(1);
    communicates:
        MPI_Win_set_info(2);
}
