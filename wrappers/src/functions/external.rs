//! External interfaces (chapter 13).

super::chapter! {
    local:
        MPI_Grequest_complete(1), MPI_Grequest_start(5), MPI_Status_set_cancelled(2), MPI_Status_set_elements(3),
        MPI_Status_set_elements_c(3), MPI_Status_set_elements_x(3), MPI_Status_set_error(2), MPI_Status_set_source(2),
        MPI_Status_set_tag(2);
}
