/* A program that uses sessions alone (MPI 4.0 §11.3). 2 ranks. */
#include <mpi.h>
#include <stdio.h>

int main(void) {
    int rank, sum = 0, one = 1;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "titr", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (rank == 0) printf("%d ranks\n", sum);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return 0;
}
