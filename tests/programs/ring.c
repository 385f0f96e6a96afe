/* A ring, as in ring.F90: the same calls in each binding. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    double out[100], in[100], sum;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    for (int round = 1; round <= 3; round++) {
        for (int i = 0; i < 100; i++) out[i] = rank + round;
        MPI_Irecv(in, 100, MPI_DOUBLE, previous, round, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, 100, MPI_DOUBLE, next, round, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, statuses);
        MPI_Allreduce(in, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (rank == 0) MPI_Send(out, 10, MPI_DOUBLE, 1, 50, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(in, 10, MPI_DOUBLE, 0, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return end();
}
