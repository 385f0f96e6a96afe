//! Process initialization, creation and management (chapter 11).

use crate::argument::{Comm, Opaque, Place, Text};
use crate::pmpi::SpawnInfos;

super::chapter! {
    /// The beginning and end of MPI, and the creation and connection of processes.
    pub enum Process<'c> {
        MPI_Init (2): Place<'c, i32>, Opaque;
        MPI_Init_thread (4): Place<'c, i32>, Opaque, i32, Place<'c, i32>;
        MPI_Finalize (0): ;
        MPI_Abort (2): Comm, i32;
        MPI_Comm_spawn (8): Opaque, Opaque, Opaque, SpawnInfos<'c, false>, i32, Comm, Place<'c, Comm>, Opaque;
        MPI_Comm_spawn_multiple (9):
            i32, Opaque, Opaque, Opaque, SpawnInfos<'c, true>, i32, Comm, Place<'c, Comm>, Opaque;
        MPI_Comm_accept (5): Text<'c>, Opaque, i32, Comm, Place<'c, Comm>;
        MPI_Comm_connect (5): Text<'c>, Opaque, i32, Comm, Place<'c, Comm>;
        MPI_Comm_join (2): i32, Place<'c, Comm>;
    }
    local:
        MPI_Close_port(1), MPI_Comm_get_parent(1), MPI_Finalized(1), MPI_Group_from_session_pset(3),
        MPI_Initialized(1), MPI_Is_thread_main(1), MPI_Lookup_name(3), MPI_Open_port(2), MPI_Publish_name(3),
        MPI_Query_thread(1),
        MPI_Session_call_errhandler(2), MPI_Session_create_errhandler(2), MPI_Session_finalize(1),
        MPI_Session_get_errhandler(2), MPI_Session_get_info(2), MPI_Session_get_nth_pset(5),
        MPI_Session_get_num_psets(3), MPI_Session_get_pset_info(3), MPI_Session_init(3),
        MPI_Session_set_errhandler(2), MPI_Session_set_info(2), MPI_Unpublish_name(3);
}
