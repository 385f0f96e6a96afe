//! External interfaces (chapter 13).

super::chapter! {
    local:
        MPI_Grequest_complete(1), MPI_Grequest_start(5), MPI_Status_set_cancelled(2),
        MPI_Status_set_elements(3), MPI_Status_set_elements_x(3);
}
