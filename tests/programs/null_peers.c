/* A chain whose ends talk to MPI_PROC_NULL. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int next = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, previous = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int out = rank, in = -1;
    MPI_Request requests[2];
    MPI_Status status;
    if (rank % 2 == 0) {
        MPI_Send(&out, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
        MPI_Recv(&in, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, &status);
    } else {
        MPI_Recv(&in, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, &status);
        MPI_Send(&out, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
    }
    CHECK(status.MPI_SOURCE == previous);
    MPI_Irecv(&in, 1, MPI_INT, previous, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(&out, 1, MPI_INT, next, 3, &in, 1, MPI_INT, previous, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Probe(MPI_PROC_NULL, 4, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
    return end();
}
