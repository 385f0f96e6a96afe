//! The info object (chapter 10).

super::chapter! {
    local:
        MPI_Info_create(1), MPI_Info_create_env(3), MPI_Info_delete(2), MPI_Info_dup(2), MPI_Info_free(1),
        MPI_Info_get(5), MPI_Info_get_nkeys(2), MPI_Info_get_nthkey(3), MPI_Info_get_string(5),
        MPI_Info_get_valuelen(4), MPI_Info_set(3);
}
