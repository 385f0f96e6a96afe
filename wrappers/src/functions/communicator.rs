//! Groups, contexts, communicators and caching (chapter 7).

use crate::argument::{Comm, Group, Opaque, Place, Request};

super::chapter! {
    /// Making and freeing communicators.
    pub enum Communicator<'c> {
        MPI_Comm_dup (2): Comm, Place<'c, Comm>;
        MPI_Comm_dup_with_info (3): Comm, Opaque, Place<'c, Comm>;
        MPI_Comm_idup (3): Comm, Place<'c, Comm>, Place<'c, Request>;
        MPI_Comm_idup_with_info (4): Comm, Opaque, Place<'c, Comm>, Place<'c, Request>;
        MPI_Comm_split (4): Comm, i32, i32, Place<'c, Comm>;
        MPI_Comm_split_type (5): Comm, i32, i32, Opaque, Place<'c, Comm>;
        MPI_Comm_create (3): Comm, Group, Place<'c, Comm>;
        MPI_Comm_create_group (4): Comm, Group, i32, Place<'c, Comm>;
        MPI_Intercomm_create (6): Comm, i32, Comm, i32, i32, Place<'c, Comm>;
        MPI_Comm_create_from_group (5): Group, Opaque, Opaque, Opaque, Place<'c, Comm>;
        MPI_Intercomm_create_from_groups (8): Group, i32, Group, i32, Opaque, Opaque, Opaque, Place<'c, Comm>;
        MPI_Intercomm_merge (3): Comm, i32, Place<'c, Comm>;
        MPI_Comm_free (1): Place<'c, Comm>;
        MPI_Comm_disconnect (1): Place<'c, Comm>;
    }
    local:
        MPI_Attr_delete(2), MPI_Attr_get(4), MPI_Attr_put(3), MPI_Comm_compare(3), MPI_Comm_create_keyval(4),
        MPI_Comm_delete_attr(2), MPI_Comm_free_keyval(1), MPI_Comm_get_attr(4), MPI_Comm_get_info(2),
        MPI_Comm_get_name(3), MPI_Comm_group(2), MPI_Comm_rank(2), MPI_Comm_remote_group(2),
        MPI_Comm_remote_size(2), MPI_Comm_set_attr(3), MPI_Comm_set_info(2), MPI_Comm_set_name(2),
        MPI_Comm_size(2), MPI_Comm_test_inter(2), MPI_Group_compare(3), MPI_Group_difference(3),
        MPI_Group_excl(4), MPI_Group_free(1), MPI_Group_incl(4), MPI_Group_intersection(3),
        MPI_Group_range_excl(4), MPI_Group_range_incl(4), MPI_Group_rank(2), MPI_Group_size(2),
        MPI_Group_translate_ranks(5), MPI_Group_union(3), MPI_Keyval_create(4), MPI_Keyval_free(1);
}
