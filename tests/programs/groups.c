/* Collectives between two groups of one rank; and a call that fails. 2 ranks. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int data = rank, from[2], ones[1] = {1}, zeros[1] = {0};
    MPI_Comm other;
    MPI_Request request;
    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 8, &other);
    MPI_Bcast(&data, 1, MPI_INT, rank == 0 ? MPI_ROOT : 0, other);
    CHECK(data == 0);
    MPI_Allgatherv(&data, 1, MPI_INT, from, ones, zeros, MPI_INT, other);
    MPI_Gather(&data, 1, MPI_INT, from, 1, MPI_INT, rank == 0 ? MPI_ROOT : 0, other);
    MPI_Ibarrier(other, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&other);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Send(&data, 1, MPI_INT, size, 9, MPI_COMM_WORLD) != MPI_SUCCESS);
    MPI_Wtime();
    return end();
}
